package ledger_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"

	"github.com/leasewatch/leasewatch/internal/ledger"
)

var (
	ada = rental.Principal{Name: "ada", Role: rental.RoleOperator}
	bob = rental.Principal{Name: "bob", Role: rental.RoleFinance}
)

func (s *store) policy(topics ...string) {
	s.t.Helper()
	policy := rental.DefaultApprovalPolicy()
	policy.Topics = topics
	if err := s.SetApprovals(s.t.Context(), "leasewatch", policy); err != nil {
		s.t.Fatal(err)
	}
}

func (s *store) submit(r rental.Resources) *rental.Pending {
	s.t.Helper()
	_, held, err := s.Submit(s.t.Context(), ada, "GitOps", r, ledger.Submission{})
	if err != nil {
		s.t.Fatal(err)
	}
	return held
}

// dearer is the fleet with a second price from a moment on.
func dearer(from string) rental.Resources {
	r := fleet()
	r.Contracts[0].Plan.Prices = append(r.Contracts[0].Plan.Prices, rental.PriceVersion{From: at(from), Price: decimal("12")})
	return rental.Resources{Contracts: r.Contracts}
}

func TestAChangeThatThePolicyNamesTakesEffectOnceAnotherPersonApprovesIt(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(fleet())
		s.policy(rental.ApprovePrices)
		_, preview, err := s.Submit(ctx, ada, "GitOps", dearer("2026-06-01T00:00:00Z"), ledger.Submission{DryRun: true})
		if err != nil || preview == nil || preview.ID != "" {
			t.Fatalf("a dry run: %+v, %v, expected a change that would wait, without an id", preview, err)
		}
		held := s.submit(dearer("2026-06-01T00:00:00Z"))
		if held == nil || held.ID != "P-1" || !slices.Equal(held.Topics, []string{rental.ApprovePrices}) {
			t.Fatalf("held %+v, expected P-1 for its prices", held)
		}
		if again := s.submit(dearer("2026-06-01T00:00:00Z")); again == nil || again.ID != "P-1" {
			t.Errorf("entered again: %+v, expected the change that waits already", again)
		}
		if c := must[rental.Contract](t)(s.Contract(ctx, "hourly")); len(c.Plan.Prices) != 1 {
			t.Errorf("prices %v, expected nothing changed before the approval", c.Plan.Prices)
		}
		if _, err := s.DecidePending(ctx, "P-1", ada, true, ""); rental.CodeOf(err) != rental.CodeRefused {
			t.Errorf("approved by who entered it: %v, expected refused", err)
		}
		s.now = s.now.Add(time.Hour)
		s.reopen() // it waits in the store
		done, err := s.DecidePending(ctx, "P-1", bob, true, "as agreed")
		if err != nil || done.Decision != rental.DecisionApproved || done.DecidedBy != "bob" {
			t.Fatalf("%+v, %v, expected it approved by bob", done, err)
		}
		if c := must[rental.Contract](t)(s.Contract(ctx, "hourly")); len(c.Plan.Prices) != 2 {
			t.Errorf("prices %v, expected both after the approval", c.Plan.Prices)
		}
		history := must[[]rental.Fact](t)(s.History(ctx, rental.KindContract, "hourly"))
		if last := history[len(history)-1]; last.By != "ada" || last.ApprovedBy != "bob" || last.Why != "GitOps" {
			t.Errorf("recorded by %q, approved by %q, why %q: expected ada, bob and GitOps", last.By, last.ApprovedBy, last.Why)
		}
		if _, err := s.DecidePending(ctx, "P-1", bob, false, ""); rental.CodeOf(err) != rental.CodeConflict {
			t.Errorf("decided twice: %v, expected a conflict", err)
		}
		if held := s.submit(dearer("2026-06-01T00:00:00Z")); held != nil {
			t.Errorf("what is recorded already waits as %s, expected nothing to do", held.ID)
		}
	})
}

func TestAChangeThatWouldDoSomethingElseByNowIsNotApproved(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(fleet())
		s.policy(rental.ApprovePrices)
		s.submit(dearer("2026-06-01T00:00:00Z"))
		s.apply(dearer("2026-07-01T00:00:00Z"))
		_, err := s.DecidePending(ctx, "P-1", bob, true, "")
		if rental.CodeOf(err) != rental.CodeRefused || !strings.Contains(err.Error(), "reject it and enter it again") {
			t.Errorf("%v, expected it refused with what to do", err)
		}
		if _, err := s.DecidePending(ctx, "P-1", ada, false, "taken back"); err != nil {
			t.Errorf("who entered it takes it back: %v", err)
		}
		if _, err := s.DecidePending(ctx, "P-9", bob, true, ""); rental.CodeOf(err) != rental.CodeNotFound {
			t.Errorf("no such change: %v, expected not_found", err)
		}
	})
}

func TestAChangeThatNobodyDecidesExpires(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		s.apply(fleet())
		s.policy(rental.ApprovePrices)
		s.submit(dearer("2026-06-10T00:00:00Z"))
		s.now = s.now.Add(7 * 24 * time.Hour)
		all := must[[]rental.Pending](t)(s.PendingChanges(t.Context()))
		if len(all) != 1 || all[0].Decision != rental.DecisionExpired {
			t.Fatalf("%+v, expected it expired", all)
		}
		if _, err := s.DecidePending(t.Context(), "P-1", bob, true, ""); rental.CodeOf(err) != rental.CodeRefused {
			t.Errorf("%v, expected refused", err)
		}
		if again := s.submit(dearer("2026-06-10T00:00:00Z")); again == nil || again.ID != "P-2" {
			t.Errorf("entered again: %+v, expected a change of its own", again)
		}
	})
}

func TestAPriceThatHasRunIsRefusedOrHeldWithTheDifferenceInMoney(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(fleet())
		s.apply(leases(lease("L-1", "acme", "2026-05-01T00:00:00Z", "open", "GPU-A")))
		s.now = s.now.Add(48 * time.Hour)
		first := rental.Resources{Contracts: fleet().Contracts}
		first.Contracts[0].Plan.Prices[0].Price = decimal("11")
		const difference = "from 480.00 USD to 528.00 USD (+48.00 USD)"
		for name, r := range map[string]rental.Resources{"the first price": first, "a price that begins in the past": dearer("2026-05-02T00:00:00Z")} {
			_, _, err := s.Submit(ctx, ada, "", r, ledger.Submission{})
			if rental.CodeOf(err) != rental.CodeRefused || !strings.Contains(err.Error(), `lease "L-1" has run under it`) {
				t.Errorf("%s: %v, expected it refused with its lease", name, err)
			}
			if name == "the first price" && !strings.Contains(err.Error(), difference) {
				t.Errorf("%s: %v, expected %q", name, err, difference)
			}
		}
		if held := s.submit(dearer("2026-05-03T00:00:00.001Z")); held != nil {
			t.Errorf("a price that is to come waits as %s, expected it recorded", held.ID)
		}
		s.policy(rental.ApprovePrices)
		first.Contracts[0].Plan.Prices = append(first.Contracts[0].Plan.Prices, dearer("2026-05-03T00:00:00.001Z").Contracts[0].Plan.Prices[1])
		held := s.submit(first)
		if held == nil || !strings.Contains(strings.Join(held.Reasons, "\n"), difference) {
			t.Errorf("%+v, expected it held with %q", held, difference)
		}
	})
}

func TestWhatElseThePolicyHolds(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(fleet())
		s.now = s.now.Add(10 * 24 * time.Hour)
		s.apply(leases(lease("L-1", "acme", "2026-05-01T00:00:00Z", "open", "GPU-A")))
		s.policy(rental.ApproveBackdated, rental.ApproveCredits)
		topics := func(held *rental.Pending) string {
			if held == nil {
				return ""
			}
			return strings.Join(held.Topics, " ")
		}
		goodwill := rental.Adjustment{ID: "A-1", Lease: "L-1", Month: "2026-06", Start: at("2026-05-01T00:00:00Z"), End: at("2026-05-02T00:00:00Z"), Amount: decimal("-1"), Currency: "USD", Reason: "goodwill"}
		if got := topics(s.submit(rental.Resources{Adjustments: []rental.Adjustment{goodwill}})); got != rental.ApproveCredits {
			t.Errorf("an adjustment is held for %q", got)
		}
		if got := topics(s.submit(leases(lease("L-2", "globex", "2026-05-02T00:00:00Z", "open", "GPU-B")))); got != rental.ApproveBackdated {
			t.Errorf("a lease of last week is held for %q", got)
		}
		if got := topics(s.submit(leases(lease("L-3", "globex", "2026-06-02T00:00:00Z", "open", "GPU-B")))); got != "" {
			t.Errorf("a lease that is to come is held for %q", got)
		}
		held, err := s.EndLeaseUnder(ctx, ada, "end", "L-1", at("2026-05-03T00:00:00Z"))
		if err != nil || topics(held) != rental.ApproveBackdated {
			t.Fatalf("an end of last week: %+v, %v", held, err)
		}
		if l := must[rental.Lease](t)(s.Lease(ctx, "L-1")); l.End != rental.Forever {
			t.Errorf("ends at %s before the approval", l.End)
		}
		if _, err := s.DecidePending(ctx, held.ID, bob, true, ""); err != nil {
			t.Fatal(err)
		}
		if l := must[rental.Lease](t)(s.Lease(ctx, "L-1")); l.End != at("2026-05-03T00:00:00Z") {
			t.Errorf("ends at %s after the approval, expected 2026-05-03", l.End)
		}
		if held, err := s.EndLeaseUnder(ctx, ada, "end", "L-1", at("2026-05-03T00:00:00Z")); held != nil || err != nil {
			t.Errorf("ended again: %+v, %v, expected nothing to do", held, err)
		}
	})
}

func TestAMassChangeIsHeldForAPerson(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(fleet())
		moved := func() rental.Resources { return rental.Resources{GPUs: fleet().GPUs[:2]} }
		r := moved()
		r.GPUs[0].Slot, r.GPUs[1].Slot = 6, 7
		feed := rental.Principal{Name: "cmdb", Role: rental.RoleOperator, Service: true}
		_, held, err := s.Submit(ctx, feed, "feed", r, ledger.Submission{Looked: true})
		if err != nil || held == nil || !slices.Equal(held.Topics, []string{rental.ApproveMass}) {
			t.Fatalf("%+v, %v, expected it held: a program looks at nothing", held, err)
		}
		if _, err := s.DecidePending(ctx, held.ID, feed, true, ""); rental.CodeOf(err) != rental.CodeRefused {
			t.Errorf("approved by the feed: %v, expected refused", err)
		}
		if _, err := s.DecidePending(ctx, held.ID, ada, true, ""); err != nil {
			t.Errorf("confirmed by a person: %v", err)
		}
		one := moved()
		one.GPUs[0].Slot, one.GPUs[1].Slot = 3, 7
		if held := s.submit(one); held != nil {
			t.Errorf("one GPU waits as %s, expected it recorded: one is never a mass", held.ID)
		}
		both := moved()
		both.GPUs[0].Slot, both.GPUs[1].Life = 4, rental.GPURMA
		if _, held, err := s.Submit(ctx, ada, "", both, ledger.Submission{Looked: true}); err != nil || held != nil {
			t.Errorf("%+v, %v, expected it recorded: a person has looked at each", held, err)
		}
	})
}

func TestThePolicyIsRecordedOnceAndItsHistoryIsKept(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		s.policy()
		if facts := must[[]rental.Fact](t)(s.History(t.Context(), "Policy", "approvals")); len(facts) != 0 {
			t.Errorf("the default was recorded: %v", facts)
		}
		s.policy(rental.ApprovePrices)
		s.policy(rental.ApprovePrices)
		s.policy()
		if facts := must[[]rental.Fact](t)(s.History(t.Context(), "Policy", "approvals")); len(facts) != 2 {
			t.Errorf("found %d revisions, expected 2", len(facts))
		}
	})
}

func TestAProgramsTokenSaysSo(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		for _, service := range []bool{false, true} {
			secret, err := s.CreateToken(context.Background(), rental.Principal{Name: "ci", Role: rental.RoleOperator, Service: service})
			if err != nil {
				t.Fatal(err)
			}
			if got := must[rental.Principal](t)(s.Authenticate(t.Context(), secret)); got.Service != service {
				t.Errorf("found %t, expected %t", got.Service, service)
			}
			if err := s.RevokeToken(t.Context(), "ci"); err != nil {
				t.Fatal(err)
			}
		}
	})
}
