package rental

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// told is a series of one state at moments in seconds.
func told(vantage, state string, seconds ...int) Series {
	s := Series{Labels: map[string]string{"state": state, "vantage": vantage}}
	for _, at := range seconds {
		s.Samples = append(s.Samples, Sample{At: Millis(at) * 1000, Value: 1})
	}
	return s
}

// every lists the moments of samples 15 s apart.
func every(from, to int) []int {
	var all []int
	for at := from; at < to; at += 15 {
		all = append(all, at)
	}
	return all
}

func iv(from, to int, class Class, reason, vantage string) Interval {
	return Interval{Span: Span{Start: Millis(from) * 1000, End: Millis(to) * 1000}, Class: class, Reason: reason, Vantage: vantage}
}

func TestTheHostIsBelievedWhereItKnowsAndTheGuestWhereItDoesNot(t *testing.T) {
	for _, c := range []struct {
		what string
		said []Series
		want []Interval
	}{
		{"the host alone", []Series{told("host", "ok", every(0, 120)...)}, []Interval{iv(0, 120, Up, "ok", "")}},
		{"samples of before there was a vantage", []Series{told("", "ok", every(0, 120)...)}, []Interval{iv(0, 120, Up, "ok", "")}},
		{"the guest alone", []Series{told("guest", "ok", every(0, 60)...)},
			[]Interval{iv(0, 75, Up, "ok", "guest"), iv(75, 120, NoData, "no_samples", "")}},
		{"a guest that calls the host's good card lost", []Series{told("host", "ok", every(0, 120)...), told("guest", "lost", every(5, 120)...)},
			[]Interval{iv(0, 120, Up, "ok", "")}},
		{"a guest that calls the host's lost card good", []Series{told("host", "lost", every(0, 120)...), told("guest", "ok", every(5, 120)...)},
			[]Interval{iv(0, 120, Down, "lost", "")}},
		{"a card that the host let go of", []Series{told("host", "released", every(0, 120)...), told("guest", "ok", every(0, 60)...)},
			[]Interval{iv(0, 75, Up, "ok", "guest"), iv(75, 120, NoData, "released", "")}},
		{"a host that falls silent", []Series{told("host", "ok", 0, 15), told("guest", "ok", every(5, 120)...)},
			[]Interval{iv(0, 45, Up, "ok", ""), iv(45, 120, Up, "ok", "guest")}},
		{"both silent", []Series{told("host", "ok", 0), told("guest", "ok", 5)},
			[]Interval{iv(0, 30, Up, "ok", ""), iv(30, 35, Up, "ok", "guest"), iv(35, 120, NoData, "no_samples", "")}},
	} {
		got := StateTimeline(Span{Start: 0, End: 120_000}, c.said, 15_000)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.what, got, c.want)
		}
	}
}

// What a guest says, whatever it is, changes nothing where the host knows, and the line still
// partitions the span.
func TestNoWordOfAGuestChangesWhatTheHostKnows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		span := Span{Start: 0, End: 600_000}
		series := func(vantage string) (all []Series) {
			for _, state := range []string{"ok", "lost", "released", "unknown"} {
				all = append(all, told(vantage, state, rapid.SliceOfN(rapid.IntRange(0, 600), 0, 12).Draw(t, vantage+state)...))
			}
			return all
		}
		host, guest := series("host"), series("guest")
		for _, s := range append(slices.Clone(host), guest...) {
			slices.SortFunc(s.Samples, func(a, b Sample) int { return int(a.At - b.At) })
		}
		alone := StateTimeline(span, host, 15_000)
		both := StateTimeline(span, append(slices.Clone(guest), host...), 15_000)
		at := span.Start
		for _, b := range both {
			if b.Span.Start != at || b.Span.Empty() {
				t.Fatalf("the line has a hole or an overlap at %d: %+v", at, both)
			}
			at = b.Span.End
			for _, a := range alone {
				if a.Span.Overlaps(b.Span) && a.Class != NoData && (a.Class != b.Class || a.Reason != b.Reason || b.Vantage != "") {
					t.Fatalf("the host knew %+v, the guest made it %+v", a, b)
				}
			}
		}
		if at != span.End {
			t.Fatalf("the line ends at %d", at)
		}
	})
}

// leasedTo is a lease of cards over an hour, whose contract takes unknown time for what it is told.
func leasedTo(t *testing.T, unknown string, timelines ...[]Interval) JudgeInput {
	t.Helper()
	contract := withTarget(t, hourly(t, "10"), "99")
	contract.Availability.Unknown, contract.Availability.Scope = unknown, ScopeAll
	in := JudgeInput{Facts: facts(contract, Span{Start: 0, End: 3_600_000}, len(timelines)), Period: Span{Start: 0, End: 3_600_000}, Timelines: map[string][]Interval{}}
	for i, timeline := range timelines {
		in.Timelines[in.Lease.GPUs[i].UUID] = timeline
	}
	return in
}

func TestWhatOnlyAGuestMeasuresIsJudgedWhileItTellsAndItsSilenceIsNobodysDowntime(t *testing.T) {
	for _, c := range []struct {
		what       string
		timeline   []Interval
		down       Outcome // of a contract that takes unknown time for down
		excluded   Outcome // of one that leaves it out
		downMS     int64
		unmeasured int64
	}{
		{"a guest that told all the time", []Interval{iv(0, 3600, Up, "ok", "guest")}, Kept, Kept, 0, 0},
		{"a guest that was stopped", []Interval{iv(0, 1800, Up, "ok", "guest")}, NotProven, NotProven, 0, 1_800_000},
		{"a guest that was stopped for a moment", []Interval{iv(0, 3590, Up, "ok", "guest")}, Kept, Kept, 0, 10_000},
		{"a guest that told of a loss", []Interval{iv(0, 1800, Up, "ok", "guest"), iv(1800, 3600, Down, "lost", "guest")}, Breached, Breached, 1_800_000, 0},
		{"a loss, then silence", []Interval{iv(0, 1200, Up, "ok", "guest"), iv(1200, 1800, Down, "lost", "guest")}, Breached, Breached, 600_000, 1_800_000},
		{"the host's silence", []Interval{iv(0, 1800, Up, "ok", "")}, Breached, NotProven, 0, 0},
		{"the silence of both, where the host had told", []Interval{iv(0, 900, Up, "ok", ""), iv(900, 1800, Up, "ok", "guest")}, Breached, NotProven, 0, 0},
		{"a card that was let go of", []Interval{iv(0, 3600, NoData, "released", "")}, NotMeasured, NotMeasured, 0, 3_600_000},
		{"one that was let go of for a while", []Interval{iv(0, 1800, Up, "ok", ""), iv(1800, 3600, NoData, "released", "")}, NotProven, NotProven, 0, 1_800_000},
		{"nobody at all", nil, Breached, NotProven, 0, 0},
	} {
		for rule, want := range map[string]Outcome{"down": c.down, "excluded": c.excluded} {
			in := leasedTo(t, rule, c.timeline)
			v, err := Judge(in)
			if err != nil {
				t.Fatal(err)
			}
			if v.Outcome != want || v.DownMS != c.downMS || v.UnmeasuredMS != c.unmeasured {
				t.Errorf("%s, unknown: %s: %s, down %d, unmeasured %d; want %s, %d, %d (%s)", c.what, rule, v.Outcome, v.DownMS, v.UnmeasuredMS, want, c.downMS, c.unmeasured, v.Arithmetic)
			}
			if v.UpMS+v.DownMS+v.UnknownMS+v.ExcludedMS != v.PeriodMS {
				t.Errorf("%s: the classes do not partition the period: %+v", c.what, v)
			}
			if rule == "down" && v.DownByGPU["A"] > v.DownMS+v.UnknownMS-v.UnmeasuredMS {
				t.Errorf("%s: the card is down for %d, more than could be measured", c.what, v.DownByGPU["A"])
			}
		}
	}
}

func TestOneCardThatNobodySeesKeepsALeaseFromBeingProven(t *testing.T) {
	in := leasedTo(t, "down", []Interval{iv(0, 3600, Up, "ok", "")}, []Interval{iv(0, 3600, NoData, "released", "")})
	for scope, want := range map[string]Outcome{ScopeAll: NotMeasured, ScopeGPU: NotProven, ScopeWeighted: NotProven, ScopeKOfN: Kept} {
		in.Contract.Availability.Scope, in.Contract.Availability.Needed = scope, 0
		if scope == ScopeKOfN {
			in.Contract.Availability.Needed = 1
		}
		v, err := Judge(in)
		if err != nil {
			t.Fatal(err)
		}
		if v.Outcome != want {
			t.Errorf("scope %s: %s, want %s (%s)", scope, v.Outcome, want, v.Arithmetic)
		}
	}
}
