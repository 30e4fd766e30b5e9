package server

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// striker returns what strikes the names of tenants and leases from a text that a person wrote.
func (r rmas) striker(ctx context.Context) (func(string) string, error) {
	tenants, err := r.ledger.Tenants(ctx)
	if err != nil {
		return nil, err
	}
	leases, err := r.ledger.Leases(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range tenants {
		names = append(names, t.Name, t.DisplayName)
	}
	for _, l := range leases {
		names = append(names, l.ID)
	}
	return strikeNames(names)
}

// struck stands where a name was.
const struck = "(name left out)"

// strikeNames makes a function that replaces whole names, in whatever case.
func strikeNames(names []string) (func(string) string, error) {
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(-cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	var patterns []string
	for _, name := range slices.Compact(names) {
		if name != "" {
			patterns = append(patterns, edge(name[:1])+regexp.QuoteMeta(name)+edge(name[len(name)-1:]))
		}
	}
	if len(patterns) == 0 {
		return func(s string) string { return s }, nil
	}
	found, err := regexp.Compile("(?i)" + strings.Join(patterns, "|"))
	if err != nil {
		return nil, fmt.Errorf("names of tenants and leases: %w", err)
	}
	return func(s string) string { return found.ReplaceAllLiteralString(s, struck) }, nil
}

// edge is a word's edge where the byte is of a word, so that "L-1" is not struck out of "L-17".
func edge(b string) string {
	if b >= "0" && b <= "9" || b >= "A" && b <= "Z" || b == "_" || b >= "a" && b <= "z" {
		return `\b`
	}
	return ""
}
