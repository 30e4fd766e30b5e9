package exporter_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// To be killed inside a driver call can wedge a GPU, and a limit of memory kills wherever the
// program is.
func TestNothingThatWeShipLimitsTheExportersMemoryHard(t *testing.T) {
	limits := map[string]*regexp.Regexp{
		"../deploy/systemd/leasewatch-exporter.service": regexp.MustCompile(`(?m)^\s*(Memory(Max|High|Limit|SwapMax)|Limit(AS|DATA|RSS|STACK))\s*=`),
		"../deploy/container/exporter.Containerfile":    regexp.MustCompile(`(?i)ulimit|--memory|GOMEMLIMIT`),
		"../deploy/compose/compose.yaml":                regexp.MustCompile(`(?i)mem_limit|memswap_limit|\bmemory:|ulimits:`),
	}
	for file, limit := range limits {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := limit.FindString(string(text)); found != "" {
			t.Errorf("%s has %q", file, strings.TrimSpace(found))
		}
	}
}

// The exporter ends by itself where only a new process can load the driver's library.
func TestTheUnitStartsTheExporterAnew(t *testing.T) {
	unit, err := os.ReadFile("../deploy/systemd/leasewatch-exporter.service")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nRestart=always\n", "\nRestartSec=2s\n"} {
		if !strings.Contains(string(unit), want) {
			t.Errorf("the unit lacks %q", want)
		}
	}
	if strings.Contains(string(unit), "StartLimit") {
		t.Error("the unit gives up after some starts")
	}
}
