//go:build linux && cgo

package nvml

import (
	"fmt"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

var brands = map[nvml.BrandType]string{
	nvml.BRAND_QUADRO: "quadro", nvml.BRAND_TESLA: "tesla", nvml.BRAND_NVS: "nvs", nvml.BRAND_GRID: "grid",
	nvml.BRAND_GEFORCE: "geforce", nvml.BRAND_TITAN: "titan", nvml.BRAND_NVIDIA_VAPPS: "nvidia vapps",
	nvml.BRAND_NVIDIA_VPC: "nvidia vpc", nvml.BRAND_NVIDIA_VCS: "nvidia vcs", nvml.BRAND_NVIDIA_VWS: "nvidia vws",
	nvml.BRAND_NVIDIA_CLOUD_GAMING: "nvidia cloud gaming", nvml.BRAND_QUADRO_RTX: "quadro rtx",
	nvml.BRAND_NVIDIA_RTX: "nvidia rtx", nvml.BRAND_NVIDIA: "nvidia", nvml.BRAND_GEFORCE_RTX: "geforce rtx",
	nvml.BRAND_TITAN_RTX: "titan rtx",
}

var architectures = map[nvml.DeviceArchitecture]string{
	2: "kepler", 3: "maxwell", 4: "pascal", 5: "volta", 6: "turing", 7: "ampere", 8: "ada", 9: "hopper",
	10: "blackwell", 13: "rubin",
}

// readIdentity reads who a card is; the caller has read its UUID already.
func readIdentity(c *caller, d device, index int, uuid string) gpu.Identity {
	text := func(call string, f func() (string, nvml.Return)) string {
		s, _ := value(c, call, f)
		return clean(s)
	}
	id := gpu.Identity{
		Index:     index,
		UUID:      clean(uuid),
		Serial:    text("nvmlDeviceGetSerial", d.GetSerial),
		Name:      text("nvmlDeviceGetName", d.GetName),
		BoardPart: text("nvmlDeviceGetBoardPartNumber", d.GetBoardPartNumber),
		VBIOS:     text("nvmlDeviceGetVbiosVersion", d.GetVbiosVersion),
		Cores:     number(c, "nvmlDeviceGetNumGpuCores", d.GetNumGpuCores, 1, 1e6, 1),
	}
	if id.Serial == "0" { // how some boards without a serial number say so
		id.Serial = ""
	}
	if brand, ok := value(c, "nvmlDeviceGetBrand", d.GetBrand); ok {
		id.Brand = brands[brand]
	}
	if architecture, ok := value(c, "nvmlDeviceGetArchitecture", d.GetArchitecture); ok {
		id.Architecture = architectures[architecture]
	}
	if pci, ok := value(c, "nvmlDeviceGetPciInfo", d.GetPciInfo); ok {
		id.PCIAddress = fmt.Sprintf("%04x:%02x:%02x.0", pci.Domain, pci.Bus, pci.Device)
	}
	if mode, ok := value(c, "nvmlDeviceGetMigMode", func() (int, nvml.Return) {
		current, _, ret := d.GetMigMode()
		return current, ret
	}); ok {
		id.MIGMode = mode2text(mode != 0)
	}
	if mode, ok := value(c, "nvmlDeviceGetEccMode", func() (nvml.EnableState, nvml.Return) {
		current, _, ret := d.GetEccMode()
		return current, ret
	}); ok {
		id.ECCMode = mode2text(mode == nvml.FEATURE_ENABLED)
	}
	return id
}

func mode2text(on bool) string {
	if on {
		return "enabled"
	}
	return "disabled"
}

// clean keeps what a card says of itself printable: it ends in labels and messages.
func clean(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s))
}

// fixed is what a card says rarely anew: read with the identity.
type fixed struct {
	limits     map[string]float64 // default, min, max, in watts
	thresholds map[string]float64
	clockMax   map[string]float64
	fans       int
	fields     fieldPlan

	pcieGenerationMax, pcieWidthMax gpu.Maybe[float64]
}

// The possible range of each quantity: wide enough for any card of the next years, narrow
// enough for every "not available" value and for readings of another unit.
const (
	minCelsius, maxCelsius = -60, 200
	maxMilliwatts          = 20e6
	maxMegahertz           = 50e3
	maxMemoryBytes         = 64 << 40
	maxCount               = 1 << 53 // beyond this a float64 skips numbers
	maxNanoseconds         = 40 * 365 * 86400 * 1e9
)

func readFixed(c *caller, d device) fixed {
	f := fixed{
		limits: map[string]float64{}, thresholds: map[string]float64{}, clockMax: map[string]float64{},
		pcieGenerationMax: number(c, "nvmlDeviceGetMaxPcieLinkGeneration", d.GetMaxPcieLinkGeneration, 1, 16, 1),
		pcieWidthMax:      number(c, "nvmlDeviceGetMaxPcieLinkWidth", d.GetMaxPcieLinkWidth, 1, 64, 1),
		fields:            planFields(c, d),
	}
	put(f.limits, "default", number(c, "nvmlDeviceGetPowerManagementDefaultLimit", d.GetPowerManagementDefaultLimit, 1, maxMilliwatts, 1e-3))
	const constraints = "nvmlDeviceGetPowerManagementLimitConstraints"
	type pair struct{ min, max uint32 }
	if p, ok := value(c, constraints, func() (pair, nvml.Return) {
		low, high, ret := d.GetPowerManagementLimitConstraints()
		return pair{low, high}, ret
	}); ok {
		put(f.limits, "min", scaled(c.within(constraints, float64(p.min), 0, maxMilliwatts), 1e-3))
		put(f.limits, "max", scaled(c.within(constraints, float64(p.max), 1, maxMilliwatts), 1e-3))
	}
	for name, kind := range map[string]nvml.TemperatureThresholds{
		"shutdown": nvml.TEMPERATURE_THRESHOLD_SHUTDOWN, "slowdown": nvml.TEMPERATURE_THRESHOLD_SLOWDOWN,
		"memory_max": nvml.TEMPERATURE_THRESHOLD_MEM_MAX, "gpu_max": nvml.TEMPERATURE_THRESHOLD_GPU_MAX,
	} {
		const call = "nvmlDeviceGetTemperatureThreshold"
		put(f.thresholds, name, keyedNumber(c, call, call+"("+name+")", with(d.GetTemperatureThreshold, kind), 1, maxCelsius, 1))
	}
	for _, clock := range clocks {
		put(f.clockMax, clock.name, keyedNumber(c, "nvmlDeviceGetMaxClockInfo", clock.maxKey, with(d.GetMaxClockInfo, clock.kind), 1, maxMegahertz, 1e6))
	}
	if fans, ok := value(c, "nvmlDeviceGetNumFans", d.GetNumFans); ok && fans > 0 && fans <= 16 {
		f.fans = fans
	}
	return f
}

// clocks are the clocks of a card and the names of their calls.
var clocks = []struct {
	name        string
	kind        nvml.ClockType
	key, maxKey string
}{
	{"graphics", nvml.CLOCK_GRAPHICS, "nvmlDeviceGetClockInfo(graphics)", "nvmlDeviceGetMaxClockInfo(graphics)"},
	{"sm", nvml.CLOCK_SM, "nvmlDeviceGetClockInfo(sm)", "nvmlDeviceGetMaxClockInfo(sm)"},
	{"memory", nvml.CLOCK_MEM, "nvmlDeviceGetClockInfo(memory)", "nvmlDeviceGetMaxClockInfo(memory)"},
	{"video", nvml.CLOCK_VIDEO, "nvmlDeviceGetClockInfo(video)", "nvmlDeviceGetMaxClockInfo(video)"},
}

// put sets a key if there is a reading for it.
func put(m map[string]float64, key string, reading gpu.Maybe[float64]) {
	if v, ok := reading.Get(); ok {
		m[key] = v
	}
}

func scaled(m gpu.Maybe[float64], scale float64) gpu.Maybe[float64] {
	if v, ok := m.Get(); ok {
		return gpu.Some(v * scale)
	}
	return m
}
