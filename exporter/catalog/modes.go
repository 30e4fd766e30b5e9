package catalog

import "github.com/leasewatch/leasewatch/exporter/gpu"

// modeFamilies tell how a card was set up and where it sits.
func modeFamilies() []Family {
	return []Family{
		{
			Name: "gpu_board_info", Kind: Info, Stays: true,
			Labels: []string{"inforom", "minor", "module", "board", "chassis", "slot", "tray", "node"},
			Help: "Where the card sits and what it is a part of: InfoROM version, minor number of its device file, module on the baseboard, board " +
				"(the same for all GPUs of one board), and in rack-scale systems chassis, slot, compute tray and node. A label is empty where the card does not tell.",
			Source: "nvmlDeviceGetInforomImageVersion, ...GetMinorNumber, ...GetModuleId, ...GetBoardId, ...GetMultiGpuBoard, ...GetPlatformInfo",
			GPU: func(g *gpu.GPU, emit Emit) {
				if b := &g.Identity.Board; *b != (gpu.Board{}) {
					emit(1, b.InfoROM, b.Minor, b.Module, b.ID, b.Chassis, b.Slot, b.Tray, b.Node)
				}
			},
		},
		{
			Name: "gpu_inforom_valid", Kind: Gauge,
			Help:     "0 where the InfoROM's checksums are wrong: what the card tells of its life cannot be trusted.",
			Hardware: "cards with an InfoROM", Source: "nvmlDeviceValidateInforom",
			GPU: flag(func(r *gpu.Readings) gpu.Maybe[bool] { return r.InfoROMValid }),
		},
		{
			Name: "gpu_ecc_mode", Kind: Gauge,
			Help: "1 where ECC is on.", Hardware: "cards with ECC", Source: "nvmlDeviceGetEccMode",
			GPU: flag(func(r *gpu.Readings) gpu.Maybe[bool] { return r.Modes.ECC }),
		},
		{
			Name: "gpu_ecc_mode_pending", Kind: Gauge,
			Help: "1 where ECC is on after the next reset.", Hardware: "cards with ECC", Source: "nvmlDeviceGetEccMode",
			GPU: flag(func(r *gpu.Readings) gpu.Maybe[bool] { return r.Modes.ECCPending }),
		},
		{
			Name: "gpu_mig_mode", Kind: Gauge,
			Help: "1 where the card is split into MIG instances.", Hardware: "cards with MIG", Source: "nvmlDeviceGetMigMode",
			GPU: flag(func(r *gpu.Readings) gpu.Maybe[bool] { return r.Modes.MIG }),
		},
		{
			Name: "gpu_mig_mode_pending", Kind: Gauge,
			Help: "1 where MIG is on after the next reset.", Hardware: "cards with MIG", Source: "nvmlDeviceGetMigMode",
			GPU: flag(func(r *gpu.Readings) gpu.Maybe[bool] { return r.Modes.MIGPending }),
		},
		{
			Name: "gpu_mode_info", Kind: Info, Labels: []string{"compute", "virtualization"},
			Help: "Modes that are names: compute (default, exclusive_thread, prohibited, exclusive_process) and virtualization " +
				"(none, passthrough, vgpu, host_vgpu, host_vsga).",
			Source: "nvmlDeviceGetComputeMode, nvmlDeviceGetVirtualizationMode",
			GPU: func(g *gpu.GPU, emit Emit) {
				if m := &g.Readings.Modes; m.Compute != "" || m.Virtualization != "" {
					emit(1, m.Compute, m.Virtualization)
				}
			},
		},
		{
			Name: "gpu_confidential_compute", Kind: Gauge,
			Help:     "1 where confidential computing is on. The driver tells it for the whole host.",
			Hardware: "Hopper and later", Source: "nvmlSystemGetConfComputeState",
			GPU: flag(func(r *gpu.Readings) gpu.Maybe[bool] { return r.Modes.Confidential }),
		},
	}
}

// virtualFamilies tell of virtual GPUs.
func virtualFamilies() []Family {
	const guest = "guests with a virtual GPU"
	return []Family{
		{
			Name: "gpu_vgpu_instances", Kind: Gauge,
			Help: "Virtual GPUs that run on the card.", Hardware: "hosts of virtual GPUs", Source: "nvmlDeviceGetActiveVgpus",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.VGPU.Instances }),
		},
		{
			Name: "gpu_vgpu_licensed", Kind: Gauge, Labels: []string{"feature", "product"},
			Help: "1 where this feature of the virtual GPU has its licence.", Hardware: guest, Source: "nvmlDeviceGetGridLicensableFeatures_v4",
			GPU: func(g *gpu.GPU, emit Emit) {
				for _, l := range g.Readings.VGPU.Licenses {
					emit(number(l.Licensed), l.Feature, l.Product)
				}
			},
		},
		{
			Name: "gpu_vgpu_license_expiry_timestamp_seconds", Kind: Gauge, Unit: "seconds", Labels: []string{"feature", "product"},
			Help: "When the licence ends, in seconds since 1970; absent where it does not end.", Hardware: guest, Source: "nvmlDeviceGetGridLicensableFeatures_v4",
			GPU: func(g *gpu.GPU, emit Emit) {
				for _, l := range g.Readings.VGPU.Licenses {
					if !l.Expires.IsZero() {
						emit(seconds(l.Expires), l.Feature, l.Product)
					}
				}
			},
		},
	}
}
