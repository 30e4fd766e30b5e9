package exporter_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leasewatch/leasewatch/exporter/fakehost"
	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
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

// kernelLog is a pipe in the place of /dev/kmsg.
type kernelLog struct {
	path     string
	pipe     *os.File
	sequence int
}

func newKernelLog(t *testing.T) *kernelLog {
	t.Helper()
	l := &kernelLog{path: filepath.Join(t.TempDir(), "kmsg")}
	if err := syscall.Mkfifo(l.path, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(l.path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pipe.Close() })
	l.pipe = pipe
	return l
}

// say writes a message as the kernel does, some time ago.
func (l *kernelLog) say(t *testing.T, ago time.Duration, message string) {
	t.Helper()
	var up unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &up); err != nil {
		t.Fatal(err)
	}
	l.sequence++
	if _, err := fmt.Fprintf(l.pipe, "4,%d,%d,-;%s\n", l.sequence, (time.Duration(up.Nano()) - ago).Microseconds(), message); err != nil {
		t.Fatal(err)
	}
}

func TestAnErrorOfAnNVSwitchIsOnThePageAndPushedAtOnce(t *testing.T) {
	receiver, log := newTaker(t), newKernelLog(t)
	log.say(t, 0, "nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 29 LTSSM Fault Up")
	p := start(t, newMachine(&gpu.Snapshot{At: time.Unix(1, 0)}), "--no-collector.host", "--collector.kmsg.path="+log.path,
		"--push.url="+receiver.URL, "--push.events-only", "--push.spool-dir="+t.TempDir())
	p.shows(t, `leasewatch_exporter_collector_up{collector="kmsg",host="gpu-a1",vantage="host"} 1`)
	log.say(t, 0, "nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 30 LTSSM Fault Up")
	log.say(t, 0, "nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)")
	p.shows(t, `host_nvswitch_sxid_errors_total{host="gpu-a1",nvswitch="0000:06:00.0",severity="fatal",sxid="20034",vantage="host"} 2`)
	p.shows(t, `host_nvswitch_sxid_errors_total{host="gpu-a1",nvswitch="0000:06:00.0",severity="non_fatal",sxid="12028",vantage="host"} 1`)
	eventually(t, "the new fatal error arrives", func() bool {
		sample, ok := receiver.find("__name__=host_nvswitch_sxid_errors_total", "host=gpu-a1", "nvswitch=0000:06:00.0", "severity=fatal", "sxid=20034")
		_, last := receiver.find("__name__=host_nvswitch_sxid_last_timestamp_seconds", "sxid=20034")
		return ok && sample.Value == 2 && last
	})
	if _, ok := receiver.find("sxid=12028"); ok {
		t.Error("an error that is not fatal was pushed at once")
	}
	if _, ok := receiver.find("gpu=0"); ok {
		t.Error("an error of a switch was told of a GPU")
	}
}

func TestAnXIDOfTheKernelLogIsCountedForItsGPUAndPushedAtOnce(t *testing.T) {
	host, receiver, log := fakenvml.Install(t, fakenvml.H100x8()), newTaker(t), newKernelLog(t)
	log.say(t, 2*time.Second, "NVRM: Xid (PCI:0000:61:00): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row marked for remapping")
	p := startProgram(t, host.Env(), "--no-collector.host", "--collector.kmsg.path="+log.path,
		"--push.url="+receiver.URL, "--push.events-only", "--push.spool-dir="+t.TempDir())
	count := func(code int) string {
		return fmt.Sprintf(`gpu_xid_errors_total{gpu="3",host="gpu-a1",uuid="GPU-6f1e2d3c-0000-4a5b-8c9d-000000000003",vantage="host",xid="%d"} 1`, code)
	}
	shows := func(text string) {
		eventually(t, "the page shows "+text, func() bool { return strings.Contains(p.page(t), text) })
	}
	shows(count(63)) // from before the start
	log.say(t, 0, "NVRM: Xid (PCI:0000:61:00): 79, pid=1234, name=python, GPU has fallen off the bus.")
	shows(count(79))
	eventually(t, "the XID arrives", func() bool {
		sample, ok := receiver.find("__name__=gpu_xid_errors_total", "gpu=3", "xid=79")
		return ok && sample.Value == 1
	})
	host.Update(t, func(s *fakenvml.Scenario) { s.Event(3, 79).Event(3, 48) }) // the driver tells the same one, and another
	shows(count(48))
	shows(count(79)) // still one
}

// A card that fell off before the exporter started has no series: its address has.
func TestAnXIDOfAGPUThatTheDriverDoesNotListIsOnThePageAndPushedAtOnce(t *testing.T) {
	receiver := newTaker(t)
	lost := gpu.StrangerXID{PCIAddress: "0000:61:00.0", Code: 79}
	source := newMachine(&gpu.Snapshot{At: noon, Strangers: map[gpu.StrangerXID]gpu.XID{lost: {Count: 2, Last: time.Unix(1000, 0)}}})
	p := start(t, source, "--no-collector.host", "--no-collector.kmsg",
		"--push.url="+receiver.URL, "--push.events-only", "--push.spool-dir="+t.TempDir())
	p.shows(t, `gpu_unlisted_xid_errors_total{host="gpu-a1",pci_address="0000:61:00.0",vantage="host",xid="79"} 2`)
	p.shows(t, `gpu_unlisted_xid_last_timestamp_seconds{host="gpu-a1",pci_address="0000:61:00.0",vantage="host",xid="79"} 1000`)
	told := func(code, count uint64) gpu.Event {
		return gpu.Event{At: noon, Since: time.Unix(1000, 0), GPU: gpu.Identity{PCIAddress: lost.PCIAddress}, Unlisted: true, XID: gpu.Some(code), XIDCount: count}
	}
	source.emit <- told(13, 1) // of no class that anybody is woken for
	source.emit <- told(79, 2)
	eventually(t, "the critical one arrives", func() bool {
		of := []string{"host=gpu-a1", "pci_address=0000:61:00.0", "xid=79"}
		count, ok := receiver.find(append(of, "__name__=gpu_unlisted_xid_errors_total")...)
		last, there := receiver.find(append(of, "__name__=gpu_unlisted_xid_last_timestamp_seconds")...)
		return ok && there && count.Value == 2 && last.Value == 1000
	})
	if _, ok := receiver.find("xid=13"); ok {
		t.Error("a code that is not critical was pushed at once")
	}
	if _, ok := receiver.find("gpu=0"); ok {
		t.Error("it was told of a card that it is not of")
	}
}
