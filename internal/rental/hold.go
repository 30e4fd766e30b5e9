package rental

import (
	"fmt"
	"slices"
	"strings"
)

// Hold keeps retention and erasure from data that somebody may have to hand over: while it stands,
// nothing that it covers is deleted. Placing and releasing it are facts.
type Hold struct {
	ID string `json:"id"` // HOLD-1, ...
	// Scope is one of the Hold scopes; Of is the lease or the tenant, empty for all.
	Scope    string `json:"scope"`
	Of       string `json:"of,omitempty"`
	Reason   string `json:"reason"`
	PlacedAt Millis `json:"placed_at"`
	PlacedBy string `json:"placed_by"`
	// ReleasedAt is when it ended; 0 while it stands.
	ReleasedAt Millis `json:"released_at,omitempty"`
	ReleasedBy string `json:"released_by,omitempty"`
	// ReleasedWhy is the reason for its end.
	ReleasedWhy string `json:"released_why,omitempty"`
}

// The scopes of a hold.
const (
	HoldLease  = "lease"
	HoldTenant = "tenant"
	HoldAll    = "all"
)

// HoldScopes lists the scopes.
var HoldScopes = []string{HoldLease, HoldTenant, HoldAll}

// Validate returns what is wrong with a hold that is to be placed.
func (h Hold) Validate() []FieldError {
	var f faults
	f.choice("scope", h.Scope, HoldScopes...)
	f.check((h.Scope == HoldAll) == (h.Of == ""), "of", quoted(h.Of), "the lease or the tenant, and nothing for all")
	f.required("reason", strings.TrimSpace(h.Reason), "the reason, in a few words")
	return f.list
}

// Release returns the hold after somebody ended it. Whoever placed it does not, and neither does a
// program.
func (h Hold) Release(by Principal, why string, now Millis) (Hold, error) {
	what := "hold " + h.ID
	switch {
	case by.Service:
		return h, refusedf("%s: the token %s is a program's: expected a person to release it", what, by.Name)
	case h.ReleasedAt != 0:
		return h, &Error{Code: CodeConflict, Message: fmt.Sprintf("%s was released by %s at %s: expected one that stands", what, h.ReleasedBy, h.ReleasedAt)}
	case strings.TrimSpace(why) == "":
		return h, &Error{Code: CodeInvalid, Message: what + ": why: found nothing, expected the reason, in a few words"}
	}
	if err := SecondPerson(what, by.Name, h.PlacedBy); err != nil {
		return h, err
	}
	h.ReleasedAt, h.ReleasedBy, h.ReleasedWhy = now, by.Name, why
	return h, nil
}

// Holds are those that stand.
type Holds []Hold

// Standing returns the holds that were not released.
func Standing(all []Hold) Holds {
	return slices.DeleteFunc(slices.Clone(all), func(h Hold) bool { return h.ReleasedAt != 0 })
}

// All tells whether one covers everything.
func (s Holds) All() (Hold, bool) { return s.first(HoldAll, "") }

// Covers returns a hold on what is about these leases and tenants; what is about none is covered by
// a hold on all only.
func (s Holds) Covers(leases, tenants []string) (Hold, bool) {
	if h, held := s.All(); held {
		return h, true
	}
	for _, lease := range leases {
		if h, held := s.first(HoldLease, lease); held {
			return h, true
		}
	}
	for _, tenant := range tenants {
		if h, held := s.first(HoldTenant, tenant); held {
			return h, true
		}
	}
	return Hold{}, false
}

func (s Holds) first(scope, of string) (Hold, bool) {
	i := slices.IndexFunc(s, func(h Hold) bool { return h.Scope == scope && h.Of == of })
	if i < 0 {
		return Hold{}, false
	}
	return s[i], true
}
