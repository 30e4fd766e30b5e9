package exporter_test

import (
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/exporter/fakehost"
)

// shows polls the page until it has the text, and returns it.
func (r *running) shows(t *testing.T, text string) string {
	t.Helper()
	page := ""
	eventually(t, "the page shows "+text, func() bool {
		page, _, _ = get(t, r.url+"/metrics")
		return strings.Contains(page, text)
	})
	return page
}

func TestThePageHasTheMachineAroundTheGPUs(t *testing.T) {
	source := newMachine(simulated(t))
	p := start(t, source, append(fakehost.H100(t).Flags(), "--no-collector.disk")...)
	p.shows(t, `leasewatch_exporter_collector_up{collector="system",host="gpu-a1",vantage="host"} 1`)
	page := p.shows(t, `host_pci_gpu_info{device_id="10de:2330",driver="vfio-pci"`)
	for _, want := range []string{`gpu_state{`, `host_cpu_info{host="gpu-a1",model="`, "\nleasewatch_exporter_build_info{"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if strings.Contains(page, "host_disk_") || strings.Contains(page, `collector="disk"`) {
		t.Error("the page has disks although that collector is off")
	}
	s := *source.Snapshot()
	s.GPUs = nil // a new snapshot of the GPUs keeps the machine
	source.set(&s)
	if page, _, _ := get(t, p.url+"/metrics"); !strings.Contains(page, "host_pci_gpu_info{") || strings.Contains(page, "gpu_state{") {
		t.Error("the page is not that of the newest snapshots of both")
	}
}

func TestAMachineThatCannotBeReadIsToldAndTheGPUsAreServed(t *testing.T) {
	p := start(t, newMachine(simulated(t)), "--path.procfs=/nowhere")
	page := p.shows(t, `leasewatch_exporter_collector_up{collector="cpu",host="gpu-a1",vantage="host"} 0`)
	if !strings.Contains(page, "gpu_state{") {
		t.Error("the GPUs are gone with the machine")
	}
	if log := p.log.String(); !strings.Contains(log, "collector=cpu") || !strings.Contains(log, "/nowhere") {
		t.Errorf("the log does not say what cannot be read:\n%s", log)
	}
}
