//go:build linux

package host_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"golang.org/x/sys/unix"

	"github.com/leasewatch/leasewatch/exporter"
	"github.com/leasewatch/leasewatch/exporter/catalog"
	"github.com/leasewatch/leasewatch/exporter/fakehost"
	"github.com/leasewatch/leasewatch/exporter/gpu"
	"github.com/leasewatch/leasewatch/exporter/host"
)

var update = flag.Bool("update", false, "write the golden files anew")

// kernel answers for every path, and keeps its clock in step.
func kernel() host.Kernel {
	return host.Kernel{
		Statfs: func(path string, buf *unix.Statfs_t) error {
			*buf = unix.Statfs_t{Bsize: 4096, Blocks: 1000, Bfree: 400, Bavail: 350, Files: 64, Ffree: 60}
			if strings.HasSuffix(path, "/data one") {
				buf.Flags = unix.ST_RDONLY
			}
			return nil
		},
		Adjtimex: func(buf *unix.Timex) (int, error) {
			*buf = unix.Timex{Status: unix.STA_NANO, Offset: -250_000, Maxerror: 12_500}
			return unix.TIME_OK, nil
		},
	}
}

func options(h fakehost.Host) host.Options {
	return host.Options{Proc: h.Proc, Sys: h.Sys, Root: h.Root, Now: func() time.Time { return time.Unix(1_800_000_000, 0) }}
}

// withClock has the reader's clock stand at now.
func withClock(o host.Options, now *time.Time) host.Options {
	o.Now = func() time.Time { return *now }
	return o
}

func read(t *testing.T, o host.Options, k host.Kernel) *gpu.Host {
	t.Helper()
	r := host.NewWith(o, k)
	r.ReadOnce()
	return r.Snapshot()
}

// page is the host's part of the page.
func page(t *testing.T, h *gpu.Host) string {
	t.Helper()
	var b bytes.Buffer
	for _, family := range exporter.Families(&gpu.Snapshot{Host: h}, exporter.Labels{Host: "gpu-a1", Vantage: "host"}) {
		if strings.HasPrefix(family.GetName(), "host_") || family.GetName() == "leasewatch_exporter_collector_up" {
			if _, err := expfmt.MetricFamilyToText(&b, family); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.String()
}

func TestGoldenPages(t *testing.T) {
	intel(t)
	for name, machine := range map[string]func(testing.TB) fakehost.Host{"h100": fakehost.H100, "container": fakehost.Container} {
		t.Run(name, func(t *testing.T) {
			k := kernel()
			if name == "container" { // its runtime forbids the question
				k.Adjtimex = func(*unix.Timex) (int, error) { return 0, unix.EPERM }
			}
			o := options(machine(t))
			o.MountsOff = regexp.MustCompile(host.DefaultMountsOff)
			got := page(t, read(t, o, k))
			problems, err := promlint.New(strings.NewReader(got)).Lint()
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range problems {
				t.Errorf("%s: %s", problem.Metric, problem.Text)
			}
			path := filepath.Join("testdata", name+".metrics")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the page is not %s (run go test ./exporter/host -update and look at the difference):\n%s", path, got)
			}
		})
	}
}

// intel skips a test whose machine's cpuinfo only the library of that architecture reads.
func intel(t *testing.T) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("the machines' cpuinfo is that of amd64")
	}
}

func TestEveryHostFamilyIsReadFromTheFullMachine(t *testing.T) {
	intel(t)
	got := page(t, read(t, options(fakehost.H100(t)), kernel()))
	for _, f := range catalog.All() {
		if strings.HasPrefix(f.Name, "host_") && !strings.HasPrefix(f.Name, "host_nvswitch_") && !strings.Contains(got, "\n"+f.Name+"{") {
			t.Errorf("no series of %s", f.Name)
		}
	}
}

func TestACollectorThatFailsIsToldAndHidesNoOther(t *testing.T) {
	whole := read(t, options(fakehost.H100(t)), kernel())
	for _, test := range []struct{ name, path, text, fails string }{
		{"a statistics file without the sum", "proc/stat", "cpu0 1 2 3\n", "cpu"},
		{"a number that is none", "proc/stat", "cpu 1 2 three\n", "cpu"},
		{"a count that is none", "proc/stat", "cpu 1 2 3\nctxt many\n", "cpu"},
		{"a load that is none", "proc/loadavg", "much\n", "load"},
		{"memory events that are none", "proc/vmstat", "oom_kill often\n", "memory"},
		{"pressure that is none", "proc/pressure/io", "some avg10=x\n", "pressure"},
		{"a mount that is none", "proc/1/mountinfo", "nothing\n", "filesystem"},
		{"too few file counts", "proc/sys/fs/file-nr", "1 2\n", "files"},
		{"a port without a state", "sys/class/infiniband/mlx5_1/ports/1/state", "odd\n", "infiniband"},
		{"a disk without numbers", "sys/block/nvme0n1/stat", "x\n", "disk"},
	} {
		t.Run(test.name, func(t *testing.T) {
			machine := fakehost.H100(t)
			machine.Write(t, test.path, test.text)
			h := read(t, options(machine), kernel())
			for name, up := range h.Collectors {
				if up == (name == test.fails) {
					t.Errorf("collector %s: up is %v", name, up)
				}
			}
			if len(h.Collectors) != len(whole.Collectors) {
				t.Errorf("%d collectors are told, want %d", len(h.Collectors), len(whole.Collectors))
			}
		})
	}
}

func TestOneBadDeviceHidesNoOther(t *testing.T) {
	machine := fakehost.H100(t)
	machine.Write(t, "sys/class/infiniband/mlx5_1/ports/1/state", "odd\n")
	machine.Write(t, "sys/block/nvme0n1/stat", "x\n")
	h := read(t, options(machine), kernel())
	if len(h.InfiniBand) != 1 || h.InfiniBand[0].Device != "mlx5_0" {
		t.Errorf("RDMA devices: %+v", h.InfiniBand)
	}
	if len(h.Disks) != 1 || h.Disks[0].Device != "nvme1n1" {
		t.Errorf("disks: %+v", h.Disks)
	}
}

func TestWhatTheMachineDoesNotHaveIsNoFailure(t *testing.T) {
	machine := fakehost.H100(t)
	for _, path := range []string{"sys/class/infiniband", "proc/pressure", "sys/class/dmi", "sys/bus/pci", "sys/block"} {
		machine.Remove(t, path)
	}
	h := read(t, options(machine), kernel())
	for name, up := range h.Collectors {
		if !up || slices.Contains([]string{"infiniband", "pressure", "pci", "disk"}, name) {
			t.Errorf("collector %s is told as %v", name, up)
		}
	}
}

func TestAKernelThatTellsNoPressureHasNone(t *testing.T) {
	h := read(t, options(fakehost.Container(t)), kernel())
	if _, told := h.Collectors["pressure"]; told || len(h.Pressure) != 0 {
		t.Errorf("pressure is told: %v", h.Pressure)
	}
}

func TestIdleTimeThatStepsBackALittleStandsStill(t *testing.T) {
	machine := fakehost.H100(t)
	r := host.NewWith(options(machine), kernel())
	idle := func(text string) float64 {
		machine.Write(t, "proc/stat", text)
		r.ReadOnce()
		return r.Snapshot().CPU.SecondsByMode["idle"]
	}
	for _, step := range []struct {
		name, text string
		want       float64
	}{
		{"first", "cpu 0 0 0 100000 0\n", 1000},
		{"a small step back is the kernel's arithmetic", "cpu 0 0 0 99900 0\n", 1000},
		{"forward", "cpu 0 0 0 100100 0\n", 1001},
		{"a great one is a reset", "cpu 0 0 0 100 0\n", 1},
	} {
		if got := idle(step.text); got != step.want {
			t.Errorf("%s: idle is %v s, want %v", step.name, got, step.want)
		}
	}
}

// mounts returns the mount points that were asked, in order.
func mounts(h *gpu.Host) []string {
	var paths []string
	for _, f := range h.Filesystems {
		paths = append(paths, f.MountPoint)
	}
	return paths
}

func TestOnlyLocalMountsAreAskedEachOnceAndNoneThatIsCovered(t *testing.T) {
	machine := fakehost.H100(t)
	var mu sync.Mutex
	var asked []string
	k := kernel()
	k.Statfs = func(path string, _ *unix.Statfs_t) error {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, "/"+strings.TrimPrefix(strings.TrimPrefix(path, machine.Root), "/"))
		return nil
	}
	h := read(t, options(machine), k)
	want := []string{"/", "/boot/efi", "/data one", "/dev/shm"}
	if got := mounts(h); !slices.Equal(got, want) {
		t.Errorf("mounts are %q, want %q", got, want)
	}
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(asked)
	if !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}

func TestInAContainerTheMachinesMountsAreThoseBelowItsRoot(t *testing.T) {
	machine := fakehost.H100(t)
	machine.Write(t, "proc/1/mountinfo", strings.ReplaceAll(`1 0 0:90 / / rw - overlay overlay rw
2 1 259:2 / ROOT rw - ext4 /dev/nvme0n1p2 rw
3 2 259:5 / ROOT/data rw - xfs /dev/nvme1n1 rw
4 1 259:9 / ROOTLESS rw - xfs /dev/sdz rw
`, "ROOT", machine.Root))
	if got := mounts(read(t, options(machine), kernel())); !slices.Equal(got, []string{"/", "/data"}) {
		t.Errorf("mounts are %q", got)
	}
}

func TestAFilesystemThatHangsHoldsOneAskerAndNothingElse(t *testing.T) {
	machine := fakehost.H100(t)
	release := make(chan struct{})
	var mu sync.Mutex
	calls := 0
	k := kernel()
	answer := k.Statfs
	k.Statfs = func(path string, buf *unix.Statfs_t) error {
		if strings.HasSuffix(path, "/data one") {
			mu.Lock()
			calls++
			mu.Unlock()
			<-release
		}
		return answer(path, buf)
	}
	r := host.NewWith(options(machine), k)
	hangs := func() map[string]bool {
		state := map[string]bool{}
		for _, f := range r.Snapshot().Filesystems {
			state[f.MountPoint] = f.Hangs
		}
		return state
	}
	want := map[string]bool{"/": false, "/boot/efi": false, "/data one": true, "/dev/shm": false}
	for range 2 {
		r.ReadOnce()
		if got := hangs(); !maps.Equal(got, want) {
			t.Errorf("hanging are %v, want %v", got, want)
		}
	}
	if r.Snapshot().Collectors["filesystem"] {
		t.Error("the collector is told as up")
	}
	if text := page(t, r.Snapshot()); strings.Contains(text, `host_filesystem_size_bytes{device="/dev/nvme1n1"`) {
		t.Error("a filesystem that hangs has a size")
	}
	close(release)
	want["/data one"] = false
	for deadline := time.Now().Add(time.Minute); !maps.Equal(hangs(), want); r.ReadOnce() {
		if time.Now().After(deadline) {
			t.Fatalf("it still hangs: %v", hangs())
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if calls < 1 || calls > 3 { // one while it hung, whatever came after it let go
		t.Errorf("%d askers were sent", calls)
	}
}

func TestAPartThatIsOldLeavesTheSnapshot(t *testing.T) {
	machine := fakehost.H100(t)
	now := time.Unix(1_800_000_000, 0)
	o := options(machine)
	o.Now = func() time.Time { return now }
	r := host.NewWith(o, kernel())
	r.ReadOnce()
	first := r.Snapshot()
	if r.Snapshot() != first {
		t.Error("a snapshot is made anew although nothing changed")
	}
	now = now.Add(11 * time.Second) // two rounds of the fast tier
	h := r.Snapshot()
	if h.CPU.SecondsByMode != nil || h.Collectors["cpu"] || !h.Collectors["link"] || len(h.Links) == 0 {
		t.Errorf("after 11 s: cpu %v (up %v), links %v (up %v)", h.CPU, h.Collectors["cpu"], h.Links, h.Collectors["link"])
	}
	if h.CPU.Model == "" {
		t.Error("the processors' model went with their times")
	}
}

func TestCollectorsAreTurnedOffByName(t *testing.T) {
	machine := fakehost.H100(t)
	o := options(machine)
	o.Off = []string{"disk", "clock"}
	r, err := host.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); r.Run(ctx) }()
	names := func() int { return len(r.Snapshot().Collectors) }
	for deadline := time.Now().Add(time.Minute); names() < len(host.Collectors())-2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("collectors: %v", r.Snapshot().Collectors)
		}
	}
	cancel()
	<-ended
	if h := r.Snapshot(); len(h.Disks) != 0 || h.Clock.Synchronized != (gpu.Maybe[bool]{}) {
		t.Errorf("read although it is off: %+v %+v", h.Disks, h.Clock)
	}
	o.Off = []string{"dsik"}
	if _, err := host.New(o); err == nil || !strings.Contains(err.Error(), `"dsik"`) {
		t.Errorf("a collector that there is none of: %v", err)
	}
}

func TestAFailureIsLoggedOnceAndSoIsItsEnd(t *testing.T) {
	machine := fakehost.H100(t)
	var log bytes.Buffer
	o := options(machine)
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	r := host.NewWith(o, kernel())
	good, err := os.ReadFile(filepath.Join(machine.Proc, "loadavg"))
	if err != nil {
		t.Fatal(err)
	}
	machine.Write(t, "proc/loadavg", "much\n")
	r.ReadOnce()
	r.ReadOnce()
	machine.Write(t, "proc/loadavg", string(good))
	r.ReadOnce()
	r.ReadOnce()
	if n := strings.Count(log.String(), "collector=load"); n != 2 {
		t.Errorf("%d lines about it, want 2:\n%s", n, log.String())
	}
}

func TestTheRealMachineIsRead(t *testing.T) {
	r, err := host.New(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.ReadOnce()
	h := r.Snapshot()
	if v, ok := h.CPU.Logical.Get(); !ok || v < 1 || h.CPU.SecondsByMode["user"] <= 0 || h.Memory.Bytes["memory_total"] < 1<<20 || h.Kernel.Release == "" {
		t.Errorf("processors %+v, memory %v, kernel %+v", h.CPU, h.Memory.Bytes, h.Kernel)
	}
	if at, ok := h.BootedAt.Get(); !ok || at.After(time.Now()) {
		t.Errorf("booted at %v", at)
	}
}

func FuzzStat(f *testing.F) {
	f.Add([]byte("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3\nintr 5 0 0\nctxt 9\nbtime 1790000000\n"))
	f.Add([]byte("cpu \n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		cpu, err := host.ParseStat(raw)
		if err != nil {
			return
		}
		if v, ok := cpu.Logical.Get(); !ok || v < 0 || cpu.SecondsByMode == nil {
			t.Errorf("read %+v", cpu)
		}
		for mode, seconds := range cpu.SecondsByMode {
			if seconds < 0 {
				t.Errorf("%s is %v s", mode, seconds)
			}
		}
	})
}

// BenchmarkReading measures one reading of each part of this machine.
func BenchmarkReading(b *testing.B) {
	for _, c := range host.Collectors() {
		b.Run(c.Name, func(b *testing.B) {
			o := host.Options{}
			for _, other := range host.Collectors() {
				if other != c {
					o.Off = append(o.Off, other.Name)
				}
			}
			r, err := host.New(o)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for range b.N {
				r.ReadOnce()
			}
		})
	}
}

// BenchmarkStat measures the processors' times of a machine with 256 of them.
func BenchmarkStat(b *testing.B) {
	var text strings.Builder
	text.WriteString("cpu  10132153 290696 3084719 46828483 16683 0 25195 4 175628 0\n")
	for i := range 256 {
		fmt.Fprintf(&text, "cpu%d 5066076 145348 1542359 23414241 8341 0 12597 2 87814 0\n", i)
	}
	text.WriteString("intr 199292" + strings.Repeat(" 123", 4000) + "\nctxt 1990473\nbtime 1790000000\n")
	b.ReportAllocs()
	for range b.N {
		if _, err := host.ParseStat([]byte(text.String())); err != nil {
			b.Fatal(err)
		}
	}
}

func TestACardOnItsWayToAVirtualMachineIsPassedThroughToo(t *testing.T) {
	const device = "sys/bus/pci/devices/0000:61:00.0/"
	m := fakehost.H100(t)
	given := func(address string) bool { return host.PassedThrough(m.Sys, address) }
	if given("0000:61:00.0") || given("0000:ff:00.0") {
		t.Error("a card of the driver, or none at all, is passed through")
	}
	m.Remove(t, device+"driver")
	if given("0000:61:00.0") {
		t.Error("a card that no driver holds is passed through")
	}
	m.Write(t, device+"driver_override", "vfio-pci\n")
	if !given("0000:61:00.0") {
		t.Error("a card that vfio-pci is about to take is not passed through")
	}
	m.Write(t, device+"driver", "-> ../../drivers/nvidia")
	if given("0000:61:00.0") {
		t.Error("a card that the driver still holds is passed through")
	}
	m.Remove(t, device+"driver")
	m.Write(t, device+"driver", "-> ../../drivers/vfio-pci")
	if !given("0000:61:00.0") || given("0000:52:00.0") {
		t.Error("want the card that vfio-pci holds, and no other")
	}
}
