package httpapi_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/api"
)

func TestAnAnswerShowsTheNamesOfPeopleAndATenantItsOwnPeoplesOnly(t *testing.T) {
	for target, c := range map[string]struct{ token, want string }{
		"/pending":            {"admin", `"entered_by":"Ada Lovelace (PER-1)"`},
		"/holds":              {"finance", `"placed_by":"Ada Lovelace (PER-1)"`},
		"/pending/P-1":        {"finance", `"entered_by":"Ada Lovelace (PER-1)"`},
		"/downtimes/DT-acme":  {"admin", `"entered_by":"Ada Lovelace (PER-1)"`},
		"/downtimes/DT-acme?": {"tenant", `"entered_by":"PER-1"`},
	} {
		got := call(serve(t, nil), "GET", api.Root+target, c.token, "")
		if got.Code != 200 || !strings.Contains(got.Body.String(), c.want) {
			t.Errorf("%s as %s: %d %s, expected %s in it", target, c.token, got.Code, got.Body, c.want)
		}
	}
}

// TestEveryFieldOfTheAPIThatSaysWhoIsKnownAsOne finds a field that is added later and would show
// the id of a person.
func TestEveryFieldOfTheAPIThatSaysWhoIsKnownAsOne(t *testing.T) {
	known := strings.Fields("by approved_by entered_by decided_by rejected_by disputed_by acked_by closed_by placed_by released_by reported_by verified_by " +
		"endorsed_by excluded_by") // the last two are no people: a key, and classes of time
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]json.RawMessage `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	got := call(serve(t, nil), "GET", api.Root+"/openapi.json", "", "")
	if err := json.Unmarshal(got.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	who, found := regexp.MustCompile(`^by$|_by$`), 0
	for _, schema := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		for field := range doc.Components.Schemas[schema].Properties {
			if who.MatchString(field) {
				found++
				if !slices.Contains(known, field) {
					t.Errorf("%s.%s: a field that says who and that names.go does not know", schema, field)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no field says who: this test looks in the wrong place")
	}
}
