package exporter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/exporter"
	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// uuidOf is the uuid of a GPU of fakenvml.H100x8.
func uuidOf(i string) string { return "GPU-6f1e2d3c-0000-4a5b-8c9d-00000000000" + i }

// stateOf is the state of a GPU as the page tells it, "" where it does not.
func stateOf(page, uuid string) string {
	found := regexp.MustCompile(`(?m)^gpu_state\{[^}]*state="([a-z_]+)",uuid="` + uuid + `"[^}]*\} 1$`).FindStringSubmatch(page)
	if found == nil {
		return ""
	}
	return found[1]
}

// sample is the value of the one series of a family with these label pairs, "" without one.
func sample(page, family string, pairs ...string) string {
lines:
	for _, line := range strings.Split(page, "\n") {
		if !strings.HasPrefix(line, family+"{") {
			continue
		}
		for _, pair := range pairs {
			if !strings.Contains(line, pair) {
				continue lines
			}
		}
		return line[strings.LastIndexByte(line, ' ')+1:]
	}
	return ""
}

// socketPath is a path for a socket: those have a hundred characters at most.
func socketPath(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "lw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "control.sock")
}

// operator runs a command of the real program.
func operator(t testing.TB, args ...string) (code int, said string) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(path, args...).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), string(out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0, string(out)
}

func TestAnOperatorReleasesAGPUAndTakesItBack(t *testing.T) {
	t.Parallel()
	host := fakenvml.Install(t, fakenvml.H100x8().DeviceCount(4))
	state, socket := filepath.Join(t.TempDir(), "state.json"), socketPath(t)
	args := []string{"--state.file=" + state, "--control.socket=" + socket, "--no-collector.host"}
	p := startProgram(t, host.Env(), args...)
	is := func(uuid, want string) {
		t.Helper()
		eventually(t, uuid+" is "+want, func() bool { return stateOf(p.page(t), uuid) == want })
	}
	is(uuidOf("2"), "ok")
	is(uuidOf("3"), "ok")
	act := func(want int, words string, args ...string) {
		t.Helper()
		code, said := operator(t, append(args, "--control.socket="+socket)...)
		if code != want || !strings.Contains(said, words) {
			t.Errorf("%v ended with %d, want %d with %q:\n%s", args, code, want, words, said)
		}
	}
	act(0, "GPU 2 ("+uuidOf("2")+", 1651324000002, 0000:52:00.0) is released", "release", "2")
	is(uuidOf("2"), "released")
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v, %v", info.Mode(), err)
	}
	act(0, "is released", "release", uuidOf("2")) // as it was
	act(5, "no such GPU", "release", "9")
	act(5, `"GPU-nobody" is no uuid, index or PCI address of the 4 GPUs`, "resume", "GPU-nobody")
	act(4, "the driver lists the GPU, at index 0", "retire", "0")
	act(2, "required argument 'gpu' not provided", "release")

	// The last word of the operator outlives the program, however that ends.
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.cmd.Wait()
	before := len(host.Calls(t))
	p = startProgram(t, host.Env(), args...) // takes the old socket over
	is(uuidOf("3"), "ok")
	is(uuidOf("2"), "released")
	const handle = "nvmlDeviceGetHandleByIndex_v2 gpu=2\n"
	if strings.Contains(host.Calls(t)[before:], handle) {
		t.Error("the handle of the released GPU was asked for")
	}
	act(0, "is asked again: ok", "resume", "00000000:52:00.0")
	if !strings.Contains(host.Calls(t)[before:], handle) {
		t.Error("the library does not note handles: the check above says nothing")
	}
	p.stop(t)
	if _, err := os.Stat(socket); !os.IsNotExist(err) {
		t.Errorf("the socket is left behind: %v", err)
	}
	act(1, "no exporter answers at "+socket, "release", "2")
}

func TestAnActThatACallHoldsUpIsRefused(t *testing.T) {
	t.Parallel()
	host := fakenvml.Install(t, fakenvml.H100x8().DeviceCount(2))
	socket := socketPath(t)
	p := startProgram(t, host.Env(), "--control.socket="+socket, "--no-collector.host")
	eventually(t, "the GPUs answer", func() bool { return stateOf(p.page(t), uuidOf("1")) == "ok" })
	host.Update(t, func(s *fakenvml.Scenario) { s.GPU(1).Delay("", fakenvml.Forever) })
	last := readingOf(p.page(t), "0")
	eventually(t, "a round is begun", func() bool { return readingOf(p.page(t), "0") != last })
	code, said := operator(t, "release", "1", "--control.socket="+socket)
	if code != 4 || !strings.Contains(said, "the driver may hold it until these calls have returned: GPU 1 in nvmlDevice") {
		t.Errorf("ended with %d:\n%s", code, said)
	}
	if got := stateOf(p.page(t), uuidOf("1")); got != "released" {
		t.Errorf("the GPU is %s", got)
	}
}

func TestSimulatedGPUsAreNotReleased(t *testing.T) {
	socket := socketPath(t)
	start(t, newMachine(simulated(t)), "--control.socket="+socket)
	var out bytes.Buffer
	eventually(t, "the exporter refuses", func() bool {
		out.Reset()
		return exporter.Run(context.Background(), []string{"release", "0", "--control.socket=" + socket}, io.Discard, &out,
			exporter.Options{Sources: map[string]exporter.NewSource{"nvml": nil}}) == 4
	})
	if !strings.Contains(out.String(), "only the driver's GPUs can be let go of") {
		t.Errorf("said %q", out.String())
	}
}

func TestAPathThatIsNoSocketIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(path, []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, newMachine(simulated(t)), "--control.socket="+path)
	eventually(t, "it is said", func() bool { return strings.Contains(p.log.String(), "is there and no socket") })
	if kept, err := os.ReadFile(path); err != nil || string(kept) != "data" {
		t.Errorf("the file holds %q, %v", kept, err)
	}
	if _, _, status := get(t, p.url+"/metrics"); status != 200 { // and the page is served all the same
		t.Errorf("the page answers %d", status)
	}
}

func TestASocketThatAnswersIsNotTakenOver(t *testing.T) {
	socket := socketPath(t)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	p := start(t, newMachine(simulated(t)), "--control.socket="+socket)
	eventually(t, "it is said", func() bool { return strings.Contains(p.log.String(), "another exporter answers there") })
}

func TestALostGPUIsLostSinceTheSameTimeAfterARestart(t *testing.T) {
	t.Parallel()
	host := fakenvml.Install(t, fakenvml.H100x8().DeviceCount(2))
	state := filepath.Join(t.TempDir(), "state.json")
	p := startProgram(t, host.Env(), "--state.file="+state, "--no-collector.host")
	eventually(t, "the GPUs answer", func() bool { return stateOf(p.page(t), uuidOf("1")) == "ok" })
	host.Update(t, func(s *fakenvml.Scenario) { s.Event(1, 79); s.GPU(1).Lost() })
	eventually(t, "the GPU is lost", func() bool {
		return stateOf(p.page(t), uuidOf("1")) == "lost" && sample(p.page(t), "gpu_xid_errors_total", `xid="79"`, uuidOf("1")) == "1"
	})
	since := sample(p.page(t), "gpu_state_since_timestamp_seconds", uuidOf("1"))
	eventually(t, "the file has it", func() bool {
		var file struct {
			GPUs []struct {
				State gpu.State                  `json:"state"`
				XIDs  map[string]json.RawMessage `json:"xids"`
			} `json:"gpus"`
		}
		raw, err := os.ReadFile(state)
		return err == nil && json.Unmarshal(raw, &file) == nil && len(file.GPUs) == 2 && file.GPUs[1].State == gpu.Lost && file.GPUs[1].XIDs["79"] != nil
	})
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.cmd.Wait()
	host.Update(t, func(s *fakenvml.Scenario) { s.DeviceCount(1) }) // after the reboot it is not even listed
	p = startProgram(t, host.Env(), "--state.file="+state, "--no-collector.host")
	eventually(t, "the other GPU answers", func() bool { return stateOf(p.page(t), uuidOf("0")) == "ok" })
	page := p.page(t)
	if got := stateOf(page, uuidOf("1")); got != "lost" {
		t.Errorf("the lost GPU is %q", got)
	}
	if got := sample(page, "gpu_state_since_timestamp_seconds", uuidOf("1")); got != since {
		t.Errorf("it is lost since %s, before the restart since %s", got, since)
	}
	if got := sample(page, "gpu_xid_errors_total", `xid="79"`, uuidOf("1")); got != "1" {
		t.Errorf("its XID 79 was seen %s times", got)
	}
	if got := sample(page, "gpu_info", uuidOf("1"), `serial="1651324000001"`); got != "1" {
		t.Error("its serial number is gone")
	}
}

func TestTheUnitsFoldersHoldStateAndSocket(t *testing.T) {
	state, runtime := t.TempDir(), filepath.Dir(socketPath(t))
	t.Setenv("STATE_DIRECTORY", state)
	t.Setenv("RUNTIME_DIRECTORY", runtime)
	source := newMachine(simulated(t))
	p := start(t, source)
	source.emit <- gpu.Event{At: noon, From: gpu.OK, To: gpu.Lost}
	there := func(folder, name string) bool {
		_, err := os.Stat(filepath.Join(folder, name))
		return err == nil
	}
	eventually(t, "both are there", func() bool { return there(state, "state.json") && there(runtime, "control.sock") })
	if code := p.stop(); code != 0 || there(runtime, "control.sock") {
		t.Errorf("the program ended with %d; the socket is left: %v", code, there(runtime, "control.sock"))
	}
	if err := os.Remove(filepath.Join(state, "state.json")); err != nil {
		t.Fatal(err)
	}
	p = start(t, source, "--state.file=", "--control.socket=") // switched off
	if code := p.stop(); code != 0 || there(state, "state.json") || there(runtime, "control.sock") {
		t.Errorf("the program ended with %d and left something in the folders", code)
	}
}

func TestAStateFileThatIsOfNoUseIsOneWarningAndAFreshStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(path, []byte(`{"format": "leasewatch-exp`), 0o600); err != nil {
		t.Fatal(err)
	}
	source := newMachine(simulated(t))
	p := start(t, source, "--state.file="+path)
	source.emit <- gpu.Event{At: noon, From: gpu.OK, To: gpu.Lost} // has the file written
	eventually(t, "a fresh file is there", func() bool {
		raw, err := os.ReadFile(path)
		return err == nil && json.Valid(raw)
	})
	if got := strings.Count(p.log.String(), "the state file cannot be used"); got != 1 {
		t.Errorf("it was said %d times:\n%s", got, p.log)
	}
	if kept, err := os.ReadFile(path + ".unusable"); err != nil || !strings.Contains(string(kept), "leasewatch-exp") {
		t.Errorf("the old file holds %q, %v", kept, err)
	}
	if code := p.stop(); code != 0 {
		t.Errorf("the program ended with %d", code)
	}
}

func TestADiskThatTakesNoStateIsSaidOnceAndCounted(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state")
	source := newMachine(simulated(t))
	p := start(t, source, "--state.file="+filepath.Join(folder, "state.json"))
	count := func() string {
		body, _, _ := get(t, p.url+"/metrics")
		return sample(body, "leasewatch_exporter_state_file_errors_total")
	}
	source.emit <- gpu.Event{At: noon, From: gpu.OK, To: gpu.Lost}
	eventually(t, "the failure is counted", func() bool { return count() == "1" })
	source.emit <- gpu.Event{At: noon, From: gpu.Lost, To: gpu.OK}
	eventually(t, "the next one too", func() bool { return count() == "2" })
	if got := strings.Count(p.log.String(), "cannot be kept"); got != 1 {
		t.Errorf("it was said %d times:\n%s", got, p.log)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	source.emit <- gpu.Event{At: noon, From: gpu.OK, To: gpu.Lost}
	eventually(t, "that it works again is said", func() bool { return strings.Contains(p.log.String(), "takes writes again") })
}
