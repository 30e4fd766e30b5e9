package ledger_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/proof"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// seal chains what is new behind the lease's last head, as the server does.
func (s *store) seal(lease string) (proof.Sealed, bool) {
	s.t.Helper()
	var made proof.Sealed
	_, sealed, err := s.Seal(s.t.Context(), lease, func(last rental.Head, at rental.Millis, in rental.Recorded) (rental.Head, error) {
		records, err := proof.Records(in)
		if err != nil {
			return rental.Head{}, err
		}
		made, err = proof.Seal(last, lease, at, records)
		return made.Head, err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return made, sealed
}

// chain reads a lease's whole chain back from the store.
func (s *store) chain(lease string) []proof.Sealed {
	s.t.Helper()
	heads, err := s.Heads(s.t.Context(), lease)
	if err != nil {
		s.t.Fatal(err)
	}
	var out []proof.Sealed
	var after rental.Millis
	for _, h := range heads {
		in, err := s.Recorded(s.t.Context(), lease, after, h.SealedAt)
		if err != nil {
			s.t.Fatal(err)
		}
		records, err := proof.Records(in)
		if err != nil {
			s.t.Fatal(err)
		}
		last := rental.Head{}
		if n := len(out); n > 0 {
			last = out[n-1].Head
		}
		again, err := proof.Seal(last, lease, h.SealedAt, records)
		if err != nil {
			s.t.Fatal(err)
		}
		out, after = append(out, proof.Sealed{Head: h, Links: again.Links}), h.SealedAt
	}
	return out
}

func hourOf(lease string, hour int, down int64) rental.UsageRecord {
	start := at("2026-05-01T00:00:00Z") + rental.Millis(hour*3_600_000)
	return rental.UsageRecord{Lease: lease, UUID: "GPU-A", Span: rental.Span{Start: start, End: start + 3_600_000}, AllocatedMS: 3_600_000, UpMS: 3_600_000 - down, DownMS: down}
}

func TestEachSealClosesWhatIsNewAndTheChainIsReadBackAsItWasSealed(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		s.apply(fleet())
		s.apply(leases(lease("L-1", "acme", "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z", "GPU-A"), lease("L-2", "globex", "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z", "GPU-B")))
		ctx := t.Context()
		save := func(records ...rental.UsageRecord) {
			if err := s.SaveUsage(ctx, records); err != nil {
				t.Fatal(err)
			}
		}
		if _, sealed := s.seal("L-1"); sealed {
			t.Fatal("a head without a record")
		}
		s.now = at("2026-05-01T03:00:00Z").Time()
		save(hourOf("L-1", 0, 0), hourOf("L-1", 1, 0))
		save(hourOf("L-1", 1, 500)) // a revision before the seal: the last word counts
		down := rental.Downtime{ID: "d1", Lease: "L-1", UUIDs: []string{"GPU-A"}, Span: span("2026-05-01T01:00:00Z", "2026-05-01T01:01:00Z"), Cause: "provider", Reason: "lost", Witnesses: []string{"x"}}
		if err := s.SaveDowntime(ctx, down); err != nil {
			t.Fatal(err)
		}
		first, sealed := s.seal("L-1")
		if !sealed || first.Number != 1 || first.Records != 3 {
			t.Fatalf("found %+v, expected head 1 over 3 records", first.Head)
		}
		if _, again := s.seal("L-1"); again {
			t.Error("sealing twice made two heads")
		}
		if _, other := s.seal("L-2"); other {
			t.Error("another lease has records of this one")
		}

		// The clock is set back: what is recorded now still comes after the seal.
		s.now = s.now.Add(-time.Hour)
		save(hourOf("L-1", 1, 900), hourOf("L-1", 2, 0))
		down.ApprovedBy = "ann"
		if err := s.SaveDowntime(ctx, down); err != nil {
			t.Fatal(err)
		}
		s.reopen()
		second, sealed := s.seal("L-1")
		if !sealed || second.Number != 2 || second.Records != 3 || second.Previous != first.Hash {
			t.Fatalf("found %+v, expected head 2 over 3 records behind the first", second.Head)
		}
		whole := s.chain("L-1")
		if f := proof.Check("L-1", whole); f != nil || len(whole) != 2 {
			t.Errorf("%d heads: %v", len(whole), f)
		}
		if f := proof.CheckOwn("L-1", whole, []proof.Sealed{first, second}); f != nil {
			t.Error(f)
		}
		when := must[map[string]rental.Millis](t)(s.LastSealed(ctx))
		if len(when) != 1 || when["L-1"] != second.SealedAt {
			t.Errorf("last sealed: %v", when)
		}
		if past := must[[]rental.Head](t)(s.AsOf(first.SealedAt).Heads(ctx, "L-1")); len(past) != 1 {
			t.Errorf("%d heads as of the first", len(past))
		}
	})
}

// Whoever may write to the database as its owner can lift the triggers. The chain tells.
func TestARewriteInTheDatabaseItselfIsFound(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		s.apply(fleet())
		s.apply(leases(lease("L-1", "acme", "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z", "GPU-A")))
		var records []rental.UsageRecord
		for h := range 24 {
			records = append(records, hourOf("L-1", h, 1000))
		}
		s.now = at("2026-05-02T01:00:00Z").Time()
		if err := s.SaveUsage(t.Context(), records); err != nil {
			t.Fatal(err)
		}
		given, _ := s.seal("L-1")
		db := s.raw()
		execute := func(query string) {
			if _, err := db.ExecContext(context.Background(), query); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := db.ExecContext(t.Context(), `UPDATE heads SET records = 1`); err == nil {
			t.Error("a head could be changed")
		}
		lift := map[bool]string{true: `DROP TRIGGER usage_records_no_update`, false: `DROP TRIGGER usage_records_final ON usage_records`}
		execute(lift[s.dsn[:6] == "sqlite"])
		execute(fmt.Sprintf(`UPDATE usage_records SET down_ms = 0, up_ms = 3600000 WHERE hour_ms = %d`, int64(at("2026-05-01T05:00:00Z"))))
		rewritten := s.chain("L-1")
		if f := proof.Check("L-1", rewritten); f == nil {
			t.Error("the rewritten records still lead to the head")
		}
		f := proof.CheckOwn("L-1", rewritten, []proof.Sealed{given})
		if f != nil {
			t.Errorf("the head itself was not touched: %v", f)
		}
	})
}
