package oncall

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Rotation is a line of people who take turns. Somebody always has the turn: it goes on without
// end in both directions of time, and an override only puts another person in its place.
type Rotation struct {
	Name string `yaml:"-"`
	// Zone is the IANA zone of From and HandOver.
	Zone string `yaml:"zone"`
	// Every is day or week.
	Every string `yaml:"every"`
	// From is the day, as YYYY-MM-DD, on which the first of People begins. A weekly turn changes on
	// its day of the week.
	From Date `yaml:"from"`
	// HandOver is the wall clock, as HH:MM, at which a turn begins. Where the clock skips it, the turn
	// begins later by the gap; where the clock shows it twice, at the first.
	HandOver string `yaml:"hand_over"`
	// People are the names of those who take turns, in order.
	People []string `yaml:"people"`
	// Overrides put somebody else in place of whoever has the turn; no two may overlap.
	Overrides []Override `yaml:"overrides"`
}

// Override is a span in which another person is on call.
type Override struct {
	From   rental.Millis `yaml:"from"`
	To     rental.Millis `yaml:"to"`
	Person string        `yaml:"person"`
}

// Turn is the span in which one person is on call, half-open.
type Turn struct {
	Person     string
	Start, End rental.Millis
	// Override tells that an override put the person there.
	Override bool
}

// The lengths of turns, in days.
var periods = map[string]int{"day": 1, "week": 7}

// Date is a day of the calendar, as YYYY-MM-DD.
type Date string

const dateForm = "2006-01-02"

// UnmarshalText reads a day.
func (d *Date) UnmarshalText(text []byte) error {
	if _, err := time.Parse(dateForm, string(text)); err != nil {
		return fmt.Errorf("day %q: expected YYYY-MM-DD, such as 2026-11-30", text)
	}
	*d = Date(text)
	return nil
}

// Validate returns what is wrong with the rotation by itself.
func (r *Rotation) Validate() []rental.FieldError {
	var faults []rental.FieldError
	bad := func(path, found, expected string) {
		if found == "" {
			found = "nothing"
		} else {
			found = fmt.Sprintf("%q", found)
		}
		faults = append(faults, rental.FieldError{Path: path, Found: found, Expected: expected})
	}
	if _, err := rental.LoadZone(r.Zone); err != nil {
		bad("zone", r.Zone, "an IANA zone such as Europe/Oslo")
	}
	if periods[r.Every] == 0 {
		bad("every", r.Every, "day or week")
	}
	if _, err := time.Parse(dateForm, string(r.From)); err != nil {
		bad("from", string(r.From), "the day of the first turn, such as 2026-11-30")
	}
	if _, err := parseClock(r.HandOver); err != nil {
		bad("hand_over", r.HandOver, "a time of the day such as \"09:00\"")
	}
	if len(r.People) == 0 {
		bad("people", "", "at least one person")
	}
	for i, o := range r.Overrides {
		if o.Person == "" {
			bad(fmt.Sprintf("overrides[%d].person", i), "", "the name of a person")
		}
		if o.To <= o.From {
			bad(fmt.Sprintf("overrides[%d].to", i), o.To.String(), "a time after from")
		}
		for k, other := range r.Overrides[:i] {
			if o.From < other.To && other.From < o.To {
				bad(fmt.Sprintf("overrides[%d]", i), fmt.Sprintf("a span that overlaps overrides[%d]", k), "spans that do not overlap: one person at a time")
			}
		}
	}
	return faults
}

// At returns whose turn it is at the moment, with its whole span as overrides leave it. The
// rotation must be valid.
func (r *Rotation) At(at rental.Millis) Turn {
	overrides := slices.SortedFunc(slices.Values(r.Overrides), func(a, b Override) int { return cmp.Compare(a.From, b.From) })
	turn := r.plain(at)
	for _, o := range overrides {
		switch {
		case o.From <= at && at < o.To:
			return Turn{Person: o.Person, Start: o.From, End: o.To, Override: true}
		case o.To <= at:
			turn.Start = max(turn.Start, o.To)
		default:
			turn.End = min(turn.End, o.From)
		}
	}
	return turn
}

// Turns returns the turn at the moment and those after it, count in all.
func (r *Rotation) Turns(at rental.Millis, count int) []Turn {
	turns := make([]Turn, 0, count)
	for len(turns) < count {
		turn := r.At(at)
		turns = append(turns, turn)
		if turn.End == rental.Forever {
			break
		}
		at = turn.End
	}
	return turns
}

// plain returns the turn at the moment without overrides.
func (r *Rotation) plain(at rental.Millis) Turn {
	zone, err := rental.LoadZone(r.Zone)
	if err != nil {
		zone = time.UTC // Validate refuses it
	}
	first, _ := time.Parse(dateForm, string(r.From))
	hand, _ := parseClock(r.HandOver)
	days := max(periods[r.Every], 1)
	start := func(n int) rental.Millis {
		day := first.AddDate(0, 0, n*days)
		return rental.At(rental.Instant(zone, day.Year(), day.Month(), day.Day(), hand.hour, hand.minute, 0))
	}
	year, month, day := at.Time().In(zone).Date()
	passed := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Sub(first)
	n := floorDiv(int(passed/(24*time.Hour)), days)
	for at < start(n) {
		n--
	}
	for at >= start(n+1) {
		n++
	}
	person := ""
	if len(r.People) > 0 {
		person = r.People[n-floorDiv(n, len(r.People))*len(r.People)]
	}
	return Turn{Person: person, Start: start(n), End: start(n + 1)}
}

// floorDiv divides towards minus infinity.
func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// clock is a time of the day.
type clock struct{ hour, minute int }

func parseClock(text string) (clock, error) {
	t, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return clock{}, fmt.Errorf("time of the day %q: expected HH:MM, such as 09:00", text)
	}
	return clock{t.Hour(), t.Minute()}, nil
}
