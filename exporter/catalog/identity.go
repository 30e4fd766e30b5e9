package catalog

import (
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// identityFamilies tell who a card is.
func identityFamilies() []Family {
	return []Family{
		{
			Name: "gpu_info", Kind: Info, Stays: true,
			Labels: []string{"serial", "name", "brand", "architecture", "board_part", "vbios", "pci_address", "mig_mode", "ecc_mode"},
			Help:   "Who the card is. A label is empty where the card does not tell.",
			Source: "nvmlDeviceGetSerial, ...GetName, ...GetBrand, ...GetArchitecture, ...GetBoardPartNumber, ...GetVbiosVersion, ...GetPciInfo_v3, ...GetMigMode, ...GetEccMode",
			GPU: func(g *gpu.GPU, emit Emit) {
				i := &g.Identity
				emit(1, i.Serial, i.Name, i.Brand, i.Architecture, i.BoardPart, i.VBIOS, i.PCIAddress, i.MIGMode, i.ECCMode)
			},
		},
		{
			Name: "gpu_cores", Kind: Gauge, Stays: true,
			Help:   "CUDA cores of the card.",
			Source: "nvmlDeviceGetNumGpuCores",
			GPU: func(g *gpu.GPU, emit Emit) {
				if v, ok := g.Identity.Cores.Get(); ok {
					emit(v)
				}
			},
		},
		{
			Name: "leasewatch_exporter_dropped_readings_total", Kind: Counter, Stays: true, Labels: []string{"call"},
			Help:   "Readings thrown away because the driver answered a sentinel, an impossible value, or a page that stands still (frozen page, frozen energy counter).",
			Source: "counted by the exporter",
			GPU: func(g *gpu.GPU, emit Emit) {
				for _, call := range sortedKeys(g.Dropped) {
					emit(float64(g.Dropped[call]), call)
				}
			},
		},
	}
}

// stateFamilies tell how a card is and since when.
func stateFamilies() []Family {
	return []Family{
		{
			Name: StateName, Kind: StateSet, Stays: true, Labels: []string{"state"},
			Help:   "State of the GPU: 1 for the present state, 0 for the others.",
			Source: "the state machine (docs/exporter.md)",
			GPU: func(g *gpu.GPU, emit Emit) {
				for _, state := range gpu.States {
					emit(number(g.Status.State == state), string(state))
				}
			},
		},
		{
			Name: StateSinceName, Kind: Gauge, Unit: "seconds", Stays: true,
			Help:   "When the present state began, in seconds since 1970. For a state with a hold: when its cause began.",
			Source: "the state machine (docs/exporter.md)",
			GPU: func(g *gpu.GPU, emit Emit) {
				if !g.Status.Since.IsZero() {
					emit(seconds(g.Status.Since))
				}
			},
		},
		{
			Name: "gpu_hanging_call_info", Kind: Info, Stays: true, Labels: []string{"call"},
			Help:   "The driver call by whose silence the GPU is unresponsive or its driver down; absent in any other state.",
			Source: "the state machine (docs/exporter.md)",
			GPU: func(g *gpu.GPU, emit Emit) {
				if g.Status.Call != "" {
					emit(1, g.Status.Call)
				}
			},
		},
		{
			Name: "gpu_state_seconds_total", Kind: Counter, Unit: "seconds", Stays: true, Labels: []string{"state"},
			Help:   "Time spent in each state since the exporter began to count: the check sum of the state changes.",
			Source: "the state machine (docs/exporter.md)",
			GPU: func(g *gpu.GPU, emit Emit) {
				for _, state := range gpu.States {
					emit(g.Status.Seconds[state], string(state))
				}
			},
		},
		{
			Name: "gpu_reading_timestamp_seconds", Kind: Gauge, Unit: "seconds", Stays: true, // the older, the more it says
			Help:   "When this GPU's fast readings were taken, in seconds since 1970. Now minus this is their age.",
			Source: "the exporter's clock",
			GPU: func(g *gpu.GPU, emit Emit) {
				if !g.Readings.At.IsZero() {
					emit(seconds(g.Readings.At))
				}
			},
		},
	}
}

// seconds is a time as Prometheus counts it, to the millisecond.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
