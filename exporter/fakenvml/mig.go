package fakenvml

import "fmt"

// migProfile is one way to cut an H100, with what each instance of it has.
type migProfile struct {
	name                            string
	slices, memorySlices, sms, mibs int
}

var (
	mig1g   = migProfile{"1g.10gb", 1, 1, 16, 9984}
	mig1gMe = migProfile{"1g.10gb+me", 1, 1, 16, 9984}
	mig2g   = migProfile{"2g.20gb", 2, 2, 32, 20096}
	mig3g   = migProfile{"3g.40gb", 3, 4, 60, 40448}
)

// MIG gives access to the settings of the card's MIG device at an index. It is there once it
// has a uuid; Unset("uuid") destroys it.
func (c Card) MIG(index int) Card {
	return Card{scenario: c.scenario, prefix: fmt.Sprintf("%smig.%d.", c.prefix, index)}
}

// cut makes the MIG device of a card at an index: the whole of a GPU instance, at its place in the memory.
func (s *Scenario) cut(card, index, gi, place int, p migProfile) Card {
	i := s.GPU(card).MIG(index)
	i.Set("uuid", fmt.Sprintf("MIG-5f1e2d3c-0000-5a5b-8c9d-%06d%06d", card, index)).Set("profile", p.name).Set("gi", gi).Set("ci", 0).
		Set("multiprocessors", p.sms).Set("gpu_slices", p.slices).Set("compute_slices", p.slices).
		Set("copy_engines", p.slices).Set("decoders", p.slices).Set("encoders", 0).Set("jpegs", p.slices).Set("ofas", 0).
		Set("placement_start", place).Set("placement_size", p.memorySlices)
	used := 1024 * (index + 1)
	i.Set("memory_total", p.mibs*mib).Set("memory_reserved", 64*mib).Set("memory_used", used*mib).Set("memory_free", (p.mibs-64-used)*mib)
	f := float64(index)
	for id, v := range map[int]float64{1: 90 + f, 2: 70 + f, 3: 30 + f, 10: 50 + f, 5: 40 + f, 7: 39 + f, 8: 0, 6: 0, 9: 0.5,
		4: 10, 11: 0, 12: 5, 13: 1, 20: 64 + f, 21: 128 + f} {
		i.GPM(id, v) // no NVLink: it serves no instance
	}
	return i
}

// H100MIG is a host of three H100: one cut into five MIG devices, two of which share a GPU
// instance; one with MIG on and nothing cut yet; one whole.
func H100MIG() *Scenario {
	s := H100x8().DeviceCount(3)
	s.GPU(0).Set("mig_mode", 1)
	s.cut(0, 0, 2, 4, mig3g).Set("profile", "1c.3g.40gb").Set("compute_slices", 1).Set("multiprocessors", 20)
	s.cut(0, 1, 2, 4, mig3g).Set("profile", "2c.3g.40gb").Set("compute_slices", 2).Set("multiprocessors", 40).Set("ci", 1)
	s.cut(0, 2, 3, 0, mig2g)
	s.cut(0, 4, 9, 2, mig1g) // the index before was destroyed
	s.cut(0, 5, 10, 3, mig1gMe)
	s.GPU(1).Set("mig_mode", 1)
	return s
}

// H100x16MIG is a host of sixteen H100, each cut into seven.
func H100x16MIG() *Scenario {
	s := H100x8().DeviceCount(16)
	for i := range 16 {
		h100(s.GPU(i), i, fmt.Sprintf("%02x", 0x10+i))
		s.GPU(i).Set("mig_mode", 1)
		for index := range 7 {
			s.cut(i, index, 7+index, index, mig1g)
		}
	}
	return s
}
