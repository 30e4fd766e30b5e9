package alertmanagerrules

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/leasewatch/leasewatch/internal/testenv"
)

// stockPrometheus lays the deployed configuration and the rules out as an operator would.
func stockPrometheus(t *testing.T) string {
	t.Helper()
	config, err := os.ReadFile(filepath.Join(testenv.Root(t), "deploy", "prometheus", "prometheus.yml"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "rules"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(path, config, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, data := range Rules() {
		if err := os.WriteFile(filepath.Join(dir, "rules", name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestStockPrometheusReadsItsDeployment(t *testing.T) {
	t.Run("pinned promtool", func(t *testing.T) {
		run(t, tool(t, "promtool"), "check", "config", stockPrometheus(t))
	})
	t.Run("old promtool", func(t *testing.T) {
		run(t, testenv.Binary(t, "promtool"), "check", "config", stockPrometheus(t))
	})
}

func TestStockAlertmanagerReadsItsDeploymentAndRoutesAlike(t *testing.T) {
	path := filepath.Join(testenv.Root(t), "deploy", "alertmanager", "alertmanager.yaml")
	deployed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	routing := func(config []byte) []byte {
		_, rest, found := bytes.Cut(config, []byte("\nroute:\n"))
		routes, _, ended := bytes.Cut(rest, []byte("\nreceivers:\n"))
		if !found || !ended {
			t.Fatal("a routing file has route: first and receivers: last")
		}
		return routes
	}
	if !bytes.Equal(routing(deployed), routing(AlertmanagerConfig())) {
		t.Errorf("%s routes or inhibits otherwise than alertmanager-rules/alertmanager.yaml", path)
	}
	t.Run("pinned amtool", func(t *testing.T) { run(t, tool(t, "amtool"), "check-config", path) })
	t.Run("old amtool", func(t *testing.T) { run(t, testenv.Binary(t, "amtool"), "check-config", path) })
}
