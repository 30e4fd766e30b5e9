package rental_test

import (
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestAPersonIsShownByNameUntilErased(t *testing.T) {
	ada := rental.Person{ID: "PER-1", Name: "Ada Lovelace"}
	if got := ada.Shown(); got != "Ada Lovelace (PER-1)" {
		t.Errorf("shown as %q", got)
	}
	ada.Name, ada.ErasedAt = "", 1
	if got := ada.Shown(); got != "PER-1 (erased)" {
		t.Errorf("erased, shown as %q", got)
	}
	names := rental.Names{"PER-1": ada.Shown()}
	for by, want := range map[string]string{"PER-1": "PER-1 (erased)", "PER-2": "PER-2", "bob": "bob", "leasewatch": "leasewatch", "": ""} {
		if got := names.Of(by); got != want {
			t.Errorf("%q is shown as %q, expected %q", by, got, want)
		}
	}
}

func TestWhatANameAndAnAddressMayBe(t *testing.T) {
	for what, c := range map[string]struct {
		person rental.Person
		wrong  string
	}{
		"a name":                           {rental.Person{Name: "王莉"}, ""},
		"a name and an address":            {rental.Person{Name: "Ada", Mail: "ada@example.net"}, ""},
		"no name":                          {rental.Person{Mail: "ada@example.net"}, "name"},
		"blanks":                           {rental.Person{Name: "  "}, "name"},
		"a name with a line break":         {rental.Person{Name: "Ada\nBob"}, "name"},
		"a name that turns text around":    {rental.Person{Name: "Ada\u202e"}, "name"},
		"a name that is no text":           {rental.Person{Name: "\xff"}, "name"},
		"a name that is too long":          {rental.Person{Name: strings.Repeat("x", 201)}, "name"},
		"an address without an at":         {rental.Person{Name: "Ada", Mail: "ada"}, "mail"},
		"an address with a blank in it":    {rental.Person{Name: "Ada", Mail: "ada @example.net"}, "mail"},
		"an address with a control in it ": {rental.Person{Name: "Ada", Mail: "ada@example.net\x00"}, "mail"},
	} {
		faults := c.person.Validate()
		switch {
		case c.wrong == "" && len(faults) > 0:
			t.Errorf("%s: %v, expected nothing wrong", what, faults)
		case c.wrong != "" && (len(faults) != 1 || faults[0].Path != c.wrong):
			t.Errorf("%s: %v, expected one fault of %s", what, faults, c.wrong)
		}
	}
}

func TestTheFormOfAPersonsID(t *testing.T) {
	for text, want := range map[string]bool{"PER-1": true, "PER-12": true, "PER-0": false, "PER-": false, "PER-1.1": false, "per-1": false, "ada": false, "": false, "PER-01": false} {
		if got := rental.IsPersonID(text); got != want {
			t.Errorf("%q: %t, expected %t", text, got, want)
		}
	}
}
