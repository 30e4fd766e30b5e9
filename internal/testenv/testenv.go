// Package testenv tells tests what the machine offers: real data, servers, a browser.
// What is missing skips the test with a reason, and fails it where skips are forbidden
// (LEASEWATCH_FORBID_SKIPS=1, as CI sets).
package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// Skip skips the test with the reason, or fails it where skips are forbidden.
func Skip(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("LEASEWATCH_FORBID_SKIPS") == "1" {
		t.Fatalf("skips are forbidden here, but this test would skip: %s", reason)
	}
	t.Skip(reason)
}

// Binary returns the path of an installed program, or skips the test.
// Programs that Debian keeps outside PATH (/usr/lib/postgresql/*/bin, /usr/sbin) are found too.
func Binary(t testing.TB, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin/" + name, "/usr/sbin/" + name} {
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return found[len(found)-1]
		}
	}
	Skip(t, name+" is not installed (TEST_DEPS=install make test installs it)")
	return ""
}

// Data returns the path of a file of the real data set, or skips the test.
// The folder is LEASEWATCH_TESTDATA, by default ../shared/data beside the repository.
func Data(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("LEASEWATCH_TESTDATA")
	if dir == "" {
		dir = filepath.Join(Root(t), "..", "shared", "data")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		Skip(t, "real data file "+name+" is not in "+dir+" (set LEASEWATCH_TESTDATA)")
	}
	return path
}

// Root returns the root folder of the repository.
func Root(t testing.TB) string {
	t.Helper()
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		t.Fatal("cannot tell where this source file lies")
	}
	return filepath.Join(filepath.Dir(file), "..", "..")
}
