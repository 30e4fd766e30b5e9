package ledger_test

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/leasewatch/leasewatch/internal/rental"
)

const second = rental.Millis(1000)

func interval(from, to rental.Millis, class rental.Class) rental.Interval {
	return rental.Interval{Span: rental.Span{Start: from, End: to}, Class: class}
}

func (s *store) saveTimeline(uuid string, intervals ...rental.Interval) {
	s.t.Helper()
	whole := rental.Span{Start: intervals[0].Span.Start, End: intervals[len(intervals)-1].Span.End}
	if err := s.SaveTimeline(s.t.Context(), "L", uuid, whole, intervals); err != nil {
		s.t.Fatal(err)
	}
}

func (s *store) timeline(uuid string) []rental.Interval {
	s.t.Helper()
	return must[[]rental.Interval](s.t)(s.Timeline(s.t.Context(), "L", uuid, rental.Span{End: rental.Forever}))
}

func TestATimelineThatGrowsWritesOnlyWhatChanges(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		start := at("2026-05-01T00:00:00Z")
		for i := rental.Millis(1); i <= 200; i++ { // each time the whole span so far
			now := start + i*5*second
			if i < 100 {
				s.saveTimeline("GPU-A", interval(start, now, rental.Up))
			} else {
				s.saveTimeline("GPU-A", interval(start, start+500*second, rental.Up), interval(start+500*second, now+second, rental.Down))
			}
		}
		want := []rental.Interval{interval(start, start+500*second, rental.Up), interval(start+500*second, start+1001*second, rental.Down)}
		if got := s.timeline("GPU-A"); !reflect.DeepEqual(got, want) {
			t.Errorf("found    %v\nexpected %v", got, want)
		}
		var rows int
		if err := s.raw().QueryRow("SELECT count(*) FROM timeline").Scan(&rows); err != nil || rows != 2 {
			t.Errorf("found %d rows (%v), expected 2: one a change of class", rows, err)
		}
		s.reopen() // a clean end keeps all; a crash would keep the classes and up to 15 s less of time
		if got := s.timeline("GPU-A"); !reflect.DeepEqual(got, want) {
			t.Errorf("after a restart: found %v, expected %v", got, want)
		}
		if end := must[rental.Millis](t)(s.TimelineEnd(t.Context(), "L", "GPU-A")); end != start+1001*second {
			t.Errorf("derived up to %s, expected %s", end, start+1001*second)
		}
	})
}

func TestTimeThatWasNeverDerivedIsAbsent(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		start := at("2026-05-01T00:00:00Z")
		s.saveTimeline("GPU-A", interval(start, start+10*second, rental.Up))
		s.saveTimeline("GPU-A", interval(start+60*second, start+70*second, rental.Up))
		want := []rental.Interval{interval(start, start+10*second, rental.Up), interval(start+60*second, start+70*second, rental.Up)}
		if got := s.timeline("GPU-A"); !reflect.DeepEqual(got, want) {
			t.Errorf("found %v, expected the gap left open", got)
		}
		endless := interval(start, rental.Forever, rental.Up)
		if err := s.SaveTimeline(t.Context(), "L", "GPU-A", endless.Span, []rental.Interval{endless}); rental.CodeOf(err) != rental.CodeInvalid {
			t.Errorf("classes without an end: %v, expected them invalid", err)
		}
		if got := s.timeline("GPU-B"); got != nil {
			t.Errorf("found %v for a card that was never derived", got)
		}
	})
}

func TestDerivingTheSameAgainAppendsNothingAndTheNewestWordWins(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		start := at("2026-05-01T00:00:00Z")
		s.saveTimeline("GPU-A", interval(start, start+100*second, rental.Up))
		s.saveTimeline("GPU-A", interval(start+20*second, start+30*second, rental.Down)) // late evidence
		s.saveTimeline("GPU-A", interval(start+20*second, start+30*second, rental.Down))
		want := []rental.Interval{interval(start, start+20*second, rental.Up), interval(start+20*second, start+30*second, rental.Down),
			interval(start+30*second, start+100*second, rental.Up)}
		if got := s.timeline("GPU-A"); !reflect.DeepEqual(got, want) {
			t.Errorf("found %v, expected %v", got, want)
		}
		var rows int
		if err := s.raw().QueryRow("SELECT count(*) FROM timeline").Scan(&rows); err != nil || rows != 2 {
			t.Errorf("found %d rows (%v), expected 2", rows, err)
		}
	})
}

// TestATimelineSaysWhatWasLastSaidOfEachSecond compares with an array of seconds, over restarts.
func TestATimelineSaysWhatWasLastSaidOfEachSecond(t *testing.T) {
	s := newStore(t, "sqlite:"+t.TempDir()+"/ledger.db")
	runs := 0
	rapid.Check(t, func(r *rapid.T) {
		runs++
		uuid := fmt.Sprintf("GPU-%d", runs)
		var model [120]rental.Class
		for range rapid.IntRange(1, 12).Draw(r, "saves") {
			cursor := rapid.IntRange(0, 100).Draw(r, "from")
			var intervals []rental.Interval
			for range rapid.IntRange(1, 4).Draw(r, "pieces") {
				length := rapid.IntRange(1, 5).Draw(r, "length")
				class := rapid.SampledFrom([]rental.Class{rental.Up, rental.Down, rental.NoData}).Draw(r, "class")
				intervals = append(intervals, interval(rental.Millis(cursor)*second, rental.Millis(cursor+length)*second, class))
				for i := range length {
					model[cursor+i] = class
				}
				cursor += length
				if rapid.Bool().Draw(r, "hole") && cursor < 105 {
					cursor++
				}
				if cursor > 114 {
					break
				}
			}
			s.saveTimeline(uuid, intervals...)
			if rapid.IntRange(0, 40).Draw(r, "restart") == 0 {
				s.reopen()
			}
		}
		var said [120]rental.Class
		for _, i := range s.timeline(uuid) {
			for at := i.Span.Start; at < i.Span.End; at += second {
				said[at/second] = i.Class
			}
		}
		if said != model {
			r.Fatalf("found    %v\nexpected %v", said, model)
		}
	})
}

func BenchmarkExtendingATimelineOfOneCard(b *testing.B) {
	s := newBenchStore(b)
	start := at("2026-05-01T00:00:00Z")
	n := rental.Millis(0)
	for b.Loop() {
		n++
		whole := rental.Span{Start: start, End: start + n*5*second}
		if err := s.SaveTimeline(b.Context(), "L", "GPU-A", whole, []rental.Interval{{Span: whole, Class: rental.Up}}); err != nil {
			b.Fatal(err)
		}
	}
}
