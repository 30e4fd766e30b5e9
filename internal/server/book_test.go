package server

import (
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestWhichStatePeopleAreShown(t *testing.T) {
	b := &book{at: 100, maintenances: []rental.Maintenance{
		{ID: "fans", Hosts: []string{"gpu-a17"}, Start: 50, End: 150}, {ID: "upgrade", Leases: []string{"acme-train"}, Start: 50, End: 150},
	}}
	for name, c := range map[string]struct {
		host          string
		held          holding
		state         string
		shown, reason string
	}{
		"a card that is well is shown as it is":                  {"gpu-b01", holding{}, "ok", "ok", ""},
		"announced maintenance of the host stands over ok":       {"gpu-a17", holding{}, "ok", "maintenance", "fans"},
		"announced maintenance of the lease stands over silence": {"gpu-b01", holding{lease: "acme-train"}, "unknown", "maintenance", "upgrade"},
		"maintenance never hides a card that is down":            {"gpu-a17", holding{}, "lost", "lost", ""},
		"the tenant's stop stands over ok":                       {"gpu-b01", holding{lease: "x", stopped: true}, "ok", "stopped", ""},
		"the tenant's stop never hides a card that is down":      {"gpu-b01", holding{lease: "x", stopped: true}, "reset_required", "reset_required", ""},
	} {
		t.Run(name, func(t *testing.T) {
			shown, reason := b.derive(c.host, c.held, c.state)
			if shown != c.shown || reason != c.reason {
				t.Errorf("shown as %q (%q), expected %q (%q)", shown, reason, c.shown, c.reason)
			}
		})
	}
}

func TestWhoHoldsACardNow(t *testing.T) {
	b := &book{
		at:          100,
		assignments: map[string]rental.Assignment{"GPU-1": {Lease: "acme-train", UUID: "GPU-1"}},
		leases:      map[string]rental.Lease{"acme-train": {Tenant: "acme", Stops: []rental.Span{{Start: 50, End: 100}}}},
	}
	if got := b.holder("GPU-1"); got != (holding{lease: "acme-train", tenant: "acme"}) {
		t.Errorf("holder %+v: a stop that ended at this moment is over", got)
	}
	if got := b.holder("GPU-2"); got != (holding{}) {
		t.Errorf("holder %+v of a card that nobody leases", got)
	}
}

func TestSinceWhenACardIsWellAgain(t *testing.T) {
	series := func(state string, at ...rental.Millis) rental.Series {
		s := rental.Series{Labels: map[string]string{"state": state}}
		for _, when := range at {
			s.Samples = append(s.Samples, rental.Sample{At: when, Value: 1})
		}
		return s
	}
	span := rental.Span{Start: 0, End: 60_000}
	for name, c := range map[string]struct {
		states []rental.Series
		at     rental.Millis
		known  bool
	}{
		"lost, then ok up to now":         {[]rental.Series{series("lost", 0, 10_000), series("ok", 20_000, 40_000)}, 20_000, true},
		"ok all along":                    {[]rental.Series{series("ok", 0, 20_000, 40_000)}, 0, true},
		"still lost":                      {[]rental.Series{series("ok", 0), series("lost", 20_000, 40_000)}, 0, false},
		"nobody has told for too long":    {[]rental.Series{series("ok", -10_000)}, 0, false},
		"nobody ever told":                {nil, 0, false},
		"ok, silent for a while, then ok": {[]rental.Series{series("ok", -61_000, 30_000, 50_000)}, 30_000, true},
	} {
		t.Run(name, func(t *testing.T) {
			at, known := healedSince(c.states, span)
			if at != c.at || known != c.known {
				t.Errorf("well since %d (%v), expected %d (%v)", at, known, c.at, c.known)
			}
		})
	}
}
