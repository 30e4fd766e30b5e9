package httpapi_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/httpapi"
	"github.com/leasewatch/leasewatch/internal/testenv"
)

var update = flag.Bool("update", false, "write the table of access in docs/api.md anew")

func TestTheDocumentationHoldsTheTableOfAccess(t *testing.T) {
	var table strings.Builder
	table.WriteString("\n| operation | path | admin | operator | oncall | finance | tenant | push | enroll | why |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, row := range httpapi.AccessTable() {
		fmt.Fprintf(&table, "| `%s` | `%s %s` |", row.ID, row.Method, row.Path)
		for role := range strings.FieldsSeq("admin operator oncall finance tenant push enroll") {
			mark := " "
			for _, may := range row.Roles {
				if string(may) == role {
					mark = " yes "
				}
			}
			table.WriteString(mark + "|")
		}
		table.WriteString(" " + row.Why + " |\n")
	}
	path := filepath.Join(testenv.Root(t), "docs", "api.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "-->", "<!-- /access -->"
	from := strings.Index(string(text), "<!-- access:")
	to := strings.Index(string(text), end)
	if from < 0 || to < from {
		t.Fatalf("%s has lost its marks around the table of access", path)
	}
	from += strings.Index(string(text)[from:], begin) + len(begin)
	want := string(text)[:from] + "\n" + table.String() + "\n" + string(text)[to:]
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(text) {
		t.Errorf("%s differs from the table of access: run with -update", path)
	}
}
