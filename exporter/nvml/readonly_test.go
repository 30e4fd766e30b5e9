//go:build linux && cgo

package nvml

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// harmless are the functions that are no getters, each with why it changes nothing of a GPU.
var harmless = map[string]string{
	"nvmlInit_v2":                 "opens the driver for this process",
	"nvmlShutdown":                "closes it",
	"nvmlEventSetCreate":          "memory of this process",
	"nvmlEventSetFree":            "memory of this process",
	"nvmlEventSetWait":            "waits",
	"nvmlEventSetWait_v2":         "waits",
	"nvmlDeviceRegisterEvents":    "has this process told what happens",
	"nvmlDeviceValidateInforom":   "has the card read its InfoROM and compare checksums",
	"nvmlDeviceGetAccountingMode": "asks whether processes are accounted for; sets nothing",
	"nvmlGpmQueryDeviceSupport":   "asks whether there are counters",
	"nvmlGpmSampleAlloc":          "memory of this process",
	"nvmlGpmSampleFree":           "memory of this process",
	"nvmlGpmSampleGet":            "copies counters that run anyway; takes no profiling lock",
	"nvmlGpmMigSampleGet":         "the same",
	"nvmlGpmMetricsGet":           "reckons with two samples in memory",
}

var getter = regexp.MustCompile(`^nvml(System|Device|GpuInstance)Get[A-Z]`)

// whatChanges are words in the names of functions that set something, reset it or lock it. A getter
// whose name has one is not let through by its prefix.
var whatChanges = regexp.MustCompile(`Set[A-Z]|Reset|Clear|Modify|Remove|Create|Destroy|Freeze|Unfreeze|Activate|Deactivate|Perf(Mon|Buffer)|Profil(er|ing)|Accounting|Lock|Write`)

// We are guests on other people's machines.
func TestNoFunctionThatChangesAGPUIsEverLookedUp(t *testing.T) {
	names := slices.Concat(needed, plain, slices.Collect(maps.Keys(versioned)))
	for _, versions := range versioned {
		names = append(names, versions...)
	}
	for _, name := range names {
		if _, known := harmless[name]; known {
			continue
		}
		if !getter.MatchString(name) || whatChanges.MatchString(strings.TrimPrefix(name, "nvml")) {
			t.Errorf("%s is no getter: say in this test why it changes nothing, or leave it alone", name)
		}
	}
	for name := range harmless {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not called any more: take it off the list", name)
		}
	}
}

// The methods of go-nvml that the package can reach are those that the list speaks of.
func TestNoMethodThatChangesAGPUIsEverCalled(t *testing.T) {
	for method := range reflect.TypeFor[device]().Methods() {
		if name := method.Name; !strings.HasPrefix(name, "Get") && harmless["nvmlDevice"+name] == "" && harmless["nvml"+name] == "" {
			t.Errorf("a device can be asked to %s", name)
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	library := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			method, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of := ""
			switch x := method.X.(type) {
			case *ast.Ident:
				of = x.Name
			case *ast.SelectorExpr:
				of = x.Sel.Name
			}
			name := method.Sel.Name
			if of != "api" {
				return true
			}
			library++
			if !strings.HasPrefix(name, "SystemGet") && !strings.HasPrefix(name, "DeviceGet") && harmless["nvml"+name] == "" && name != "Init" {
				t.Errorf("%s: the library is asked to %s", file, name)
			}
			return true
		})
	}
	if library < 5 {
		t.Errorf("%d calls of the library were found: this test looks past them", library)
	}
}
