package replay

import (
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/catalog"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

func whole(t *testing.T) *Source {
	t.Helper()
	s, err := New(Config{Host: "gpu-a1", GPUs: 8, Start: start, Seed: 7, Machine: true, MIG: []int{7}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// counters of the machine, whatever their order.
func machineCounters(h *gpu.Host) map[string]float64 {
	out := map[string]float64{}
	for mode, seconds := range h.CPU.SecondsByMode {
		out["cpu "+mode] = seconds
	}
	for key, seconds := range h.Pressure {
		out["pressure "+key.Resource+" "+key.Share] = seconds
	}
	for _, n := range h.Networks {
		for key, v := range n.Counters {
			out[n.Device+" "+key.Way+" "+key.What] = v
		}
	}
	for _, d := range h.InfiniBand {
		for key, v := range d.Ports[0].Traffic {
			out[d.Device+" "+key.Way+" "+key.What] = v
		}
	}
	for _, d := range h.Disks {
		out[d.Device+" read"] = d.ReadBytes
	}
	return out
}

func TestTheSimulatedMachinesCountersNeverGoBack(t *testing.T) {
	s := whole(t)
	last := map[string]float64{}
	for at := time.Duration(0); at < 30*time.Hour; at += 7 * time.Minute {
		h := s.At(start.Add(at)).Host
		if h == nil {
			t.Fatal("no machine")
		}
		for name, v := range machineCounters(h) {
			if v < last[name] {
				t.Fatalf("%s fell from %v to %v after %s", name, last[name], v, at)
			}
			last[name] = v
		}
	}
	for _, name := range []string{"cpu user", "mlx5_0 transmit bytes", "pressure io full"} {
		if last[name] == 0 {
			t.Errorf("%s stayed 0 over thirty hours of training", name)
		}
	}
}

func TestTheSimulatedMachineIsPossible(t *testing.T) {
	s := whole(t)
	at := 20 * time.Hour
	h := s.At(start.Add(at)).Host
	total := 0.0
	for _, seconds := range h.CPU.SecondsByMode {
		total += seconds
	}
	if elapsed := at.Seconds() * hostLogical; total < 0.999*elapsed || total > 1.001*elapsed {
		t.Errorf("the processors' time sums to %v s, %v s passed on all of them", total, elapsed)
	}
	if left := h.Memory.Bytes["memory_available"] / h.Memory.Bytes["memory_total"]; left < 0.2 || left > 1 {
		t.Errorf("%v of the memory is left", left)
	}
	for _, f := range h.Filesystems {
		if f.Available < 0.1*f.Size || f.Available > f.Size {
			t.Errorf("%s has %v of %v bytes left", f.MountPoint, f.Available, f.Size)
		}
	}
	if plain := machine(t, Training); plain.At(start).Host != nil {
		t.Error("a machine that was not asked for is there")
	}
}

func TestASplitCardHasPartsAndNoUtilizationOfItsOwn(t *testing.T) {
	s := whole(t)
	g := s.At(start.Add(10 * time.Hour)).GPUs[7]
	if _, ok := g.Readings.UtilizationRatio.Get(); ok || g.Identity.MIGMode != "enabled" || value(t, g.Readings.MIGInstances) != 3 {
		t.Errorf("a split card has mode %s and utilization %v", g.Identity.MIGMode, g.Readings.UtilizationRatio)
	}
	if len(g.Instances) != 3 {
		t.Fatalf("%d MIG devices, expected 3", len(g.Instances))
	}
	memory, seen := 0.0, map[string]bool{}
	for _, one := range g.Instances {
		memory += value(t, one.Readings.MemoryTotalBytes)
		if active := value(t, one.Readings.GPM.SMActive); active < 0 || active > 1 || seen[one.UUID] || len(one.Readings.Occupancy.Uses) != 1 {
			t.Errorf("MIG device %+v", one)
		}
		seen[one.UUID] = true
	}
	if card := value(t, g.Readings.MemoryTotalBytes); memory > card {
		t.Errorf("the parts have %v bytes, the card %v", memory, card)
	}
	if _, err := New(Config{Host: "gpu-a1", GPUs: 2, Start: start, MIG: []int{2}}); err == nil {
		t.Error("a card that is not there was split")
	}
}

func TestALostCardKeepsItsPartsWithoutReadings(t *testing.T) {
	s, err := New(Config{Host: "gpu-a1", GPUs: 8, Start: start, Seed: 7, MIG: []int{7}, Script: Script{{At: time.Hour, GPU: index(7), Kind: Lost}}})
	if err != nil {
		t.Fatal(err)
	}
	g := s.At(start.Add(2 * time.Hour)).GPUs[7]
	if len(g.Instances) != 3 {
		t.Fatalf("%d MIG devices, expected 3", len(g.Instances))
	}
	if _, ok := g.Instances[0].Readings.MemoryUsedBytes.Get(); ok {
		t.Error("a part of a lost card has readings")
	}
}

// TestTheSimulatedMachineFillsThePage: what it calls by another name than the catalogue would be
// missing without a word.
func TestTheSimulatedMachineFillsThePage(t *testing.T) {
	absent := map[string]bool{ // parts that a healthy machine does not have, or that nobody looks at
		"host_nvswitch_sxid_errors_total": true, "host_nvswitch_sxid_last_timestamp_seconds": true, "host_huge_pages": true, "host_huge_page_size_bytes": true,
		"host_memory_buffers_bytes": true, "host_memory_anonymous_bytes": true, "host_memory_slab_unreclaimable_bytes": true, "host_memory_dirty_bytes": true,
		"host_memory_writeback_bytes": true, "host_swap_total_bytes": true, "host_swap_free_bytes": true,
		"host_infiniband_congestion_packets_total": true, "host_infiniband_transmit_wait_total": true,
	}
	snapshot := whole(t).At(start.Add(time.Hour))
	for _, f := range catalog.All() {
		if f.Host == nil || !strings.HasPrefix(f.Name, "host_") || absent[f.Name] {
			continue
		}
		series := 0
		f.Host(snapshot, func(float64, ...string) { series++ })
		if series == 0 {
			t.Errorf("the simulated machine has no %s", f.Name)
		}
	}
}
