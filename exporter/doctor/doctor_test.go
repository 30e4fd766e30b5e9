package doctor

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

var update = flag.Bool("update", false, "write the golden files anew")

// bus is a sysfs with these GPUs, a bridge of the same vendor, and another vendor's display.
func bus(drivers map[string]string) fstest.MapFS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text + "\n")} }
	fs := fstest.MapFS{}
	add := func(address, vendor, class string) {
		fs["bus/pci/devices/"+address+"/vendor"], fs["bus/pci/devices/"+address+"/class"] = file(vendor), file(class)
	}
	add("0000:00:02.0", "0x1a03", "0x030000")
	add("0000:85:00.0", "0x10de", "0x068000") // an NVSwitch
	for address, driver := range drivers {
		add(address, "0x10de", "0x030200")
		if driver != "" {
			fs["bus/pci/devices/"+address+"/driver"] = &fstest.MapFile{Data: []byte("../../../../bus/pci/drivers/" + driver), Mode: os.ModeSymlink}
		}
	}
	return fs
}

func card(index int, address string, state gpu.State, reason string) gpu.GPU {
	return gpu.GPU{
		Identity: gpu.Identity{Index: index, UUID: "GPU-" + address, Name: "NVIDIA H100 80GB HBM3", PCIAddress: address},
		Status:   gpu.Status{State: state, Reason: reason},
		Readings: gpu.Readings{Persistence: gpu.Some(index != 1)},
	}
}

// host is a machine with a bit of everything.
func host() *gpu.Snapshot {
	ok := card(0, "0000:1b:00.0", gpu.OK, "")
	ok.Unsupported = []string{"nvmlDeviceGetFanSpeed_v2", "nvmlDeviceGetFieldValues(230)", "nvmlDeviceGetFieldValues(82)"}
	ok.Dropped = map[string]uint64{"nvmlDeviceGetPowerUsage": 3}
	other := card(1, "0000:43:00.0", gpu.OK, "")
	other.Unsupported = []string{"nvmlDeviceGetFanSpeed_v2"}
	return &gpu.Snapshot{
		At:     time.Unix(100, 0),
		Driver: gpu.Driver{State: gpu.DriverOK, Version: "580.65.06", NVMLVersion: "13.580.65.06", CUDAVersion: "13.0", Listed: 5},
		GPUs: []gpu.GPU{ok, other, card(2, "0000:52:00.0", gpu.Lost, "nvmlDeviceGetUUID: GPU is lost"),
			card(3, "0000:61:00.0", gpu.Released, "")},
	}
}

func TestAReportReadsAsItShould(t *testing.T) {
	s := host()
	sys := bus(map[string]string{"0000:1b:00.0": "nvidia", "0000:43:00.0": "nvidia", "0000:52:00.0": "nvidia", "0000:61:00.0": "vfio-pci",
		"0000:9d:00.0": "nvidia", "0000:c3:00.0": "vfio-pci", "0000:d1:00.0": "", "0000:df:00.0": "nouveau"})
	r := NewReport("gpu-a1", "1.2.3", Driver(s, 20*time.Second), Bus(sys, s), clock(false, 0), room("/var/lib/spool", 100<<20, 256<<20),
		Push("https://leasewatch.example/write", Reached{Offset: -90 * time.Second, Dated: true, Err: errors.New("asking the receiver: 401 Unauthorized")}),
		Web("", nil, []string{":19400"}), Port(":19400", Stranger, errors.New("address already in use")))
	var text, object bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteJSON(&object); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.txt", text.Bytes())
	golden(t, "report.json", object.Bytes())
	if r.Worst != Fail {
		t.Errorf("worst is %s, want fail", r.Worst)
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is\n%s\nwant\n%s", path, got, want)
	}
}

func TestADriverThatDoesNotAnswerHasARemedyForEachState(t *testing.T) {
	for _, state := range gpu.DriverStates {
		if state == gpu.DriverOK {
			continue
		}
		findings := Driver(&gpu.Snapshot{At: time.Unix(1, 0), Driver: gpu.Driver{State: state, Reason: "nvmlInit_v2 said so"}}, time.Second)
		if len(findings) != 1 || findings[0].Level != Fail || findings[0].Remedy == "" || !strings.Contains(findings[0].Found, "said so") {
			t.Errorf("%s: %+v", state, findings)
		}
	}
	if findings := Driver(&gpu.Snapshot{}, time.Second); findings[0].Level != Fail || !strings.Contains(findings[0].Found, "within 1s") {
		t.Errorf("before the first answer: %+v", findings)
	}
}

func TestEveryStateThatIsNotOKHasARemedy(t *testing.T) {
	for _, state := range gpu.States {
		if _, there := stateRemedies[state]; there == (state == gpu.OK || state == gpu.Released) {
			t.Errorf("state %s: remedy there: %v", state, there)
		}
	}
}

func TestAHostWithoutCardsAndAGuestWithoutABus(t *testing.T) {
	none := &gpu.Snapshot{At: time.Unix(1, 0), Driver: gpu.Driver{State: gpu.DriverOK}}
	if f := Bus(bus(nil), none); f[0].Level != Warn {
		t.Errorf("no card on the bus and none listed: %+v", f)
	}
	if f := Bus(bus(nil), host()); f[0].Level != Note {
		t.Errorf("cards listed that the bus does not show: %+v", f)
	}
	if f := Bus(fstest.MapFS{}, host()); f[0].Level != Note || f[0].Remedy == "" {
		t.Errorf("no sysfs: %+v", f)
	}
	if f := Driver(none, time.Second); f[len(f)-1].Level != Fail {
		t.Errorf("no GPU listed: %+v", f)
	}
}

func TestTheWayOut(t *testing.T) {
	for name, test := range map[string]struct {
		got  []Finding
		want Level
		n    int
	}{
		"a receiver that answers":                {Push("u", Reached{Dated: true, Offset: 2 * time.Second}), OK, 1},
		"a clock that is ahead":                  {Push("u", Reached{Dated: true, Offset: time.Minute}), Warn, 2},
		"a receiver that does not tell its time": {Push("u", Reached{Offset: time.Hour}), OK, 1},
		"a receiver that refuses":                {Push("u", Reached{Err: errors.New("no")}), Fail, 1},
		"a page for this host alone":             {Web("", nil, []string{"127.0.0.1:1", "[::1]:1", "localhost:1"}), OK, 1},
		"a page for all":                         {Web("", nil, []string{"127.0.0.1:1", "0.0.0.0:1"}), Warn, 1},
		"a file that holds together":             {Web("web.yml", nil, nil), OK, 1},
		"a file that does not":                   {Web("web.yml", errors.New("no"), nil), Fail, 1},
		"a free port":                            {Port(":1", Free, nil), OK, 1},
		"our own port":                           {Port(":1", Ourself, errors.New("in use")), OK, 1},
		"a clock in step":                        {clock(true, time.Millisecond), OK, 1},
		"room for the spool":                     {room("d", 2, 1), OK, 1},
	} {
		r := NewReport("h", "v", test.got)
		if r.Worst != test.want || len(r.Findings) != test.n {
			t.Errorf("%s: %+v, want %d findings, the worst %s", name, test.got, test.n, test.want)
		}
	}
}

func TestASpoolThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if f := Spool(file, 1); f[0].Level != Fail {
		t.Errorf("a file as spool: %+v", f)
	}
	dir := t.TempDir()
	if f := Spool(filepath.Join(dir, "a", "b"), 1); f[0].Level != OK {
		t.Errorf("a folder that is still to be made: %+v", f)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("the doctor left %v: %v", entries, err)
	}
	if f := Spool(dir, 1<<62); f[0].Level != Warn {
		t.Errorf("a disk that is too small: %+v", f)
	}
}

func TestWhatIsMissingOnTheHostIsSaid(t *testing.T) {
	dir := t.TempDir()
	if f := Devices(dir); f[0].Level != Warn || f[0].Remedy == "" {
		t.Errorf("no device files: %+v", f)
	}
	if f := NoKernelLog(); f[0].Level != Note || !strings.Contains(f[0].Found, "--no-collector.kmsg") {
		t.Errorf("%+v", f)
	}
	if f := KernelLog(filepath.Join(dir, "kmsg")); f[0].Level != Note || !strings.Contains(f[0].Remedy, filepath.Join(dir, "kmsg")) {
		t.Errorf("no kernel log: %+v", f)
	}
	if err := os.WriteFile(filepath.Join(dir, "nvidiactl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if f := Devices(dir); f[0].Level != OK {
		t.Errorf("a device file: %+v", f)
	}
	for path, test := range map[string]struct {
		err  error
		want Level
	}{
		"": {nil, Note}, filepath.Join(dir, "state.json"): {nil, OK}, filepath.Join(dir, "no", "state.json"): {nil, Warn}, "torn": {errors.New("torn"), Warn},
	} {
		if f := StateFile(path, test.err); len(f) != 1 || f[0].Level != test.want {
			t.Errorf("state file %q: %+v, want %s", path, f, test.want)
		}
	}
	if f := Clock(); len(f) != 1 || f[0].Check != "clock" {
		t.Errorf("clock: %+v", f)
	}
}

func TestWhatAHostSaysDoesNotSteerTheTerminal(t *testing.T) {
	var text strings.Builder
	r := NewReport("a\x1b[2J\nb", "v", []Finding{ok("gpus", "%s", "\u009b31m\rfine\xff")})
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(text.String(), "\x1b\u009b\r") || strings.Count(text.String(), "\n") != 2 {
		t.Errorf("%q", text.String())
	}
}
