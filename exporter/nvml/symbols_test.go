//go:build linux && cgo

package nvml

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// optional lists every function that may be missing, under the names of the library.
func optional() []string {
	names := slices.Clone(plain)
	for _, versions := range versioned {
		names = append(names, versions...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// groups chooses functions to leave out: all, and by each bit of their number those with and
// those without it. So each one is missing at least once while any other one is there.
func groups() map[string][]string {
	names := optional()
	chosen := map[string][]string{"all": names}
	for bit := range bits.Len(uint(len(names) - 1)) {
		for i, name := range names {
			key := fmt.Sprintf("bit%d_is_%d", bit, i>>bit&1)
			chosen[key] = append(chosen[key], name)
		}
	}
	return chosen
}

func TestTheProcessSurvivesMissingFunctions(t *testing.T) {
	for name, missing := range groups() {
		t.Run(name, func(t *testing.T) {
			s := fakenvml.H100x8().DeviceCount(2).Without(missing...)
			s.GPU(0).Set("fan.0", 40)
			inChild(t, s, func(t *testing.T, m *machine) {
				m.start(t, quick())
				m.wait(t, all(2, gpu.OK))
				m.change(t, func(s *fakenvml.Scenario) { s.Set("driver.generation", 2) })
				m.wait(t, func(s *gpu.Snapshot) error {
					if s.GPUs[0].Status.Seconds[gpu.DriverDown] == 0 {
						return errors.New("the driver was not started again")
					}
					return all(2, gpu.OK)(s)
				})
			})
		})
	}
}

func TestALibraryThatLacksWhatIsNeededIsRefusedByName(t *testing.T) {
	for _, missing := range needed {
		t.Run(missing, func(t *testing.T) {
			inChild(t, fakenvml.H100x8().Without(missing), func(t *testing.T, m *machine) {
				m.start(t, quick())
				m.wait(t, driver(gpu.DriverNoLibrary, "has no "+missing))
			})
		})
	}
}

// A call whose name stands in no table would count as missing for ever.
func TestEveryCallIsLookedUpAndEveryLookUpIsForACall(t *testing.T) {
	tabled := map[string]bool{}
	for _, name := range slices.Concat(needed, plain, slices.Collect(maps.Keys(versioned))) {
		tabled[name] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`^nvml(Device|System|Event|Gpm|GpuInstance|Init|Shutdown)\w*$`)
	used := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "library.go" {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil && name.MatchString(text) {
					used[text] = true
				}
			}
			return true
		})
	}
	for name := range used {
		if !tabled[name] {
			t.Errorf("%s is called and never looked up", name)
		}
	}
	for name := range tabled {
		if !used[name] {
			t.Errorf("%s is looked up and never called", name)
		}
	}
}

// What the guards are for: without them the process ends, and nothing in Go can stop it.
func TestAMissingFunctionEndsAProcessThatCallsIt(t *testing.T) {
	if os.Getenv(childEnv) != "" {
		api := nvml.New()
		if ret := api.Init(); ret != nvml.SUCCESS {
			t.Fatalf("init: %d", ret)
		}
		defer func() { _ = recover() }()
		_, ret := api.SystemGetDriverVersion()
		t.Logf("the call came back with %d", ret)
		return
	}
	s := fakenvml.H100x8().Without("nvmlSystemGetDriverVersion")
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), append(fakenvml.Install(t, s).Env(), childEnv+"=1")...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 127 {
		t.Errorf("the process ended with %v, want exit status 127:\n%s", err, out)
	}
}
