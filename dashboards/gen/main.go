// Command gen writes dashboards/json, and the copies that Grafana provisions from files, from
// the Go code. It runs in dashboards/.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/leasewatch/leasewatch/dashboards"
)

func main() {
	if err := write("json", filepath.Join("..", "plugin", "provisioning", "dashboards")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(bundled, provisioned string) error {
	all, err := dashboards.All()
	if err != nil {
		return err
	}
	for _, d := range all {
		for folder, body := range map[string][]byte{bundled: d.JSON, provisioned: d.Provisioned()} {
			if err := os.WriteFile(filepath.Join(folder, d.Name+".json"), body, 0o644); err != nil {
				return fmt.Errorf("dashboard %s: %w", d.Name, err)
			}
		}
	}
	return nil
}
