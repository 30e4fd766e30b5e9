package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Error is one fault of the input.
type Error struct {
	File     string
	Line     int
	Field    string // "spec.plan.mode"; empty where the document as a whole is meant
	Found    string
	Expected string
}

// Error returns "file:line: field: found X, expected Y".
func (e Error) Error() string {
	where := fmt.Sprintf("%s:%d: ", e.File, e.Line)
	if e.Field != "" {
		where += e.Field + ": "
	}
	return where + "found " + e.Found + ", expected " + e.Expected
}

// Errors are all faults of the input, by file and line.
type Errors []Error

// Error returns one line a fault.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap makes the faults a rental.Error of CodeInvalid.
func (e Errors) Unwrap() error {
	return &rental.Error{Code: rental.CodeInvalid, Message: e.Error()}
}

func (e Errors) sorted() Errors {
	slices.SortStableFunc(e, func(a, b Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Field, b.Field))
	})
	return e
}
