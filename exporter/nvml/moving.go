//go:build linux && cgo

package nvml

import (
	"maps"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// readMoving reads the fast tier into r, which holds the last readings of the slow one.
func readMoving(c *caller, d device, f fixed, r *gpu.Readings) {
	readUse(c, d, r)
	readMemory(c, d, r)
	readClocks(c, d, f, r)
	readPower(c, d, f, r)
	r.TemperatureCelsius = number(c, "nvmlDeviceGetTemperature", with(d.GetTemperature, nvml.TEMPERATURE_GPU), 0, maxCelsius, 1)
	r.TemperatureThresholds = f.thresholds
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
}

func readMemory(c *caller, d device, r *gpu.Readings) {
	const second, first = "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetMemoryInfo"
	if m, ok := value(c, second, d.GetMemoryInfo_v2); ok {
		r.MemoryTotalBytes = c.within(second, float64(m.Total), 1, maxMemoryBytes)
		r.MemoryUsedBytes = c.within(second, float64(m.Used), 0, float64(m.Total))
		r.MemoryFreeBytes = c.within(second, float64(m.Free), 0, float64(m.Total))
		r.MemoryReservedBytes = c.within(second, float64(m.Reserved), 0, float64(m.Total))
		return
	}
	if m, ok := value(c, first, d.GetMemoryInfo); ok {
		r.MemoryTotalBytes = c.within(first, float64(m.Total), 1, maxMemoryBytes)
		r.MemoryUsedBytes = c.within(first, float64(m.Used), 0, float64(m.Total))
		r.MemoryFreeBytes = c.within(first, float64(m.Free), 0, float64(m.Total))
	}
}

// throttleBits are the bits of the clocks event reasons, by our names.
var throttleBits = map[string]uint64{
	"gpu_idle": 0x1, "applications_clocks": 0x2, "sw_power_cap": 0x4, "hw_slowdown": 0x8, "sync_boost": 0x10,
	"sw_thermal": 0x20, "hw_thermal": 0x40, "hw_power_brake": 0x80, "display_clock": 0x100,
}

func readClocks(c *caller, d device, f fixed, r *gpu.Readings) {
	r.ClockHertz = make(map[string]float64, len(clocks))
	for _, clock := range clocks {
		put(r.ClockHertz, clock.name, keyedNumber(c, "nvmlDeviceGetClockInfo", clock.key, with(d.GetClockInfo, clock.kind), 0, maxMegahertz, 1e6))
	}
	r.ClockMaxHertz = f.clockMax
	reasons, ok := value(c, "nvmlDeviceGetCurrentClocksEventReasons", d.GetCurrentClocksEventReasons)
	if !ok { // its name until driver 535
		reasons, ok = value(c, "nvmlDeviceGetCurrentClocksThrottleReasons", d.GetCurrentClocksThrottleReasons)
	}
	if ok {
		r.ThrottleActive = make(map[string]bool, len(throttleBits))
		for name, bit := range throttleBits {
			r.ThrottleActive[name] = reasons&bit != 0
		}
	}
	r.PerformanceState = number(c, "nvmlDeviceGetPerformanceState", d.GetPerformanceState, 0, 15, 1)
}

func readPower(c *caller, d device, f fixed, r *gpu.Readings) {
	r.PowerWatts = number(c, "nvmlDeviceGetPowerUsage", d.GetPowerUsage, 0, maxMilliwatts, 1e-3)
	r.PowerLimits = maps.Clone(f.limits)
	put(r.PowerLimits, "enforced", number(c, "nvmlDeviceGetEnforcedPowerLimit", d.GetEnforcedPowerLimit, 1, maxMilliwatts, 1e-3))
	put(r.PowerLimits, "management", number(c, "nvmlDeviceGetPowerManagementLimit", d.GetPowerManagementLimit, 1, maxMilliwatts, 1e-3))
}

func readMovingFields(c *caller, d device, f fixed, r *gpu.Readings) {
	found := readFields(c, d, f.fields.moving)
	// A sensor of the memory that is not there reads 0.
	r.MemoryTemperatureCelsius = reading(c, found, nvml.FI_DEV_MEMORY_TEMP, 1, maxCelsius, 1)
	r.EnergyJoulesTotal = reading(c, found, nvml.FI_DEV_TOTAL_ENERGY_CONSUMPTION, 0, maxCount, 1e-3)
	if _, answered := found[nvml.FI_DEV_TOTAL_ENERGY_CONSUMPTION]; !answered {
		r.EnergyJoulesTotal = number(c, "nvmlDeviceGetTotalEnergyConsumption", d.GetTotalEnergyConsumption, 0, maxCount, 1e-3)
	}
	r.RecoveryAction = reading(c, found, nvml.FI_DEV_GET_GPU_RECOVERY_ACTION, 0, 1<<16, 1)
	if action, ok := r.RecoveryAction.Get(); ok && action != 0 {
		c.note(gpu.AnswerResetRequired, "the driver asks for recovery: "+recoveryName(action))
	}
	readThrottleTimes(c, d, f, found, r)
}

func readThrottleTimes(c *caller, d device, f fixed, found map[uint32]fieldValue, r *gpu.Readings) {
	r.ThrottleSecondsTotal = map[string]float64{}
	ids, split := f.fields.slowdown.Get()
	if split {
		for i, reason := range slowdownReasons {
			put(r.ThrottleSecondsTotal, reason, reading(c, found, ids[i], 0, maxNanoseconds, 1e-9))
		}
	}
	for _, p := range policyFields {
		if p.reason == "thermal" && split {
			continue // told apart above
		}
		seconds := reading(c, found, p.id, 0, maxNanoseconds, 1e-9)
		if _, answered := found[p.id]; !answered {
			const call = "nvmlDeviceGetViolationStatus"
			seconds = keyedNumber(c, call, call+"("+p.reason+")", func() (uint64, nvml.Return) {
				violation, ret := d.GetViolationStatus(p.policy)
				return violation.ViolationTime, ret
			}, 0, maxNanoseconds, 1e-9)
		}
		put(r.ThrottleSecondsTotal, p.reason, seconds)
	}
}

// recoveryName spells the driver's recovery action; a number that came later passes through.
func recoveryName(action float64) string {
	switch action {
	case 1:
		return "reset the GPU"
	case 2:
		return "reboot the node"
	case 3:
		return "drain peer-to-peer traffic"
	case 4:
		return "drain, then reset the GPU"
	case 5:
		return "recover the IMEX domain"
	case 6:
		return "reset the GPU's bus"
	case 7:
		return "reboot the system"
	}
	return "action " + formatCount(action)
}

func readFans(c *caller, d device, f fixed, r *gpu.Readings) {
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
