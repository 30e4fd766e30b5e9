package server

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestReadingsHoldForTheSlowestJob(t *testing.T) {
	for name, tt := range map[string]struct {
		jobs string
		want time.Duration
	}{
		"no job":        {"", 5 * time.Second},
		"as the global": {"scrape_configs: [{job_name: a}]\n", 5 * time.Second},
		"a slower job":  {"scrape_configs: [{job_name: a}, {job_name: b, scrape_interval: 15s}]\n", 15 * time.Second},
		"a faster job":  {"scrape_configs: [{job_name: a, scrape_interval: 1s}]\n", 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "leasewatch.yaml")
			if err := os.WriteFile(file, []byte("global: {scrape_interval: 5s}\n"+tt.jobs), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg, err := LoadConfig(file)
			if err != nil {
				t.Fatal(err)
			}
			if got := cfg.sampleInterval(); got != tt.want {
				t.Errorf("found %s, expected %s", got, tt.want)
			}
		})
	}
}
