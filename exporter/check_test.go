package exporter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/exporter"
	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
	"github.com/leasewatch/leasewatch/exporter/statefile"
)

// report is what check --format=json prints.
type report struct {
	Host, Worst string
	Findings    []struct{ Check, Level, Found, Remedy string }
}

// at returns the findings of one check as "level: found".
func (r report) at(check string) []string {
	var out []string
	for _, f := range r.Findings {
		if f.Check == check {
			out = append(out, f.Level+": "+f.Found)
		}
	}
	return out
}

func (r report) says(t *testing.T, check, want string) {
	t.Helper()
	if !slices.ContainsFunc(r.at(check), func(found string) bool { return strings.Contains(found, want) }) {
		t.Errorf("%s: %q, want %q", check, r.at(check), want)
	}
}

// examine runs check of the real program over a fake driver.
func examine(t *testing.T, host *fakenvml.Host, args ...string) (report, int) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, append([]string{"check", "--format=json", "--host.name=gpu-a1", "--web.listen-address=127.0.0.1:0"}, args...)...)
	cmd.Env = append(os.Environ(), host.Env()...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, &stderr)
	}
	return r, cmd.ProcessState.ExitCode()
}

func TestTheDoctorSeesAHealthyHost(t *testing.T) {
	t.Parallel()
	r, code := examine(t, fakenvml.Install(t, fakenvml.H100x8()))
	r.says(t, "driver", "ok: 580.65.06, library 13.580.65.06, CUDA up to 13.0")
	r.says(t, "gpus", "ok: 8 of 8 answer: 8 x NVIDIA H100 80GB HBM3")
	r.says(t, "persistence", "ok: on")
	if code != 0 || r.Worst == "fail" {
		t.Errorf("exit code %d, worst %s", code, r.Worst)
	}
}

func TestTheDoctorNamesWhatIsWrongWithADriver(t *testing.T) {
	for name, test := range map[string]struct {
		change func(s *fakenvml.Scenario)
		args   []string
		check  string
		want   string
		code   int
	}{
		"a lost card":             {func(s *fakenvml.Scenario) { s.GPU(3).Lost() }, nil, "gpus", "warn: GPU 3", 0},
		"no kernel driver":        {func(s *fakenvml.Scenario) { s.Return("nvmlInit_v2", fakenvml.DriverNotLoaded) }, nil, "driver", "fail: not loaded", 1},
		"two versions":            {func(s *fakenvml.Scenario) { s.Return("nvmlInit_v2", fakenvml.VersionMismatch) }, nil, "driver", "fail: mismatch", 1},
		"no library":              {func(*fakenvml.Scenario) {}, []string{"--nvml.library=/nowhere/libnvidia-ml.so.1"}, "driver", "fail: no library", 1},
		"no cards":                {func(s *fakenvml.Scenario) { s.DeviceCount(0) }, nil, "gpus", "fail: the driver lists none", 1},
		"persistence mode off":    {func(s *fakenvml.Scenario) { s.GPU(2).Set("persistence", 0) }, nil, "persistence", "warn: off on GPU 2:", 0},
		"a start that hangs":      {func(s *fakenvml.Scenario) { s.Delay("nvmlInit_v2", fakenvml.Forever) }, []string{"--wait=2s"}, "driver", "fail: did not answer within 2s", 1},
		"a card whose call hangs": {func(s *fakenvml.Scenario) { s.GPU(5).Delay("", fakenvml.Forever) }, []string{"--wait=3s"}, "gpus", "warn: 1 of the 8 that the driver lists", 0},
		"a call that hangs":       {func(s *fakenvml.Scenario) { s.GPU(5).Delay("nvmlDeviceGetPowerUsage", fakenvml.Forever) }, []string{"--wait=3s"}, "gpus", "warn: GPU 5 (GPU-6f1e2d3c-0000-4a5b-8c9d-000000000005): not asked yet (waited 3s)", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario := fakenvml.H100x8()
			test.change(scenario)
			r, code := examine(t, fakenvml.Install(t, scenario), test.args...)
			r.says(t, test.check, test.want)
			if code != test.code {
				t.Errorf("exit code %d, want %d: %+v", code, test.code, r)
			}
		})
	}
}

// A card that was let go of, for a virtual machine perhaps, is not asked by the doctor either.
func TestTheDoctorLeavesAReleasedCardAlone(t *testing.T) {
	t.Parallel()
	host := fakenvml.Install(t, fakenvml.H100x8())
	state := filepath.Join(t.TempDir(), "state.json")
	card := gpu.GPU{Identity: gpu.Identity{Index: 3, UUID: "GPU-6f1e2d3c-0000-4a5b-8c9d-000000000003", PCIAddress: "0000:61:00.0"},
		Status: gpu.Status{State: gpu.Released, Since: noon}}
	if err := statefile.Save(state, &gpu.Snapshot{At: noon, Driver: gpu.Driver{State: gpu.DriverOK}, GPUs: []gpu.GPU{card}}); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	r, _ := examine(t, host, "--state.file="+state)
	r.says(t, "gpus", "note: GPU 3 (GPU-6f1e2d3c-0000-4a5b-8c9d-000000000003) is released by policy")
	r.says(t, "gpus", "7 of 8 answer")
	r.says(t, "state", "ok: "+state)
	if after, err := os.ReadFile(state); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the doctor changed the state file: %v", err)
	}
	if err := os.WriteFile(state, []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, _ = examine(t, host, "--state.file="+state)
	r.says(t, "state", "warn: ")
	if after, err := os.ReadFile(state); err != nil || string(after) != "torn" {
		t.Errorf("the doctor set the state file aside: %v", err)
	}
}

func TestTheDoctorListsWhatACardDoesNotAnswer(t *testing.T) {
	t.Parallel()
	r, code := examine(t, fakenvml.Install(t, fakenvml.ConsumerCard()))
	r.says(t, "calls", "note: 1 of 1 GPUs do not answer nvml")
	r.says(t, "calls", "nvmlDeviceGetBoardPartNumber")
	r.says(t, "persistence", "warn: off on GPU 0")
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// inspect runs check in this process, over a simulated machine.
func inspect(t *testing.T, args ...string) (report, int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := exporter.Run(t.Context(), append([]string{"check", "--format=json", "--host.name=gpu-a1"}, args...), &stdout, &stderr, exporter.Options{
		Sources: map[string]exporter.NewSource{"simulated": func(exporter.SourceConfig) (gpu.Source, error) { return newMachine(simulated(t)), nil }},
	})
	var r report
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatalf("%v\n%s\n%s", err, &stdout, &stderr)
	}
	return r, code
}

func TestTheDoctorTriesTheWayToTheReceiver(t *testing.T) {
	receiver := newTaker(t)
	r, code := inspect(t, "--push.url="+receiver.URL+"/write", "--push.spool-dir="+t.TempDir(), "--push.spool-max-bytes=1MiB", "--web.listen-address=127.0.0.1:0")
	r.says(t, "push", "takes requests")
	r.says(t, "spool", "can be written")
	if code != 0 || receiver.size() != 0 {
		t.Errorf("exit code %d, %d series written: the doctor writes none", code, receiver.size())
	}
	refusing := newStub(t, http.StatusUnauthorized)
	r, code = inspect(t, "--push.url="+refusing, "--push.spool-dir="+filepath.Join(t.TempDir(), "not", "made", "yet"), "--push.spool-max-bytes=1MiB")
	r.says(t, "push", "fail: "+refusing+" takes nothing: ")
	r.says(t, "push", "401")
	r.says(t, "spool", "can be written")
	if code != 1 {
		t.Errorf("exit code %d with a receiver that refuses, want 1", code)
	}
}

func TestTheDoctorKnowsWhoHoldsThePort(t *testing.T) {
	p := start(t, newMachine(simulated(t)))
	r, code := inspect(t, "--web.listen-address="+strings.TrimPrefix(p.url, "http://"))
	r.says(t, "port", "is served by a leasewatch-exporter that runs")
	if code != 0 {
		t.Errorf("exit code %d beside a running exporter, want 0", code)
	}
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	go http.Serve(other, http.NotFoundHandler())
	r, code = inspect(t, "--web.listen-address="+other.Addr().String())
	r.says(t, "port", "fail: "+other.Addr().String()+" cannot be opened")
	if code != 1 {
		t.Errorf("exit code %d with a stranger on the port, want 1", code)
	}
}

func TestTheDoctorReadsTheWebConfiguration(t *testing.T) {
	config := filepath.Join(t.TempDir(), "web.yml")
	if err := os.WriteFile(config, []byte("tls_server_config: {cert_file: nothing.pem}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, code := inspect(t, "--web.listen-address=:0", "--web.config.file="+config)
	r.says(t, "web", "fail: "+config)
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	r, _ = inspect(t, "--web.listen-address=:0")
	r.says(t, "web", "warn: the page is served to other hosts without TLS")
	r, _ = inspect(t, "--web.listen-address=127.0.0.1:0")
	r.says(t, "web", "ok: ")
}

func TestTheDoctorSpeaksText(t *testing.T) {
	var stdout bytes.Buffer
	code := exporter.Run(context.Background(), []string{"check", "--host.name=gpu-a1", "--web.listen-address=:0"}, &stdout, &stdout, exporter.Options{
		Version: "1.2.3",
		Sources: map[string]exporter.NewSource{"simulated": func(exporter.SourceConfig) (gpu.Source, error) { return newMachine(simulated(t)), nil }},
	})
	for _, want := range []string{"leasewatch-exporter 1.2.3 on gpu-a1\n", "\nok    gpus         8 of 8 answer: 8 x NVIDIA H100 80GB HBM3\n",
		"\nwarn  web          ", "\n                   -> give --web.config.file"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, &stdout)
		}
	}
	if code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// newStub is a receiver that answers every request with a code.
func newStub(t *testing.T, code int) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "not you", code) }))
	return "http://" + listener.Addr().String() + "/write"
}
