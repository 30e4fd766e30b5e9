package gpu

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var start = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

func TestStateMachine(t *testing.T) {
	type step struct {
		at     float64
		answer Answer
		since  float64 // for timeouts, when not zero
	}
	tests := []struct {
		name  string
		steps []step
		want  State
		since float64
		secs  map[State]float64
	}{
		{"a first good round makes an unknown GPU ok", []step{{2, AnswerOK, 0}}, OK, 2, map[State]float64{Unknown: 2}},
		{"lost counts from the round that says so", []step{{0, AnswerOK, 0}, {10, AnswerLost, 0}, {15, AnswerLost, 0}}, Lost, 10,
			map[State]float64{OK: 10, Lost: 5}},
		{"a GPU that is no longer listed is lost", []step{{0, AnswerOK, 0}, {5, AnswerNotSeen, 0}}, Lost, 5, map[State]float64{OK: 5}},
		{"a call that hangs under a minute changes nothing", []step{{0, AnswerOK, 0}, {10, AnswerTimeout, 6}, {64, AnswerTimeout, 6}}, OK, 0,
			map[State]float64{OK: 6}},
		{"a call that was slow and answered was ok all along", []step{{0, AnswerOK, 0}, {50, AnswerTimeout, 6}, {51, AnswerOK, 0}}, OK, 0,
			map[State]float64{OK: 51}},
		{"a call that hangs for a minute makes it unresponsive from the call's beginning",
			[]step{{0, AnswerOK, 0}, {10, AnswerTimeout, 6}, {66, AnswerTimeout, 6}, {70, AnswerTimeout, 6}}, Unresponsive, 6,
			map[State]float64{OK: 6, Unresponsive: 64}},
		{"an unresponsive GPU stays so while refusals mean nothing",
			[]step{{0, AnswerOK, 0}, {70, AnswerTimeout, 6}, {75, AnswerError, 0}, {200, AnswerError, 0}}, Unresponsive, 6,
			map[State]float64{OK: 6, Unresponsive: 194}},
		{"refusals without meaning make it unknown after two rounds, from the first",
			[]step{{0, AnswerOK, 0}, {20, AnswerError, 0}, {25, AnswerError, 0}, {30, AnswerError, 0}}, Unknown, 20,
			map[State]float64{OK: 20, Unknown: 10}},
		{"one refusal without meaning changes nothing", []step{{0, AnswerOK, 0}, {20, AnswerError, 0}, {25, AnswerOK, 0}}, OK, 0,
			map[State]float64{OK: 25}},
		{"a lost GPU whose calls hang stays lost", []step{{0, AnswerLost, 0}, {100, AnswerTimeout, 1}}, Lost, 0, map[State]float64{Lost: 100}},
		{"a lost GPU heals at the first good round", []step{{0, AnswerLost, 0}, {100, AnswerOK, 0}}, OK, 100, map[State]float64{Lost: 100}},
		{"a GPU that wants a reset keeps saying so when calls hang", []step{{0, AnswerResetRequired, 0}, {90, AnswerTimeout, 5}}, ResetRequired, 0,
			map[State]float64{ResetRequired: 90}},
		{"a driver that goes takes even a lost GPU with it", []step{{0, AnswerLost, 0}, {5, AnswerDriverDown, 0}}, DriverDown, 5,
			map[State]float64{Lost: 5}},
		{"a released GPU is released until it answers again", []step{{0, AnswerReleased, 0}, {30, AnswerReleased, 0}, {40, AnswerOK, 0}}, OK, 40,
			map[State]float64{Released: 40}},
		{"a clock that steps back counts nothing twice", []step{{0, AnswerOK, 0}, {100, AnswerOK, 0}, {50, AnswerLost, 0}, {110, AnswerLost, 0}}, Lost, 100,
			map[State]float64{OK: 100, Lost: 10}},
		{"a new kind of held answer starts its own hold",
			[]step{{0, AnswerOK, 0}, {8, AnswerError, 0}, {17, AnswerTimeout, 12}, {60, AnswerTimeout, 12}}, OK, 0, map[State]float64{OK: 12}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := NewMachine(start)
			for _, s := range test.steps {
				o := Observation{At: at(s.at), Answer: s.answer, Reason: string(s.answer)}
				if s.since != 0 {
					o.Since = at(s.since)
				}
				before := m.Status()
				change, changed := m.Observe(o)
				if after := m.Status(); changed != (before.State != after.State) {
					t.Fatalf("at %v: changed = %v, but the state went from %s to %s", s.at, changed, before.State, after.State)
				} else if changed && (change.From != before.State || change.To != after.State || !change.Since.Equal(after.Since)) {
					t.Fatalf("at %v: change %+v does not tell %+v -> %+v", s.at, change, before, after)
				}
			}
			got := m.Status()
			if got.State != test.want || !got.Since.Equal(at(test.since)) {
				t.Errorf("state %s since %v, want %s since %v", got.State, got.Since.Sub(start), test.want, at(test.since).Sub(start))
			}
			for _, state := range States {
				if math.Abs(got.Seconds[state]-test.secs[state]) > 1e-9 {
					t.Errorf("seconds of %s: %v, want %v", state, got.Seconds[state], test.secs[state])
				}
			}
		})
	}
}

func TestAMachineGoesOnFromWhatWasKnown(t *testing.T) {
	down := at(3600) // the exporter ran up to here, and runs again from there on
	again := at(3700)
	tests := map[string]struct {
		known   Status
		first   Answer // after the restart
		resumed State  // before anything was asked
		since   time.Time
		want    State
		wantAt  time.Time
		secs    map[State]float64
	}{
		"a GPU that worked is unknown since then, and ok from the first answer on": {
			Status{State: OK, Since: start, Until: down, Seconds: map[State]float64{OK: 3600}}, AnswerOK,
			Unknown, down, OK, again, map[State]float64{OK: 3600, Unknown: 100},
		},
		"a GPU that is missing now was unknown in between": {
			Status{State: OK, Since: start, Until: down, Seconds: map[State]float64{OK: 3600}}, AnswerNotSeen,
			Unknown, down, Lost, again, map[State]float64{OK: 3600, Unknown: 100},
		},
		"a GPU that was lost is lost since then": {
			Status{State: Lost, Since: at(600), Until: down, Seconds: map[State]float64{OK: 600, Lost: 3000}}, AnswerNotSeen,
			Lost, at(600), Lost, at(600), map[State]float64{OK: 600, Lost: 3100},
		},
		"a GPU that was lost and works now was lost until now": {
			Status{State: Lost, Since: at(600), Until: down, Seconds: map[State]float64{OK: 600, Lost: 3000}}, AnswerOK,
			Lost, at(600), OK, again, map[State]float64{OK: 600, Lost: 3100},
		},
		"a GPU that was released stays so": {
			Status{State: Released, Since: at(600), Until: down, Seconds: map[State]float64{Released: 3000}}, AnswerReleased,
			Released, at(600), Released, at(600), map[State]float64{Released: 3100},
		},
		"a clock that was ahead stops nothing": {
			Status{State: OK, Since: at(9e6), Until: at(9e6), Seconds: map[State]float64{OK: 5}}, AnswerLost,
			Unknown, again, Lost, again, map[State]float64{OK: 5},
		},
		"a state that nobody knows is unknown": {
			Status{State: "sleepy", Since: start, Until: down, Seconds: map[State]float64{"sleepy": 7, OK: -3}}, AnswerOK,
			Unknown, down, OK, again, map[State]float64{Unknown: 100},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := ResumeMachine(test.known, again)
			m.Observe(Observation{At: again, Answer: AnswerNobodyAsked, Since: m.Status().Until})
			if got := m.Status(); got.State != test.resumed || !got.Since.Equal(test.since) {
				t.Errorf("resumed as %s since %s, want %s since %s", got.State, got.Since, test.resumed, test.since)
			}
			m.Observe(Observation{At: again, Answer: test.first})
			got := m.Status()
			if got.State != test.want || !got.Since.Equal(test.wantAt) || !got.Until.Equal(again) {
				t.Errorf("%s since %s, known until %s; want %s since %s until %s", got.State, got.Since, got.Until, test.want, test.wantAt, again)
			}
			for _, state := range States {
				if math.Abs(got.Seconds[state]-test.secs[state]) > 1e-9 {
					t.Errorf("seconds of %s: %v, want %v", state, got.Seconds[state], test.secs[state])
				}
			}
		})
	}
}

func TestEveryAnswerHasExactlyOneRow(t *testing.T) {
	if len(Transitions) != len(Answers) {
		t.Fatalf("%d rows for %d answers", len(Transitions), len(Answers))
	}
	for _, a := range Answers {
		n := 0
		for _, row := range Transitions {
			if row.Answer == a {
				n++
			}
		}
		if n != 1 {
			t.Errorf("answer %s has %d rows, want 1", a, n)
		}
	}
}

func TestOfSeveralAnswersTheWorstCounts(t *testing.T) {
	for _, test := range []struct{ a, b, want Answer }{
		{AnswerOK, AnswerLost, AnswerLost},
		{AnswerLost, AnswerResetRequired, AnswerLost},
		{AnswerError, AnswerOK, AnswerError},
		{AnswerReleased, AnswerLost, AnswerReleased},
		{AnswerTimeout, AnswerFabricIncomplete, AnswerTimeout},
		{AnswerOK, AnswerOK, AnswerOK},
	} {
		if got := Worse(test.a, test.b); got != test.want {
			t.Errorf("Worse(%s, %s) = %s, want %s", test.a, test.b, got, test.want)
		}
		if got := Worse(test.b, test.a); got != test.want {
			t.Errorf("Worse(%s, %s) = %s, want %s", test.b, test.a, got, test.want)
		}
	}
}

func TestSecondsSumToElapsedTimeAndNeverFall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := NewMachine(start)
		now, first := start, start
		previous := m.Status().Seconds
		for range rapid.IntRange(1, 60).Draw(t, "rounds") {
			step := time.Duration(rapid.IntRange(-5_000, 90_000).Draw(t, "step ms")) * time.Millisecond
			o := Observation{At: now.Add(step), Answer: rapid.SampledFrom(Answers).Draw(t, "answer")}
			if o.Answer == AnswerTimeout {
				o.Since = o.At.Add(-time.Duration(rapid.IntRange(0, 100_000).Draw(t, "hung ms")) * time.Millisecond)
			}
			now = later(o.At, now)
			m.Observe(o)
			status := m.Status()
			sum := 0.0
			for state, seconds := range status.Seconds {
				if seconds < previous[state]-1e-9 {
					t.Fatalf("seconds of %s fell from %v to %v", state, previous[state], seconds)
				}
				sum += seconds
			}
			previous = status.Seconds
			elapsed := now.Sub(first).Seconds()
			if m.held == "" && math.Abs(sum-elapsed) > 1e-6 {
				t.Fatalf("seconds sum to %v, %v have passed", sum, elapsed)
			}
			if sum > elapsed+1e-6 {
				t.Fatalf("seconds sum to %v, only %v have passed", sum, elapsed)
			}
			if status.Since.After(now) {
				t.Fatalf("state since %v, now is %v", status.Since, now)
			}
		}
	})
}
