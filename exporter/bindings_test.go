package exporter_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/testenv"
)

// The driver library's functions are bound when first called, because an old library lacks
// some of them. A program bound at its start would end there.
func TestTheProgramIsBoundLazily(t *testing.T) {
	testenv.Binary(t, "gcc")
	readelf := testenv.Binary(t, "readelf")
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(readelf, "--wide", "--dynamic", path).CombinedOutput()
	if err != nil {
		t.Fatalf("readelf: %v\n%s", err, out)
	}
	for _, line := range strings.Split(string(out), "\n") {
		if strings.Contains(line, "BIND_NOW") || strings.Contains(line, "FLAGS_1") && strings.Contains(line, "NOW") {
			t.Errorf("the program is linked with -z now: %s", line)
		}
	}
}

// With LD_BIND_NOW the loader ends the program before any of its code runs. Nothing can be
// said then but by the loader; docs/exporter.md tells what to do.
func TestUnderBindNowTheLoaderRefusesAloud(t *testing.T) {
	testenv.Binary(t, "gcc")
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	program := exec.Command(path, "version")
	program.Env = append(os.Environ(), "LD_BIND_NOW=1")
	program.Stderr = &stderr
	var exit *exec.ExitError
	if err := program.Run(); !errors.As(err, &exit) || exit.ExitCode() != 127 || !strings.Contains(stderr.String(), "nvml") {
		t.Errorf("error %v, stderr %q: want exit code 127 and the name of a symbol, as docs/exporter.md says", err, stderr.String())
	}
	program = exec.Command(path, "version")
	program.Env = append(os.Environ(), "LD_BIND_NOW=")
	if out, err := program.CombinedOutput(); err != nil {
		t.Errorf("an empty LD_BIND_NOW: %v\n%s", err, out)
	}
}
