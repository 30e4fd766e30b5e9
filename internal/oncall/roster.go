package oncall

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// The kinds of documents that a roster is written in.
const (
	KindPerson     = "Person"
	KindRotation   = "Rotation"
	KindEscalation = "Escalation"
	KindQuietHours = "QuietHours"
)

// InSlack is the way of a person's ladder that calls them by a mention in the channel; every other
// way is a receiver of the routing file.
const InSlack = "slack"

// Person is somebody who can be called.
type Person struct {
	Name string `yaml:"-"`
	// Shown is how messages and timelines name the person; Name where empty.
	Shown string `yaml:"name"`
	// Slack is the person's user id there ("U0123456789").
	Slack string `yaml:"slack"`
	// Ladder are the ways on which the person is called, in order of their delays; without any the
	// person is called in Slack at once.
	Ladder []Way `yaml:"ladder"`
}

// Way is one rung of a person's own ladder.
type Way struct {
	// Way is InSlack or the name of a receiver of the routing file.
	Way string `yaml:"way"`
	// After is how long after the person's turn in the escalation has come.
	After rental.Duration `yaml:"after"`
}

// Escalation is whom a page calls, one after the other, while nobody acknowledges it.
type Escalation struct {
	Name  string `yaml:"-"`
	Steps []Step `yaml:"steps"`
	// Repeat is how long after the last call a page is told again that nobody has acknowledged;
	// DefaultRepeat where it is not written.
	Repeat rental.Duration `yaml:"repeat"`
	// Undelivered is how long a page waits for a way that does not take it before the next is
	// called; DefaultUndelivered where it is not written.
	Undelivered rental.Duration `yaml:"undelivered_after"`
}

// What an Escalation does where it does not say.
const (
	DefaultRepeat      = 15 * time.Minute
	DefaultUndelivered = 2 * time.Minute
	// leastRepeat keeps a mistyped length from ringing without end.
	leastRepeat = time.Minute
)

// Step names whom an escalation calls: whoever has the turn of a rotation, a person, or everybody
// behind a receiver of the routing file. One of the three is set.
type Step struct {
	Rotation string `yaml:"rotation"`
	Person   string `yaml:"person"`
	Receiver string `yaml:"receiver"`
	// After is how long the page may be open, with nobody having it, before the step is called.
	After rental.Duration `yaml:"after"`
}

// Roster is all that is known of who is on call. Its maps are by name; fill it, Check it, then ask.
type Roster struct {
	People      map[string]*Person
	Rotations   map[string]*Rotation
	Escalations map[string]*Escalation
	Quiet       map[string]*QuietHours
}

// New returns an empty roster.
func New() *Roster {
	return &Roster{People: map[string]*Person{}, Rotations: map[string]*Rotation{}, Escalations: map[string]*Escalation{}, Quiet: map[string]*QuietHours{}}
}

var slackUser = regexp.MustCompile(`^[UW][A-Z0-9]{2,}$`)

// Validate returns what is wrong with the person alone.
func (p *Person) Validate() []rental.FieldError {
	var faults []rental.FieldError
	if p.Slack != "" && !slackUser.MatchString(p.Slack) {
		faults = append(faults, rental.FieldError{Path: "slack", Found: strconv.Quote(p.Slack), Expected: "the id of a user in Slack, such as U0123456789"})
	}
	if p.Slack == "" && len(p.Ladder) == 0 {
		faults = append(faults, rental.FieldError{Path: "ladder", Found: "neither a ladder nor slack", Expected: "a way to reach the person"})
	}
	seen := map[string]bool{}
	for i, w := range p.Ladder {
		path := fmt.Sprintf("ladder[%d].way", i)
		switch {
		case w.Way == "":
			faults = append(faults, rental.FieldError{Path: path, Found: "nothing", Expected: "slack, or the name of a receiver of the routing file"})
		case seen[w.Way]:
			faults = append(faults, rental.FieldError{Path: path, Found: strconv.Quote(w.Way) + " again", Expected: "each way once"})
		case w.Way == InSlack && p.Slack == "":
			faults = append(faults, rental.FieldError{Path: path, Found: "slack", Expected: "the person's id in Slack beside it (slack: U0123456789)"})
		}
		seen[w.Way] = true
		if i > 0 && w.After < p.Ladder[i-1].After {
			faults = append(faults, rental.FieldError{Path: fmt.Sprintf("ladder[%d].after", i), Found: time.Duration(w.After).String(), Expected: "no less than the way before"})
		}
	}
	return faults
}

// Validate returns what is wrong with the escalation alone.
func (e *Escalation) Validate() []rental.FieldError {
	var faults []rental.FieldError
	bad := func(path, found, expected string) {
		faults = append(faults, rental.FieldError{Path: path, Found: found, Expected: expected})
	}
	if len(e.Steps) == 0 {
		bad("steps", "nothing", "at least one step")
	}
	for i, s := range e.Steps {
		set := 0
		for _, name := range []string{s.Rotation, s.Person, s.Receiver} {
			if name != "" {
				set++
			}
		}
		if set != 1 {
			bad(fmt.Sprintf("steps[%d]", i), strconv.Itoa(set)+" of rotation, person and receiver", "one of them")
		}
		if i == 0 && s.After != 0 {
			bad("steps[0].after", time.Duration(s.After).String(), "0s: the first is called at once")
		}
		if i > 0 && s.After < e.Steps[i-1].After {
			bad(fmt.Sprintf("steps[%d].after", i), time.Duration(s.After).String(), "no less than the step before")
		}
	}
	if e.Repeat != 0 && time.Duration(e.Repeat) < leastRepeat {
		bad("repeat", time.Duration(e.Repeat).String(), "at least "+leastRepeat.String())
	}
	return faults
}

// Check returns what does not fit together, each line as `Kind "name": field: found X, expected Y`.
// ways tells how many ways to people a receiver of the routing file has, and whether there is one.
func (r *Roster) Check(ways func(receiver string) (count int, known bool)) error {
	var errs []error
	bad := func(kind, name, field, found, expected string) {
		errs = append(errs, fmt.Errorf("%s %q: %s: found %q, expected %s", kind, name, field, found, expected))
	}
	receiver := func(kind, name, field, wanted string) {
		switch count, known := ways(wanted); {
		case !known:
			bad(kind, name, field, wanted, "the name of a receiver of the routing file (paging.config_file)")
		case count == 0:
			bad(kind, name, field, wanted, "a receiver with a way to people, such as pagerduty_configs, email_configs or webhook_configs")
		}
	}
	person := func(kind, name, field, wanted string) {
		if r.People[wanted] == nil {
			bad(kind, name, field, wanted, "the name of a Person of this file")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.People)) {
		for i, w := range r.People[name].Ladder {
			if w.Way != InSlack {
				receiver(KindPerson, name, fmt.Sprintf("ladder[%d].way", i), w.Way)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Rotations)) {
		for i, wanted := range r.Rotations[name].People {
			person(KindRotation, name, fmt.Sprintf("people[%d]", i), wanted)
		}
		for i, o := range r.Rotations[name].Overrides {
			person(KindRotation, name, fmt.Sprintf("overrides[%d].person", i), o.Person)
		}
	}
	names := slices.Sorted(maps.Keys(r.Escalations))
	for n, name := range names {
		if n > 0 {
			errs = append(errs, fmt.Errorf("%s %q: found a second one, expected one: %q is there already", KindEscalation, name, names[0]))
		}
		for i, s := range r.Escalations[name].Steps {
			field := fmt.Sprintf("steps[%d]", i)
			switch {
			case s.Rotation != "" && r.Rotations[s.Rotation] == nil:
				bad(KindEscalation, name, field+".rotation", s.Rotation, "the name of a Rotation of this file")
			case s.Person != "":
				person(KindEscalation, name, field+".person", s.Person)
			case s.Receiver != "":
				receiver(KindEscalation, name, field+".receiver", s.Receiver)
			}
		}
	}
	if len(names) == 0 {
		errs = append(errs, errors.New("no Escalation: expected one, which says whom a page calls"))
	}
	return errors.Join(errs...)
}

// longestQuiet bounds how long anything waits, where hours that follow on each other never end.
const longestQuiet = rental.Millis(7 * 24 * 3_600_000)

// QuietUntil returns until when new messages of the severity wait at the moment; 0 where they do
// not. Hours that follow on each other are one.
func (r *Roster) QuietUntil(severity rental.Severity, at rental.Millis) rental.Millis {
	end := at
	for end-at < longestQuiet {
		extended := end
		for _, q := range r.Quiet {
			if slices.Contains(q.Severities, string(severity)) {
				extended = max(extended, q.until(end))
			}
		}
		if extended == end {
			break
		}
		end = extended
	}
	if end == at {
		return 0
	}
	return end
}
