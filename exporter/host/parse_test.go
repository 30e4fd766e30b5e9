//go:build linux

package host_test

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/exporter/fakehost"
	"github.com/leasewatch/leasewatch/exporter/gpu"
	"github.com/leasewatch/leasewatch/exporter/host"
)

func TestAFileThatStaysOpenIsReadAnewWhateverBecameOfIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	read := host.Kept(path)
	if _, err := read(); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a file that is not there: %v", err)
	}
	for _, text := range []string{"first\n", "longer than the first\n", "short\n", "", strings.Repeat("a large machine\n", 10_000), "small again\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := read(); err != nil || string(got) != text {
			t.Fatalf("read %d bytes, %v, want the %d that were written", len(got), err, len(text))
		}
	}
}

func TestADiskThatGoesAndOneThatComesAreSeen(t *testing.T) {
	machine := fakehost.H100(t)
	o := options(machine)
	o.Slow = 1 // a nanosecond: each reading looks which disks there are
	now := o.Now()
	r := host.NewWith(withClock(o, &now), kernel())
	disks := func() (names []string) {
		now = now.Add(1)
		r.ReadOnce()
		for _, d := range r.Snapshot().Disks {
			names = append(names, d.Device)
		}
		return names
	}
	if got := strings.Join(disks(), " "); got != "nvme0n1 nvme1n1" {
		t.Fatalf("disks are %s", got)
	}
	machine.Remove(t, "sys/block/nvme0n1")
	machine.Write(t, "sys/block/nvme2n1/stat", "1 0 8 5 2 0 16 10 0 7 15\n")
	machine.Write(t, "sys/block/nvme2n1/size", "2000\n")
	machine.Write(t, "sys/block/nvme2n1/device/model", "x\n")
	if got := strings.Join(disks(), " "); got != "nvme1n1 nvme2n1" {
		t.Errorf("disks are %s after one went and one came", got)
	}
	for _, d := range r.Snapshot().Disks {
		if size, _ := d.SizeBytes.Get(); d.Device == "nvme2n1" && (size != 2000*512 || d.ReadBytes != 8*512 || d.WriteSeconds != 0.01 || d.WeightedIOSeconds != 0.015) {
			t.Errorf("the new disk is %+v of %v bytes", d, size)
		}
	}
}

// finite fails where a figure is none that the page could give.
func finite(t *testing.T, values map[string]float64) {
	t.Helper()
	for key, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			t.Errorf("%s is %v", key, v)
		}
	}
}

func FuzzMemory(f *testing.F) {
	f.Add([]byte("MemTotal:       131899040 kB\nHugePages_Total:       0\nHugepagesize:       2048 kB\n"))
	f.Add([]byte("MemTotal: many\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		memory, err := host.ParseMemory(raw)
		if err != nil {
			return
		}
		finite(t, memory.Bytes)
		finite(t, memory.HugePages)
	})
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("pswpin 1\npswpout 2\npgmajfault 3\noom_kill 4\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var memory gpu.Memory
		if host.ParseEvents(raw, &memory) == nil {
			v, _ := memory.OOMKills.Get()
			finite(t, map[string]float64{"oom kills": v})
		}
	})
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte("0.20 0.18 0.12 1/80 11206\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if averages, err := host.ParseLoad(raw); err == nil && len(averages) != 3 {
			t.Errorf("averages are %v", averages)
		}
	})
}

func FuzzPressure(f *testing.F) {
	f.Add([]byte("some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=3\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		stalls := map[gpu.PressureKey]float64{}
		if host.ParsePressure(raw, "io", stalls) == nil {
			for key, v := range stalls {
				finite(t, map[string]float64{key.Share: v})
			}
		}
	})
}

func FuzzTraffic(f *testing.F) {
	f.Add([]byte("Inter-| Receive\n face |bytes\n    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"))
	f.Add([]byte("eth0: 1 2\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		all, err := host.ParseTraffic(raw)
		if err != nil {
			return
		}
		for _, n := range all {
			if len(n.Counters) != 8 {
				t.Errorf("%s has counters %v", n.Device, n.Counters)
			}
		}
	})
}

func FuzzDisk(f *testing.F) {
	f.Add([]byte("   1 0 8 5 2 0 16 10 0 7 15 0 0 0 0\n"))
	f.Add([]byte("1 2 3\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if d, err := host.ParseDisk(raw); err == nil {
			finite(t, map[string]float64{"read": d.ReadBytes, "written": d.WrittenBytes, "busy": d.IOSeconds})
		}
	})
}
