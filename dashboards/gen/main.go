// Command gen writes dashboards/json from the Go code.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/leasewatch/leasewatch/dashboards"
)

func main() {
	if err := write("json"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(folder string) error {
	all, err := dashboards.All()
	if err != nil {
		return err
	}
	for _, d := range all {
		if err := os.WriteFile(filepath.Join(folder, d.Name+".json"), d.JSON, 0o644); err != nil {
			return fmt.Errorf("dashboard %s: %w", d.Name, err)
		}
	}
	return nil
}
