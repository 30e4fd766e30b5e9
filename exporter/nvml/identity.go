//go:build linux && cgo

package nvml

import (
	"fmt"
	"strconv"
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
	pci, ok := value(c, "nvmlDeviceGetPciInfo", d.GetPciInfo)
	if ok {
		id.PCIAddress = fmt.Sprintf("%04x:%02x:%02x.0", pci.Domain, pci.Bus, pci.Device)
	}
	id.Make = readMake(c, d, pci)
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
	id.Board = readBoard(c, d)
	return id
}

// readBoard reads where the card sits and what it is a part of.
func readBoard(c *caller, d device) gpu.Board {
	count := func(call string, f func() (int, nvml.Return)) string {
		v, ok := value(c, call, f)
		if !ok || v < 0 {
			return ""
		}
		return strconv.Itoa(v)
	}
	inforom, _ := value(c, "nvmlDeviceGetInforomImageVersion", d.GetInforomImageVersion)
	b := gpu.Board{
		InfoROM: clean(inforom),
		Minor:   count("nvmlDeviceGetMinorNumber", d.GetMinorNumber),
		Module:  count("nvmlDeviceGetModuleId", d.GetModuleId),
	}
	if several, ok := value(c, "nvmlDeviceGetMultiGpuBoard", d.GetMultiGpuBoard); ok && several != 0 {
		if id, ok := value(c, "nvmlDeviceGetBoardId", d.GetBoardId); ok {
			b.ID = strconv.FormatUint(uint64(id), 16)
		}
	}
	if p, ok := value(c, "nvmlDeviceGetPlatformInfo", d.GetPlatformInfo); ok {
		b.Chassis = clean(string(p.ChassisSerialNumber[:]))
		b.Slot, b.Tray, b.Node = strconv.Itoa(int(p.SlotNumber)), strconv.Itoa(int(p.TrayIndex)), strconv.Itoa(int(p.HostId))
		b.Module = strconv.Itoa(int(p.ModuleId))
	}
	return b
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
	limits                     map[string]float64 // default, min, max, in watts
	thresholds, offsets        map[string]float64
	clockMax, clockCustomerMax map[string]float64
	fans                       int

	pcieGenerationMax, pcieWidthMax gpu.Maybe[float64]
	inforomValid, confidential      gpu.Maybe[bool]
	setup                           gpu.Setup

	// The fields that the card answers, by when they are asked for.
	moving, rows, pcie, module *batch
	split                      bool // the counters of throttling tell software from hardware
	links                      linkPlan
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
		limits: map[string]float64{}, thresholds: map[string]float64{}, offsets: map[string]float64{},
		pcieGenerationMax: number(c, "nvmlDeviceGetMaxPcieLinkGeneration", d.GetMaxPcieLinkGeneration, 1, 16, 1),
		pcieWidthMax:      number(c, "nvmlDeviceGetMaxPcieLinkWidth", d.GetMaxPcieLinkWidth, 1, 64, 1),
		clockMax:          readClockSet(c, "nvmlDeviceGetMaxClockInfo", d.GetMaxClockInfo),
		clockCustomerMax:  readClockSet(c, "nvmlDeviceGetMaxCustomerBoostClock", d.GetMaxCustomerBoostClock),
		inforomValid:      validateInfoROM(c, d),
		confidential:      readConfidential(c),
		setup:             readSetup(c, d),
		rows:              batchOf(rowFields),
		pcie:              batchOf(pcieFields),
		module:            batchOf(moduleFields),
		links:             planLinks(c, d),
	}
	slowdown := planSlowdown(c, d)
	f.split = slowdown != nil
	f.moving = batchOf(movingFields, slowdown, policyFields(f.split))
	put(f.limits, "default", number(c, "nvmlDeviceGetPowerManagementDefaultLimit", d.GetPowerManagementDefaultLimit, 1, maxMilliwatts, 1e-3))
	const constraints = "nvmlDeviceGetPowerManagementLimitConstraints"
	if p, ok := pairOf(c, constraints, d.GetPowerManagementLimitConstraints); ok {
		put(f.limits, "min", scaled(c.within(constraints, float64(p.first), 0, maxMilliwatts), 1e-3))
		put(f.limits, "max", scaled(c.within(constraints, float64(p.second), 1, maxMilliwatts), 1e-3))
	}
	readThresholds(c, d, &f)
	if fans, ok := value(c, "nvmlDeviceGetNumFans", d.GetNumFans); ok && fans > 0 && fans <= 16 {
		f.fans = fans
	}
	return f
}

// readThresholds reads the limits of temperature in both forms: as temperatures, and as
// margins that are left (Ada and later).
func readThresholds(c *caller, d device, f *fixed) {
	const call = "nvmlDeviceGetTemperatureThreshold"
	ids := make([]uint32, len(thresholds))
	for i, t := range thresholds {
		ids[i] = t.offset
		put(f.thresholds, t.name, keyedNumber(c, call, call+"("+t.name+")", with(d.GetTemperatureThreshold, t.kind), 1, maxCelsius, 1))
	}
	found := probe(c, d, scopeGPU, ids...)
	for _, t := range thresholds {
		if v, ok := found[t.offset]; ok {
			put(f.offsets, t.name, c.within(fieldKey(t.offset, scopeGPU), v.v, -maxCelsius, maxCelsius))
		}
	}
}

var thresholds = []struct {
	name   string
	kind   nvml.TemperatureThresholds
	offset uint32 // the field of the other form
}{
	{"shutdown", nvml.TEMPERATURE_THRESHOLD_SHUTDOWN, nvml.FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT},
	{"slowdown", nvml.TEMPERATURE_THRESHOLD_SLOWDOWN, nvml.FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT},
	{"memory_max", nvml.TEMPERATURE_THRESHOLD_MEM_MAX, nvml.FI_DEV_TEMPERATURE_MEM_MAX_TLIMIT},
	{"gpu_max", nvml.TEMPERATURE_THRESHOLD_GPU_MAX, nvml.FI_DEV_TEMPERATURE_GPU_MAX_TLIMIT},
}

// validateInfoROM has the card check its InfoROM. The call reads flash, so it is made seldom.
func validateInfoROM(c *caller, d device) gpu.Maybe[bool] {
	const call = "nvmlDeviceValidateInforom"
	valid := true
	if !c.ask(call, call, func() nvml.Return {
		ret := d.ValidateInforom()
		if ret == nvml.ERROR_CORRUPTED_INFOROM { // which is an answer
			valid, ret = false, nvml.SUCCESS
		}
		return ret
	}) {
		return gpu.Maybe[bool]{}
	}
	return gpu.Some(valid)
}

// readClockSet reads one figure of each clock.
func readClockSet(c *caller, call string, f func(nvml.ClockType) (uint32, nvml.Return)) map[string]float64 {
	set := make(map[string]float64, len(clocks))
	for _, clock := range clocks {
		put(set, clock.name, keyedNumber(c, call, call+"("+clock.name+")", with(f, clock.kind), 1, maxMegahertz, 1e6))
	}
	return set
}

// clocks are the clocks of a card. key names the call for the present one, which is asked for
// most often.
var clocks = []struct {
	name string
	kind nvml.ClockType
	key  string
}{
	{"graphics", nvml.CLOCK_GRAPHICS, "nvmlDeviceGetClockInfo(graphics)"},
	{"sm", nvml.CLOCK_SM, "nvmlDeviceGetClockInfo(sm)"},
	{"memory", nvml.CLOCK_MEM, "nvmlDeviceGetClockInfo(memory)"},
	{"video", nvml.CLOCK_VIDEO, "nvmlDeviceGetClockInfo(video)"},
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
