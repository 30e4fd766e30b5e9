package ledger_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// downFor is a downtime of lease L that a person entered.
func downFor(reason string, span rental.Span) rental.Downtime {
	return rental.Downtime{Lease: "L", UUIDs: []string{"GPU-A"}, Span: span, Cause: rental.CauseProvider, Reason: reason,
		Witnesses: []string{"ping failed"}, EnteredBy: "ann", Evidence: []rental.Evidence{{Kind: rental.EvidenceText, Text: "ping failed"}}}
}

func TestDowntimesByHandAreNumberedAndEnteredOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(fleet())
		s.apply(leases(lease("L", "acme", "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z", "GPU-A")))
		hour := rental.Span{Start: rental.At(s.now), End: rental.At(s.now.Add(time.Hour))}
		first, err := s.RecordDowntime(ctx, downFor("host_down", hour))
		if err != nil || first.ID != "DT-000001" || first.RecordedAt != rental.At(s.now) {
			t.Fatalf("%+v, %v", first, err)
		}
		if _, err := s.RecordDowntime(ctx, downFor("host_down", hour)); rental.CodeOf(err) != rental.CodeConflict {
			t.Errorf("entered twice: %v, expected a conflict", err)
		}
		second, err := s.RecordDowntime(ctx, downFor("network", hour))
		if err != nil || second.ID != "DT-000002" {
			t.Errorf("%+v, %v", second, err)
		}
		if _, err := s.RecordDowntime(ctx, rental.Downtime{Lease: "nobody's", UUIDs: []string{"G"}, Span: hour, Cause: "provider", Reason: "x", Witnesses: []string{"y"}}); !errors.Is(err, rental.ErrNotFound) {
			t.Errorf("of no lease: %v", err)
		}
		if err := s.SaveDowntime(ctx, rental.Downtime{ID: "auto-1", Lease: "L", UUIDs: []string{"GPU-A"}, Span: rental.Span{Start: hour.Start, End: hour.Start},
			Cause: "provider", Reason: "lost", Witnesses: []string{"withdrawn"}}); err != nil {
			t.Fatal(err)
		}
		for name, tc := range map[string]struct {
			leases []string
			span   rental.Span
			want   int
		}{
			"all":              {nil, rental.Span{Start: 0, End: rental.Forever}, 3},
			"of the lease":     {[]string{"L", "M"}, hour, 3},
			"of another lease": {[]string{"M"}, hour, 0},
			"later":            {nil, rental.Span{Start: hour.End, End: rental.Forever}, 0},
		} {
			if got, err := s.DowntimesOf(ctx, tc.leases, tc.span); err != nil || len(got) != tc.want {
				t.Errorf("%s: %d, %v, expected %d", name, len(got), err, tc.want)
			}
		}
		if _, err := s.Downtime(ctx, "DT-000009"); !errors.Is(err, rental.ErrNotFound) {
			t.Errorf("of no downtime: %v", err)
		}
	})
}

func TestTwoPeopleWhoActAtOnceActOneAfterTheOther(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(fleet())
		s.apply(leases(lease("L", "acme", "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z", "GPU-A")))
		d, err := s.RecordDowntime(ctx, downFor("host_down", rental.Span{Start: rental.At(s.now), End: rental.At(s.now) + 60_000}))
		if err != nil {
			t.Fatal(err)
		}
		var work sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			work.Go(func() {
				_, errs[i] = s.ChangeDowntime(ctx, d.ID, func(old *rental.Downtime) (*rental.Downtime, error) {
					next, err := old.Do(rental.Act{At: 1, By: "bob", Side: rental.SideProvider, Kind: rental.ActApproved, Note: "seen"})
					return &next, err
				})
			})
		}
		work.Wait()
		kept, refusals := 0, 0
		for _, err := range errs {
			switch {
			case err == nil:
				kept++
			case rental.CodeOf(err) == rental.CodeRefused:
				refusals++
			default:
				t.Errorf("unexpected: %v", err)
			}
		}
		s.reopen()
		got, err := s.Downtime(ctx, d.ID)
		if err != nil || kept != 1 || refusals != 7 || len(got.Acts) != 1 || got.ApprovedBy != "bob" || got.RecordedAt != d.RecordedAt {
			t.Errorf("%d kept, %d refused, %+v, %v", kept, refusals, got, err)
		}
	})
}

func TestAnOlderLedgersDowntimeReadsAsItWasMeant(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		s.apply(fleet())
		s.apply(leases(lease("L", "acme", "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z", "GPU-A")))
		body := `{"id":"old","lease":"L","uuids":["GPU-A"],"span":{"start":"2026-05-01T00:00:00Z","end":"2026-05-01T01:00:00Z"},"cause":"provider","reason":"lost","witnesses":["a"],"approved_by":"anna","recorded_at":"2026-05-01T02:00:00Z"}`
		if _, err := s.raw().ExecContext(t.Context(), `INSERT INTO downtimes (id, revision, lease, start_ms, end_ms, at_ms, body) VALUES ('old', 1, 'L', 0, 1, 2, $1)`, body); err != nil {
			t.Fatal(err)
		}
		got, err := s.Downtime(t.Context(), "old")
		if err != nil || got.Status() != rental.DowntimeApproved || len(got.Acts) != 0 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
