package ledger_test

import (
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestWhatWasLearntSinceAMomentIsFoundWhateverItIs(t *testing.T) {
	for name, tc := range map[string]struct {
		learn  func(*testing.T, *store)
		learnt bool
	}{
		"nothing": {func(*testing.T, *store) {}, false},
		"use alone moves no money": {func(_ *testing.T, s *store) {
			s.saveUsage(usage("GPU-A", "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z", 1000))
		}, false},
		"another lease": {func(_ *testing.T, s *store) {
			s.apply(leases(lease("M", "globex", "2026-03-01T00:00:00Z", "open", "GPU-B")))
		}, false},
		"an end of the lease": {func(t *testing.T, s *store) {
			if err := s.EndLease(t.Context(), "ada", "over", "L", at("2026-05-02T00:00:00Z")); err != nil {
				t.Fatal(err)
			}
		}, true},
		"its contract": {func(_ *testing.T, s *store) {
			r := metered()
			r.Contracts[0].Plan.Prices = append(r.Contracts[0].Plan.Prices, rental.PriceVersion{From: at("2026-06-01T00:00:00Z"), Price: decimal("11")})
			s.apply(r)
		}, true},
		"a late consumption": {func(_ *testing.T, s *store) { s.apply(consumed(func(*rental.Consumption) {})) }, true},
		"a consumption of another month": {func(_ *testing.T, s *store) {
			s.apply(consumed(func(c *rental.Consumption) { c.Start, c.End = c.Start+31*day, c.End+31*day }))
		}, false},
		"a downtime":                  {func(t *testing.T, s *store) { s.down(t, "2026-03-10T00:00:00Z") }, true},
		"a downtime of another month": {func(t *testing.T, s *store) { s.down(t, "2026-04-10T00:00:00Z") }, false},
		"a late class of a card": {func(_ *testing.T, s *store) {
			s.saveTimeline("GPU-A", rental.Interval{Span: span("2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z"), Class: rental.Down, Reason: "lost"})
		}, true},
		"a class of a card of another month": {func(_ *testing.T, s *store) {
			s.saveTimeline("GPU-A", rental.Interval{Span: span("2026-04-10T00:00:00Z", "2026-04-11T00:00:00Z"), Class: rental.Down, Reason: "lost"})
		}, false},
		"a window that is announced too late": {func(_ *testing.T, s *store) { s.apply(window("2026-03-20T00:00:00Z", "2026-03-21T00:00:00Z")) }, true},
		"a window of another month":           {func(_ *testing.T, s *store) { s.apply(window("2026-04-20T00:00:00Z", "2026-04-21T00:00:00Z")) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *store) {
				s.apply(metered())
				s.saveTimeline("GPU-A", rental.Interval{Span: span("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"), Class: rental.Up, Reason: "ok"})
				s.now = s.now.Add(2 * time.Hour)
				since := rental.At(s.now)
				s.now = s.now.Add(time.Hour)
				tc.learn(t, s)
				got, err := s.LearntSince(t.Context(), "L", since, at("2026-04-01T00:00:00Z"))
				if err != nil || got != tc.learnt {
					t.Errorf("learnt %t, %v, expected %t", got, err, tc.learnt)
				}
				if before, err := s.AsOf(since).LearntSince(t.Context(), "L", since, at("2026-04-01T00:00:00Z")); err != nil || before {
					t.Errorf("known at the moment itself: %t, %v", before, err)
				}
			})
		})
	}
}

const day = rental.Millis(24 * 3_600_000)

func window(from, to string) rental.Resources {
	return rental.Resources{Maintenances: []rental.Maintenance{{ID: "w", Leases: []string{"L"}, Start: at(from), End: at(to), Announced: at(from) - day}}}
}

func (s *store) down(t *testing.T, from string) {
	t.Helper()
	if err := s.SaveDowntime(t.Context(), rental.Downtime{ID: "d", Lease: "L", UUIDs: []string{"GPU-A"}, Span: rental.Span{Start: at(from), End: at(from) + day},
		Cause: rental.CauseProvider, Reason: "lost", Witnesses: []string{"driver"}, ApprovedBy: "anna"}); err != nil {
		t.Fatal(err)
	}
}

func TestUsageSumsAreTheKeptTotalsOfAMonthAndElseThoseOfTheRecords(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		withLease(s, "Europe/Oslo")
		month := span("2026-04-30T22:00:00Z", "2026-05-31T22:00:00Z")
		s.saveUsage(usage("GPU-A", "2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z", 1000), usage("GPU-B", "2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z", 500),
			usage("GPU-A", "2026-05-02T10:00:00Z", "2026-05-02T11:00:00Z", 30))
		s.saveUsage(usage("GPU-A", "2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z", 70)) // a later word
		s.now = s.now.Add(time.Hour)
		past := s.AsOf(rental.At(s.now))
		for what, sums := range map[string]func(rental.Span) ([]rental.UsageRecord, error){
			"now":    func(sp rental.Span) ([]rental.UsageRecord, error) { return s.UsageSums(t.Context(), "L", sp) },
			"before": func(sp rental.Span) ([]rental.UsageRecord, error) { return past.UsageSums(t.Context(), "L", sp) },
		} {
			whole := must[[]rental.UsageRecord](t)(sums(month))
			if len(whole) != 2 || whole[0].UUID != "GPU-A" || whole[0].UsedMicros != 100_000 || whole[1].UsedMicros != 500_000 {
				t.Errorf("%s, the month: %+v", what, whole)
			}
			first := must[[]rental.UsageRecord](t)(sums(span("2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z")))
			if len(first) != 2 || first[0].UsedMicros != 70_000 {
				t.Errorf("%s, the first: %+v", what, first)
			}
		}
	})
}
