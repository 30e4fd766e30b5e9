package catalog

import (
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// hostFamilies tell of the host's driver and of the age of the page.
func hostFamilies() []Family {
	return []Family{
		{
			Name: DriverStateName, Kind: StateSet, Labels: []string{"state"},
			Help:   "How far the way to the driver goes: 1 for the present state, 0 for the others.",
			Source: "nvmlInit_v2",
			Host: func(s *gpu.Snapshot, emit Emit) {
				for _, state := range gpu.DriverStates {
					emit(number(s.Driver.State == state), string(state))
				}
			},
		},
		{
			Name: "gpu_driver_hanging_call_info", Kind: Info, Labels: []string{"call"},
			Help:   "A driver call that concerns no one GPU and has been out for longer than an interval; absent while none is.",
			Source: "the exporter's watch over its calls",
			Host: func(s *gpu.Snapshot, emit Emit) {
				if s.Driver.Call != "" {
					emit(1, s.Driver.Call)
				}
			},
		},
		{
			Name: "gpu_driver_info", Kind: Info, Labels: []string{"driver_version", "cuda_version", "nvml_version"},
			Help:   "Versions of the driver, of the newest CUDA it serves and of its library.",
			Source: "nvmlSystemGetDriverVersion, nvmlSystemGetCudaDriverVersion_v2, nvmlSystemGetNVMLVersion",
			Host: func(s *gpu.Snapshot, emit Emit) {
				if d := s.Driver; d.Version != "" || d.NVMLVersion != "" {
					emit(1, d.Version, d.CUDAVersion, d.NVMLVersion)
				}
			},
		},
		{
			Name: "gpu_driver_changes_total", Kind: Counter,
			Help:   "Changes of the driver's, CUDA's or the library's version since the exporter began to count; its state file carries the count over a restart.",
			Source: "counted by the exporter",
			Host:   func(s *gpu.Snapshot, emit Emit) { emit(float64(s.Driver.Changes)) },
		},
		{
			Name: "gpu_snapshot_timestamp_seconds", Kind: Gauge, Unit: "seconds",
			Help:   "When the figures of this page were put together, in seconds since 1970. Now minus this is the page's age.",
			Source: "the exporter's clock",
			Host: func(s *gpu.Snapshot, emit Emit) {
				if !s.At.IsZero() {
					emit(seconds(s.At))
				}
			},
		},
		{
			Name: "leasewatch_exporter_unsupported_calls", Kind: Gauge, Labels: []string{"call"},
			Help:   "How many of the GPUs do not answer this driver call. What a card does not support is asked once, not at every round.",
			Source: "counted by the exporter",
			Host: func(s *gpu.Snapshot, emit Emit) {
				cards := map[string]int{}
				for i := range s.GPUs {
					for _, call := range s.GPUs[i].Unsupported {
						cards[call]++
					}
				}
				for _, call := range sortedKeys(cards) {
					emit(float64(cards[call]), call)
				}
			},
		},
	}
}
