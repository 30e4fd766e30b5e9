package ledger

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// TestEachMigrationHasANumberOfItsOwnInBothDialects holds what goose asks for when a ledger is
// opened: two files of one number, from two changes that met, open none.
func TestEachMigrationHasANumberOfItsOwnInBothDialects(t *testing.T) {
	names := func(dialect string) []string {
		found, err := fs.ReadDir(migrations, "migrations/"+dialect)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		numbers := map[string]string{}
		for _, file := range found {
			number, _, _ := strings.Cut(file.Name(), "_")
			if before, twice := numbers[number]; twice {
				t.Errorf("%s: %s and %s have one number, expected the next free one", dialect, before, file.Name())
			}
			numbers[number] = file.Name()
			out = append(out, file.Name())
		}
		return out
	}
	if sqlite, postgres := names("sqlite"), names("postgres"); !slices.Equal(sqlite, postgres) {
		t.Errorf("SQLite has %v, PostgreSQL %v: expected the same", sqlite, postgres)
	}
}
