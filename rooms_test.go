// Package leasewatch holds the law of the house: which room may know which.
package leasewatch

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/leasewatch/leasewatch/"

// allowed names, for each room, the rooms it may import. A room that is not listed fails
// the test: decide where it stands before it is built. Order follows the way of a sample.
var allowed = map[string][]string{
	"exporter/gpu":      {},
	"exporter/catalog":  {"exporter/gpu"},
	"exporter/replay":   {"exporter/gpu"},
	"exporter/push":     {"exporter/gpu", "exporter/catalog"},
	"exporter/compat":   {"exporter/gpu", "exporter/catalog"},
	"exporter/doctor":   {"exporter/gpu", "exporter/catalog"},
	"exporter/record":   {"exporter/gpu"},
	"exporter/nvml":     {"exporter/gpu"},
	"exporter/workload": {"exporter/gpu"},
	"exporter/host":     {"exporter/gpu"},
	"exporter/kmsg":     {"exporter/gpu"},
	"exporter/enrol":    {"exporter/push"},
	"exporter":          {"exporter/gpu", "exporter/catalog", "exporter/enrol", "exporter/host", "exporter/kmsg", "exporter/push", "exporter/workload", "exporter/compat", "exporter/doctor", "exporter/record", "exporter/statefile"},

	"exporter/statefile": {"exporter/gpu"},

	"alertmanager-rules": {},

	"dashboards": {},
	"plugin":     {"internal/api", "internal/rental"},

	"internal/rental":    {},
	"internal/api":       {"internal/rental"},
	"internal/phrase":    {"internal/rental"},
	"internal/chart":     {"internal/rental"},
	"internal/proof":     {"internal/rental"},
	"internal/report":    {"internal/rental", "internal/phrase", "internal/chart", "internal/proof"},
	"internal/manifest":  {"internal/rental"},
	"internal/monitor":   {"internal/rental"},
	"internal/paging":    {"internal/rental", "internal/phrase"},
	"internal/incident":  {"internal/rental", "internal/phrase"},
	"internal/oncall":    {"internal/rental"},
	"internal/slack":     {"internal/rental", "internal/phrase"},
	"internal/ledger":    {"internal/rental"},
	"internal/inventory": {"internal/rental"},
	"internal/witness":   {"internal/rental"},
	"internal/metering":  {"internal/rental"},
	"internal/sla":       {"internal/rental", "internal/phrase"},
	"internal/billing":   {"internal/rental", "internal/phrase"},
	"internal/httpapi":   {"internal/api", "internal/rental"},
	"internal/portal":    {"internal/api", "internal/rental", "internal/phrase", "internal/chart"},
}

// free rooms join the others and may import any of them.
var free = []string{"internal/server", "cmd/leasewatch", "cmd/leasewatch/demo", "cmd/leasewatch-exporter"}

// guarded names libraries that only one room may import.
var guarded = map[string][]string{
	"github.com/prometheus/prometheus/":   {"internal/monitor", "exporter/push"},
	"github.com/prometheus/alertmanager/": {"internal/paging"},
	"github.com/slack-go/slack":           {"internal/slack", "internal/slack/slackfake"},
	"google.golang.org/grpc":              {"exporter/workload"},
	"k8s.io/":                             {"exporter/workload"},
	"github.com/NVIDIA/go-nvml/":          {"exporter/nvml"},
	"golang.org/x/net/icmp":               {"internal/witness"},
	"os/exec":                             {"exporter/probe"},
}

type listed struct {
	ImportPath string
	Imports    []string
	Deps       []string
	Standard   bool
	CgoFiles   []string
}

func list(t *testing.T, args ...string) []listed {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Deps,Standard,CgoFiles"}, args...)...).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	var packages []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		packages = append(packages, p)
	}
}

// room returns the part of the import path below the module, or "" for a stranger.
func room(path string) string {
	rest, ok := strings.CutPrefix(path, module)
	if !ok {
		return ""
	}
	return rest
}

func TestEveryRoomImportsOnlyTheRoomsItMayKnow(t *testing.T) {
	for _, p := range list(t, "./...") {
		name := room(p.ImportPath)
		if name == "" || slices.Contains(free, name) || testOnly(name) {
			continue
		}
		may, known := allowed[owner(name)]
		if !known {
			t.Errorf("room %q is not in the law of rooms_test.go: say which rooms it may import", name)
			continue
		}
		for _, imported := range p.Imports {
			other := room(imported)
			if other == "" || owner(other) == owner(name) {
				continue
			}
			if !slices.Contains(may, owner(other)) {
				t.Errorf("%s imports %s: it may import %s", name, other, strings.Join(may, ", "))
			}
		}
	}
}

func TestGuardedLibrariesHaveOneDoor(t *testing.T) {
	for _, p := range list(t, "./...") {
		name := room(p.ImportPath)
		if testOnly(name) {
			continue
		}
		for _, imported := range p.Imports {
			for library, rooms := range guarded {
				if (imported == library || strings.HasPrefix(imported, library)) && !slices.Contains(rooms, name) {
					t.Errorf("%s imports %s: only %s may", name, imported, strings.Join(rooms, " and "))
				}
			}
		}
	}
}

func TestOnlyTheExporterLinksCgo(t *testing.T) {
	for _, p := range list(t, "-deps", "./cmd/leasewatch") {
		if strings.HasPrefix(p.ImportPath, module) && len(p.CgoFiles) > 0 {
			t.Errorf("the server would need cgo: %s has %v", p.ImportPath, p.CgoFiles)
		}
		if p.ImportPath == module+"exporter/nvml" {
			t.Error("the server links exporter/nvml: only cmd/leasewatch-exporter may")
		}
	}
}

func TestRentalAndApiUseTheStandardLibraryOnly(t *testing.T) {
	for _, p := range list(t, "-deps", "./internal/rental", "./internal/api") {
		if !p.Standard && !strings.HasPrefix(p.ImportPath, module) {
			t.Errorf("the vocabulary pulls in %s", p.ImportPath)
		}
	}
}

// owner returns the listed room that a package belongs to: itself, or the nearest folder
// above it that the law names.
func owner(name string) string {
	for at := name; at != ""; {
		if _, ok := allowed[at]; ok {
			return at
		}
		cut := strings.LastIndexByte(at, '/')
		if cut < 0 {
			break
		}
		at = at[:cut]
	}
	return name
}

// testOnly tells packages that only tests and generators use.
func testOnly(name string) bool {
	return name == "" || slices.Contains([]string{
		"internal/testenv", "internal/e2e", "exporter/fakenvml", "exporter/fakehost", "plugin/harness", "plugin/pkg/seeded",
	}, name) || strings.HasSuffix(name, "/gen")
}
