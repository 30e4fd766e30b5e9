package catalog

import "github.com/leasewatch/leasewatch/exporter/gpu"

// setupFamilies tell which chip and firmware a card has and what is switched on.
func setupFamilies() []Family {
	return []Family{
		{
			Name: "gpu_hardware_info", Kind: Info, Stays: true,
			Labels: []string{"compute_capability", "pci_device_id", "pci_subsystem_id", "gsp_firmware", "inforom_oem", "inforom_ecc", "inforom_power"},
			Help:   "Which chip and firmware the card has: CUDA compute capability, identifiers of its PCI function, version of its GSP firmware and of the parts of its InfoROM. A label is empty where the card does not tell.",
			Source: "nvmlDeviceGetCudaComputeCapability, ...GetPciInfo_v3, ...GetGspFirmwareVersion, ...GetInforomVersion",
			GPU: func(g *gpu.GPU, emit Emit) {
				if m := &g.Identity.Make; *m != (gpu.Make{}) {
					emit(1, m.ComputeCapability, m.PCIDevice, m.PCISubsystem, m.GSPFirmware, m.InfoROMOEM, m.InfoROMECC, m.InfoROMPower)
				}
			},
		},
		{
			Name: "gpu_feature_enabled", Kind: Gauge, Labels: []string{"feature"},
			Help: "1 where this is on: gsp (driver work on the card's own processor), gsp_default (whether that is the default), accounting (of processes), " +
				"display_active, display_attached, c2c (chip-to-chip link of CPU and GPU). Read with what stays.",
			Source: "nvmlDeviceGetGspFirmwareMode, ...GetAccountingMode, ...GetDisplayActive, ...GetDisplayMode, ...GetC2cModeInfoV",
			GPU:    flags(func(r *gpu.Readings) map[string]bool { return r.Setup.Features }),
		},
		{
			Name: "gpu_throttle_supported", Kind: Gauge, Labels: []string{"reason"},
			Help:   "1 where the card can tell that its clocks are held back for this reason: without it gpu_throttle_active is 0 for want of knowledge.",
			Source: "nvmlDeviceGetSupportedClocksEventReasons, before driver 535 nvmlDeviceGetSupportedClocksThrottleReasons",
			GPU:    flags(func(r *gpu.Readings) map[string]bool { return r.Setup.ThrottleSupported }),
		},
		{
			Name: "gpu_clock_default_application_hertz", Kind: Gauge, Unit: "hertz", Labels: []string{"clock"},
			Help:     "Clock for applications where no operator set another.",
			Hardware: "cards with application clocks", Source: "nvmlDeviceGetDefaultApplicationsClock",
			GPU: each(func(r *gpu.Readings) map[string]float64 { return r.Setup.ClockDefaultHertz }),
		},
		{
			Name: "gpu_pcie_link_generation_card_max", Kind: Gauge,
			Help:   "Highest PCIe generation of the card itself, whatever the slot allows.",
			Source: "nvmlDeviceGetGpuMaxPcieLinkGeneration",
			GPU:    reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.Setup.PCIeGenerationMaxOfCard }),
		},
		video("gpu_video_sessions", "", "Sessions that encode pictures (encoder) or capture the frame buffer (fbc).", func(v *gpu.Video) map[string]float64 { return v.Sessions }),
		video("gpu_video_frames_per_second", "", "Frames per second of those sessions, mean over all.", func(v *gpu.Video) map[string]float64 { return v.FramesPerSecond }),
		video("gpu_video_latency_seconds", "seconds", "Time that a frame takes in those sessions, mean over all.", func(v *gpu.Video) map[string]float64 { return v.LatencySeconds }),
	}
}

// video is a family of the sessions of the video engines.
func video(name, unit, help string, get func(*gpu.Video) map[string]float64) Family {
	return Family{
		Name: name, Kind: Gauge, Unit: unit, Labels: []string{"engine"}, Help: help,
		Hardware: "cards with an encoder", Source: "nvmlDeviceGetEncoderStats, nvmlDeviceGetFBCStats",
		GPU: each(func(r *gpu.Readings) map[string]float64 { return get(&r.Video) }),
	}
}
