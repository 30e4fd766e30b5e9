package exporter_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
)

// The whole way of an upgrade under a running exporter: its unit starts it anew, once.
func TestADriverUpgradeEndsTheProgramAndTheNextOneGoesOn(t *testing.T) {
	t.Parallel()
	host := fakenvml.Install(t, fakenvml.H100x8())
	folder := t.TempDir()
	lay := func() { // where the loader finds it by its usual name
		t.Helper()
		data, err := os.ReadFile(host.Library())
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(folder, fakenvml.LibraryName)
		if err := errors.Join(os.WriteFile(file+".new", data, 0o700), os.Rename(file+".new", file)); err != nil {
			t.Fatal(err)
		}
	}
	lay()
	env := append(host.Env(), "LD_LIBRARY_PATH="+folder)
	args := []string{"--no-collector.host", "--no-collector.kmsg", "--state.file=" + filepath.Join(t.TempDir(), "state.json")}
	p := startProgram(t, env, args...)
	eventually(t, "all GPUs are ok", func() bool { return readingsOf(p.page(t)) == 8 })

	lay()
	host.Update(t, func(s *fakenvml.Scenario) { s.Return("driver", fakenvml.VersionMismatch) })
	kill := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
	defer kill.Stop()
	var exit *exec.ExitError
	if err := p.cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("the program ended with %v, want exit code 1:\n%s", err, p.log)
	}
	for _, want := range []string{"is to be started anew", "the driver was upgraded", fakenvml.LibraryName} {
		if !strings.Contains(p.log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, p.log)
		}
	}
	if strings.Contains(p.log.String(), "still hangs") {
		t.Errorf("the log tells of a call that hangs:\n%s", p.log)
	}

	// The new library fits, and what was down is known to have been.
	host.Update(t, func(s *fakenvml.Scenario) { s.Unset("driver.return").Set("driver.version", "580.82.07") })
	p = startProgram(t, env, args...)
	eventually(t, "all GPUs are ok again", func() bool { return readingsOf(p.page(t)) == 8 })
	page := p.page(t)
	if got := sample(page, "gpu_driver_changes_total"); got != "1" {
		t.Errorf("the driver changed %s times", got)
	}
	if got := sample(page, "gpu_state_seconds_total", `state="driver_down"`, uuidOf("3")); got == "0" || got == "" {
		t.Errorf("%q seconds were counted as driver_down", got)
	}
}
