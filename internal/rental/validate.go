package rental

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// FieldError says what is wrong with one field. Its Path is as a person writes it in YAML
// ("plan.prices[1].price"), so that a reader of files can put file and line to it.
type FieldError struct {
	Path     string `json:"path"`
	Found    string `json:"found"`
	Expected string `json:"expected"`
}

// Error returns the fault as one sentence.
func (e FieldError) Error() string {
	return fmt.Sprintf("%s: found %s, expected %s", e.Path, e.Found, e.Expected)
}

// Invalid joins field errors under the name of what they belong to; nil where there are none.
func Invalid(what string, faults []FieldError) error {
	if len(faults) == 0 {
		return nil
	}
	errs := make([]error, len(faults))
	for i, f := range faults {
		errs[i] = f
	}
	return fmt.Errorf("%s: %w", what, errors.Join(errs...))
}

// faults collects the field errors of one object.
type faults struct {
	list []FieldError
}

func (f *faults) add(path, found, expected string) {
	f.list = append(f.list, FieldError{Path: path, Found: found, Expected: expected})
}

// check adds a fault where ok is false.
func (f *faults) check(ok bool, path, found, expected string) {
	if !ok {
		f.add(path, found, expected)
	}
}

func (f *faults) required(path, value, expected string) {
	f.check(value != "", path, "nothing", expected)
}

// choice adds a fault where value is none of the options; a missing value is named as missing.
func (f *faults) choice(path, value string, options ...string) {
	expected := strings.Join(options[:len(options)-1], ", ")
	if expected != "" {
		expected += " or "
	}
	expected += options[len(options)-1]
	if value == "" {
		f.add(path, "nothing", expected+" (this field has no default)")
		return
	}
	f.check(slices.Contains(options, value), path, quoted(value), expected)
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }

// found names a decimal as it was written.
func (d Decimal) found() string {
	if !d.IsSet() {
		return "nothing"
	}
	return d.String()
}

var hundred = big.NewRat(100, 1)

// earliest is when a lease may start at the soonest: 2000-01-01 UTC. A slip of the pen such as
// 0206 for 2026 would have every hour since then metered.
const earliest Millis = 946_684_800_000

// Validate returns what is wrong with the lease by itself; nothing where it is whole. A lease of
// zero length is allowed and costs nothing; one that ends before it starts is not.
func (l Lease) Validate() []FieldError {
	var f faults
	f.required("tenant", l.Tenant, "the name of a tenant")
	f.required("contract", l.Contract, "the name of a contract")
	f.check(l.Start != 0, "start", "nothing", "a time with an offset, such as 2026-05-01T00:00:00+08:00")
	f.check(l.Start == 0 || l.Start >= earliest, "start", l.Start.String(), "a time from "+earliest.String()+" on: no GPU was leased before")
	switch {
	case l.End == 0:
		f.add("end", "nothing", "a time with an offset, or open")
	case l.Start != 0 && l.End < l.Start:
		f.add("end", l.End.String(), "a time not before the start "+l.Start.String()+", or open")
	}
	f.validateFloating(l)
	seen := map[string]int{}
	for i, ref := range l.GPUs {
		path := fmt.Sprintf("gpus[%d]", i)
		key, ok := ref.key()
		f.check(ok, path, ref.String(), "a uuid, or a host and a slot")
		if first, again := seen[key]; again && ok {
			f.add(path, ref.String(), fmt.Sprintf("another GPU than gpus[%d]", first))
		}
		seen[key] = i
	}
	for i, stop := range l.Stops {
		path := fmt.Sprintf("stops[%d]", i)
		f.check(stop.End >= stop.Start, path+".end", stop.End.String(), "a time not before the stop's start "+stop.Start.String())
		f.check(stop.Start >= l.Start && stop.End <= l.End, path, stop.Start.String()+" to "+stop.End.String(), "a span within the lease")
		if i > 0 {
			f.check(stop.Start >= l.Stops[i-1].End, path+".start", stop.Start.String(), "a time not before the end of the stop above it")
		}
	}
	return f.list
}

func (r GPURef) key() (string, bool) {
	switch {
	case r.UUID != "" && r.Host == "" && r.Slot == nil:
		return r.UUID, true
	case r.UUID == "" && r.Host != "" && r.Slot != nil && *r.Slot >= 0:
		return fmt.Sprintf("%s\x00%d", r.Host, *r.Slot), true
	// The ledger resolves a host and slot to a uuid and keeps both.
	case r.UUID != "" && r.Host != "" && r.Slot != nil && *r.Slot >= 0:
		return r.UUID, true
	default:
		return "", false
	}
}

// String names the card as a person did.
func (r GPURef) String() string {
	switch {
	case r.UUID != "":
		return r.UUID
	case r.Host != "" && r.Slot != nil:
		return fmt.Sprintf("%s slot %d", r.Host, *r.Slot)
	case r.Host != "":
		return r.Host + " without a slot"
	default:
		return "nothing"
	}
}

// ValidateUnder returns what is wrong with the lease under its contract, besides Validate.
func (l Lease) ValidateUnder(c Contract) []FieldError {
	var f faults
	if a := c.Availability; a != nil && a.Scope == ScopeKOfN && a.Needed > l.Cards() {
		f.add("gpus", fmt.Sprintf("%d", l.Cards()),
			fmt.Sprintf("at least the %d GPUs that contract %s needs to be up", a.Needed, c.Name))
	}
	f.validateFloatingUnder(l, c)
	if c.Plan.Slices != nil {
		for i, ref := range l.GPUs {
			if _, err := c.Plan.Slices.Share(ref.Profile); err != nil {
				f.add(fmt.Sprintf("gpus[%d].profile", i), orNothing(ref.Profile),
					fmt.Sprintf("a MIG profile such as 3g.40gb, at most %d by %s: contract %s is priced by the slice", c.Plan.Slices.Of, c.Plan.Slices.By, c.Name))
			}
		}
	}
	return f.list
}
