package ledger_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// TestTheLedgerAnswersWhatWasKnownThen records facts day after day, keeps what each read said on
// the first day, and asks again at the end.
func TestTheLedgerAnswersWhatWasKnownThen(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		s.apply(fleet())
		s.apply(leases(lease("L-1", "acme", "2026-05-01T00:00:00Z", "open", "GPU-A")))
		down := rental.Downtime{ID: "D-1", Lease: "L-1", UUIDs: []string{"GPU-A"}, Span: span("2026-05-01T01:00:00Z", "2026-05-01T02:00:00Z"),
			Cause: rental.CauseProvider, Reason: "lost", Witnesses: []string{"seen"}}
		if err := s.SaveDowntime(t.Context(), down); err != nil {
			t.Fatal(err)
		}
		firstDay := rental.At(s.now)
		told := s.tell(firstDay)

		s.now = s.now.Add(24 * time.Hour)
		changed := fleet()
		changed.Contracts[0].Plan.Prices = append(changed.Contracts[0].Plan.Prices, rental.PriceVersion{From: at("2026-06-01T00:00:00Z"), Price: decimal("12")})
		changed.GPUs[0].Slot = 5
		s.apply(changed)
		down.Span.End = down.Span.Start
		if err := s.SaveDowntime(t.Context(), down); err != nil {
			t.Fatal(err)
		}
		if err := s.Swap(t.Context(), "ada", "fan", "L-1", "GPU-A", "GPU-S", at("2026-05-02T00:00:00Z")); err != nil {
			t.Fatal(err)
		}
		if err := s.EndLease(t.Context(), "bob", "sold", "L-1", at("2026-05-09T00:00:00Z")); err != nil {
			t.Fatal(err)
		}
		s.apply(leases(lease("L-2", "globex", "2026-05-03T00:00:00Z", "open", "GPU-B")))

		if got := s.tell(firstDay); !reflect.DeepEqual(got, told) {
			t.Errorf("found    %+v\nexpected %+v", got, told)
		}
		if got := s.tell(rental.At(s.now)); reflect.DeepEqual(got, told) {
			t.Error("the second day says what the first did, expected it to know more")
		}
		if _, err := s.AsOf(firstDay-1).Lease(t.Context(), "L-1"); rental.CodeOf(err) != rental.CodeNotFound {
			t.Errorf("before the lease was recorded: %v, expected not_found", err)
		}
		if _, err := s.AsOf(firstDay).Apply(t.Context(), "ada", "", fleet(), false); rental.CodeOf(err) != rental.CodeRefused {
			t.Errorf("writing into the past: %v, expected refused", err)
		}
		if _, err := s.AsOf(firstDay).MonthTotals(t.Context(), "L-1", span("2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z")); rental.CodeOf(err) != rental.CodeRefused {
			t.Errorf("month totals of the past: %v, expected refused", err)
		}
	})
}

// tell reads everything that a bill rests on.
func (s *store) tell(at rental.Millis) []any {
	s.t.Helper()
	past, ctx := s.AsOf(at), s.t.Context()
	month := span("2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z")
	var all []any
	add := func(v any, err error) {
		s.t.Helper()
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, v)
	}
	lease, err := past.Lease(ctx, "L-1")
	add(lease, err)
	leases, err := past.Leases(ctx)
	add(leases, err)
	contract, err := past.Contract(ctx, "hourly")
	add(contract, err)
	assignments, err := past.Assignments(ctx, "L-1")
	add(assignments, err)
	everywhere, err := past.AssignmentsAt(ctx, month)
	add(everywhere, err)
	gpus, err := past.GPUs(ctx)
	add(gpus, err)
	downtimes, err := past.Downtimes(ctx, "L-1", month)
	add(downtimes, err)
	closed, err := past.ClosedMonths(ctx, "L-1")
	add(closed, err)
	records, err := past.UsageRecords(ctx, "L-1", month)
	add(records, err)
	timeline, err := past.Timeline(ctx, "L-1", "GPU-A", month)
	add(timeline, err)
	return all
}

func TestATimelineOfThePastEndsThereAndKnowsNoLaterWord(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		s.apply(fleet())
		s.apply(leases(lease("L-1", "acme", "2026-05-01T00:00:00Z", "open", "GPU-A")))
		save := func(from, to string, class rental.Class) {
			t.Helper()
			err := s.SaveTimeline(t.Context(), "L-1", "GPU-A", span(from, to), []rental.Interval{{Span: span(from, to), Class: class, Reason: "ok"}})
			if err != nil {
				t.Fatal(err)
			}
		}
		s.now = time.Date(2026, 5, 1, 2, 0, 0, 0, time.UTC)
		save("2026-05-01T00:00:00Z", "2026-05-01T02:00:00Z", rental.Up)
		s.now = time.Date(2026, 5, 1, 4, 0, 0, 0, time.UTC)
		save("2026-05-01T01:00:00Z", "2026-05-01T04:00:00Z", rental.Down)
		past := s.AsOf(at("2026-05-01T03:00:00Z"))
		got, err := past.Timeline(t.Context(), "L-1", "GPU-A", span("2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z"))
		if err != nil {
			t.Fatal(err)
		}
		want := []rental.Interval{{Span: span("2026-05-01T00:00:00Z", "2026-05-01T03:00:00Z"), Class: rental.Up, Reason: "ok"}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("found %v, expected %v", got, want)
		}
	})
}

func TestTheHistoryOfALeaseSaysWhoWhenWhyAndWhatChanged(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		s.apply(fleet())
		s.apply(leases(lease("L-1", "acme", "2026-05-01T00:00:00Z", "open", "GPU-A"), lease("L-2", "globex", "2026-05-01T00:00:00Z", "open", "GPU-B")))
		s.now = s.now.Add(time.Hour)
		r := fleet()
		r.Contracts[0].Plan.Prices = append(r.Contracts[0].Plan.Prices, rental.PriceVersion{From: at("2026-06-01T00:00:00Z"), Price: decimal("12")})
		r.Adjustments = []rental.Adjustment{
			{ID: "A-1", Lease: "L-1", Month: "2026-05", Start: at("2026-05-01T00:00:00Z"), End: at("2026-05-02T00:00:00Z"), Amount: decimal("-1"), Currency: "USD", Reason: "goodwill"},
			{ID: "A-2", Lease: "L-2", Month: "2026-05", Start: at("2026-05-01T00:00:00Z"), End: at("2026-05-02T00:00:00Z"), Amount: decimal("-1"), Currency: "USD", Reason: "of globex"},
		}
		s.apply(r)
		s.now = s.now.Add(time.Hour)
		if err := s.EndLease(t.Context(), "bob", "the tenant asked", "L-1", at("2026-05-09T00:00:00Z")); err != nil {
			t.Fatal(err)
		}
		entries, err := s.LeaseHistory(t.Context(), "L-1")
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, e := range entries {
			if e.Action == rental.ActionCreate {
				e.Diff = ""
			}
			lines = append(lines, strings.Join([]string{e.At.String(), e.By, e.Why, e.Kind, e.Name, e.Action, e.Diff}, " | "))
		}
		want := []string{
			"2026-05-01T00:00:00Z | ada |  | Assignment | GPU-A | create | ",
			"2026-05-01T00:00:00Z | ada | test | Contract | hourly | create | ",
			"2026-05-01T00:00:00Z | ada | test | Lease | L-1 | create | ",
			"2026-05-01T01:00:00Z | ada | test | Adjustment | A-1 | create | ",
			"2026-05-01T01:00:00Z | ada | test | Contract | hourly | update | plan.prices[1].from: 2026-06-01T00:00:00Z (new)\nplan.prices[1].price: 12 (new)",
			"2026-05-01T02:00:00Z | bob |  | Assignment | GPU-A | update | span.end: open -> 2026-05-09T00:00:00Z",
			"2026-05-01T02:00:00Z | bob | the tenant asked | Lease | L-1 | update | end: open -> 2026-05-09T00:00:00Z",
		}
		if !reflect.DeepEqual(lines, want) {
			t.Errorf("found\n%s\nexpected\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
		}
		if first := entries[2]; !strings.Contains(first.Diff, "tenant: acme") || strings.Contains(first.Diff, "(new)") {
			t.Errorf("the first revision says %q, expected its fields", first.Diff)
		}
		if _, err := s.LeaseHistory(t.Context(), "L-9"); rental.CodeOf(err) != rental.CodeNotFound {
			t.Errorf("no such lease: %v, expected not_found", err)
		}
	})
}
