package oncall

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Call is one rung of the whole ladder: a person, or a receiver, that is called on one way.
type Call struct {
	// Key names the rung in what an incident has climbed. Another person on the same rung is
	// another key: after a hand-over whoever has the turn now is called too.
	Key string
	// Person is the name of whom it calls; empty for a receiver of the escalation itself.
	Person string
	// Shown is how people read whom it calls.
	Shown string
	// Slack is the user to mention where the way is Slack; empty otherwise.
	Slack string
	// Receiver is the receiver of the routing file to tell where the way is not Slack.
	Receiver string
	// After is how long a page may be open, with nobody having it, before the call: the step's own
	// delay and, in Own, that of the person's way.
	After, Own time.Duration
	// Since is when the person's turn began; 0 for whoever has none.
	Since rental.Millis
	// Last tells that no other rung follows.
	Last bool
}

// Calls returns the ladder as it stands at the moment, the first call first.
func (r *Roster) Calls(at rental.Millis) []Call {
	escalation := r.escalation()
	if escalation == nil {
		return nil
	}
	var calls []Call
	for i, s := range escalation.Steps {
		after, rung := time.Duration(s.After), strconv.Itoa(i+1)
		if s.Receiver != "" {
			calls = append(calls, Call{Key: rung + "/" + s.Receiver, Shown: s.Receiver, Receiver: s.Receiver, After: after})
			continue
		}
		person, since := r.person(s, at)
		if person == nil {
			continue
		}
		ladder := person.Ladder
		if len(ladder) == 0 {
			ladder = []Way{{Way: InSlack}}
		}
		for _, w := range ladder {
			call := Call{Key: rung + "/" + person.Name + "/" + w.Way, Person: person.Name, Shown: person.shown(), After: after + time.Duration(w.After), Own: time.Duration(w.After), Since: since}
			if w.Way == InSlack {
				call.Slack = person.Slack
			} else {
				call.Receiver = w.Way
			}
			calls = append(calls, call)
		}
	}
	slices.SortStableFunc(calls, func(a, b Call) int { return cmp.Compare(a.After, b.After) })
	if len(calls) > 0 {
		calls[len(calls)-1].Last = true
	}
	return calls
}

// person returns whom a step calls at the moment, and since when that person has the turn.
func (r *Roster) person(s Step, at rental.Millis) (*Person, rental.Millis) {
	if rotation := r.Rotations[s.Rotation]; rotation != nil {
		turn := rotation.At(at)
		return r.People[turn.Person], turn.Start
	}
	return r.People[s.Person], 0
}

func (p *Person) shown() string { return cmp.Or(p.Shown, p.Name) }

// RotationNames returns the names of the rotations in order.
func (r *Roster) RotationNames() []string { return slices.Sorted(maps.Keys(r.Rotations)) }

// ShownAs returns how people read the name of a person; the name itself of one that is not here.
func (r *Roster) ShownAs(person string) string {
	if p := r.People[person]; p != nil {
		return p.shown()
	}
	return person
}

// Owner returns the person whose ladder has the receiver, where it is one person's alone.
func (r *Roster) Owner(receiver string) (person string, one bool) {
	for _, name := range slices.Sorted(maps.Keys(r.People)) {
		for _, w := range r.People[name].Ladder {
			if w.Way != receiver {
				continue
			}
			if one {
				return "", false
			}
			person, one = name, true
		}
	}
	return person, one
}

// Repeat returns how long after the last call a page is told again.
func (r *Roster) Repeat() time.Duration {
	if e := r.escalation(); e != nil {
		return cmp.Or(time.Duration(e.Repeat), DefaultRepeat)
	}
	return 0
}

// Undelivered returns how long a page waits for a way that does not take it.
func (r *Roster) Undelivered() time.Duration {
	if e := r.escalation(); e != nil {
		return cmp.Or(time.Duration(e.Undelivered), DefaultUndelivered)
	}
	return 0
}

// escalation is the one that Check found.
func (r *Roster) escalation() *Escalation {
	for _, name := range slices.Sorted(maps.Keys(r.Escalations)) {
		return r.Escalations[name]
	}
	return nil
}
