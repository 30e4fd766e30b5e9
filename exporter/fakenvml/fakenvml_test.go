package fakenvml

import (
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func symbols(t *testing.T, dir string) []string {
	t.Helper()
	lib, err := elf.Open(filepath.Join(dir, LibraryName))
	if err != nil {
		t.Fatal(err)
	}
	defer lib.Close()
	all, err := lib.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range all {
		if s.Section != elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			names = append(names, s.Name)
		}
	}
	return names
}

func TestBuildExportsTheDriversFunctionsAndNothingElse(t *testing.T) {
	names := symbols(t, Build(t))
	for _, want := range []string{"nvmlInit_v2", "nvmlDeviceGetMemoryInfo_v2", "nvmlEventSetWait_v2"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not exported", want)
		}
	}
	for _, name := range names {
		if !strings.HasPrefix(name, "nvml") {
			t.Errorf("%s is exported", name)
		}
	}
}

func TestBuildLeavesHiddenFunctionsOut(t *testing.T) {
	s := OldDriver()
	names := symbols(t, Build(t, Hide(s.Hidden()...)))
	for _, hidden := range s.Hidden() {
		if slices.Contains(names, hidden) {
			t.Errorf("%s is exported", hidden)
		}
	}
	if !slices.Contains(names, "nvmlDeviceGetMemoryInfo") {
		t.Error("the first version of the memory call is gone as well")
	}
}

func TestBuildIsKept(t *testing.T) {
	first := Build(t)
	before, err := os.Stat(filepath.Join(first, LibraryName))
	if err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(filepath.Join(Build(t), LibraryName))
	if err != nil {
		t.Fatal(err)
	}
	if !before.ModTime().Equal(after.ModTime()) {
		t.Error("the same library was built twice")
	}
}

func TestScenarioKeepsTheLastSettingOfAKey(t *testing.T) {
	s := New().DeviceCount(2)
	s.GPU(1).Set("power_mw", 1).Set("power_mw", 2).Lost().Delay("nvmlDeviceGetUUID", Forever)
	s.Event(1, 79)
	text := s.Text()
	for _, want := range []string{"device_count = 2\n", "gpu.1.power_mw = 2\n", "gpu.1.return = 15\n",
		"gpu.1.nvmlDeviceGetUUID.delay_ms = -1\n", "event = 1 gpu=1 xid=79\n"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("want %q once in\n%s", want, text)
		}
	}
	if text = s.GPU(1).Heal(2).scenario.Text(); strings.Contains(text, "gpu.1.return") || !strings.Contains(text, "gpu.1.generation = 2") {
		t.Errorf("a healed GPU has no answer of its own and a new generation:\n%s", text)
	}
}
