package statefile

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

var update = flag.Bool("update", false, "rewrite the golden file")

var noon = time.UnixMilli(1_790_000_000_123).UTC()

// known is a host with a card of each kind that a file has to keep.
func known() *gpu.Snapshot {
	return &gpu.Snapshot{
		At:     noon,
		Driver: gpu.Driver{Version: "580.65.06", CUDAVersion: "13.0", NVMLVersion: "13.580.65.06", Changes: 2, Listed: 2},
		GPUs: []gpu.GPU{
			{
				Identity: gpu.Identity{
					Index: 0, UUID: "GPU-6f1e2d3c-0000-4a5b-8c9d-000000000000", Serial: "1651324000000", Name: "NVIDIA H100 80GB HBM3",
					Brand: "nvidia", Architecture: "hopper", BoardPart: "692-2G520-0200-000", VBIOS: "96.00.89.00.01", PCIAddress: "0000:1b:00.0",
				},
				Status: gpu.Status{State: gpu.OK, Since: noon.Add(-time.Hour), Until: noon, Seconds: map[gpu.State]float64{gpu.Unknown: 0.25, gpu.OK: 3599.75}},
				Readings: gpu.Readings{At: noon, XIDs: map[uint64]gpu.XID{
					13: {Count: 3, Last: noon.Add(-time.Minute)}, 4711: {Count: 1, Last: noon.Add(-time.Second)},
				}},
			},
			{
				Identity: gpu.Identity{Index: 1, UUID: "GPU-6f1e2d3c-0000-4a5b-8c9d-000000000001", Serial: "1651324000001", PCIAddress: "0000:43:00.0"},
				Status: gpu.Status{
					State: gpu.Released, Since: noon.Add(-time.Minute), Until: noon, Reason: "released by an operator",
					Seconds: map[gpu.State]float64{gpu.Released: 60},
				},
			},
			{
				Identity: gpu.Identity{Index: 7}, // lost before it said who it is
				Status:   gpu.Status{State: gpu.Lost, Since: noon, Until: noon, Reason: "GPU is lost", Seconds: map[gpu.State]float64{}},
			},
		},
	}
}

func TestWhatIsKnownComesBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	want := known()
	want.Host = &gpu.Host{SXIDs: map[gpu.SXID]gpu.XID{
		{Switch: "0000:06:00.0", Code: 20034, Severity: gpu.SXIDFatal}:    {Count: 2, Last: noon},
		{Switch: "0000:06:00.0", Code: 12028, Severity: gpu.SXIDNonFatal}: {Count: 1, Last: noon.Add(-time.Hour)},
	}}
	for range 2 { // also over an older file
		if err := Save(path, want); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v\nwant %+v", got, want)
	}
	if left, _ := filepath.Glob(path + "*"); len(left) != 1 {
		t.Errorf("files left: %v", left)
	}
}

// A file of this version must be readable by every later program.
func TestTheFormatStays(t *testing.T) {
	const golden = "testdata/state-v1.json"
	if *update {
		if err := Save(golden, known()); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Load(golden)
	if err != nil {
		t.Fatal(err)
	}
	if want := known(); !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v\nwant %+v", got, want)
	}
}

func TestWithoutAFileNothingIsKnown(t *testing.T) {
	got, err := Load(filepath.Join(t.TempDir(), "state.json"))
	if err != nil || len(got.GPUs) != 0 || !got.At.IsZero() {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestATornOrForeignFileIsSaidAndKept(t *testing.T) {
	whole, err := os.ReadFile("testdata/state-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	change := func(old, fresh string) []byte {
		if !strings.Contains(string(whole), old) {
			t.Fatalf("the golden file has no %s", old)
		}
		return []byte(strings.Replace(string(whole), old, fresh, 1))
	}
	tests := map[string]struct {
		content []byte
		reason  string
	}{
		"empty":                         {nil, "no whole JSON document"},
		"torn":                          {whole[:len(whole)/2], "no whole JSON document"},
		"zeros after a crash":           {make([]byte, 4096), "no whole JSON document"},
		"another program's":             {[]byte(`{"version": 1}`), `format is ""`},
		"of a later version":            {change(`"version": 1`, `"version": 2`), "version is 2, this program knows version 1"},
		"with a state of its own":       {change(`"state": "ok"`, `"state": "sleepy"`), `GPU 1 of the list (uuid "GPU-6f1e2d3c-0000-4a5b-8c9d-000000000000"): its state is "sleepy"`},
		"with an impossible index":      {change(`"index": 7`, `"index": -7`), "GPU 3 of the list"},
		"with time that ran back":       {change(`"released": 60`, `"released": -60`), "it spent -60 s"},
		"with an XID of letters":        {change(`"4711"`, `"fell off the bus"`), `its XID "fell off the bus" is no number`},
		"with one GPU twice":            {change("000000000001", "000000000000"), "its uuid is there already"},
		"larger than any can be":        {[]byte(strings.Repeat(" ", maxBytes+1)), "larger than"},
		"with a number of another size": {change(`"count": 3`, `"count": -3`), "no whole JSON document"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.json")
			if err := os.WriteFile(path, test.content, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Load(path)
			if err == nil || !strings.Contains(err.Error(), test.reason) || !strings.Contains(err.Error(), path) {
				t.Fatalf("error is %v, want %q and the path", err, test.reason)
			}
			aside, err := SetAside(path)
			if err != nil {
				t.Fatal(err)
			}
			if kept, err := os.ReadFile(aside); err != nil || string(kept) != string(test.content) {
				t.Errorf("%s does not hold the file: %v", aside, err)
			}
		})
	}
}

func TestAFolderThatTakesNoFileIsAnErrorAndLeavesTheOldOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "state.json")
	if err := Save(path, known()); err == nil || !strings.Contains(err.Error(), "writing the state file") {
		t.Errorf("error is %v", err)
	}
}

func FuzzNoFileMakesLoadingFail(f *testing.F) {
	whole, err := os.ReadFile("testdata/state-v1.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte(`{"format":"leasewatch-exporter state","version":1,"gpus":[{"state":"ok","since_ms":-9223372036854775808}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		first, err := decode(raw)
		if err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "state.json")
		if err := Save(path, first); err != nil {
			t.Fatal(err)
		}
		again, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(encode(again), encode(first)) {
			t.Errorf("%+v came back as %+v", first, again)
		}
	})
}
