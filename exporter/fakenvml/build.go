// Package fakenvml builds and drives the fake driver library of exporter/testdata/fakenvml.
// It is for tests and benchmarks: the exporter loads the result as it would load the real
// libnvidia-ml.so.1.
package fakenvml

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/testenv"
)

// LibraryName is the file that BuildTo makes: the name by which the real library is loaded.
const LibraryName = "libnvidia-ml.so.1"

// ScenarioEnv names the environment variable that tells the library its scenario file.
const ScenarioEnv = "LEASEWATCH_FAKE_NVML"

// LogEnv names the environment variable for the file where the library notes Init, Shutdown
// and event sets.
const LogEnv = "LEASEWATCH_FAKE_NVML_LOG"

// Option changes how the library is built.
type Option func(*build)

type build struct{ hidden []string }

// Hide leaves the named functions out of the library, as a driver would that is older than they.
func Hide(symbols ...string) Option {
	return func(b *build) { b.hidden = append(b.hidden, symbols...) }
}

// Build returns a folder with the library in it. Without gcc the test is skipped.
// The same library is built once and kept in the folder for temporary files.
func Build(t testing.TB, options ...Option) (dir string) {
	t.Helper()
	testenv.Binary(t, "gcc")
	var b build
	for _, option := range options {
		option(&b)
	}
	slices.Sort(b.hidden)
	sum, err := fingerprint()
	if err != nil {
		t.Fatalf("fake driver library: %v", err)
	}
	objects := filepath.Join(os.TempDir(), fmt.Sprintf("leasewatch-fakenvml-%d", os.Getuid()), sum)
	dir = filepath.Join(objects, digest([]byte(strings.Join(b.hidden, " "))))
	if _, err := os.Stat(filepath.Join(dir, LibraryName)); err == nil {
		return dir
	}
	// Two test processes may build at once: each in its own folder, the first rename wins.
	own := t.TempDir()
	if err := compile(own, objects, b.hidden); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatalf("folder for the fake driver library: %v", err)
	}
	if err := install(filepath.Join(own, LibraryName), filepath.Join(dir, LibraryName)); err != nil {
		t.Fatalf("fake driver library: %v", err)
	}
	return dir
}

// BuildTo compiles the library into dir with gcc, leaving the hidden functions out.
// It needs the source tree and the go command.
func BuildTo(dir string, hidden ...string) error { return compile(dir, dir, hidden) }

// compile keeps the object file, which serves for every choice of hidden functions, in objects.
func compile(dir, objects string, hidden []string) error {
	script := filepath.Join(sources(), "build.sh")
	cmd := exec.Command("sh", append([]string{script, dir}, hidden...)...)
	cmd.Env = append(os.Environ(), "OBJECTS="+objects)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("building the fake driver library with %s: %w\n%s", script, err, out)
	}
	return nil
}

func sources() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "testdata", "fakenvml")
}

// fingerprint tells sources apart, and the header's version, which stands in go.mod.
func fingerprint() (string, error) {
	files, err := filepath.Glob(filepath.Join(sources(), "*"))
	if err != nil {
		return "", err
	}
	var all []byte
	for _, file := range append(files, filepath.Join(sources(), "..", "..", "..", "go.mod")) {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		all = fmt.Appendf(all, "%s %d\n%s", filepath.Base(file), len(data), data)
	}
	return digest(all), nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// install moves the file across file systems in one visible step.
func install(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	fresh, err := os.CreateTemp(filepath.Dir(to), LibraryName)
	if err != nil {
		return err
	}
	if _, err := fresh.Write(data); err != nil {
		fresh.Close()
		return err
	}
	if err := fresh.Chmod(0o755); err != nil {
		fresh.Close()
		return err
	}
	if err := fresh.Close(); err != nil {
		return err
	}
	return os.Rename(fresh.Name(), to)
}
