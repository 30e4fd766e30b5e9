package ledger_test

import (
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// lifeOf returns where a card stands; empty where the inventory does not know it.
func (s *store) lifeOf(uuid string) rental.GPULife {
	for _, g := range must[[]rental.GPU](s.t)(s.GPUs(s.t.Context())) {
		if g.UUID == uuid {
			return g.Life
		}
	}
	return ""
}

func TestAnRMAIsOpenedOnlyForACardThatNoLeaseHolds(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(fleet())
		s.apply(leases(lease("L", "acme", "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z", "GPU-A")))
		if _, err := s.OpenRMA(ctx, "ann", "XID 79", "GPU-A", ""); codeOf(err) != rental.CodeRefused {
			t.Errorf("of a leased card: %v, expected it refused", err)
		}
		if _, err := s.OpenRMA(ctx, "ann", "XID 79", "GPU-Z", ""); codeOf(err) != rental.CodeNotFound {
			t.Errorf("of no card: %v", err)
		}
		if _, err := s.OpenRMA(ctx, "ann", "XID 79", "GPU-B", "INC-9"); codeOf(err) != rental.CodeNotFound {
			t.Errorf("of no incident: %v", err)
		}
		if got := must[[]rental.RMA](t)(s.RMAs(ctx)); len(got) != 0 || s.lifeOf("GPU-B") != rental.GPUService {
			t.Fatalf("what was refused left %+v, GPU-B %s", got, s.lifeOf("GPU-B"))
		}
		first := must[rental.RMA](t)(s.OpenRMA(ctx, "ann", "XID 79", "GPU-B", ""))
		if first.ID != "RMA-000001" || s.lifeOf("GPU-B") != rental.GPURMA {
			t.Errorf("%+v, the card is %s", first, s.lifeOf("GPU-B"))
		}
		if _, err := s.OpenRMA(ctx, "bob", "again", "GPU-B", ""); codeOf(err) != rental.CodeConflict {
			t.Errorf("opened twice: %v, expected a conflict", err)
		}
	})
}

func TestWhatCameOfAnRMAIsToldInItsCardsAndInEveryRevision(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(fleet())
		opened := must[rental.RMA](t)(s.OpenRMA(ctx, "ann", "XID 79", "GPU-B", ""))
		replaced := rental.Act{By: "bob", Kind: rental.ActReplaced, Note: "the box came"}
		if _, err := s.ActOnRMA(ctx, opened.ID, replaced, rental.RMAReplacement{UUID: "GPU-A", Serial: "wrong"}); codeOf(err) != rental.CodeConflict {
			t.Errorf("by a card of another serial: %v, expected a conflict", err)
		}
		if _, err := s.ActOnRMA(ctx, "RMA-000009", replaced, rental.RMAReplacement{UUID: "GPU-N", Serial: "N"}); codeOf(err) != rental.CodeNotFound {
			t.Errorf("of no case: %v", err)
		}
		must[rental.RMA](t)(s.ActOnRMA(ctx, opened.ID, replaced, rental.RMAReplacement{UUID: "GPU-N", Serial: "N"}))
		if s.lifeOf("GPU-N") != rental.GPUStock || s.lifeOf("GPU-B") != rental.GPURMA {
			t.Errorf("replaced: the new card is %q, the old one %q", s.lifeOf("GPU-N"), s.lifeOf("GPU-B"))
		}
		must[rental.RMA](t)(s.ActOnRMA(ctx, opened.ID, rental.Act{By: "bob", Kind: rental.ActClosed, Outcome: rental.RMAOutcomeReplaced, Note: "done"}, rental.RMAReplacement{}))
		if s.lifeOf("GPU-B") != rental.GPUScrapped {
			t.Errorf("closed: the old card is %q", s.lifeOf("GPU-B"))
		}
		s.reopen()
		kept := must[rental.RMA](t)(s.RMA(ctx, opened.ID))
		if kept.State != rental.RMAClosed || len(kept.Acts) != 3 || kept.Acts[1].By != "bob" || kept.Acts[2].At != rental.At(s.now) || kept.Replacement.Serial != "N" {
			t.Errorf("kept %+v", kept)
		}
		revisions := must[[]rental.Fact](t)(s.History(ctx, rental.KindRMA, opened.ID))
		if len(revisions) != 3 || revisions[0].By != "ann" || revisions[0].Why != "XID 79" || revisions[2].Why != "done" {
			t.Errorf("revisions %+v", revisions)
		}
	})
}
