package seeded

import (
	"context"
	"fmt"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// outage is the one downtime of LeaseTrain: 02:12:00 to 05:49:20 on the first of each month,
// 13,040 s of it down; the next 300 s have no data.
const (
	outageFrom = 2*time.Hour + 12*time.Minute
	outageMS   = 13_040_000
	unknownMS  = 300_000
)

func (b books) SLA(_ context.Context, id string, p api.Period) (api.SLA, error) {
	l, err := find(id)
	if err != nil || l.id == LeaseIdle {
		return api.SLA{TimeZone: "UTC"}, err
	}
	span, err := b.span(p)
	if err != nil {
		return api.SLA{}, err
	}
	target, err := rental.ParseDecimal("99.9")
	if err != nil {
		return api.SLA{}, fmt.Errorf("target: %w", err)
	}
	v := rental.Verdict{Lease: id, Period: span, Target: target, Outcome: rental.Kept, PeriodMS: span.Duration(), Open: p.Month == "" || span.End >= rental.At(b.now())}
	budget := span.Duration() / 1000
	if l.id == LeaseTrain {
		v.Outcome, v.DownMS, v.UnknownMS = rental.Breached, outageMS, unknownMS
	}
	v.UpMS = v.PeriodMS - v.DownMS - v.UnknownMS
	v.Low = rental.Bound{Numerator: v.UpMS, Denominator: v.PeriodMS}
	v.High = rental.Bound{Numerator: v.UpMS + v.UnknownMS, Denominator: v.PeriodMS}
	v.Coverage = rental.Bound{Numerator: v.UpMS + v.DownMS, Denominator: v.PeriodMS}
	v.Arithmetic = fmt.Sprintf("%d ms up of %d ms", v.UpMS, v.PeriodMS)
	var credits []rental.Credit
	if l.id == LeaseTrain {
		credits = []rental.Credit{{Lease: id, Period: span, Amount: rental.Amount{Currency: "USD", Minor: 120_960}, State: rental.CreditBooked, Provisional: v.Open}}
	}
	return api.SLA{
		TimeZone: "UTC", Verdict: &v, Credits: credits,
		AvailabilityLow: ptr(api.ShareOf(v.Low, target)), AvailabilityHigh: ptr(api.ShareOf(v.High, target)), Coverage: ptr(api.ShareOf(v.Coverage, target)),
		BudgetMS: &budget, BudgetLeftMS: ptr(budget - v.DownMS - v.UnknownMS),
	}, nil
}

func (b books) LeaseDowntime(_ context.Context, id string, p api.Period) (api.DowntimeList, error) {
	l, err := find(id)
	if err != nil {
		return api.DowntimeList{}, err
	}
	span, err := b.span(p)
	list := api.DowntimeList{Lease: id, TimeZone: "UTC", Span: span}
	start := b.present().Start + rental.Millis(outageFrom.Milliseconds())
	down := rental.Downtime{
		ID: "D-1", Lease: id, UUIDs: []string{"GPU-0a1b", "GPU-0a1c"}, Span: rental.Span{Start: start, End: start + outageMS},
		Cause: "provider", Reason: "lost", Witnesses: []string{"exporter gpu-a17: state lost", "BMC gpu-a17: GPU 3 absent"},
		Incident: "INC-42", ApprovedBy: "automatic",
	}
	if l.id == LeaseTrain && down.Span.Overlaps(span) {
		list.Downtimes = []rental.Downtime{down}
	}
	return list, err
}

func (b books) States(_ context.Context, id string, p api.Period) (api.StateHistory, error) {
	span, err := b.span(p)
	return api.StateHistory{Lease: id, TimeZone: "UTC", Span: span}, err
}

// SLATable is not part of what the plugin asks for.
func (b books) SLATable(context.Context, api.SLAQuery) (api.SLATable, error) {
	return api.SLATable{Rows: []api.LeaseSLA{}}, nil
}

// Scorecard is not part of what the plugin asks for.
func (b books) Scorecard(context.Context, api.SLAQuery) (rental.Scorecard, error) {
	return rental.Scorecard{}, rental.ErrNotFound
}
