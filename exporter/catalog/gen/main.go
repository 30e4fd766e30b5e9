// Command gen writes METRICS.md at the root of the repository from the catalogue.
package main

import (
	"fmt"
	"os"

	"github.com/leasewatch/leasewatch/exporter/catalog"
)

func main() {
	if err := write("METRICS.md"); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func write(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := catalog.WriteMarkdown(file); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return file.Close()
}
