package rental

import "strconv"

// Validate returns what is wrong with the site by itself; nothing where it is whole.
func (s Site) Validate() []FieldError {
	var f faults
	f.required("provider", s.Provider, "the name of a provider")
	if s.TimeZone != "" {
		_, err := LoadZone(s.TimeZone)
		f.check(err == nil, "time_zone", quoted(s.TimeZone), "an IANA name such as Asia/Shanghai or UTC")
	}
	s.Energy.validate(&f)
	return f.list
}

// Validate returns what is wrong with the host by itself; nothing where it is whole.
func (h Host) Validate() []FieldError {
	var f faults
	f.required("site", h.Site, "the name of a site")
	f.check(h.Slots > 0, "slots", strconv.Itoa(h.Slots), "how many GPUs the host holds, at least 1")
	return f.list
}

// Validate returns what is wrong with the hardware class by itself; nothing where it is whole.
func (s SKU) Validate() []FieldError {
	var f faults
	f.required("model", s.Model, "the product name without the vendor, such as H100 80GB HBM3")
	for _, figure := range []struct {
		path  string
		value int
	}{{"memory_mib", s.MemoryMiB}, {"pcie_width", s.PCIeWidth}, {"nvlinks", s.NVLinks}, {"power_watts", s.PowerWatts}} {
		f.check(figure.value >= 0, figure.path, strconv.Itoa(figure.value), "a number that is not negative; 0 where it is not promised")
	}
	return f.list
}

// Validate returns what is wrong with the MIG instance by itself; nothing where it is whole.
func (m MIGInstance) Validate() []FieldError {
	var f faults
	f.required("uuid", m.UUID, "the uuid that the driver tells")
	f.required("gpu", m.GPU, "the uuid of the card that it is a part of")
	f.check(m.UUID == "" || m.UUID != m.GPU, "uuid", quoted(m.UUID), "another uuid than the card's")
	f.check(profileForm.MatchString(m.Profile), "profile", orNothing(m.Profile), "a MIG profile such as 3g.40gb")
	return f.list
}

// Validate returns what is wrong with the card by itself; nothing where it is whole. An empty
// life means service.
func (g GPU) Validate() []FieldError {
	var f faults
	f.required("uuid", g.UUID, "the uuid that the driver tells")
	f.required("sku", g.SKU, "the name of a SKU")
	f.required("host", g.Host, "the name of a host")
	f.check(g.Slot >= 0, "slot", strconv.Itoa(g.Slot), "a slot from 0 on")
	if g.Life != "" {
		f.choice("life", string(g.Life), string(GPUStock), string(GPUService), string(GPUSuspect), string(GPUDrained), string(GPURMA), string(GPUScrapped))
	}
	return f.list
}
