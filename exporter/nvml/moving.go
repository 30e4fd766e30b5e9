//go:build linux && cgo

package nvml

import (
	"maps"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// movingFields are the fields of the fast tier, beside the counters of throttling.
var movingFields = []field{
	// A sensor of the memory that is not there reads 0.
	{id: nvml.FI_DEV_MEMORY_TEMP, low: 1, high: maxCelsius, scale: 1, put: reading(func(r *gpu.Readings) *gpu.Maybe[float64] { return &r.MemoryTemperatureCelsius })},
	{id: nvml.FI_DEV_TOTAL_ENERGY_CONSUMPTION, high: maxCount, scale: 1e-3, put: reading(func(r *gpu.Readings) *gpu.Maybe[float64] { return &r.EnergyJoulesTotal })},
	{id: nvml.FI_DEV_GET_GPU_RECOVERY_ACTION, high: 1 << 16, scale: 1, put: reading(func(r *gpu.Readings) *gpu.Maybe[float64] { return &r.RecoveryAction })},
	{id: nvml.FI_DEV_POWER_AVERAGE, high: maxMilliwatts, scale: 1e-3, put: reading(func(r *gpu.Readings) *gpu.Maybe[float64] { return &r.PowerAverageWatts })},
	{id: nvml.FI_DEV_POWER_INSTANT, high: maxMilliwatts, scale: 1e-3, put: reading(func(r *gpu.Readings) *gpu.Maybe[float64] { return &r.PowerInstantWatts })},
	{id: nvml.FI_DEV_POWER_AVERAGE, scope: scopeModule, high: maxMilliwatts, scale: 1e-3, put: reading(func(r *gpu.Readings) *gpu.Maybe[float64] { return &r.Module.PowerAverageWatts })},
	{id: nvml.FI_DEV_POWER_INSTANT, scope: scopeModule, high: maxMilliwatts, scale: 1e-3, put: reading(func(r *gpu.Readings) *gpu.Maybe[float64] { return &r.Module.PowerInstantWatts })},
	{id: nvml.FI_DEV_ENERGY, scope: scopeModule, high: maxCount, scale: 1e-3, put: reading(func(r *gpu.Readings) *gpu.Maybe[float64] { return &r.Module.EnergyJoulesTotal })},
	{id: nvml.FI_DEV_PCIE_COUNT_TX_BYTES, high: maxCount, scale: 1, counts: true, put: into(pcieBytes, "tx")},
	{id: nvml.FI_DEV_PCIE_COUNT_RX_BYTES, high: maxCount, scale: 1, counts: true, put: into(pcieBytes, "rx")},
	{id: nvml.FI_DEV_NVLINK_THROUGHPUT_DATA_TX, scope: scopeAll, high: maxCount / kib, scale: kib, counts: true, put: into(nvlinkBytes, "tx")},
	{id: nvml.FI_DEV_NVLINK_THROUGHPUT_DATA_RX, scope: scopeAll, high: maxCount / kib, scale: kib, counts: true, put: into(nvlinkBytes, "rx")},
}

const kib = 1 << 10

func pcieBytes(r *gpu.Readings) map[string]float64 { return r.PCIeBytesTotal }

func nvlinkBytes(r *gpu.Readings) map[string]float64 { return r.NVLink.BytesTotal }

// readMoving reads the fast tier into r, which holds the last readings of the slow one.
func readMoving(c *caller, d device, f *fixed, r *gpu.Readings) {
	r.InfoROMValid, r.Modes.Confidential, r.Setup = f.inforomValid, f.confidential, f.setup
	readUse(c, d, r)
	readMemory(c, d, r)
	readClocks(c, d, f, r)
	readPower(c, d, f, r)
	r.TemperatureCelsius = number(c, "nvmlDeviceGetTemperature", with(d.GetTemperature, nvml.TEMPERATURE_GPU), 0, maxCelsius, 1)
	r.TemperatureThresholds, r.TemperatureOffsets = f.thresholds, f.offsets
	const marginCall = "nvmlDeviceGetMarginTemperature"
	if margin, ok := value(c, marginCall, d.GetMarginTemperature); ok {
		r.TemperatureMarginCelsius = c.within(marginCall, float64(margin.MarginTemperature), -maxCelsius, maxCelsius)
	}
	readMovingFields(c, d, f, r)
	readFans(c, d, f, r)
}

func readUse(c *caller, d device, r *gpu.Readings) {
	const call = "nvmlDeviceGetUtilizationRates"
	if use, ok := value(c, call, d.GetUtilizationRates); ok {
		r.UtilizationRatio = scaled(c.within(call, float64(use.Gpu), 0, 100), 0.01)
		r.MemoryUtilizationRatio = scaled(c.within(call, float64(use.Memory), 0, 100), 0.01)
	}
	engine := func(call string, f func() (uint32, uint32, nvml.Return)) gpu.Maybe[float64] {
		return number(c, call, func() (uint32, nvml.Return) {
			use, _, ret := f()
			return use, ret
		}, 0, 100, 0.01)
	}
	r.EncoderRatio = engine("nvmlDeviceGetEncoderUtilization", d.GetEncoderUtilization)
	r.DecoderRatio = engine("nvmlDeviceGetDecoderUtilization", d.GetDecoderUtilization)
	r.JPEGRatio = engine("nvmlDeviceGetJpgUtilization", d.GetJpgUtilization)
	r.OFARatio = engine("nvmlDeviceGetOfaUtilization", d.GetOfaUtilization)
}

func readMemory(c *caller, d device, r *gpu.Readings) {
	const second, first = "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetMemoryInfo"
	if m, ok := value(c, second, d.GetMemoryInfo_v2); ok {
		r.MemoryTotalBytes = c.within(second, float64(m.Total), 1, maxMemoryBytes)
		r.MemoryUsedBytes = c.within(second, float64(m.Used), 0, float64(m.Total))
		r.MemoryFreeBytes = c.within(second, float64(m.Free), 0, float64(m.Total))
		r.MemoryReservedBytes = c.within(second, float64(m.Reserved), 0, float64(m.Total))
	} else if m, ok := value(c, first, d.GetMemoryInfo); ok {
		r.MemoryTotalBytes = c.within(first, float64(m.Total), 1, maxMemoryBytes)
		r.MemoryUsedBytes = c.within(first, float64(m.Used), 0, float64(m.Total))
		r.MemoryFreeBytes = c.within(first, float64(m.Free), 0, float64(m.Total))
	}
}

func readClocks(c *caller, d device, f *fixed, r *gpu.Readings) {
	r.ClockHertz = make(map[string]float64, len(clocks))
	for _, clock := range clocks {
		put(r.ClockHertz, clock.name, keyedNumber(c, "nvmlDeviceGetClockInfo", clock.key, with(d.GetClockInfo, clock.kind), 0, maxMegahertz, 1e6))
	}
	r.ClockMaxHertz, r.ClockCustomerMaxHertz = f.clockMax, f.clockCustomerMax
	readThrottle(c, d, r)
	r.PerformanceState = number(c, "nvmlDeviceGetPerformanceState", d.GetPerformanceState, 0, 15, 1)
}

func readPower(c *caller, d device, f *fixed, r *gpu.Readings) {
	r.PowerWatts = number(c, "nvmlDeviceGetPowerUsage", d.GetPowerUsage, 0, maxMilliwatts, 1e-3)
	r.PowerLimits = maps.Clone(f.limits)
	put(r.PowerLimits, "enforced", number(c, "nvmlDeviceGetEnforcedPowerLimit", d.GetEnforcedPowerLimit, 1, maxMilliwatts, 1e-3))
	put(r.PowerLimits, "management", number(c, "nvmlDeviceGetPowerManagementLimit", d.GetPowerManagementLimit, 1, maxMilliwatts, 1e-3))
}

func readMovingFields(c *caller, d device, f *fixed, r *gpu.Readings) {
	r.ThrottleSecondsTotal = make(map[string]float64, len(policies)+len(slowdownReasons))
	r.PCIeBytesTotal = map[string]float64{}
	byLink := r.NVLink.BytesTotal // as the slow tier counted
	r.NVLink.BytesTotal = map[string]float64{}
	f.moving.read(c, d, r)
	if len(r.NVLink.BytesTotal) == 0 {
		r.NVLink.BytesTotal = byLink
	}
	if !f.moving.asks(nvml.FI_DEV_TOTAL_ENERGY_CONSUMPTION) {
		r.EnergyJoulesTotal = number(c, "nvmlDeviceGetTotalEnergyConsumption", d.GetTotalEnergyConsumption, 0, maxCount, 1e-3)
	}
	judgeRecovery(c, r.RecoveryAction)
	readViolations(c, d, f, r)
}

// recoveries are the driver's recovery actions by their numbers, nvmlDeviceGpuRecoveryAction_t.
// unusable are those of a card that takes no work before: NVIDIA's "GPU Memory Error Management"
// tells the others apart. Peer-to-peer traffic to be quiesced (3) ends by itself or becomes one of
// the other actions; a card that is to be drained and reset (4) works on with less, and mends itself
// at the reset, as one whose remap is pending; the IMEX domain (5) is no part of the card.
var recoveries = []struct {
	name     string
	unusable bool
}{
	0: {"nothing", false},
	1: {"reset the GPU", true},
	2: {"reboot the node", true},
	3: {"drain peer-to-peer traffic", false},
	4: {"drain, then reset the GPU", false},
	5: {"recover the IMEX domain", false},
	6: {"reset the GPU's bus", true},
	7: {"reboot the system", true},
}

// judgeRecovery notes that the driver asks for what makes the card unusable until it is done. A
// number that came later is on the page, and no reason to call a card down that answers.
func judgeRecovery(c *caller, action gpu.Maybe[float64]) {
	number, ok := action.Get()
	if !ok || number < 0 || int(number) >= len(recoveries) {
		return
	}
	if asked := recoveries[int(number)]; asked.unusable {
		c.note(gpu.AnswerResetRequired, "the driver asks for recovery: "+asked.name)
	}
}

func readFans(c *caller, d device, f *fixed, r *gpu.Readings) {
	r.FanRatio = nil
	for fan := range f.fans {
		speed := number(c, "nvmlDeviceGetFanSpeed_v2", with(d.GetFanSpeed_v2, fan), 0, 200, 0.01)
		if c.unsupported["nvmlDeviceGetFanSpeed_v2"] && f.fans == 1 {
			speed = number(c, "nvmlDeviceGetFanSpeed", d.GetFanSpeed, 0, 200, 0.01)
		}
		ratio, ok := speed.Get()
		if !ok {
			r.FanRatio = nil // a gap would give the later fans wrong numbers
			return
		}
		r.FanRatio = append(r.FanRatio, ratio)
	}
}
