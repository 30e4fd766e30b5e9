package exporter_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/exporter/gpu"
	"github.com/leasewatch/leasewatch/internal/testenv"
)

// transitions is the state machine's table as docs/exporter.md shows it.
func transitions() string {
	var b strings.Builder
	b.WriteString("| what the driver answers | from | to | after | why |\n|---|---|---|---|---|\n")
	for _, row := range gpu.Transitions {
		from := "any"
		if !slices.Equal(row.From, gpu.States) {
			names := make([]string, len(row.From))
			for i, state := range row.From {
				names[i] = string(state)
			}
			from = strings.Join(names, ", ")
		}
		after := "at once"
		if row.After > 0 {
			after = fmt.Sprintf("%.0f s", row.After.Seconds())
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", row.Answer, from, row.To, after, row.Why)
	}
	return b.String()
}

func TestTheDocumentationShowsTheTransitionTable(t *testing.T) {
	path := filepath.Join(testenv.Root(t), "docs", "exporter.md")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	place := regexp.MustCompile(`(?s)(<!-- transitions -->\n).*(<!-- /transitions -->)`)
	want := place.ReplaceAllString(string(raw), "${1}"+transitions()+"${2}")
	if !strings.Contains(string(raw), "<!-- transitions -->") {
		t.Fatal("docs/exporter.md has no place for the transition table")
	}
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(raw) {
		t.Error("the transition table in docs/exporter.md is not the state machine's: run go test ./exporter -run Documentation -update")
	}
}

// Every flag of the program stands in the documentation.
func TestTheDocumentationKnowsEveryFlag(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(testenv.Root(t), "docs", "exporter.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range regexp.MustCompile(`--(?:\[no-\])?([a-z][a-z.-]+)`).FindAllStringSubmatch(help(t), -1) {
		if name := flag[1]; !strings.HasPrefix(name, "help") && !strings.Contains(string(raw), "--"+name) {
			t.Errorf("docs/exporter.md does not name --%s", name)
		}
	}
}
