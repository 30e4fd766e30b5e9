package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/manifest"
	"github.com/leasewatch/leasewatch/internal/testenv"
)

// TestTheExamplesOfTheManualAreValid reads every YAML block of docs/leases.md as one input.
func TestTheExamplesOfTheManualAreValid(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(testenv.Root(t), "docs", "leases.md"))
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for i, part := range strings.Split(string(text), "```") {
		if i%2 == 1 && strings.HasPrefix(part, "yaml\n") {
			blocks = append(blocks, strings.TrimPrefix(part, "yaml\n"))
		}
	}
	r, err := manifest.Read("docs/leases.md", strings.NewReader(strings.Join(blocks, "---\n")))
	if err != nil {
		t.Fatal(err)
	}
	if r.Len() != 14 {
		t.Errorf("found %d resources, expected one of each of the thirteen kinds, and a second contract", r.Len())
	}
}
