package catalog

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
	"github.com/leasewatch/leasewatch/internal/testenv"
)

func TestMetricsPageIsCurrent(t *testing.T) {
	var want bytes.Buffer
	if err := WriteMarkdown(&want); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(testenv.Root(t), "METRICS.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("METRICS.md is not what the catalogue gives: run go run ./exporter/catalog/gen")
	}
}

func TestEveryFamilyIsWellFormed(t *testing.T) {
	name := regexp.MustCompile(`^(gpu|host|leasewatch_exporter|process|go)_[a-z0-9_]+$`)
	seen := map[string]bool{}
	for _, f := range slices.Concat(All(), Self()) {
		if seen[f.Name] {
			t.Errorf("%s is there twice", f.Name)
		}
		seen[f.Name] = true
		if !name.MatchString(f.Name) {
			t.Errorf("%s: want a name of gpu_*, host_*, leasewatch_exporter_*, or of the process", f.Name)
		}
		if (f.Kind == Counter) != strings.HasSuffix(f.Name, "_total") {
			t.Errorf("%s: a counter, and only a counter, ends in _total", f.Name)
		}
		if (f.Kind == Info) != strings.HasSuffix(f.Name, "_info") {
			t.Errorf("%s: an info, and only an info, ends in _info", f.Name)
		}
		if f.Unit != "" && !strings.HasSuffix(strings.TrimSuffix(f.Name, "_total"), "_"+f.Unit) {
			t.Errorf("%s: the unit %s does not stand at the end of the name", f.Name, f.Unit)
		}
		if f.Help == "" || f.Source == "" || !strings.HasSuffix(f.Help, ".") {
			t.Errorf("%s: want a help text with a full stop, and a source", f.Name)
		}
		for _, label := range f.Labels {
			if slices.Contains(slices.Concat(InstanceLabels, []string{LabelHost, LabelVantage, LabelUUID, LabelGPU, "job", "instance"}), label) {
				t.Errorf("%s: label %s is given to every series already", f.Name, label)
			}
		}
	}
	for _, f := range All() {
		if (f.GPU == nil && f.Instance == nil) == (f.Host == nil) {
			t.Errorf("%s: want a getter, of the host or of cards and their MIG devices", f.Name)
		}
	}
}

// The names that rules, dashboards and the server rely on from the first day.
func TestNamesOthersRelyOn(t *testing.T) {
	want := map[string]string{
		"gpu_info": "serial", "gpu_driver_info": "driver_version", "gpu_utilization_ratio": "", "gpu_memory_used_bytes": "",
		"gpu_memory_total_bytes": "", "gpu_temperature_celsius": "", "gpu_memory_temperature_celsius": "",
		"gpu_temperature_threshold_celsius": "threshold", "gpu_temperature_margin_celsius": "", "gpu_power_watts": "",
		"gpu_power_limit_watts": "limit", "gpu_energy_joules_total": "", "gpu_clock_hertz": "clock", "gpu_throttle_active": "reason",
		"gpu_throttle_seconds_total": "reason", "gpu_ecc_errors_total": "type counter location", "gpu_retired_pages": "cause",
		"gpu_remapped_rows": "type", "gpu_remapped_rows_pending": "", "gpu_row_remap_failure": "", "gpu_recovery_action": "",
		"gpu_pcie_link_generation": "", "gpu_pcie_link_width": "", "gpu_pcie_link_width_max": "", "gpu_pcie_replays_total": "",
		"gpu_nvlink_active_links": "", "gpu_nvlink_errors_total": "type", "gpu_xid_errors_total": "xid",
		"gpu_xid_last_timestamp_seconds": "xid", "gpu_processes": "", "gpu_state": "state", "gpu_state_since_timestamp_seconds": "",
		"gpu_state_seconds_total": "state",
	}
	for _, f := range All() {
		labels, known := want[f.Name]
		if !known {
			continue
		}
		for _, label := range strings.Fields(labels) {
			if !slices.Contains(f.Labels, label) {
				t.Errorf("%s has no label %s", f.Name, label)
			}
		}
		delete(want, f.Name)
	}
	for name := range want {
		t.Errorf("%s is not in the catalogue", name)
	}
}

func TestGettersEmitAsManyLabelsAsTheyDeclare(t *testing.T) {
	g := Specimen()
	s := &gpu.Snapshot{At: time.Unix(100, 0), GPUs: []gpu.GPU{g}, Host: SpecimenHost(),
		Strangers: map[gpu.StrangerXID]gpu.XID{{PCIAddress: "0000:61:00.0", Code: 79}: {Count: 1, Last: time.Unix(98, 0)}},
		Driver:    gpu.Driver{State: gpu.DriverOK, Call: "nvmlInit_v2", Version: "550.54.15", NVMLVersion: "12.550.54.15", CUDAVersion: "12.4"}}
	for _, f := range All() {
		n := 0
		emit := func(_ float64, labels ...string) {
			n++
			if len(labels) != len(f.Labels) {
				t.Errorf("%s emits labels %q for %q", f.Name, labels, f.Labels)
			}
		}
		if f.GPU != nil {
			if f.GPU(&g, emit); n == 0 {
				t.Errorf("%s emits nothing for a card that answers everything", f.Name)
			}
		}
		if f.Instance != nil {
			n = 0
			if f.Instance(&g.Instances[0], emit); n == 0 {
				t.Errorf("%s emits nothing for a MIG device that answers everything", f.Name)
			}
		}
		if f.Host != nil {
			if f.Host(s, emit); n == 0 {
				t.Errorf("%s emits nothing for a host that answers everything", f.Name)
			}
		}
	}
}

func TestAbsentReadingsAreAbsent(t *testing.T) {
	empty := gpu.GPU{}
	for _, f := range All() {
		if f.Stays {
			continue
		}
		emit := func(v float64, labels ...string) {
			t.Errorf("%s emits %v %q for a card that answered nothing", f.Name, v, labels)
		}
		if f.GPU != nil {
			f.GPU(&empty, emit)
		}
		if f.Instance != nil {
			f.Instance(&gpu.Instance{}, emit)
		}
	}
}

func TestCountsOfCriticalXIDsAreThereFromTheStartAndTimesWhenSeen(t *testing.T) {
	g := gpu.GPU{Readings: gpu.Readings{XIDs: map[uint64]gpu.XID{79: {Count: 2, Last: time.UnixMilli(1_700_000_000_500)}, 999: {Count: 1}}}}
	got := map[string]float64{}
	for _, f := range xidFamilies() {
		f.GPU(&g, func(v float64, labels ...string) { got[f.Name+" "+labels[0]] = v })
	}
	for key, want := range map[string]float64{
		"gpu_xid_errors_total 79": 2, "gpu_xid_last_timestamp_seconds 79": 1_700_000_000.5,
		"gpu_xid_errors_total 48": 0, "gpu_xid_errors_total 999": 1,
	} {
		if v, ok := got[key]; !ok || v != want {
			t.Errorf("%s = %v (there: %v), want %v", key, v, ok, want)
		}
	}
	if at, ok := got["gpu_xid_last_timestamp_seconds 48"]; ok {
		t.Errorf("code 48 was never seen and was last seen at %v", at)
	}
	if _, ok := got["gpu_xid_errors_total 13"]; ok {
		t.Error("code 13 is an application's error and must not be there before it is seen")
	}
	for _, code := range []uint64{54, 79, 48, 109} {
		if !CriticalXID(code) {
			t.Errorf("XID %d is not critical", code)
		}
	}
	for _, code := range []uint64{13, 31, 63, 94, 137, 999} {
		if CriticalXID(code) {
			t.Errorf("XID %d is critical", code)
		}
	}
}

func TestWhatNobodyReadOfTheMachineIsAbsent(t *testing.T) {
	for _, s := range []*gpu.Snapshot{{}, {Host: &gpu.Host{}}} {
		for _, f := range machineFamilies() {
			f.Host(s, func(v float64, labels ...string) {
				t.Errorf("%s emits %v %q of a machine that was not read", f.Name, v, labels)
			})
		}
	}
}

func TestAPortStateThatThePageDoesNotKnowIsToldInTheKernelsWord(t *testing.T) {
	s := &gpu.Snapshot{Host: &gpu.Host{InfiniBand: []gpu.InfiniBand{{Device: "mlx5_0", Ports: []gpu.InfiniBandPort{{Port: "1", State: "dreaming"}}}}}}
	got := map[string]float64{}
	for _, f := range machineFamilies() {
		if f.Name == "host_infiniband_port_state" {
			f.Host(s, func(v float64, labels ...string) { got[labels[2]] = v })
		}
	}
	if got["dreaming"] != 1 || got["active"] != 0 || len(got) != len(gpu.InfiniBandStates)+1 {
		t.Errorf("states are %v", got)
	}
}
