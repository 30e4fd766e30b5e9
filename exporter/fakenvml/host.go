package fakenvml

import (
	"os"
	"path/filepath"
	"testing"
)

// Host is a fake driver installed for one test: a library and the scenario that it follows.
type Host struct {
	Scenario *Scenario
	dir      string // of the library
	file     string // the scenario
	log      string
}

// Install builds the library for the scenario (without its hidden functions) and writes the
// scenario file.
func Install(t testing.TB, s *Scenario) *Host {
	t.Helper()
	own := t.TempDir()
	h := &Host{
		Scenario: s,
		dir:      Build(t, Hide(s.Hidden()...)),
		file:     filepath.Join(own, "scenario"),
		log:      filepath.Join(own, "calls"),
	}
	h.Update(t, func(*Scenario) {})
	return h
}

// Library is the path of the library.
func (h *Host) Library() string { return filepath.Join(h.dir, LibraryName) }

// Env is what a program needs in its environment to load the library by its usual name and to
// follow the scenario.
func (h *Host) Env() []string {
	return []string{"LD_LIBRARY_PATH=" + h.dir, ScenarioEnv + "=" + h.file, LogEnv + "=" + h.log}
}

// Update changes the scenario and writes it; the library sees it within some 10 ms.
func (h *Host) Update(t testing.TB, change func(*Scenario)) {
	t.Helper()
	change(h.Scenario)
	if err := h.Scenario.Write(h.file); err != nil {
		t.Fatal(err)
	}
}

// Calls returns what the library noted so far: one line for each Init, Shutdown, event set and
// handle of a GPU.
func (h *Host) Calls(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile(h.log)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}
