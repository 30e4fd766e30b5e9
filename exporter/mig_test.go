package exporter_test

import (
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/exporter"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// inParts is a machine whose first card is cut into two.
func inParts(t *testing.T) *gpu.Snapshot {
	t.Helper()
	s := *simulated(t)
	s.GPUs = append([]gpu.GPU(nil), s.GPUs...)
	part := func(uuid string, id int, sm float64) gpu.Instance {
		return gpu.Instance{UUID: uuid, GPUInstance: id, Profile: "3g.40gb", Placement: "0:4", Multiprocessors: gpu.Some(60.0),
			Readings: gpu.InstanceReadings{MemoryUsedBytes: gpu.Some(1e9), GPM: gpu.GPM{GraphicsActive: gpu.Some(0.9), SMActive: gpu.Some(sm)}}}
	}
	s.GPUs[0].Instances = []gpu.Instance{part("MIG-1", 1, 0.5), part("MIG-2", 2, 0.25)}
	s.GPUs[0].Readings.UtilizationRatio = gpu.Maybe[float64]{} // as the driver has it while MIG is on
	return &s
}

func TestASeriesOfAMIGDeviceNamesItsCardAndOneOfACardDoesNot(t *testing.T) {
	s := inParts(t)
	card := s.GPUs[0].Identity.UUID
	found := 0
	for _, f := range exporter.Families(s, exporter.Labels{Host: "gpu-a1", Vantage: "host"}) {
		for _, m := range f.Metric {
			l := labelsOf(m)
			if !strings.HasPrefix(l["uuid"], "MIG-") {
				for _, name := range []string{"gpu_uuid", "gpu_instance", "compute_instance", "profile"} {
					if _, there := l[name]; there {
						t.Errorf("%s%v: %s belongs to MIG devices", f.GetName(), l, name)
					}
				}
				continue
			}
			found++
			if l["gpu_uuid"] != card || l["gpu"] != "0" || l["host"] != "gpu-a1" || l["vantage"] != "host" || l["profile"] != "3g.40gb" || l["compute_instance"] != "0" ||
				l["gpu_instance"] != strings.TrimPrefix(l["uuid"], "MIG-") {
				t.Errorf("%s%v: want the labels of its card and of its place", f.GetName(), l)
			}
		}
	}
	if found < 10 {
		t.Errorf("%d series of MIG devices", found)
	}
}

// What leases are metered and shown by is asked for by uuid, whatever the uuid is of.
func TestAMIGDeviceIsFoundByItsUUIDInTheFamiliesOfTheCards(t *testing.T) {
	families := exporter.Families(inParts(t), exporter.Labels{Host: "gpu-a1", Vantage: "host"})
	for name, want := range map[string]float64{"gpu_utilization_ratio": 0.9, "gpu_sm_active_ratio": 0.25, "gpu_memory_used_bytes": 1e9} {
		n := 0
		for _, m := range find(families, name).Metric {
			if labelsOf(m)["uuid"] == "MIG-2" {
				if n++; m.GetGauge().GetValue() != want {
					t.Errorf("%s of the MIG device is %v, want %v", name, m.GetGauge().GetValue(), want)
				}
			}
		}
		if n != 1 {
			t.Errorf("%s has %d series of the MIG device, want 1", name, n)
		}
	}
	for _, m := range find(families, "gpu_state").Metric {
		if l := labelsOf(m); l["gpu_uuid"] != "" {
			t.Errorf("gpu_state%v: the state is the card's", l)
		}
	}
}

func TestALostCardKeepsTheNamesOfItsMIGDevicesAndNoReadings(t *testing.T) {
	s := inParts(t)
	s.GPUs[0].Status.State = gpu.Lost
	names := map[string]bool{}
	for _, f := range exporter.Families(s, exporter.Labels{Host: "gpu-a1", Vantage: "host"}) {
		for _, m := range f.Metric {
			if labelsOf(m)["gpu_uuid"] != "" {
				names[f.GetName()] = true
			}
		}
	}
	if !names["gpu_mig_info"] || len(names) != 1 {
		t.Errorf("the MIG devices of a lost card are in %v, want gpu_mig_info alone", names)
	}
}
