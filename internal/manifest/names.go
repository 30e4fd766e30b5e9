package manifest

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// maxName bounds a name: what the API takes in a path.
const maxName = 200

// nameForm is what a name may be: it stands in paths of the API and the portal, in labels, on command
// lines and in spreadsheets, and must mean nothing else in any of them.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// reserved returns the words that are no names, because rules write them for something else.
func reserved(kind string) []string {
	switch kind {
	case rental.KindLease, rental.KindTenant:
		return []string{rental.Several}
	case rental.KindProvider:
		return []string{"unknown"} // of cards that are not adopted yet
	}
	return nil
}

// nameFault says what a name should be, or "" where it is one.
func nameFault(kind, name string) (expected string) {
	switch {
	case len(name) > maxName:
		return fmt.Sprintf("a name of at most %d characters", maxName)
	case !nameForm.MatchString(name):
		return "a name of letters A to Z, digits, dots, dashes and underscores that begins with a letter or a digit"
	case slices.Contains(reserved(kind), name):
		return fmt.Sprintf("another name: rules write %q for %s", name, map[bool]string{true: "what is not adopted", false: "what more than one share"}[kind == rental.KindProvider])
	}
	return ""
}
