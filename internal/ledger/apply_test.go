package ledger_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestApplyingTwiceChangesNothingTheSecondTime(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		r := fleet()
		r.Leases = append(r.Leases, lease("L-1", "acme", "2026-05-02T00:00:00Z", "open", "GPU-A"))
		for _, c := range s.apply(r) {
			if c.Action != rental.ActionCreate {
				t.Errorf("%s %s: %s, expected create", c.Kind, c.Name, c.Action)
			}
		}
		for _, c := range s.apply(r) {
			if c.Action != rental.ActionUnchanged || c.Diff != "" {
				t.Errorf("%s %s: %s %q, expected unchanged", c.Kind, c.Name, c.Action, c.Diff)
			}
		}
		facts := must[[]rental.Fact](t)(s.History(t.Context(), rental.KindLease, "L-1"))
		if len(facts) != 1 || facts[0].By != "ada" || facts[0].Why != "test" || facts[0].Revision != 1 {
			t.Errorf("history: %+v, expected one revision by ada", facts)
		}
	})
}

func TestADryRunTellsTheChangesAndKeepsNone(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		s.apply(fleet())
		r := fleet()
		r.Contracts[0].Plan.Prices[0].Price = decimal("12")
		changes := must[[]rental.Change](t)(s.Apply(t.Context(), "ada", "dearer", r, true))
		last := changes[len(changes)-1]
		if last.Action != rental.ActionUpdate || last.Diff != "plan.prices[0].price: 10 -> 12" {
			t.Errorf("change: %+v", last)
		}
		c := must[rental.Contract](t)(s.Contract(t.Context(), "hourly"))
		if c.Plan.Prices[0].Price.String() != "10" {
			t.Errorf("price %s was kept by a dry run", c.Plan.Prices[0].Price)
		}
	})
}

func TestC25OverlappingLeasesOfOneGPUAreRefusedWithBothNamesAndTheOverlap(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		s.apply(fleet())
		s.apply(leases(lease("A", "acme", "2026-05-02T10:00:00Z", "2026-05-02T12:00:00Z", "GPU-A")))
		_, err := s.Apply(t.Context(), "ada", "", leases(lease("B", "globex", "2026-05-02T11:00:00Z", "2026-05-02T13:00:00Z", "GPU-A")), false)
		want := `leases "A" and "B" both claim GPU GPU-A from 2026-05-02T11:00:00Z to 2026-05-02T12:00:00Z: expected one lease a GPU at a time; end the first or start the second later`
		if err == nil || err.Error() != want || rental.CodeOf(err) != rental.CodeConflict {
			t.Errorf("found  %v\nexpected %s", err, want)
		}
		if all := must[[]rental.Lease](t)(s.Leases(t.Context())); len(all) != 1 {
			t.Errorf("found %d leases, expected nothing changed", len(all))
		}
		// C26: back to back is no overlap.
		s.apply(leases(lease("B", "globex", "2026-05-02T12:00:00Z", "2026-05-02T13:00:00Z", "GPU-A")))
	})
}

func TestApplyRefuses(t *testing.T) {
	slot := 7
	cases := []struct {
		name string
		r    func() rental.Resources
		code rental.Code
		text string
	}{
		{"a lease that ends before it starts (C69)", func() rental.Resources {
			return leases(lease("L", "acme", "2026-05-02T10:00:00Z", "2026-05-02T09:00:00Z", "GPU-A"))
		}, rental.CodeInvalid, `Lease "L": end: found 2026-05-02T09:00:00Z, expected a time not before the start`},
		{"an unknown tenant and an unknown contract, both told", func() rental.Resources {
			l := lease("L", "nobody", "2026-05-02T10:00:00Z", "open", "GPU-A")
			l.Contract = "none"
			return leases(l)
		}, rental.CodeInvalid, "Lease \"L\": contract: found \"none\", expected a Contract that is recorded or in the same input\nLease \"L\": tenant: found \"nobody\""},
		{"a GPU that is not in the inventory", func() rental.Resources {
			return leases(lease("L", "acme", "2026-05-02T10:00:00Z", "open", "GPU-X"))
		}, rental.CodeInvalid, `Lease "L": gpus: found "GPU-X", expected a GPU of the inventory; adopt it first`},
		{"an empty slot", func() rental.Resources {
			l := lease("L", "acme", "2026-05-02T10:00:00Z", "open")
			l.GPUs = []rental.GPURef{{Host: "gpu-a1", Slot: &slot}}
			return leases(l)
		}, rental.CodeInvalid, `found no GPU in slot 7 of host "gpu-a1"`},
		{"one card twice, by uuid and by slot", func() rental.Resources {
			l := lease("L", "acme", "2026-05-02T10:00:00Z", "open", "GPU-A")
			zero := 0
			l.GPUs = append(l.GPUs, rental.GPURef{Host: "gpu-a1", Slot: &zero})
			return leases(l)
		}, rental.CodeInvalid, `Lease "L": gpus: found GPU-A twice`},
		{"two cards in one slot", func() rental.Resources {
			return rental.Resources{GPUs: []rental.GPU{{UUID: "GPU-N", SKU: "h100-sxm", Host: "gpu-a1", Slot: 0}}}
		}, rental.CodeConflict, `GPUs GPU-A and GPU-N both sit in slot 0 of host "gpu-a1"`},
		{"a slot beyond the host", func() rental.Resources {
			return rental.Resources{GPUs: []rental.GPU{{UUID: "GPU-N", SKU: "h100-sxm", Host: "gpu-a1", Slot: 8}}}
		}, rental.CodeInvalid, `GPU "GPU-N": slot: found 8, expected 0 to 7`},
		{"the same name twice with different content", func() rental.Resources {
			return rental.Resources{Tenants: []rental.Tenant{{Name: "x", DisplayName: "1"}, {Name: "x", DisplayName: "2"}}}
		}, rental.CodeInvalid, `Tenant "x": found twice with different content, expected once`},
		{"another zone under running leases", func() rental.Resources {
			r := rental.Resources{Contracts: fleet().Contracts}
			r.Contracts[0].TimeZone = "Asia/Shanghai"
			return r
		}, rental.CodeRefused, `Contract "hourly": time_zone: found "Asia/Shanghai", expected "UTC" as long as lease "running" runs under it`},
		{"a running lease under a contract in another zone", func() rental.Resources {
			r := rental.Resources{Contracts: fleet().Contracts, Leases: []rental.Lease{lease("running", "acme", "2026-04-01T00:00:00Z", "open", "GPU-B")}}
			r.Contracts[0].Name, r.Contracts[0].TimeZone = "elsewhere", "Asia/Shanghai"
			r.Leases[0].Contract = "elsewhere"
			return r
		}, rental.CodeRefused, `Lease "running": contract: found "elsewhere" in zone Asia/Shanghai, expected one in UTC`},
		{"an unknown plan", func() rental.Resources {
			r := rental.Resources{Contracts: fleet().Contracts}
			r.Contracts[0].Plan.Mode = "fortnight"
			return r
		}, rental.CodeInvalid, `Contract "hourly": plan.mode: found "fortnight"`},
	}
	eachStore(t, func(t *testing.T, s *store) {
		r := fleet()
		r.Leases = []rental.Lease{lease("running", "acme", "2026-04-01T00:00:00Z", "open", "GPU-B")}
		s.apply(r)
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				changes, err := s.Apply(t.Context(), "ada", "", c.r(), false)
				if err == nil || !strings.Contains(err.Error(), c.text) || rental.CodeOf(err) != c.code || changes != nil {
					t.Errorf("found    %v (%s)\nexpected %s (%s)", err, rental.CodeOf(err), c.text, c.code)
				}
			})
		}
	})
}

func TestALeaseMayNameItsGPUBySlotAndKeepsItWhenAnotherCardComes(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		s.apply(fleet())
		zero := 0
		l := lease("L", "acme", "2026-05-02T00:00:00Z", "open")
		l.GPUs = []rental.GPURef{{Host: "gpu-a1", Slot: &zero}}
		s.apply(leases(l))
		kept := must[rental.Lease](t)(s.Lease(t.Context(), "L"))
		if kept.GPUs[0].UUID != "GPU-A" || *kept.GPUs[0].Slot != 0 {
			t.Fatalf("kept %v, expected GPU-A in slot 0", kept.GPUs)
		}
		s.now = at("2026-05-03T00:00:00Z").Time()
		s.apply(rental.Resources{GPUs: []rental.GPU{
			{UUID: "GPU-A", Serial: "1", SKU: "h100-sxm", Host: "gpu-a1", Slot: 0, Life: rental.GPURMA},
			{UUID: "GPU-S", Serial: "3", SKU: "h100-sxm", Host: "gpu-a1", Slot: 0, Life: rental.GPUService},
		}})
		if c := s.apply(leases(l)); c[0].Action != rental.ActionUnchanged {
			t.Errorf("the same file now says %+v, expected unchanged", c[0])
		}
	})
}

func TestAFileWithAnOpenStopStaysTrueWhenItsLeaseHasEnded(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		s.apply(fleet())
		open := lease("L", "acme", "2026-05-02T00:00:00Z", "open", "GPU-A")
		open.Stops = []rental.Span{span("2026-05-08T00:00:00Z", "2026-05-09T00:00:00Z"), {Start: at("2026-05-12T00:00:00Z"), End: rental.Forever}}
		s.apply(leases(open))
		for _, end := range []string{"2026-05-14T00:00:00Z", "2026-05-10T00:00:00Z"} { // in the second stop, then before it
			if err := s.EndLease(t.Context(), "ada", "", "L", at(end)); err != nil {
				t.Fatal(err)
			}
			if c := s.apply(leases(open)); c[0].Action != rental.ActionUnchanged {
				t.Errorf("ended at %s: the file now says %+v, expected unchanged", end, c[0])
			}
		}
	})
}

func TestACardThatMovesLaterSatWhereItServed(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		s.apply(fleet())
		past, going := lease("P", "acme", "2026-05-02T00:00:00Z", "2026-05-03T00:00:00Z", "GPU-A"), lease("Q", "acme", "2026-05-03T00:00:00Z", "open", "GPU-A")
		s.apply(leases(past, going))
		s.now = at("2026-05-04T00:00:00Z").Time()
		s.apply(rental.Resources{
			Hosts: []rental.Host{{Name: "elsewhere", Site: "oslo", Slots: 8}},
			GPUs:  []rental.GPU{{UUID: "GPU-A", Serial: "1", SKU: "h100-sxm", Host: "elsewhere", Slot: 7}},
		})
		for id, want := range map[string]string{"P": "gpu-a1", "Q": "elsewhere"} {
			if got := must[[]rental.Assignment](t)(s.Assignments(t.Context(), id)); got[0].Host != want {
				t.Errorf("lease %s: %+v, expected the card in %s", id, got[0], want)
			}
		}
	})
}

func TestEndingALease(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(fleet())
		open := lease("L", "acme", "2026-05-02T00:00:00Z", "open", "GPU-A", "GPU-B")
		s.apply(leases(open))
		end := at("2026-05-10T00:00:00Z")
		for range 2 { // the second time does nothing
			if err := s.EndLease(ctx, "ada", "moved out", "L", end); err != nil {
				t.Fatal(err)
			}
		}
		for _, a := range must[[]rental.Assignment](t)(s.Assignments(ctx, "L")) {
			if a.Span.End != end {
				t.Errorf("assignment %+v, expected its end at %s", a, end)
			}
		}
		if c := s.apply(leases(open)); c[0].Action != rental.ActionUnchanged {
			t.Errorf("a file with an open end reopened the lease: %+v", c[0])
		}
		if err := s.EndLease(ctx, "ada", "", "L", at("2026-05-11T00:00:00Z")); rental.CodeOf(err) != rental.CodeRefused {
			t.Errorf("a later end: %v, expected it refused", err)
		}
		if err := s.EndLease(ctx, "ada", "", "L", at("2026-05-01T00:00:00Z")); rental.CodeOf(err) != rental.CodeInvalid {
			t.Errorf("an end before the start: %v, expected it invalid", err)
		}
		if err := s.EndLease(ctx, "ada", "", "M", end); !errors.Is(err, rental.ErrNotFound) {
			t.Errorf("an unknown lease: %v, expected not found", err)
		}
		later := open
		later.End = at("2026-05-20T00:00:00Z")
		if c := s.apply(leases(later)); c[0].Diff != "end: 2026-05-10T00:00:00Z -> 2026-05-20T00:00:00Z" {
			t.Errorf("diff %q", c[0].Diff)
		}
		facts := must[[]rental.Fact](t)(s.History(ctx, rental.KindLease, "L"))
		if len(facts) != 3 || facts[1].Why != "moved out" {
			t.Errorf("history has %d revisions (%+v), expected 3 with the reason of the end", len(facts), facts)
		}
	})
}

func TestASwapIsTwoAssignmentsOfOneLease(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(fleet())
		s.apply(leases(lease("L", "acme", "2026-05-02T10:00:00Z", "2026-05-02T16:00:00Z", "GPU-A")))
		for range 2 {
			if err := s.Swap(ctx, "ada", "XID 79", "L", "GPU-A", "GPU-S", at("2026-05-02T13:00:00Z")); err != nil {
				t.Fatal(err)
			}
		}
		want := []rental.Assignment{
			{Lease: "L", UUID: "GPU-A", Span: span("2026-05-02T10:00:00Z", "2026-05-02T13:00:00Z"), Reason: "start"},
			{Lease: "L", UUID: "GPU-S", Span: span("2026-05-02T13:00:00Z", "2026-05-02T16:00:00Z"), Reason: "rma"},
		}
		if got := must[[]rental.Assignment](t)(s.Assignments(ctx, "L")); !reflect.DeepEqual(got, want) {
			t.Errorf("found    %+v\nexpected %+v", got, want)
		}
		if got := must[[]rental.Assignment](t)(s.AssignmentsAt(ctx, span("2026-05-02T12:00:00Z", "2026-05-02T13:00:00Z"))); len(got) != 1 || got[0].UUID != "GPU-A" {
			t.Errorf("before the swap: %+v, expected GPU-A alone", got)
		}
		if err := s.Swap(ctx, "ada", "", "L", "GPU-A", "GPU-B", at("2026-05-02T14:00:00Z")); rental.CodeOf(err) != rental.CodeInvalid {
			t.Errorf("swapping a card that left: %v, expected it invalid", err)
		}
		s.apply(leases(lease("M", "globex", "2026-05-02T15:00:00Z", "open", "GPU-B")))
		if err := s.Swap(ctx, "ada", "", "L", "GPU-S", "GPU-B", at("2026-05-02T14:00:00Z")); rental.CodeOf(err) != rental.CodeConflict {
			t.Errorf("swapping in a card of another lease: %v, expected a conflict", err)
		}
	})
}

func TestC69ALeaseOfNoLengthIsKeptAndServesNobody(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		s.apply(fleet())
		s.apply(leases(lease("L", "acme", "2026-05-02T10:00:00Z", "2026-05-02T10:00:00Z", "GPU-A")))
		if got := must[[]rental.Assignment](t)(s.Assignments(t.Context(), "L")); len(got) != 0 {
			t.Errorf("assignments %+v, expected none", got)
		}
	})
}

func TestAClosedMonthIsNotRewritten(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		r := fleet()
		l := lease("L", "acme", "2026-03-01T00:00:00Z", "open", "GPU-A")
		r.Leases = []rental.Lease{l}
		s.apply(r)
		march := span("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z")
		first := must[rental.ClosedMonth](t)(s.CloseMonth(ctx, "fin", "L", march, frozen("bill")))
		if first.Number != "INV-000001" || first.ClosedBy != "fin" || first.Hash != fmt.Sprintf("%x", sha256.Sum256(first.Bill)) {
			t.Errorf("closed %+v", first)
		}
		if again := must[rental.ClosedMonth](t)(s.CloseMonth(ctx, "eve", "L", march, frozen("other"))); !reflect.DeepEqual(first, again) {
			t.Errorf("closing again: %+v, expected what was closed, %+v", again, first)
		}
		for name, period := range map[string]rental.Span{
			"a month that has not ended":         span("2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z"),
			"half of a closed month":             span("2026-03-01T00:00:00Z", "2026-03-15T00:00:00Z"),
			"a month before the first":           span("2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"),
			"a period that leaves out some days": span("2026-04-15T00:00:00Z", "2026-05-01T00:00:00Z"),
		} {
			if _, err := s.CloseMonth(ctx, "fin", "L", period, frozen("x")); rental.CodeOf(err) != rental.CodeRefused {
				t.Errorf("closing %s: %v, expected it refused", name, err)
			}
		}
		if _, err := s.CloseMonth(ctx, "fin", "L", span("2026-04-01T00:00:00Z", "2026-05-01T00:00:00Z"), func(rental.Invoice) ([]byte, error) { return nil, errors.New("no bill") }); err == nil {
			t.Error("a bill that could not be written was closed")
		}
		earlier := l
		earlier.Start = at("2026-03-02T00:00:00Z")
		dearer := rental.Resources{Contracts: fleet().Contracts}
		dearer.Contracts[0].Plan.Prices[0].Price = decimal("11")
		for name, r := range map[string]rental.Resources{"another start": leases(earlier), "another price": dearer} {
			_, err := s.Apply(ctx, "ada", "", r, false)
			if rental.CodeOf(err) != rental.CodeRefused || !strings.Contains(err.Error(), "closed until 2026-04-01T00:00:00Z") {
				t.Errorf("%s: %v, expected it refused", name, err)
			}
		}
		// C64: what is learnt later is recorded, with the time of its recording; the bill of April corrects.
		s.now = at("2026-04-02T00:00:00Z").Time()
		if err := s.SaveDowntime(ctx, rental.Downtime{ID: "D-1", Lease: "L", UUIDs: []string{"GPU-A"}, Cause: "provider",
			Reason: "lost", Witnesses: []string{"exporter"}, Span: span("2026-03-31T23:59:00Z", "2026-04-01T00:00:00Z")}); err != nil {
			t.Fatal(err)
		}
		late := must[[]rental.Downtime](t)(s.Downtimes(ctx, "L", march))
		closed, err := s.ClosedMonths(ctx, "L")
		if err != nil || len(closed) != 1 || len(late) != 1 || late[0].RecordedAt <= closed[0].ClosedAt-1 && late[0].RecordedAt < march.End {
			t.Errorf("late downtime %+v, closed %+v (%v)", late, closed, err)
		}
		// A new price from April on leaves March as it is.
		newer := rental.Resources{Contracts: fleet().Contracts}
		newer.Contracts[0].Plan.Prices = append(newer.Contracts[0].Plan.Prices, rental.PriceVersion{From: at("2026-04-01T00:00:00Z"), Price: decimal("11")})
		s.apply(newer)
		// A person's word on when it ended is a fact too, in whatever month.
		if err := s.EndLease(ctx, "ada", "left early", "L", at("2026-03-20T00:00:00Z")); err != nil {
			t.Fatal(err)
		}
		if again := must[[]rental.ClosedMonth](t)(s.ClosedMonths(ctx, "")); !reflect.DeepEqual(closed, again) {
			t.Errorf("closed months were %+v, now %+v", closed, again)
		}
	})
}

// frozen is a bill of its mark and a word.
func frozen(word string) func(rental.Invoice) ([]byte, error) {
	return func(mark rental.Invoice) ([]byte, error) {
		return json.Marshal(map[string]any{"invoice": mark, "word": word})
	}
}
