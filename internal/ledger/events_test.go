package ledger_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestC25AnImportedOverlapGoesToTheEarlierLeaseAndStaysOpen(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(fleet())
		s.apply(leases(lease("A", "acme", "2026-05-02T10:00:00Z", "2026-05-02T12:00:00Z", "GPU-A"),
			lease("B", "globex", "2026-05-02T11:00:00Z", "2026-05-02T13:00:00Z", "GPU-B")))
		fact := rental.Assignment{Lease: "B", UUID: "GPU-A", Span: span("2026-05-02T11:00:00Z", "2026-05-02T13:00:00Z")}
		want := []rental.Conflict{{UUID: "GPU-A", Span: span("2026-05-02T11:00:00Z", "2026-05-02T12:00:00Z"), Holds: "A", Loses: "B"}}
		for range 2 { // the second time is the same import
			conflicts, err := s.ImportAssignments(ctx, "ada", []rental.Assignment{fact})
			if err != nil || !reflect.DeepEqual(conflicts, want) {
				t.Fatalf("found %+v (%v), expected %+v", conflicts, err, want)
			}
		}
		var total int64 // on the card: A 2 h, B 1 h
		for _, a := range must[[]rental.Assignment](t)(s.AssignmentsAt(ctx, span("2026-05-02T00:00:00Z", "2026-05-03T00:00:00Z"))) {
			if a.UUID == "GPU-A" {
				total += a.Span.Duration()
			}
		}
		if total != 3*3_600_000 {
			t.Errorf("found %d ms on the card, expected 3 h", total)
		}
		got := must[[]rental.Assignment](t)(s.Assignments(ctx, "B"))
		if len(got) != 2 || got[1].UUID != "GPU-A" || got[1].Span != span("2026-05-02T12:00:00Z", "2026-05-02T13:00:00Z") {
			t.Errorf("B has %+v, expected the card from 12:00", got)
		}
		outside := fact
		outside.Span.End = at("2026-05-02T14:00:00Z")
		if _, err := s.ImportAssignments(ctx, "ada", []rental.Assignment{outside}); rental.CodeOf(err) != rental.CodeInvalid {
			t.Errorf("an assignment outside of its lease: %v, expected it invalid", err)
		}
	})
}

func TestC67AStopBeforeItsStartIsHeldAndThenOneInterval(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(fleet())
		s.apply(leases(lease("L", "acme", "2026-05-02T00:00:00Z", "open", "GPU-B")))
		event := func(key, kind, when string) []rental.AssignmentEvent {
			return []rental.AssignmentEvent{{Key: key, Session: "pod-1", Lease: "L", UUID: "GPU-A", Kind: kind, At: at(when)}}
		}
		onCard := func() (spans []rental.Span) {
			for _, a := range must[[]rental.Assignment](t)(s.Assignments(ctx, "L")) {
				if a.UUID == "GPU-A" {
					spans = append(spans, a.Span)
				}
			}
			return spans
		}
		held := must[[]rental.AssignmentEvent](t)(s.RecordEvents(ctx, "k8s", event("2", rental.EventStop, "2026-05-02T12:00:00Z")))
		if len(held) != 1 || onCard() != nil {
			t.Errorf("held %v with assignments %v, expected the stop held and no interval", held, onCard())
		}
		for range 2 { // a retry is the same event
			held = must[[]rental.AssignmentEvent](t)(s.RecordEvents(ctx, "k8s", event("1", rental.EventStart, "2026-05-02T10:00:00Z")))
		}
		want := []rental.Span{span("2026-05-02T10:00:00Z", "2026-05-02T12:00:00Z")}
		if got := onCard(); len(held) != 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("held %v with %v, expected one interval %v", held, got, want)
		}
		if _, err := s.RecordEvents(ctx, "k8s", event("1", rental.EventStart, "2026-05-02T09:00:00Z")); rental.CodeOf(err) != rental.CodeConflict {
			t.Errorf("a key with other content: %v, expected a conflict", err)
		}
		if _, err := s.RecordEvents(ctx, "k8s", event("3", rental.EventStart, "2026-05-01T09:00:00Z")); rental.CodeOf(err) != rental.CodeInvalid {
			t.Errorf("a start before the lease: %v, expected it invalid", err)
		}
	})
}

// pool is a floating lease of two cards.
func pool(number int) rental.Resources {
	return leases(rental.Lease{ID: "P", Tenant: "acme", Contract: "hourly", Start: at("2026-05-02T00:00:00Z"), End: at("2026-05-03T00:00:00Z"),
		Floating: &rental.Floating{SKU: "h100-sxm", Number: number}})
}

func told(session, uuid, kind, when string) rental.AssignmentEvent {
	return rental.AssignmentEvent{Key: session + uuid + kind + when, Session: session, Lease: "P", UUID: uuid, Kind: kind, At: at(when)}
}

func TestWhatASchedulerTellsInAnyOrderAndTwiceIsOneInterval(t *testing.T) {
	start, stop := told("pod-1", "GPU-A", rental.EventStart, "2026-05-02T10:00:00Z"), told("pod-1", "", rental.EventStop, "2026-05-02T12:00:00Z")
	again := told("pod-1", "GPU-A", rental.EventStart, "2026-05-02T10:30:00Z") // a controller that came back later
	late := told("pod-1", "", rental.EventStop, "2026-05-02T12:40:00Z")
	second := told("pod-1", "GPU-B", rental.EventStart, "2026-05-02T10:00:00Z")
	for name, order := range map[string][]rental.AssignmentEvent{
		"in order": {start, second, stop}, "the stop first": {stop, start, second}, "each twice": {start, start, second, stop, second, stop},
		"told again by a controller that was away": {start, second, again, stop, late},
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *store) {
				s.apply(fleet())
				s.apply(pool(2))
				for _, e := range order {
					if _, err := s.RecordEvents(t.Context(), "k8s", []rental.AssignmentEvent{e}); err != nil {
						t.Fatal(err)
					}
				}
				got := must[[]rental.Assignment](t)(s.Assignments(t.Context(), "P"))
				want := span("2026-05-02T10:00:00Z", "2026-05-02T12:00:00Z")
				if len(got) != 2 || got[0].Span != want || got[1].Span != want || got[0].UUID != "GPU-A" || got[1].UUID != "GPU-B" {
					t.Errorf("found %+v, expected both cards from 10 to 12", got)
				}
			})
		})
	}
}

func TestAPersonIsRefusedWhatASchedulerIsFlaggedFor(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(fleet())
		s.apply(pool(1))
		s.apply(leases(lease("other", "globex", "2026-05-02T00:00:00Z", "open", "GPU-B")))
		first := told("a", "GPU-A", rental.EventStart, "2026-05-02T10:00:00Z")
		if _, err := s.Assign(ctx, "ada", []rental.AssignmentEvent{first}); err != nil {
			t.Fatal(err)
		}
		service := rental.Resources{GPUs: fleet().GPUs}
		service.GPUs[2].Life = rental.GPUService
		s.apply(service)
		more := []rental.AssignmentEvent{told("b", "GPU-S", rental.EventStart, "2026-05-02T11:00:00Z")}
		if _, err := s.Assign(ctx, "ada", more); rental.CodeOf(err) != rental.CodeRefused || !strings.Contains(err.Error(), "more than its 1 GPUs from 2026-05-02T11:00:00") {
			t.Errorf("over the number: %v, expected it refused with the time", err)
		}
		taken := []rental.AssignmentEvent{told("c", "GPU-B", rental.EventStart, "2026-05-02T11:00:00Z")}
		if _, err := s.Assign(ctx, "ada", taken); rental.CodeOf(err) != rental.CodeConflict {
			t.Errorf("another lease's card: %v, expected a conflict", err)
		}
		for _, fact := range [][]rental.AssignmentEvent{more, taken} {
			if _, err := s.RecordEvents(ctx, "k8s", fact); err != nil {
				t.Fatalf("a fact is refused: %v", err)
			}
		}
		all := must[[]rental.Assignment](t)(s.Assignments(ctx, "P"))
		l := must[rental.Lease](t)(s.Lease(ctx, "P"))
		if over := rental.OverNumber(l, all); len(over) != 1 || over[0].Start != at("2026-05-02T11:00:00Z") {
			t.Errorf("over the number %v of %+v", over, all)
		}
		if conflicts := must[[]rental.Conflict](t)(s.Conflicts(ctx)); len(conflicts) != 1 || conflicts[0].Holds != "other" || conflicts[0].Loses != "P" {
			t.Errorf("conflicts %+v, expected the earlier lease to keep the card", conflicts)
		}
	})
}

func TestWhatASchedulerCannotMeanIsRefused(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		world := fleet()
		world.SKUs = append(world.SKUs, rental.SKU{Name: "a100", Model: "A100"})
		world.GPUs[1].SKU = "a100"
		world.MIGInstances = cut().MIGInstances
		s.apply(world)
		s.apply(pool(2))
		unknown := told("a", "GPU-A", rental.EventStart, "2026-05-02T10:00:00Z")
		unknown.Lease = "nobody"
		for _, tc := range []struct {
			name  string
			event rental.AssignmentEvent
			want  string
		}{
			{"another class", told("a", "GPU-B", rental.EventStart, "2026-05-02T10:00:00Z"), "found a100, expected h100-sxm"},
			{"a part of a card", told("b", "MIG-1", rental.EventStart, "2026-05-02T10:00:00Z"), "expected whole GPUs"},
			{"before the lease", told("c", "GPU-A", rental.EventStart, "2026-05-01T10:00:00Z"), "expected a span within the lease's"},
			{"a card that nobody knows", told("d", "GPU-X", rental.EventStart, "2026-05-02T10:00:00Z"), "expected a GPU of the inventory"},
			{"a start of no card", told("e", "", rental.EventStart, "2026-05-02T10:00:00Z"), "expected a key, a session"},
			{"a lease that is not there", unknown, "no such lease"},
		} {
			if _, err := s.RecordEvents(t.Context(), "k8s", []rental.AssignmentEvent{tc.event}); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v, expected it to say %q", tc.name, err, tc.want)
			}
		}
		// A pod may outlive its lease: the card is the lease's up to its end.
		if _, err := s.RecordEvents(t.Context(), "k8s", []rental.AssignmentEvent{told("f", "GPU-A", rental.EventStart, "2026-05-02T10:00:00Z"), told("f", "", rental.EventStop, "2026-05-03T10:00:00Z")}); err != nil {
			t.Fatal(err)
		}
		if got := must[[]rental.Assignment](t)(s.Assignments(t.Context(), "P")); len(got) != 1 || got[0].Span.End != at("2026-05-03T00:00:00Z") {
			t.Errorf("found %+v, expected the card up to the lease's end", got)
		}
	})
}
