package catalog

import (
	"strconv"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// useFamilies tell how busy a card is.
func useFamilies() []Family {
	return []Family{
		{
			Name: "gpu_utilization_ratio", Kind: Gauge, Unit: "ratio",
			Help:     "Share of the driver's last sampling period in which a kernel ran, 0 to 1. It says nothing of how much of the card the kernel used. Of a MIG device: of the last interval.",
			Hardware: "cards without MIG; MIG devices of Hopper and later", Source: "nvmlDeviceGetUtilizationRates; of a MIG device GRAPHICS_UTIL of nvmlGpmMetricsGet",
			GPU:      reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.UtilizationRatio }),
			Instance: ofInstance(func(i *gpu.Instance) gpu.Maybe[float64] { return i.Readings.GPM.GraphicsActive }),
		},
		{
			Name: "gpu_memory_utilization_ratio", Kind: Gauge, Unit: "ratio",
			Help:     "Share of the driver's last sampling period in which the memory was read or written, 0 to 1.",
			Hardware: "not while MIG is on", Source: "nvmlDeviceGetUtilizationRates",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.MemoryUtilizationRatio }),
		},
		{
			Name: "gpu_encoder_utilization_ratio", Kind: Gauge, Unit: "ratio",
			Help:     "Share of time the video encoder was busy, 0 to 1.",
			Hardware: "cards with an encoder", Source: "nvmlDeviceGetEncoderUtilization",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.EncoderRatio }),
		},
		{
			Name: "gpu_decoder_utilization_ratio", Kind: Gauge, Unit: "ratio",
			Help:     "Share of time the video decoder was busy, 0 to 1.",
			Hardware: "cards with a decoder", Source: "nvmlDeviceGetDecoderUtilization",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.DecoderRatio }),
		},
		{
			Name: "gpu_jpeg_utilization_ratio", Kind: Gauge, Unit: "ratio",
			Help:     "Share of time the JPEG engine was busy, 0 to 1.",
			Hardware: "Turing and later, with the engine", Source: "nvmlDeviceGetJpgUtilization",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.JPEGRatio }),
		},
		{
			Name: "gpu_ofa_utilization_ratio", Kind: Gauge, Unit: "ratio",
			Help:     "Share of time the optical flow accelerator was busy, 0 to 1.",
			Hardware: "Turing and later, with the engine", Source: "nvmlDeviceGetOfaUtilization",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.OFARatio }),
		},
	}
}

// memoryFamilies tell what fills a card's memory.
func memoryFamilies() []Family {
	return []Family{
		{
			Name: "gpu_memory_total_bytes", Kind: Gauge, Unit: "bytes",
			Help: "Memory of the card, or of the MIG device: compute instances of one GPU instance share theirs.", Source: "nvmlDeviceGetMemoryInfo_v2",
			GPU:      reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.MemoryTotalBytes }),
			Instance: ofInstance(func(i *gpu.Instance) gpu.Maybe[float64] { return i.Readings.MemoryTotalBytes }),
		},
		{
			Name: "gpu_memory_used_bytes", Kind: Gauge, Unit: "bytes",
			Help: "Memory in use, without what the driver reserves where it tells that apart.", Source: "nvmlDeviceGetMemoryInfo_v2",
			GPU:      reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.MemoryUsedBytes }),
			Instance: ofInstance(func(i *gpu.Instance) gpu.Maybe[float64] { return i.Readings.MemoryUsedBytes }),
		},
		{
			Name: "gpu_memory_free_bytes", Kind: Gauge, Unit: "bytes",
			Help: "Memory that can be allocated.", Source: "nvmlDeviceGetMemoryInfo_v2",
			GPU:      reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.MemoryFreeBytes }),
			Instance: ofInstance(func(i *gpu.Instance) gpu.Maybe[float64] { return i.Readings.MemoryFreeBytes }),
		},
		{
			Name: "gpu_memory_reserved_bytes", Kind: Gauge, Unit: "bytes",
			Help: "Memory that the driver keeps for itself.", Hardware: "drivers from 510", Source: "nvmlDeviceGetMemoryInfo_v2",
			GPU:      reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.MemoryReservedBytes }),
			Instance: ofInstance(func(i *gpu.Instance) gpu.Maybe[float64] { return i.Readings.MemoryReservedBytes }),
		},
		{
			Name: "gpu_bar1_memory_total_bytes", Kind: Gauge, Unit: "bytes",
			Help: "Size of BAR1, the window of the card's memory that the host and its network cards can map.", Source: "nvmlDeviceGetBAR1MemoryInfo",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.BAR1.TotalBytes }),
		},
		{
			Name: "gpu_bar1_memory_used_bytes", Kind: Gauge, Unit: "bytes",
			Help: "Mapped part of BAR1; when it is full, GPUDirect mappings fail.", Source: "nvmlDeviceGetBAR1MemoryInfo",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.BAR1.UsedBytes }),
		},
		{
			Name: "gpu_bar1_memory_free_bytes", Kind: Gauge, Unit: "bytes",
			Help: "Part of BAR1 that can still be mapped.", Source: "nvmlDeviceGetBAR1MemoryInfo",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.BAR1.FreeBytes }),
		},
		{
			Name: "gpu_processes", Kind: Gauge,
			Help: "Processes on the card: compute, graphics and MPS, each once. Never their names or arguments.", Source: "nvmlDeviceGetComputeRunningProcesses_v3 and its like",
			GPU:      reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.Processes }),
			Instance: ofInstance(func(i *gpu.Instance) gpu.Maybe[float64] { return i.Readings.Processes }),
		},
	}
}

// heatFamilies tell of temperature.
func heatFamilies() []Family {
	return []Family{
		{
			Name: "gpu_temperature_celsius", Kind: Gauge, Unit: "celsius",
			Help: "Temperature of the chip.", Source: "nvmlDeviceGetTemperature",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.TemperatureCelsius }),
		},
		{
			Name: "gpu_memory_temperature_celsius", Kind: Gauge, Unit: "celsius",
			Help: "Temperature of the memory.", Hardware: "cards with HBM", Source: "field NVML_FI_DEV_MEMORY_TEMP",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.MemoryTemperatureCelsius }),
		},
		{
			Name: "gpu_temperature_margin_celsius", Kind: Gauge, Unit: "celsius",
			Help: "Degrees left until the card begins to slow down.", Hardware: "Ada and later", Source: "nvmlDeviceGetMarginTemperature",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.TemperatureMarginCelsius }),
		},
		{
			Name: "gpu_temperature_threshold_celsius", Kind: Gauge, Unit: "celsius", Labels: []string{"threshold"},
			Help:     "The driver's own limits: slowdown, shutdown, memory_max, gpu_max.",
			Hardware: "each where the card has it", Source: "nvmlDeviceGetTemperatureThreshold",
			GPU: each(func(r *gpu.Readings) map[string]float64 { return r.TemperatureThresholds }),
		},
		{
			Name: "gpu_temperature_limit_offset_celsius", Kind: Gauge, Unit: "celsius", Labels: []string{"threshold"},
			Help: "The card's limits as margins, the driver's T.Limit: what gpu_temperature_margin_celsius has come down to when shutdown, slowdown, memory_max or gpu_max begins. " +
				"No temperature: 0 or a few degrees below on most cards.",
			Hardware: "Ada and later", Source: "fields NVML_FI_DEV_TEMPERATURE_*_TLIMIT",
			GPU: each(func(r *gpu.Readings) map[string]float64 { return r.TemperatureOffsets }),
		},
	}
}

// powerFamilies tell of power and fans.
func powerFamilies() []Family {
	return []Family{
		{
			Name: "gpu_power_average_watts", Kind: Gauge, Unit: "watts",
			Help: "Power drawn by the card, the mean of the last second.", Hardware: "Ampere and later, but GA100", Source: "field NVML_FI_DEV_POWER_AVERAGE",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.PowerAverageWatts }),
		},
		{
			Name: "gpu_power_instant_watts", Kind: Gauge, Unit: "watts",
			Help: "Power drawn by the card at the moment of the reading.", Hardware: "drivers from 530", Source: "field NVML_FI_DEV_POWER_INSTANT",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.PowerInstantWatts }),
		},
		{
			Name: "gpu_module_power_average_watts", Kind: Gauge, Unit: "watts",
			Help: "Power drawn by the module of CPU and GPU, the mean of the last second.", Hardware: "Grace Hopper, Grace Blackwell", Source: "field NVML_FI_DEV_POWER_AVERAGE, scope 1",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.Module.PowerAverageWatts }),
		},
		{
			Name: "gpu_module_power_instant_watts", Kind: Gauge, Unit: "watts",
			Help: "Power drawn by the module of CPU and GPU at the moment of the reading.", Hardware: "Grace Hopper, Grace Blackwell", Source: "field NVML_FI_DEV_POWER_INSTANT, scope 1",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.Module.PowerInstantWatts }),
		},
		{
			Name: "gpu_module_power_limit_watts", Kind: Gauge, Unit: "watts", Labels: []string{"limit"},
			Help: "Power limits of the module: enforced, requested, default, min, max.", Hardware: "Grace Hopper, Grace Blackwell", Source: "fields NVML_FI_DEV_POWER_*_LIMIT, scope 1",
			GPU: each(func(r *gpu.Readings) map[string]float64 { return r.Module.PowerLimits }),
		},
		{
			Name: "gpu_module_energy_joules_total", Kind: Counter, Unit: "joules",
			Help: "Energy drawn by the module since the driver was loaded.", Hardware: "Grace Hopper, Grace Blackwell", Source: "field NVML_FI_DEV_ENERGY, scope 1",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.Module.EnergyJoulesTotal }),
		},
		{
			Name: "gpu_power_watts", Kind: Gauge, Unit: "watts",
			Help: "Power drawn by the card; on Ampere and later (but GA100) the mean of the last second.", Source: "nvmlDeviceGetPowerUsage",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.PowerWatts }),
		},
		{
			Name: "gpu_power_limit_watts", Kind: Gauge, Unit: "watts", Labels: []string{"limit"},
			Help:   "Power limits: enforced (what counts now), management (as set), default, min, max.",
			Source: "nvmlDeviceGetEnforcedPowerLimit, ...GetPowerManagementLimit, ...DefaultLimit, ...LimitConstraints",
			GPU:    each(func(r *gpu.Readings) map[string]float64 { return r.PowerLimits }),
		},
		{
			Name: "gpu_energy_joules_total", Kind: Counter, Unit: "joules",
			Help: "Energy drawn since the driver was loaded.", Hardware: "Volta and later", Source: "nvmlDeviceGetTotalEnergyConsumption",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.EnergyJoulesTotal }),
		},
		{
			Name: "gpu_fan_speed_ratio", Kind: Gauge, Unit: "ratio", Labels: []string{"fan"},
			Help: "Intended fan speed as a share of the maximum; it can exceed 1.", Hardware: "cards with their own fans", Source: "nvmlDeviceGetFanSpeed_v2",
			GPU: func(g *gpu.GPU, emit Emit) {
				for i, v := range g.Readings.FanRatio {
					emit(v, strconv.Itoa(i))
				}
			},
		},
	}
}

// clockFamilies tell of clocks and of what holds them back.
func clockFamilies() []Family {
	return []Family{
		{
			Name: "gpu_clock_hertz", Kind: Gauge, Unit: "hertz", Labels: []string{"clock"},
			Help: "Clock now: graphics, sm, memory, video.", Source: "nvmlDeviceGetClockInfo",
			GPU: each(func(r *gpu.Readings) map[string]float64 { return r.ClockHertz }),
		},
		{
			Name: "gpu_clock_max_hertz", Kind: Gauge, Unit: "hertz", Labels: []string{"clock"},
			Help: "Highest clock the card allows.", Source: "nvmlDeviceGetMaxClockInfo",
			GPU: each(func(r *gpu.Readings) map[string]float64 { return r.ClockMaxHertz }),
		},
		{
			Name: "gpu_clock_customer_max_hertz", Kind: Gauge, Unit: "hertz", Labels: []string{"clock"},
			Help: "Highest clock that the maker of the system allows.", Hardware: "by system", Source: "nvmlDeviceGetMaxCustomerBoostClock",
			GPU: each(func(r *gpu.Readings) map[string]float64 { return r.ClockCustomerMaxHertz }),
		},
		{
			Name: "gpu_clock_application_hertz", Kind: Gauge, Unit: "hertz", Labels: []string{"clock"},
			Help:     "Clock that applications are to run at: under gpu_clock_max_hertz where an operator lowered it. A driver tells of locked clocks only by gpu_throttle_active{reason=\"applications_clocks\"}.",
			Hardware: "data centre cards before Blackwell", Source: "nvmlDeviceGetApplicationsClock",
			GPU: each(func(r *gpu.Readings) map[string]float64 { return r.ClockApplicationHertz }),
		},
		{
			Name: "gpu_performance_state", Kind: Gauge,
			Help: "Performance state, 0 (fastest) to 15.", Source: "nvmlDeviceGetPerformanceState",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.PerformanceState }),
		},
		{
			Name: "gpu_persistence_mode", Kind: Gauge,
			Help: "1 where the driver stays loaded without clients.", Source: "nvmlDeviceGetPersistenceMode",
			GPU: flag(func(r *gpu.Readings) gpu.Maybe[bool] { return r.Persistence }),
		},
		{
			Name: "gpu_throttle_active", Kind: Gauge, Labels: []string{"reason"},
			Help: "1 while this reason holds the clocks back: gpu_idle, applications_clocks, sw_power_cap, hw_slowdown, sync_boost, sw_thermal, hw_thermal, hw_power_brake, display_clock.", Source: "nvmlDeviceGetCurrentClocksEventReasons",
			GPU: flags(func(r *gpu.Readings) map[string]bool { return r.ThrottleActive }),
		},
		{
			Name: "gpu_throttle_seconds_total", Kind: Counter, Unit: "seconds", Labels: []string{"reason"},
			Help:     "Time this reason held the clocks back, as the driver counts it. An old driver that does not tell software from hardware counts under thermal.",
			Hardware: "by reason and generation", Source: "fields NVML_FI_DEV_CLOCKS_EVENT_REASON_*, else nvmlDeviceGetViolationStatus",
			GPU: each(func(r *gpu.Readings) map[string]float64 { return r.ThrottleSecondsTotal }),
		},
	}
}
