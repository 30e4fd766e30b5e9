// Command gen writes METRICS.md from the catalogue, into the working folder or to the path given.
package main

import (
	"fmt"
	"os"

	"github.com/leasewatch/leasewatch/exporter/catalog"
)

func main() {
	path := "METRICS.md"
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	if err := write(path); err != nil {
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
