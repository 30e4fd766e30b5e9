package server

import (
	"context"
	"fmt"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/metering"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// useReports tell what is paid for and not used, and what is used and not paid for.
type useReports struct {
	usage
	metering *metering.Service
}

// IdleUse reports the leases of a tenant, or of all where it is "".
func (u useReports) IdleUse(ctx context.Context, span rental.Span, tenant string, perKWh rental.Decimal) (api.IdleReport, error) {
	table, err := u.CostVsUtilisation(ctx, span, tenant)
	if err != nil {
		return api.IdleReport{}, err
	}
	report := api.IdleReport{Span: table.Span, Rows: []api.IdleRow{}, Notes: table.Notes}
	for _, row := range table.Rows {
		idle, err := u.idleRow(ctx, row, table.Span, perKWh)
		if err != nil {
			report.Notes = append(report.Notes, fmt.Sprintf("%s: %v", row.Lease, err))
			continue
		}
		report.Rows = append(report.Rows, idle)
	}
	return report, nil
}

func (u useReports) idleRow(ctx context.Context, row api.CostRow, span rental.Span, perKWh rental.Decimal) (api.IdleRow, error) {
	out := api.IdleRow{CostRow: row}
	_, contract, err := readLease(ctx, u.ledger, row.Lease)
	if err != nil {
		return out, err
	}
	records, err := u.ledger.UsageRecords(ctx, row.Lease, span)
	if err != nil {
		return out, err
	}
	var whole rental.Use
	var energy int64
	for _, r := range records {
		whole.Add(r)
		energy += r.EnergyMilliJoules
	}
	halves, err := rental.SplitDayNight(contract.TimeZone, records)
	if err != nil {
		return out, err
	}
	out.IdleMS = whole.IdleMS()
	out.DayUtilisation, out.DayCoverage = ratio(halves.Day.Utilisation()), ratio(halves.Day.Coverage())
	out.NightUtilisation, out.NightCoverage = ratio(halves.Night.Utilisation()), ratio(halves.Night.Coverage())
	out.EnergyJoules = float64(energy) / 1000
	if !perKWh.IsSet() {
		out.EnergyCosts, err = u.billing.EnergyCosts(ctx, row.Lease, span)
		return out, err
	}
	spent, err := rental.EnergyCost(contract.Currency, energy, perKWh).Round(rental.HalfUp)
	if err != nil {
		return out, err
	}
	shown := money(spent)
	out.EnergyCost = &shown
	return out, nil
}

// UnleasedUse reports which cards in service were used while nobody leased them.
func (u useReports) UnleasedUse(ctx context.Context, span rental.Span) (api.UnleasedReport, error) {
	if span == (rental.Span{}) {
		now := rental.At(u.now())
		span = rental.Span{Start: now - 24*millisPerHour, End: now}
	}
	report := api.UnleasedReport{Span: span, Rows: []api.UnleasedRow{}}
	all, err := u.ledger.GPUs(ctx)
	if err != nil {
		return report, err
	}
	found, err := u.metering.Unleased(ctx, all, span)
	if err != nil {
		return report, err
	}
	for _, f := range found {
		report.Rows = append(report.Rows, api.UnleasedRow{UnleasedUse: f, Utilisation: ratio(f.Use.Utilisation()), Coverage: ratio(f.Use.Coverage())})
	}
	return report, nil
}
