package exporter_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter"
	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
	"github.com/leasewatch/leasewatch/exporter/record"
)

// ofGPUs are the lines of a page that come from the driver, without what passes with time.
func ofGPUs(page string) string {
	return strings.Join(regexp.MustCompile(`(?m)^gpu_[^\n]*\n`).FindAllString(normalise(page), -1), "")
}

// keep runs the real program's record over a fake driver, and returns the file.
func keep(t *testing.T, host *fakenvml.Host, name, span string, args ...string) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name)
	cmd := exec.Command(path, append([]string{"record", "--host.name=gpu-a1", "--no-collector.host", "--no-collector.kmsg", "--for=" + span, "-o", file}, args...)...)
	cmd.Env = append(os.Environ(), host.Env()...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("record: %v\n%s", err, out)
	}
	return file
}

func TestARecordingGivesThePageOfTheMachine(t *testing.T) {
	t.Parallel()
	host := fakenvml.Install(t, fakenvml.H100x8())
	live := startProgram(t, host.Env(), "--no-collector.host", "--no-collector.kmsg")
	file := keep(t, host, "h100.jsonl.gz", "8s") // two rounds: performance counters tell of what lies between
	played := startProgram(t, nil, "--source=replay", "--replay.recording="+file)
	var differs []string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		want, got := ofGPUs(live.page(t)), ofGPUs(played.page(t))
		if strings.Contains(want, `gpu_sm_active_ratio{gpu="7"`) && got == want {
			return
		}
		differs = difference(want, got)
	}
	t.Errorf("the recording's page does not become the machine's: %d lines differ:\n%s", len(differs), strings.Join(differs, "\n"))
}

// Two programs that read the performance counters at once know nothing of each other's order.
func TestBesideAnExporterTheCountersOfPerformanceAreLeftToIt(t *testing.T) {
	t.Parallel()
	exporters := fakenvml.Install(t, fakenvml.H100x8())
	live := startProgram(t, exporters.Env(), "--no-collector.host", "--no-collector.kmsg")
	beside := fakenvml.Install(t, fakenvml.H100x8()) // the same machine, with a log of its own
	keep(t, beside, "h100.jsonl", "3s", "--web.listen-address="+strings.TrimPrefix(live.url, "http://"))
	if calls := beside.Calls(t); strings.Contains(strings.ToLower(calls), "gpm") {
		t.Errorf("record made calls of the counters:\n%s", calls)
	}
	examine(t, beside, "--web.listen-address="+strings.TrimPrefix(live.url, "http://"))
	if calls := beside.Calls(t); strings.Contains(strings.ToLower(calls), "gpm") || strings.Count(calls, "nvmlInit") != 2 {
		t.Errorf("check made calls of the counters, or none at all:\n%s", calls)
	}
	alone := fakenvml.Install(t, fakenvml.H100x8())
	keep(t, alone, "h100.jsonl", "3s", "--web.listen-address=127.0.0.1:1")
	if calls := alone.Calls(t); !strings.Contains(strings.ToLower(calls), "gpm") {
		t.Errorf("alone, record makes no call of the counters:\n%s", calls)
	}
}

// difference gives the lines that only one of two texts has.
func difference(a, b string) []string {
	of := map[string]int{}
	for _, line := range strings.Split(a, "\n") {
		of[line]++
	}
	for _, line := range strings.Split(b, "\n") {
		of[line]--
	}
	var out []string
	for line, n := range of {
		if n != 0 {
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out
}

func TestARedactedRecordingTellsNoSerialNumber(t *testing.T) {
	t.Parallel()
	host := fakenvml.Install(t, fakenvml.H100x8())
	raw, err := os.ReadFile(keep(t, host, "redacted.jsonl", "8s", "--redact"))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"165132400000", "6f1e2d3c", "gpu-a1"} {
		if bytes.Contains(raw, []byte(secret)) {
			t.Errorf("the recording tells %s", secret)
		}
	}
	rec, err := record.Read(bytes.NewReader(raw))
	if err != nil || len(rec.Snapshots[len(rec.Snapshots)-1].GPUs) != 8 || !rec.Redacted {
		t.Errorf("%v: %+v", err, rec)
	}
}

func TestRecordEndsWithACodeThatSaysWhy(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there.jsonl")
	if err := os.WriteFile(there, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	silent := newMachine(&gpu.Snapshot{})
	for name, test := range map[string]struct {
		source *machine
		args   []string
		code   int
		says   string
	}{
		"a file that is there":   {newMachine(simulated(t)), []string{"-o", there}, 4, "not written over"},
		"a folder that is not":   {newMachine(simulated(t)), []string{"-o", filepath.Join(dir, "no", "such")}, 1, "no such file"},
		"no file given":          {newMachine(simulated(t)), nil, 2, "--out"},
		"a driver that is mute":  {silent, []string{"-o", filepath.Join(dir, "mute.jsonl")}, 1, "leasewatch-exporter check"},
		"a recording on the way": {newMachine(simulated(t)), []string{"-o", "-"}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			length := "300ms"
			if test.code == 0 {
				length = "3s" // long enough for a snapshot on a busy machine
			}
			args := append([]string{"record", "--for=" + length, "--host.name=gpu-a1", "--no-collector.host", "--no-collector.kmsg"}, test.args...)
			code := exporter.Run(t.Context(), args, &stdout, &stderr, exporter.Options{
				Sources: map[string]exporter.NewSource{"nvml": func(exporter.SourceConfig) (gpu.Source, error) { return test.source, nil }},
			})
			if code != test.code || !strings.Contains(stderr.String(), test.says) {
				t.Errorf("code %d, want %d, stderr %q", code, test.code, stderr.String())
			}
			if code == 0 {
				if rec, err := record.Read(&stdout); err != nil || len(rec.Snapshots) == 0 || rec.Host != "gpu-a1" {
					t.Errorf("%v: %+v", err, rec)
				}
			}
		})
	}
	if raw, err := os.ReadFile(there); err != nil || string(raw) != "precious" {
		t.Errorf("the file that was there is now %q: %v", raw, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "mute.jsonl")); err == nil {
		t.Error("a recording of nothing was left behind")
	}
}

func TestABrokenRecordingIsAConfigurationError(t *testing.T) {
	t.Parallel()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "broken.jsonl")
	if err := os.WriteFile(file, []byte("events: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--source=replay", "--replay.recording="+file, "--web.listen-address=127.0.0.1:0")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 3 || !strings.Contains(string(out), "line 1: no recording") {
		t.Errorf("%v, exit code %d:\n%s", err, cmd.ProcessState.ExitCode(), out)
	}
}
