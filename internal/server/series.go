package server

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/leasewatch/leasewatch/internal/billing"
	"github.com/leasewatch/leasewatch/internal/inventory"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/sla"
)

// How old the server's own series may be when they are gathered. Facts follow a change of the
// ledger at once (see Forget); money moves by the minute.
const (
	factsFor = 4 * time.Second
	moneyFor = time.Minute
)

// leaseSeries gives out what the rules and dashboards read of the ledger: lease_*,
// gpu_inventory_info, host_expected. Figures of money are copies for show.
type leaseSeries struct {
	app     *App
	ledger  *ledger.Ledger
	sla     *sla.Service
	billing *billing.Service
	log     *slog.Logger
	now     func() time.Time

	mu      sync.Mutex
	facts   []prometheus.Metric
	factsAt time.Time
	money   []prometheus.Metric
	moneyAt time.Time

	claims   []prometheus.Metric
	claimsAt time.Time

	clocks   []prometheus.Metric
	clocksAt time.Time
}

func newLeaseSeries(a *App) *leaseSeries {
	return &leaseSeries{app: a, ledger: a.ledger, sla: a.sla, billing: a.billing, log: a.log.With("room", "series"), now: a.now}
}

// Forget makes the next gathering read the ledger anew.
func (s *leaseSeries) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.factsAt, s.moneyAt, s.claimsAt, s.clocksAt = time.Time{}, time.Time{}, time.Time{}, time.Time{}
}

// Describe sends nothing: which series there are depends on the ledger.
func (s *leaseSeries) Describe(chan<- *prometheus.Desc) {}

// gatherWithin bounds one reading of the ledger.
const gatherWithin = 10 * time.Second

// Collect sends the newest figures. What cannot be read is logged and absent: nothing stale
// is given out as live.
func (s *leaseSeries) Collect(out chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(s.app.lifetime, gatherWithin)
	defer cancel()
	now := s.now()
	if now.Sub(s.factsAt) >= factsFor || now.Before(s.factsAt) {
		s.facts = s.read(ctx, now, s.readFacts)
		s.factsAt = now
	}
	if now.Sub(s.moneyAt) >= moneyFor || now.Before(s.moneyAt) {
		s.money = append(s.read(ctx, now, s.readMoney), s.read(ctx, now, s.readConflicts)...)
		s.moneyAt = now
	}
	if now.Sub(s.claimsAt) >= claimsFor || now.Before(s.claimsAt) {
		s.claims = append(s.read(ctx, now, s.readClaims), s.read(ctx, now, s.readChecks)...)
		s.claimsAt = now
	}
	if now.Sub(s.clocksAt) >= clocksFor || now.Before(s.clocksAt) {
		s.clocks = s.read(ctx, now, s.readClocks)
		s.clocksAt = now
	}
	for _, metric := range s.clocks {
		out <- metric
	}
	for _, metric := range s.claims {
		out <- metric
	}
	for _, metric := range s.facts {
		out <- metric
	}
	for _, metric := range s.money {
		out <- metric
	}
}

func (s *leaseSeries) read(ctx context.Context, now time.Time, reader func(context.Context, time.Time, *page) error) []prometheus.Metric {
	p := &page{}
	if err := reader(ctx, now, p); err != nil && ctx.Err() == nil {
		s.log.Error("the server's own series are not complete", "error", err)
	}
	return p.metrics
}

// page collects metrics.
type page struct{ metrics []prometheus.Metric }

// gauge adds one series; labels are name, value pairs.
func (p *page) gauge(name, help string, value float64, labels ...string) {
	names, values := make([]string, 0, len(labels)/2), make([]string, 0, len(labels)/2)
	for i := 0; i+1 < len(labels); i += 2 {
		names, values = append(names, labels[i]), append(values, labels[i+1])
	}
	desc := prometheus.NewDesc(name, help, names, nil)
	metric, err := prometheus.NewConstMetric(desc, prometheus.GaugeValue, value, values...)
	if err != nil {
		metric = prometheus.NewInvalidMetric(desc, err)
	}
	p.metrics = append(p.metrics, metric)
}

// readFacts tells who has what, in what state, and how the objectives stand.
func (s *leaseSeries) readFacts(ctx context.Context, now time.Time, p *page) error {
	view, err := s.inventoryView(ctx, now)
	if err != nil {
		return err
	}
	for _, info := range inventory.InfoSeries(view, rental.At(now)) {
		pairs := make([]string, 0, 2*len(info.Labels))
		for _, name := range inventory.LabelsOf(info.Name) {
			pairs = append(pairs, name, info.Labels[name])
		}
		p.gauge(info.Name, info.Help, 1, pairs...)
	}
	for _, t := range s.app.config.Load().Thresholds {
		p.gauge("lease_threshold", "An override of a threshold of the rules.", t.Value,
			"name", t.Name, "scope", t.scope(), "lease", t.Lease, "sku", t.SKU, "site", t.Site)
	}
	stats := s.app.metering.Stats()
	p.gauge("leasewatch_metering_dropped_readings", "Readings since the start that cannot be true and were left out of usage records.", float64(stats.Dropped))
	p.gauge("leasewatch_metering_saved_records", "Usage records written since the start.", float64(stats.Saved))
	live, err := s.live(ctx)
	if err != nil {
		return err
	}
	for _, lease := range live {
		s.objective(p, lease)
		for _, card := range lease.Cards {
			p.gauge("lease_gpu_state", "State set: 1 for the present state of a leased GPU.", 1,
				"uuid", card.UUID, "lease", lease.Lease, "state", card.State)
		}
	}
	return nil
}

// live judges the running leases by facts that are read once for all of them.
func (s *leaseSeries) live(ctx context.Context) ([]sla.Live, error) {
	leases, err := s.ledger.Leases(ctx)
	if err != nil {
		return nil, err
	}
	contracts, err := s.ledger.Contracts(ctx)
	if err != nil {
		return nil, err
	}
	named := map[string]rental.Contract{}
	for _, c := range contracts {
		named[c.Name] = c
	}
	var running []billed
	for _, lease := range leases {
		if contract, ok := named[lease.Contract]; ok && lease.Span().Contains(rental.At(s.now())) {
			running = append(running, billed{lease: lease, contract: contract})
		}
	}
	facts, err := newFactShelf(ctx, s.ledger, running)
	if err != nil {
		return nil, err
	}
	return s.sla.Over(facts).Live(ctx)
}

// objective tells how a lease's availability stands; a lease without an objective has no such series.
func (s *leaseSeries) objective(p *page, lease sla.Live) {
	v := lease.Verdict
	if v.Outcome == rental.NotMeasured {
		return
	}
	for bound, share := range map[string]rental.Bound{"low": v.Low, "high": v.High} {
		if share.Denominator > 0 {
			p.gauge("lease_availability_ratio", "Availability in the contract's month so far; low counts unknown time as down, high as up.",
				share.Ratio(), "lease", lease.Lease, "bound", bound)
		}
	}
	p.gauge("lease_error_budget_remaining_ratio", "Share of the month's allowed downtime that is left; negative where it is overspent.",
		lease.BudgetLeft, "lease", lease.Lease)
	for window, rate := range lease.Burn {
		p.gauge("lease_burn_rate", "Share of down time over the window divided by the share that the objective allows.",
			rate, "lease", lease.Lease, "window", window)
	}
	for window, threshold := range burnThresholds(v) {
		p.gauge("lease_burn_threshold", "Burn rate above which the long window alerts.", threshold, "lease", lease.Lease, "window", window)
	}
}

// burnShares are the shares of the budget that the long windows may burn (ALERTING.md 5.1).
var burnShares = []struct {
	window string
	length time.Duration
	share  float64
}{
	{"1h", time.Hour, 0.02}, {"6h", 6 * time.Hour, 0.05}, {"1d", 24 * time.Hour, 0.10}, {"3d", 72 * time.Hour, 0.10},
}

// burnThresholds are share x period / window; one that no outage could reach is left out,
// since even a full outage burns at 1 / (1 - objective) only.
func burnThresholds(v rental.Verdict) map[string]float64 {
	target, _ := v.Target.Rat().Float64()
	ceiling := 1 / (1 - target/100)
	out := map[string]float64{}
	for _, b := range burnShares {
		threshold := b.share * float64(v.Period.Duration()) / float64(b.length.Milliseconds())
		if threshold < ceiling {
			out[b.window] = threshold
		}
	}
	return out
}

// readMoney tells what running leases cost and how they are used in their month so far.
func (s *leaseSeries) readMoney(ctx context.Context, now time.Time, p *page) error {
	leases, err := s.ledger.Leases(ctx)
	if err != nil {
		return err
	}
	for _, lease := range leases {
		if !lease.Span().Contains(rental.At(now)) {
			continue
		}
		if err := s.leaseMoney(ctx, lease, now, p); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			s.log.Error("a lease has no figures of cost", "lease", lease.ID, "error", err)
		}
	}
	return nil
}

func (s *leaseSeries) leaseMoney(ctx context.Context, lease rental.Lease, now time.Time, p *page) error {
	contract, err := s.ledger.Contract(ctx, lease.Contract)
	if err != nil {
		return err
	}
	soFar := rental.Span{Start: lease.Start, End: max(rental.At(now), lease.Start+1)}
	total, err := s.billing.Cost(ctx, lease.ID, soFar)
	if err != nil {
		return err
	}
	shown, err := strconv.ParseFloat(total.Decimal(), 64)
	if err != nil {
		return err
	}
	p.gauge("lease_cost_total", "Cost of the lease since its start, before credits: a copy for show.", shown,
		"lease", lease.ID, "currency", string(total.Currency))
	month, err := rental.MonthOf(contract.TimeZone, rental.At(now))
	if err != nil {
		return err
	}
	span, err := month.Span(contract.TimeZone)
	if err != nil {
		return err
	}
	if err := s.outlook(ctx, lease.ID, contract, span, p); err != nil {
		return err
	}
	totals, err := s.ledger.MonthTotals(ctx, lease.ID, span)
	if err != nil {
		return err
	}
	use := rental.SumUse(totals)
	if used := ratio(use.Utilisation()); used != nil {
		p.gauge("lease_utilization_ratio", "Used share of the measured time in the contract's month so far.", *used, "lease", lease.ID)
	}
	if seen := ratio(use.Coverage()); seen != nil {
		p.gauge("lease_utilization_coverage_ratio", "Measured share of the allocated time in the contract's month so far.", *seen, "lease", lease.ID)
	}
	return nil
}

// outlook tells how much of a budget and of included quantities is used, for leases that have them.
func (s *leaseSeries) outlook(ctx context.Context, lease string, contract rental.Contract, month rental.Span, p *page) error {
	metered := slices.ContainsFunc(contract.Items, func(i rental.Item) bool { return i.Charge == rental.ChargeMetered && i.IncludedQuantity.IsSet() })
	if !contract.MonthlyBudget.IsSet() && !metered {
		return nil
	}
	o, err := s.billing.Outlook(ctx, lease, month)
	if err != nil {
		return err
	}
	for _, of := range []struct{ name, help, percent string }{
		{"lease_budget_used_ratio", "Cost in the contract's month so far, with tax and before credits, divided by the contract's monthly budget.", o.UsedPercent},
		{"lease_budget_forecast_ratio", "The same for the whole month if the lease goes on as it is.", o.ForecastPercent},
	} {
		if share, ok := ratioOf(of.percent); ok {
			p.gauge(of.name, of.help, share, "lease", lease)
		}
	}
	if o.Budget != nil {
		for _, step := range rental.BudgetSteps {
			p.gauge("lease_budget_step_ratio", "Parts of a budget whose spending is told.", ratioOfStep(step), "lease", lease, "step", strconv.Itoa(step))
		}
	}
	for _, m := range o.Metered {
		if share, ok := ratioOf(m.UsedPercent); ok {
			p.gauge("lease_quota_used_ratio", "Use of a metered item in the contract's month, divided by what the month includes.", share, "lease", lease, "item", m.Item)
		}
		if share, ok := ratioOf(m.ForecastPercent); ok {
			p.gauge("lease_quota_forecast_ratio", "The same for the whole month, at the month's mean rate.", share, "lease", lease, "item", m.Item)
		}
	}
	return nil
}

func ratioOfStep(percent int) float64 { return float64(percent) / 100 }

// ratioOf is a shown percentage as a ratio; false where there is none.
func ratioOf(percent string) (float64, bool) {
	v, err := strconv.ParseFloat(percent, 64)
	return v / 100, err == nil
}

// newRegistry holds the server's own metrics.
func newRegistry(version string) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "leasewatch_build_info", Help: "Version of the server."}, []string{"version"})
	build.WithLabelValues(version).Set(1)
	registry.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry
}
