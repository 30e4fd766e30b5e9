package sla

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Live is one running lease as series tell it: display copies, never read back.
type Live struct {
	Lease, Tenant, Provider, Contract string
	// Verdict is that of the contract's month so far; its Outcome is not_measured without an objective.
	Verdict rental.Verdict
	// BudgetMS is the downtime that the objective allows in the month, BudgetLeftMS what is left of
	// it at the low bound, and BudgetLeft the share that is left: negative where it is overspent.
	BudgetMS, BudgetLeftMS int64
	BudgetLeft             float64
	// Burn is the burn rate by window, for windows in which enough was measured.
	Burn map[string]float64
	// Cards are the lease's GPUs now, in order of uuid.
	Cards []Card
}

// Card is one GPU of a lease and what it counts as now.
type Card struct {
	UUID  string
	State string // a GPU state, maintenance or stopped; unknown where nobody tells
	Class rental.Class
	Since rental.Millis
}

// Window is a burn window.
type Window struct {
	Name   string
	Length time.Duration
}

// Windows are the burn windows of the four pairs of multi-window alerts (ALERTING.md 5): 1h + 5m
// and 6h + 30m page, 1d + 2h and 3d + 6h make tickets.
func Windows() []Window {
	const day = 24 * time.Hour
	return []Window{
		{"5m", 5 * time.Minute}, {"30m", 30 * time.Minute}, {"1h", time.Hour}, {"2h", 2 * time.Hour},
		{"6h", 6 * time.Hour}, {"1d", day}, {"3d", 3 * day},
	}
}

// Live returns the running leases, in order of id. A lease that cannot be told is logged and
// left out, so that it does not hide the others.
func (s *Service) Live(ctx context.Context) ([]Live, error) {
	leases, err := s.ledger.Leases(ctx)
	if err != nil {
		return nil, err
	}
	now := s.now()
	leases = slices.DeleteFunc(leases, func(l rental.Lease) bool { return !l.Span().Contains(now) })
	told := make([]*Live, len(leases))
	var work errgroup.Group
	work.SetLimit(runtime.GOMAXPROCS(0))
	for i, lease := range leases {
		work.Go(func() error {
			live, err := s.live(ctx, lease, now)
			if err == nil {
				told[i] = &live
			} else if ctx.Err() == nil {
				s.opts.Log.Error("a lease has no live figures", "lease", lease.ID, "error", err)
			}
			return ctx.Err()
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	out := make([]Live, 0, len(told))
	for _, live := range told {
		if live != nil {
			out = append(out, *live)
		}
	}
	slices.SortFunc(out, func(a, b Live) int { return strings.Compare(a.Lease, b.Lease) })
	return out, nil
}

func (s *Service) live(ctx context.Context, lease rental.Lease, now rental.Millis) (Live, error) {
	c, err := s.ledger.Contract(ctx, lease.Contract)
	if err != nil {
		return Live{}, err
	}
	month, err := rental.MonthOf(c.TimeZone, now)
	if err != nil {
		return Live{}, err
	}
	period, err := month.Span(c.TimeZone)
	if err != nil {
		return Live{}, err
	}
	in, err := s.input(ctx, lease.ID, period)
	if err != nil {
		return Live{}, err
	}
	out := Live{Lease: lease.ID, Tenant: lease.Tenant, Provider: c.Provider, Contract: lease.Contract, Burn: map[string]float64{}}
	if out.Verdict, err = rental.Judge(in); err != nil {
		return Live{}, fmt.Errorf("verdict: %w", err)
	}
	if c.Availability != nil {
		out.BudgetMS, out.BudgetLeftMS = rental.Budget(*c.Availability, out.Verdict, in.Lease, period)
		if out.BudgetMS > 0 {
			out.BudgetLeft = float64(out.BudgetLeftMS) / float64(out.BudgetMS)
		}
	}
	s.burn(in, &out)
	for uuid, iv := range rental.StatesAt(in, in.Now) {
		state := iv.Reason
		if state == rental.ReasonNoSamples || state == rental.ReasonBlind || state == rental.ReasonMIGMissing {
			state = "unknown"
		}
		out.Cards = append(out.Cards, Card{UUID: uuid, State: state, Class: iv.Class, Since: iv.Span.Start})
	}
	slices.SortFunc(out.Cards, func(a, b Card) int { return strings.Compare(a.UUID, b.UUID) })
	return out, nil
}

func (s *Service) burn(in rental.JudgeInput, out *Live) {
	windows := Windows()
	spans := make([]rental.Span, len(windows))
	for i, w := range windows {
		spans[i] = rental.Span{Start: in.Now - rental.Millis(w.Length.Milliseconds()), End: in.Now}
	}
	for i, rate := range rental.Burn(in, spans, s.opts.MinBad.Milliseconds(), s.opts.MinObserved.Milliseconds()) {
		if rate.Known {
			out.Burn[windows[i].Name] = rate.Rate
		}
	}
}
