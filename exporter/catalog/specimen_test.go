package catalog

import (
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// Specimen is a card that answers everything, which no real one does.
func Specimen() gpu.GPU {
	some := gpu.Some[float64]
	one := func(keys ...string) map[string]float64 {
		m := map[string]float64{}
		for _, key := range keys {
			m[key] = 1
		}
		return m
	}
	return gpu.GPU{
		Identity: gpu.Identity{UUID: "GPU-1", Serial: "1", Name: "NVIDIA H100 80GB HBM3", Cores: some(16896), Board: gpu.Board{Module: "1"}, Make: gpu.Make{ComputeCapability: "9.0"}},
		Status:   gpu.Status{State: gpu.OK, Since: time.Unix(50, 0), Call: "nvmlDeviceGetPowerUsage", Seconds: map[gpu.State]float64{gpu.OK: 50}},
		Readings: gpu.Readings{
			At: time.Unix(99, 0), UtilizationRatio: some(0.5), MemoryUtilizationRatio: some(0.2), EncoderRatio: some(0), DecoderRatio: some(0),
			MemoryTotalBytes: some(80e9), MemoryUsedBytes: some(1), MemoryFreeBytes: some(1), MemoryReservedBytes: some(1),
			TemperatureCelsius: some(50), MemoryTemperatureCelsius: some(60), TemperatureMarginCelsius: some(30),
			TemperatureThresholds: one("slowdown", "shutdown"), PowerWatts: some(300), PowerLimits: one("enforced", "max"), EnergyJoulesTotal: some(1e6),
			ClockHertz: one("sm"), ClockMaxHertz: one("sm"), ThrottleActive: map[string]bool{"sw_power_cap": true}, ThrottleSecondsTotal: one("sw_power_cap"),
			ECCErrors:    map[gpu.ECCKey]float64{{Type: "corrected", Counter: "volatile", Location: "dram"}: 0, {Type: "corrected", Counter: "aggregate", Location: "dram"}: 1},
			RetiredPages: one("single_bit"), RetiredPagesPending: gpu.Some(false), RemappedRows: one("correctable"), RemapPending: gpu.Some(false), RemapFailure: gpu.Some(true),
			RecoveryAction: some(0), PCIeGeneration: some(5), PCIeGenerationMax: some(5), PCIeWidth: some(16), PCIeWidthMax: some(16), PCIeReplaysTotal: some(0),
			NVLinkActive: some(18), NVLinkExpected: some(18), NVLinkErrors: one("replay"), Processes: some(1), FanRatio: []float64{0.3}, PerformanceState: some(0), Persistence: gpu.Some(true),
			Occupancy:    specimenOccupancy(),
			MIGInstances: some(1), GPM: specimenGPM(),
			JPEGRatio: some(0), OFARatio: some(0), BAR1: gpu.BAR1{TotalBytes: some(2), UsedBytes: some(1), FreeBytes: some(1)},
			TemperatureOffsets: one("slowdown"), PowerAverageWatts: some(300), PowerInstantWatts: some(310),
			Module:                gpu.Module{PowerAverageWatts: some(600), PowerInstantWatts: some(610), PowerLimits: one("enforced"), EnergyJoulesTotal: some(2e6)},
			ClockCustomerMaxHertz: one("graphics"), ClockApplicationHertz: one("graphics"),
			SRAM: gpu.SRAM{ErrorsTotal: map[gpu.SRAMKey]float64{{Counter: "volatile", Cause: "parity"}: 0, {Counter: "volatile", Cause: "secded"}: 0},
				UnitErrorsTotal: one("l2"), ThresholdExceeded: gpu.Some(false)},
			Repair: gpu.Repair{RowBanks: one("max"), InactiveRows: one("correctable"), Banks: one("active"), BankGroups: one("max"), BankPending: gpu.Some(false),
				ChannelPending: gpu.Some(false), TPCPending: gpu.Some(false), UnrepairableMemory: gpu.Some(false)},
			PCIeErrors: one("fatal"), PCIeBytesTotal: one("tx", "rx"),
			NVLink: gpu.NVLinks{Links: []gpu.NVLink{{Number: 0, Up: true, Errors: one("crc")}, {Number: 1}}, SpeedBytesPerSec: some(25e9), BytesTotal: one("tx", "rx")},
			Fabric: gpu.Fabric{State: gpu.FabricCompleted, Status: some(0), Cluster: "c", Clique: "1", Problems: map[string]bool{"degraded_bandwidth": true},
				Configuration: some(1), Health: gpu.FabricHealthy},
			Modes: gpu.Modes{ECC: gpu.Some(true), ECCPending: gpu.Some(true), MIG: gpu.Some(false), MIGPending: gpu.Some(false),
				Compute: "default", Virtualization: "none", Confidential: gpu.Some(false)},
			InfoROMValid: gpu.Some(true),
			Setup: gpu.Setup{Features: map[string]bool{"gsp": true}, ThrottleSupported: map[string]bool{"sw_power_cap": true}, ClockDefaultHertz: one("graphics"),
				PCIeGenerationMaxOfCard: some(5)},
			Video: gpu.Video{Sessions: one("encoder"), FramesPerSecond: one("encoder"), LatencySeconds: one("encoder")},
			VGPU:  gpu.VGPU{Instances: some(2), Licenses: []gpu.License{{Feature: "vgpu", Product: "NVIDIA RTX Virtual Workstation", Licensed: true, Expires: time.Unix(4e9, 0)}}},
			XIDs:  map[uint64]gpu.XID{13: {Count: 1, Last: time.Unix(98, 0)}},
		},
		Allocation:  specimenAllocation(),
		Instances:   []gpu.Instance{SpecimenInstance()},
		Unsupported: []string{"nvmlDeviceGetFanSpeed_v2"}, Dropped: map[string]uint64{"nvmlDeviceGetPowerUsage": 1},
	}
}

func specimenGPM() gpu.GPM {
	some := gpu.Some[float64]
	return gpu.GPM{
		GraphicsActive: some(1), SMActive: some(0.8), SMOccupancy: some(0.4), DRAMActive: some(0.5),
		TensorActive: some(0.4), TensorHMMA: some(0.4), TensorIMMA: some(0), TensorDMMA: some(0), TensorDFMA: some(0),
		Integer: some(0.1), FP64: some(0), FP32: some(0.1), FP16: some(0),
		PCIeSent: some(1e9), PCIeReceived: some(2e9), NVLinkSent: some(1e11), NVLinkReceived: some(1e11), C2CSent: some(1e9), C2CReceived: some(1e9),
		Engines: map[gpu.Engine]float64{{Kind: "decoder"}: 0, {Kind: "decoder", Unit: 1}: 0.5},
	}
}

// SpecimenInstance is a MIG device that answers everything.
func SpecimenInstance() gpu.Instance {
	some := gpu.Some[float64]
	return gpu.Instance{
		UUID: "MIG-1", GPUInstance: 2, Profile: "3g.40gb", Placement: "4:4",
		Multiprocessors: some(60), GPUSlices: some(3), ComputeSlices: some(3), Engines: map[string]float64{"copy": 3},
		Readings: gpu.InstanceReadings{MemoryTotalBytes: some(40e9), MemoryUsedBytes: some(1), MemoryFreeBytes: some(1), MemoryReservedBytes: some(1), GPM: specimenGPM(),
			Processes: some(1), Occupancy: specimenOccupancy()},
		Allocation: specimenAllocation(),
	}
}

func specimenOccupancy() gpu.Occupancy {
	some := gpu.Some[float64]
	return gpu.Occupancy{
		Uses:       []gpu.Use{{Workload: gpu.Workload{Runtime: "docker", ContainerID: "4f0c9b1d2e3a"}, Processes: 1, MemoryBytes: some(1)}},
		Containers: some(1), Summed: some(0), Unattributed: map[string]float64{"not_found": 1},
	}
}

func specimenAllocation() gpu.Allocation {
	return gpu.Allocation{Allocated: gpu.Some(true), Holders: []gpu.Holder{
		{Workload: gpu.Workload{Runtime: "kubernetes", Namespace: "team-a", Pod: "trainer-0", Container: "main"}, Parts: 1, Share: 1}}}
}
