package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/server"
)

func FuzzAConfigurationIsTakenOrRefusedWithItsPlace(f *testing.F) {
	f.Add("global: {scrape_interval: 5s, external_url: https://leasewatch.example.net}\n")
	f.Add("approvals: {for: [prices, nonsense]}\nthresholds:\n  - {name: idle, value: .nan}\n")
	f.Add("retention: 90d\nunknown: 1\n")
	f.Add("global: {scrape_interval: &a 5s, evaluation_interval: *a}\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "leasewatch.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := server.LoadConfig(path); err != nil && !strings.Contains(err.Error(), "leasewatch.yaml") {
			t.Errorf("%q: the error names no place: %v", text, err)
		}
	})
}
