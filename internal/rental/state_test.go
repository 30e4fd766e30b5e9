package rental

import (
	"slices"
	"testing"
	"time"
)

func TestEveryStateHasItsClass(t *testing.T) {
	for state, want := range map[string]Class{
		"ok": Up, "degraded": Up,
		"lost": Down, "reset_required": Down, "unresponsive": Down, "driver_down": Down, "fabric_incomplete": Down, "host_down": Down,
		"maintenance": Excluded, "stopped": Excluded, "released": NoData, "unknown": NoData, "opaque": NoData,
		"": NoData, "a state of a later version": NoData,
	} {
		if got := ClassOfState(state); got != want {
			t.Errorf("%q is %s, want %s", state, got, want)
		}
	}
}

// set is a state set told every 15 s: one series for each state, 1 for the one that is.
func set(states ...string) []Series {
	names := []string{"ok", "lost", "driver_down", "unknown"}
	out := make([]Series, len(names))
	for k, name := range names {
		out[k].Labels = map[string]string{"state": name}
		for i, state := range states {
			if state == "" {
				continue
			}
			value := 0.0
			if state == name {
				value = 1
			}
			out[k].Samples = append(out[k].Samples, Sample{At: Millis(i) * 15_000, Value: value})
		}
	}
	return out
}

func TestStatesHoldFromSampleToSampleAtMostTwoIntervals(t *testing.T) {
	sec := func(n int64) Millis { return Millis(n * 1000) }
	pushed := Series{Labels: map[string]string{"state": "lost"}, Samples: []Sample{{At: sec(20), Value: 1}}}
	for _, tc := range []struct {
		name   string
		series []Series
		span   Span
		want   []Interval
	}{
		{"a failure starts at the first bad sample and ends at the first good one", set("ok", "ok", "lost", "lost", "ok"), Span{0, sec(75)},
			[]Interval{{Span: Span{0, sec(30)}, Class: Up, Reason: "ok"}, {Span: Span{sec(30), sec(60)}, Class: Down, Reason: "lost"}, {Span: Span{sec(60), sec(75)}, Class: Up, Reason: "ok"}}},
		{"a transition that was pushed has its own time", append(set("ok", "ok", "lost", "lost", "ok"), pushed), Span{0, sec(75)},
			[]Interval{{Span: Span{0, sec(20)}, Class: Up, Reason: "ok"}, {Span: Span{sec(20), sec(60)}, Class: Down, Reason: "lost"}, {Span: Span{sec(60), sec(75)}, Class: Up, Reason: "ok"}}},
		{"one missed sample is bridged", set("ok", "", "ok"), Span{0, sec(45)}, []Interval{{Span: Span{0, sec(45)}, Class: Up, Reason: "ok"}}},
		{"after two intervals nothing is known", set("ok", "", "", "", "ok"), Span{0, sec(75)},
			[]Interval{{Span: Span{0, sec(30)}, Class: Up, Reason: "ok"}, {Span: Span{sec(30), sec(60)}, Class: NoData, Reason: ReasonNoSamples}, {Span: Span{sec(60), sec(75)}, Class: Up, Reason: "ok"}}},
		{"a bad state does not hold longer than a good one", set("lost", "", "", "", "ok"), Span{0, sec(75)},
			[]Interval{{Span: Span{0, sec(30)}, Class: Down, Reason: "lost"}, {Span: Span{sec(30), sec(60)}, Class: NoData, Reason: ReasonNoSamples}, {Span: Span{sec(60), sec(75)}, Class: Up, Reason: "ok"}}},
		{"no samples are unknown, never down", nil, Span{0, sec(75)}, []Interval{{Span: Span{0, sec(75)}, Class: NoData, Reason: ReasonNoSamples}}},
		{"a sample from before the span still holds", set("ok"), Span{sec(10), sec(60)},
			[]Interval{{Span: Span{sec(10), sec(30)}, Class: Up, Reason: "ok"}, {Span: Span{sec(30), sec(60)}, Class: NoData, Reason: ReasonNoSamples}}},
		{"another bad state goes on with the outage", set("ok", "lost", "driver_down", "ok"), Span{0, sec(60)},
			[]Interval{{Span: Span{0, sec(15)}, Class: Up, Reason: "ok"}, {Span: Span{sec(15), sec(30)}, Class: Down, Reason: "lost"}, {Span: Span{sec(30), sec(45)}, Class: Down, Reason: "driver_down"}, {Span: Span{sec(45), sec(60)}, Class: Up, Reason: "ok"}}},
		{"an unknown that is told is unknown", set("ok", "unknown", "ok"), Span{0, sec(45)},
			[]Interval{{Span: Span{0, sec(15)}, Class: Up, Reason: "ok"}, {Span: Span{sec(15), sec(30)}, Class: NoData, Reason: "unknown"}, {Span: Span{sec(30), sec(45)}, Class: Up, Reason: "ok"}}},
		{"copies of one sample are one", append(set("ok", "lost", "ok"), set("ok", "lost", "ok")...), Span{0, sec(45)},
			[]Interval{{Span: Span{0, sec(15)}, Class: Up, Reason: "ok"}, {Span: Span{sec(15), sec(30)}, Class: Down, Reason: "lost"}, {Span: Span{sec(30), sec(45)}, Class: Up, Reason: "ok"}}},
		{"where two copies disagree down wins", append(set("ok", "ok"), set("ok", "lost")...), Span{0, sec(30)},
			[]Interval{{Span: Span{0, sec(15)}, Class: Up, Reason: "ok"}, {Span: Span{sec(15), sec(30)}, Class: Down, Reason: "lost"}}},
		{"a span of no time has no intervals", set("ok"), Span{sec(5), sec(5)}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := StateTimeline(tc.span, tc.series, 15_000); !slices.Equal(got, tc.want) {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

// clocked judges eight hours of one card whose states are given, under an objective.
func clocked(t *testing.T, change func(*JudgeInput), parts ...any) Verdict {
	t.Helper()
	in := JudgeInput{Facts: facts(withTarget(t, hourly(t, "10"), "99.5"), span(t, "2026-05-01T08:00:00Z", "2026-05-01T16:00:00Z"), 1)}
	in.Period = in.Lease.Span()
	length := 8 * time.Hour
	for i := 1; i < len(parts); i += 2 {
		length -= parts[i].(time.Duration)
	}
	in.Timelines = map[string][]Interval{"A": upDown(in.Lease.Start, append(parts, "ok", length)...)}
	if change != nil {
		change(&in)
	}
	return judge(t, in)
}

func TestOutagesCountAsTheContractSays(t *testing.T) {
	set := func(outage string, least, merge time.Duration) func(*JudgeInput) {
		return func(in *JudgeInput) {
			a := in.Contract.Availability
			a.Outage, a.MinimumOutage, a.FlapMerge = outage, Duration(least), Duration(merge)
		}
	}
	flaps := []any{"ok", time.Hour}
	for range 10 {
		flaps = append(flaps, "lost", 59*time.Second, "ok", 61*time.Second)
	}
	late := []any{"ok", time.Hour + 30*time.Second, "lost", 150 * time.Second}
	for _, tc := range []struct {
		name   string
		change func(*JudgeInput)
		parts  []any
		down   time.Duration
	}{
		{"exactly, to the millisecond", set(OutageExact, 0, 0), late, 150 * time.Second},
		{"by whole minutes of each run", set(OutageWholeMinutes, 0, 0), late, 2 * time.Minute},
		{"by clock minutes that are wholly down", set(OutageClockMinutes, 0, 0), late, 2 * time.Minute},
		{"a clock minute that is partly up does not count", set(OutageClockMinutes, 0, 0), []any{"ok", time.Hour + 30*time.Second, "lost", 60 * time.Second}, 0},
		{"ten flaps of 59 s are no whole minute", set(OutageWholeMinutes, 0, 0), flaps, 0},
		{"ten flaps of 59 s are 590 s exactly", set(OutageExact, 0, 0), flaps, 590 * time.Second},
		{"flaps under the minimum do not count", set(OutageExact, time.Minute, 0), flaps, 0},
		{"an outage of the minimum counts", set(OutageExact, 150*time.Second, 0), late, 150 * time.Second},
		{"flaps that the contract merges are one outage with its gaps", set(OutageExact, 0, 62*time.Second), flaps, 9*2*time.Minute + 59*time.Second},
		{"a gap of the merge length itself is not merged", set(OutageExact, 0, 61*time.Second), flaps, 590 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := clocked(t, tc.change, tc.parts...)
			if v.DownMS != tc.down.Milliseconds() {
				t.Errorf("%d ms down, want %d: %s", v.DownMS, tc.down.Milliseconds(), v.Arithmetic)
			}
			if v.UpMS+v.DownMS+v.ExcludedMS+v.UnknownMS != v.PeriodMS {
				t.Errorf("the classes do not partition the period: %+v", v)
			}
		})
	}
}

func TestWindowsExcuseOnlyWhatBeganInsideThem(t *testing.T) {
	window := func(from, to time.Duration) func(*JudgeInput) {
		return func(in *JudgeInput) {
			start := in.Lease.Start
			in.Maintenances = []Maintenance{{Leases: []string{"L"}, Announced: start - 1,
				Start: start + Millis(from.Milliseconds()), End: start + Millis(to.Milliseconds())}}
		}
	}
	stop := func(from, to time.Duration) func(*JudgeInput) {
		return func(in *JudgeInput) {
			start := in.Lease.Start
			in.Lease.Stops = []Span{{start + Millis(from.Milliseconds()), start + Millis(to.Milliseconds())}}
		}
	}
	minutes := func(n int) time.Duration { return time.Duration(n) * time.Minute }
	outage := []any{"ok", minutes(60), "lost", minutes(30)}
	for _, tc := range []struct {
		name                    string
		change                  func(*JudgeInput)
		down, excluded, unknown int
		parts                   []any
	}{
		{"an outage inside the window is excluded", window(minutes(50), minutes(100)), 0, 50, 0, outage},
		{"one that was open when the window began stays down, to its end", window(minutes(70), minutes(120)), 30, 30, 0, outage},
		{"an overrun of the window is downtime", window(minutes(60), minutes(80)), 10, 20, 0, outage},
		{"a second outage inside the window is excluded", window(minutes(70), minutes(120)), 30, 30, 0,
			[]any{"ok", minutes(60), "lost", minutes(30), "ok", minutes(10), "lost", minutes(10)}},
		{"unknown time inside the window is excluded", window(minutes(50), minutes(100)), 0, 50, 0, []any{"ok", minutes(60), "unknown", minutes(30)}},
		{"a stop does not hide an open outage either", stop(minutes(70), minutes(120)), 30, 30, 0, outage},
		{"a stop excludes what begins inside it", stop(minutes(50), minutes(100)), 0, 50, 0, outage},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := clocked(t, tc.change, tc.parts...)
			if v.DownMS != minutes(tc.down).Milliseconds() || v.ExcludedMS != minutes(tc.excluded).Milliseconds() || v.UnknownMS != 0 {
				t.Errorf("%s; excluded by %v", v.Arithmetic, v.ExcludedBy)
			}
		})
	}
}

func TestAnOutageThatWasOpenBeforeThePeriodIsNotExcusedByAWindowInIt(t *testing.T) {
	v := clocked(t, func(in *JudgeInput) {
		in.Period.Start += 3_600_000 + 10*60_000
		in.Maintenances = []Maintenance{{Leases: []string{"L"}, Announced: 1, Start: in.Period.Start - 5*60_000, End: in.Period.Start + 3_600_000}}
	}, "ok", time.Hour, "lost", 30*time.Minute)
	if v.DownMS != 20*60_000 {
		t.Errorf("%s", v.Arithmetic)
	}
}

func TestScopesCombineCards(t *testing.T) {
	for _, tc := range []struct {
		scope   string
		needed  int
		percent string
		outcome Outcome
	}{
		{ScopeGPU, 0, "87.5000", Breached},
		{ScopeAll, 0, "75.0000", Breached},
		{ScopeWeighted, 0, "93.7500", Breached},
		{ScopeKOfN, 3, "100.0000", Kept},
		{ScopeKOfN, 4, "75.0000", Breached},
	} {
		c := withTarget(t, hourly(t, "10"), "99.5")
		c.Availability.Scope, c.Availability.Needed = tc.scope, tc.needed
		in := JudgeInput{Facts: facts(c, span(t, "2026-05-01T08:00:00Z", "2026-05-01T16:00:00Z"), 4), Timelines: map[string][]Interval{}}
		in.Period = in.Lease.Span()
		for i, down := range []int{0, 2, -1, -1} {
			line := upDown(in.Lease.Start, "ok", 8*time.Hour)
			if down >= 0 {
				from := time.Duration(down) * time.Hour
				line = upDown(in.Lease.Start, "ok", from, "lost", time.Hour, "ok", 7*time.Hour-from)
			}
			in.Timelines[card(i)] = line
		}
		v := judge(t, in)
		if v.Outcome != tc.outcome || v.Low.Percent(v.Target) != tc.percent {
			t.Errorf("%s: %s, want %s at %s", tc.scope, v.Arithmetic, tc.outcome, tc.percent)
		}
	}
}

func TestGoingBlindDoesNotPay(t *testing.T) {
	for _, tc := range []struct {
		name     string
		unknown  string
		parts    []any
		outcome  Outcome
		headline string
	}{
		{"unknown as down judges at the low bound", "down", []any{"unknown", time.Hour}, Breached, "87.5000"},
		{"unknown excluded is not proven where the bounds differ", "excluded", []any{"unknown", time.Hour}, NotProven, "100.0000"},
		{"unknown excluded is breached where both bounds are under", "excluded", []any{"unknown", time.Hour, "lost", time.Hour}, Breached, "85.7142"},
		{"unknown excluded is kept where both bounds hold", "excluded", []any{"unknown", time.Minute}, Kept, "100.0000"},
		{"a lease without any sample is never kept", "excluded", []any{"unknown", 8 * time.Hour}, NotProven, "-"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := clocked(t, func(in *JudgeInput) { in.Contract.Availability.Unknown = tc.unknown }, tc.parts...)
			if v.Outcome != tc.outcome || v.Judged.Percent(v.Target) != tc.headline {
				t.Errorf("%s at %s, want %s at %s: %s", v.Outcome, v.Judged.Percent(v.Target), tc.outcome, tc.headline, v.Arithmetic)
			}
		})
	}
}

func TestWhatElseAVerdictCounts(t *testing.T) {
	day := span(t, "2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z")
	for _, tc := range []struct {
		name   string
		change func(*JudgeInput)
		parts  []any
		low    string
	}{
		{"degraded is up where the contract says so", nil, []any{"degraded", time.Hour}, "100.0000"},
		{"degraded is down where the contract says so", func(in *JudgeInput) { in.Contract.Availability.Degraded = "down" }, []any{"degraded", time.Hour}, "87.5000"},
		{"time outside the lease counts in a denominator of the period", func(in *JudgeInput) {
			in.Period, in.Contract.Availability.Denominator = day, DenominatorPeriod
		}, []any{"lost", time.Hour}, "95.8333"},
		{"time outside the lease does not count in a denominator of the lease", func(in *JudgeInput) { in.Period = day }, []any{"lost", time.Hour}, "87.5000"},
		{"what the tenant caused is excluded", func(in *JudgeInput) {
			in.Downtimes = []Downtime{{Lease: "L", UUIDs: []string{"A"}, Span: Span{in.Lease.Start, in.Lease.Start + 3_600_000}, Cause: CauseTenant, ApprovedBy: "anna"}}
		}, []any{"lost", time.Hour}, "100.0000"},
		{"what the tenant may have caused is not, until a person says so", func(in *JudgeInput) {
			in.Downtimes = []Downtime{{Lease: "L", UUIDs: []string{"A"}, Span: Span{in.Lease.Start, in.Lease.Start + 3_600_000}, Cause: CauseTenant}}
		}, []any{"lost", time.Hour}, "87.5000"},
		{"excluded time that stays in the denominator counts as up", func(in *JudgeInput) {
			in.Contract.Availability.ExcludedLeavesDenominator = no()
			in.Lease.Stops = []Span{{in.Lease.Start + 4*3_600_000, in.Lease.End}}
		}, []any{"lost", time.Hour}, "87.5000"},
		{"excluded time that leaves the denominator makes an outage weigh more", func(in *JudgeInput) {
			in.Lease.Stops = []Span{{in.Lease.Start + 4*3_600_000, in.Lease.End}}
		}, []any{"lost", time.Hour}, "75.0000"},
		{"a card that was not there from the start is down from its due time", func(in *JudgeInput) {
			in.Assignments[0].Span.Start += 3_600_000
		}, []any{"ok", time.Hour}, "87.5000"},
		{"an open period is judged up to now", func(in *JudgeInput) { in.Now = in.Lease.Start + 2*3_600_000 }, []any{"lost", time.Hour}, "50.0000"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := clocked(t, tc.change, tc.parts...)
			if got := v.Low.Percent(v.Target); got != tc.low {
				t.Errorf("%s, want %s: %s", got, tc.low, v.Arithmetic)
			}
		})
	}
}

func TestALeaseOfNoLengthIsNotMeasured(t *testing.T) {
	v := clocked(t, func(in *JudgeInput) { in.Lease.End = in.Lease.Start })
	if v.Outcome != NotMeasured || v.Low.Percent(v.Target) != "-" {
		t.Errorf("%s at %s", v.Outcome, v.Low.Percent(v.Target))
	}
}

func TestAMonthInWhichTheLeaseDidNotRunIsNotKept(t *testing.T) {
	for _, denominator := range []string{DenominatorPeriod, DenominatorLease} {
		v := clocked(t, func(in *JudgeInput) {
			in.Contract.Availability.Denominator = denominator
			in.Period = Span{Start: in.Lease.End, End: in.Lease.End + 3_600_000}
		})
		if v.Outcome != NotMeasured || v.PeriodMS != 0 {
			t.Errorf("%s: %s: %s", denominator, v.Outcome, v.Arithmetic)
		}
	}
}

func TestPercentagesAreFlooredWithTheDigitsOfTheTarget(t *testing.T) {
	for target, want := range map[string]string{"99.5": "99.9999", "99": "99.9999", "99.975": "99.9999", "99.99999": "99.999999"} {
		if got := (Bound{Numerator: 99_999_999_9, Denominator: 1_000_000_000}).Percent(dec(t, target)); got != want {
			t.Errorf("target %s: %s, want %s", target, got, want)
		}
	}
}

func TestAMIGInstanceIsAsItsCardIsWhileTheCardHasIt(t *testing.T) {
	sec := func(n int64) Millis { return Millis(n * 1000) }
	there := func(at ...int64) []Series {
		s := Series{}
		for _, n := range at {
			s.Samples = append(s.Samples, Sample{At: sec(n), Value: 1})
		}
		return []Series{s}
	}
	span := Span{0, sec(75)}
	for _, tc := range []struct {
		name    string
		card    []Series
		present []Series
		want    []Interval
	}{
		{"up with its card", set("ok", "ok", "ok", "ok", "ok"), there(0, 15, 30, 45, 60), []Interval{{Span: span, Class: Up, Reason: "ok"}}},
		{"down with its card, reported or not", set("ok", "lost", "lost", "lost", "ok"), there(0, 60),
			[]Interval{{Span: Span{0, sec(15)}, Class: Up, Reason: "ok"}, {Span: Span{sec(15), sec(60)}, Class: Down, Reason: "lost"}, {Span: Span{sec(60), sec(75)}, Class: Up, Reason: "ok"}}},
		{"unknown where MIG was switched off under it", set("ok", "ok", "ok", "ok", "ok"), there(0, 15),
			[]Interval{{Span: Span{0, sec(45)}, Class: Up, Reason: "ok"}, {Span: Span{sec(45), sec(75)}, Class: NoData, Reason: ReasonMIGMissing}}},
		{"one missed sample is bridged", set("ok", "ok", "ok", "ok", "ok"), there(0, 30, 45, 60), []Interval{{Span: span, Class: Up, Reason: "ok"}}},
		{"a silent card says nothing of it", set("ok", "", "", "", ""), there(0),
			[]Interval{{Span: Span{0, sec(30)}, Class: Up, Reason: "ok"}, {Span: Span{sec(30), sec(75)}, Class: NoData, Reason: ReasonNoSamples}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := MIGTimeline(StateTimeline(span, tc.card, 15_000), tc.present, 15_000); !slices.Equal(got, tc.want) {
				t.Errorf("found    %v\nexpected %v", got, tc.want)
			}
		})
	}
}
