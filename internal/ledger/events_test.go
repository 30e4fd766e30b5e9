package ledger_test

import (
	"reflect"
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
