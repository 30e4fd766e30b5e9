package portal_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/portal"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// now is the present of all tests: in the afternoon of the 21st of May.
var now = time.Date(2026, 5, 21, 14, 30, 12, 0, time.UTC)

// hostile is what a host may say of itself; no page may take it for markup.
const hostile = `<script>alert("x")</script>`

// demo answers as a server would with two providers, three hosts of eight GPUs and five
// leases of two tenants.
type demo struct {
	who      rental.Principal
	status   api.Status
	fleet    api.Fleet
	leases   []api.LeaseSummary
	incident []rental.Incident
	err      error // what every call but Whoami answers, where set
	billErr  error

	conflicts []rental.InventoryConflict
	whoErr    error
	mu        sync.Mutex // a browser asks for several pages at once
	acked     []string
	asked     []api.Period
	acts      []string // what was done with incidents beside acknowledging them
	offDuty   bool     // no schedule is configured
}

var (
	_ portal.API      = (*demo)(nil)
	_ portal.Runbooks = runbooks{}
)

func ago(d time.Duration) rental.Millis { return rental.At(now.Add(-d)) }

func newDemo() *demo {
	return &demo{
		who: rental.Principal{Name: "ann", Role: rental.RoleOnCall},
		status: api.Status{
			Version: "0.1.0", At: rental.At(now),
			Paging: api.Paging{Cause: api.PagingNoToken, Reason: "no Slack token is configured (slack.bot_token_file)"},
			Store:  api.Store{Kind: "embedded", Healthy: true, Series: 3384},
		},
		fleet: demoFleet(), leases: demoLeases(), incident: demoIncidents(),
	}
}

func demoFleet() api.Fleet {
	f := api.Fleet{At: rental.At(now)}
	add := func(host, provider, site, model string, lease func(slot int) (string, string)) {
		h := api.FleetHost{Host: host, Provider: provider, Site: site, Rack: "R12", State: "ok", Adopted: true}
		for slot := range 8 {
			g := api.FleetGPU{
				UUID: fmt.Sprintf("GPU-%s-%d", host, slot), Serial: fmt.Sprintf("16542%d%02d", len(host), slot), Model: model,
				SKU: "h100-sxm5", Slot: slot, Index: strconv.Itoa(slot), State: "ok", Since: ago(70 * time.Hour),
				Utilisation: new(0.35 + 0.08*float64(slot)), MemoryUsedBytes: new(float64(slot+3) * 8e9), MemoryTotalBytes: new(85.9e9),
				TemperatureCelsius: new(52.0 + float64(slot)), PowerWatts: new(310.4 + 40*float64(slot)),
				SampledAt: ago(4 * time.Second), Life: rental.GPUService,
			}
			g.Lease, g.Tenant = lease(slot)
			h.GPUs = append(h.GPUs, g)
		}
		f.Hosts = append(f.Hosts, h)
	}
	add("gpu-a17", "northwind", "fra-1", "H100 80GB HBM3", func(int) (string, string) { return "acme-train", "acme" })
	add("gpu-a18", "northwind", "fra-1", "H100 80GB HBM3", func(slot int) (string, string) {
		if slot < 4 {
			return "acme-infer", "acme"
		}
		return "", ""
	})
	add("gpu-b02", "dragonrent", "sha-2", "A100-SXM4-80GB", func(slot int) (string, string) {
		if slot < 2 {
			return "globex-lab", "globex"
		}
		return "globex-batch", "globex"
	})
	lose(&f.Hosts[0].GPUs[3], "lost", 14*time.Minute, "XID 79: GPU has fallen off the bus")
	f.Hosts[0].GPUs[5].State, f.Hosts[0].GPUs[5].Reason, f.Hosts[0].GPUs[5].Since = "degraded", "throttled by heat for 18 % of a busy hour", ago(41*time.Minute)
	lose(&f.Hosts[1].GPUs[6], "unknown", 6*time.Minute, hostile)
	f.Hosts[2].GPUs[4].Vantage = rental.VantageGuest
	lose(&f.Hosts[2].GPUs[7], "released", 26*time.Hour, "handed to a virtual machine")
	return f
}

// lose puts a GPU into a state without readings.
func lose(g *api.FleetGPU, state string, since time.Duration, reason string) {
	g.State, g.Since, g.Reason = state, ago(since), reason
	g.Utilisation, g.MemoryUsedBytes, g.TemperatureCelsius, g.PowerWatts = nil, nil, nil, nil
	g.SampledAt = ago(since)
}

func share(numerator, denominator int64, percent string) *api.Share {
	return &api.Share{Bound: rental.Bound{Numerator: numerator, Denominator: denominator}, Percent: percent}
}

func decimal(text string) rental.Decimal {
	d, err := rental.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return d
}

func demoLeases() []api.LeaseSummary {
	start := rental.At(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	lease := func(id, tenant, provider, sku string, gpus int, currency rental.Currency, minor int64) api.LeaseSummary {
		return api.LeaseSummary{
			ID: id, Tenant: tenant, Provider: provider, Contract: provider + "-2026", SKU: sku, GPUs: gpus, Start: start, End: rental.Forever,
			State: "running", Health: "ok", Currency: currency, TimeZone: "Europe/Berlin", Month: "2026-05",
			Cost:        api.MoneyOf(rental.Amount{Currency: currency, Minor: minor}),
			Utilisation: new(0.726), Coverage: new(0.982), Target: decimal("99.5"), Outcome: rental.Kept,
			AvailabilityLow: share(9998, 10000, "99.9800"), AvailabilityHigh: share(9998, 10000, "99.9800"),
		}
	}
	all := []api.LeaseSummary{
		lease("acme-infer", "acme", "northwind", "h100-sxm5", 4, "EUR", 4_873_201),
		lease("acme-train", "acme", "northwind", "h100-sxm5", 8, "EUR", 8_768_887),
		lease("globex-lab", "globex", "dragonrent", "a100-sxm4", 2, "CNY", 1_180_000),
		lease("globex-batch", "globex", "dragonrent", "a100-sxm4", 6, "JPY", 3_604_117),
		lease("globex-old", "globex", "dragonrent", "a100-sxm4", 2, "CNY", 0),
	}
	all[1].Health, all[1].GPUsDown, all[1].Outcome = "lost", 1, rental.Breached
	all[1].AvailabilityLow, all[1].AvailabilityHigh = share(42_923*60_000, 43_140*60_000, "99.4969"), share(42_923*60_000, 43_140*60_000, "99.4969")
	all[2].Outcome, all[2].TimeZone = rental.NotProven, "Asia/Shanghai"
	all[2].AvailabilityLow, all[2].AvailabilityHigh = share(991, 1000, "99.1000"), share(1, 1, "100.0000")
	all[3].Utilisation, all[3].Outcome, all[3].AvailabilityLow, all[3].AvailabilityHigh, all[3].Target = nil, "", nil, nil, rental.Decimal{}
	all[4].State, all[4].Health, all[4].End = "ended", "", rental.At(time.Date(2026, 4, 30, 22, 0, 0, 0, time.UTC))
	all[4].Utilisation, all[4].Outcome, all[4].Target = nil, "", rental.Decimal{}
	return all
}

func demoIncidents() []rental.Incident {
	lost := rental.Alert{
		Labels: map[string]string{"alertname": "LeasewatchGPULost", "severity": "page", "host": "gpu-a17", "lease": "acme-train", "tenant": "acme"},
		Annotations: map[string]string{
			"summary": "GPU lost  gpu-a17 slot 3 (H100 80GB HBM3, serial 1654203)", "summary_zh": "GPU 丢失  gpu-a17 插槽 3（H100 80GB HBM3，序列号 1654203）",
			"description": "The driver no longer answers for the card: XID 79.", "description_zh": "驱动不再响应该卡：XID 79。",
			"action": "Drain the job, then power-cycle the host. If it is lost again, open an RMA.", "action_zh": "迁走作业，然后给主机断电重启。若再次丢失，请发起 RMA。",
		},
		StartsAt: ago(14 * time.Minute), EndsAt: rental.Forever,
	}
	hot := rental.Alert{
		Labels:      map[string]string{"alertname": "LeasewatchGPUThrottledByHeat", "severity": "ticket", "host": "gpu-a17"},
		Annotations: map[string]string{"summary": "Throttled by heat  gpu-a17 slot 5 " + hostile},
		StartsAt:    ago(41 * time.Minute), EndsAt: rental.Forever,
	}
	silent := rental.Alert{
		Labels:      map[string]string{"alertname": "LeasewatchHostSilent", "severity": "page", "host": "gpu-b02"},
		Annotations: map[string]string{"summary": "Host silent  gpu-b02"}, StartsAt: ago(30 * time.Hour), EndsAt: ago(29 * time.Hour),
	}
	return []rental.Incident{
		{
			ID: "INC-42", Status: rental.IncidentOpen, Severity: rental.Page, Provider: "northwind", Subject: "gpu-a17", Title: lost.Annotations["summary"],
			Leases: []string{"acme-train"}, Tenants: []string{"acme"}, EvidenceAt: ago(14*time.Minute + 2*time.Second), DetectedAt: ago(14 * time.Minute), OpenedAt: ago(14 * time.Minute),
			Alerts: []rental.Alert{lost},
			Events: []rental.IncidentEvent{
				{At: ago(14 * time.Minute), Kind: "opened"}, {At: ago(14*time.Minute - time.Second), Kind: "notified", Note: "slack:C0123"},
			},
		},
		{
			ID: "INC-41", Status: rental.IncidentAcked, Severity: rental.Ticket, Provider: "northwind", Subject: "gpu-a17", Title: "Throttled by heat",
			EvidenceAt: ago(41 * time.Minute), DetectedAt: ago(41 * time.Minute), OpenedAt: ago(41 * time.Minute), AckedAt: ago(38 * time.Minute), AckedBy: "bo",
			Alerts: []rental.Alert{hot}, Events: []rental.IncidentEvent{{At: ago(41 * time.Minute), Kind: "opened"}, {At: ago(38 * time.Minute), Kind: "acked", By: "bo", Note: "fan tray ordered"}},
		},
		{
			ID: "INC-39", Status: rental.IncidentResolved, Severity: rental.Page, Provider: "dragonrent", Subject: "gpu-b02", Title: "Host silent  gpu-b02",
			Leases: []string{"globex-lab", "globex-batch"}, Tenants: []string{"globex"}, EvidenceAt: ago(30 * time.Hour), OpenedAt: ago(30 * time.Hour), ResolvedAt: ago(29 * time.Hour),
			Alerts: []rental.Alert{silent},
		},
	}
}

func (d *demo) Whoami(context.Context) (rental.Principal, error) { return d.who, d.whoErr }
func (d *demo) Status(context.Context) (api.Status, error)       { return d.status, d.err }
func (d *demo) InventoryConflicts(context.Context) ([]rental.InventoryConflict, error) {
	return d.conflicts, d.err
}
func (d *demo) Fleet(context.Context) (api.Fleet, error) { return d.fleet, d.err }
func (d *demo) Leases(context.Context, api.LeaseQuery) ([]api.LeaseSummary, error) {
	return d.leases, d.err
}

func (d *demo) Lease(_ context.Context, id string) (api.LeaseDetail, error) {
	for _, l := range d.leases {
		if l.ID != id {
			continue
		}
		detail := api.LeaseDetail{
			Summary: l, Lease: rental.Lease{ID: id, Tenant: l.Tenant, Start: l.Start, End: l.End},
			Contract: rental.Contract{Name: l.Contract, Currency: l.Currency, TimeZone: l.TimeZone},
		}
		for _, h := range d.fleet.Hosts {
			for _, g := range h.GPUs {
				if g.Lease == id {
					detail.GPUs = append(detail.GPUs, rental.GPU{UUID: g.UUID, Serial: g.Serial, Host: h.Host, Slot: g.Slot})
					detail.Assignments = append(detail.Assignments, rental.Assignment{Lease: id, UUID: g.UUID, Span: rental.Span{Start: l.Start, End: rental.Forever}, Reason: "start"})
				}
			}
		}
		return detail, d.err
	}
	return api.LeaseDetail{}, api.NotFound("lease", id)
}

// may is the month of a lease so far, in its contract's zone.
func may(zone string) rental.Span {
	span, err := rental.MonthSpan(zone, 2026, time.May)
	if err != nil {
		panic(err)
	}
	span.End = rental.At(now)
	return span
}

func (d *demo) Bill(ctx context.Context, id string, p api.Period) (rental.Bill, error) {
	d.mu.Lock()
	d.asked = append(d.asked, p)
	d.mu.Unlock()
	detail, err := d.Lease(ctx, id)
	if err != nil {
		return rental.Bill{}, err
	}
	s := detail.Summary
	if d.billErr != nil {
		return rental.Bill{}, d.billErr
	}
	credit := rental.Amount{Currency: s.Currency, Minor: -974_321}
	bill := rental.Bill{
		Lease: id, Currency: s.Currency, TimeZone: s.TimeZone, Period: may(s.TimeZone),
		Total: s.Cost.Amount(), Provisional: []string{"the month is open"},
	}
	if id != "acme-train" {
		bill.Lines = []rental.BillLine{{Item: "gpu_time", Amount: s.Cost.Amount(), Note: "by the month"}}
		return bill, d.err
	}
	bill.Lines = []rental.BillLine{
		{
			Item: "gpu_time", Charged: may(s.TimeZone), UnitPrice: decimal("20.99"), Unit: "gpu-hour", Quantity: "27851/6",
			QuantityMS: 16_710_600_000, Amount: rental.Amount{Currency: s.Currency, Minor: s.Cost.Minor - credit.Minor},
			PerGPU: map[string]int64{"a": 1, "b": 2}, Rounding: rental.HalfUp,
		},
		{Item: "sla_credit", Amount: credit, Note: "10 % of EUR 97,432.08, availability 99.4969 % is under 99.5"},
	}
	return bill, d.err
}

func (d *demo) Usage(ctx context.Context, id string, _ api.Period, step string) (api.Usage, error) {
	detail, err := d.Lease(ctx, id)
	if err != nil {
		return api.Usage{}, err
	}
	s := detail.Summary
	span := may(s.TimeZone)
	days, err := rental.Days(s.TimeZone, span)
	if err != nil {
		return api.Usage{}, err
	}
	u := api.Usage{Lease: id, Currency: s.Currency, TimeZone: s.TimeZone, Step: step, Span: span, Notes: []string{"on 2026-05-09 the exporter of gpu-a17 was silent for 7 h"}}
	for i, day := range days {
		p := api.UsagePoint{Span: day, Cost: new(fmt.Sprintf("%d.30", 4600+i)), Coverage: new(1.0)}
		p.Utilisation, p.IdleCost, p.IdleBasis = new(0.55+0.4*float64(i%7)/7), new(fmt.Sprintf("%d.10", 300+(i%5)*420)), "use"
		switch {
		case i == 8:
			p.Coverage = new(0.7)
		case i == 12 || s.Utilisation == nil:
			p.Utilisation, p.IdleCost, p.Coverage, p.IdleBasis = nil, nil, new(0.0), ""
		}
		u.Points = append(u.Points, p)
	}
	u.Total = api.UsagePoint{Span: span, Utilisation: s.Utilisation, Coverage: s.Coverage, Cost: &s.Cost.Decimal}
	if s.Utilisation != nil {
		u.Total.IdleCost, u.Total.IdleBasis = new("26696.39"), "use"
	}
	return u, d.err
}

func (d *demo) SLA(ctx context.Context, id, _ string) (api.SLA, error) {
	detail, err := d.Lease(ctx, id)
	if err != nil {
		return api.SLA{}, err
	}
	s := detail.Summary
	if s.Outcome == "" {
		return api.SLA{TimeZone: s.TimeZone}, d.err
	}
	const minute = 60_000
	v := rental.Verdict{
		Lease: id, Period: may(s.TimeZone), Target: s.Target, Outcome: s.Outcome, Low: s.AvailabilityLow.Bound, High: s.AvailabilityHigh.Bound,
		PeriodMS: 43_200 * minute, ExcludedMS: 60 * minute, DownMS: 217 * minute, MeasuredDownMS: 217 * minute, ExcludedLeaves: true,
		ExcludedBy: map[string]int64{"maintenance": 60 * minute}, Open: true,
	}
	failed := rental.Span{Start: ago(14 * time.Minute), End: rental.Forever}
	return api.SLA{
		TimeZone: s.TimeZone, Verdict: &v, AvailabilityLow: s.AvailabilityLow, AvailabilityHigh: s.AvailabilityHigh,
		Coverage: share(9994, 10000, "99.9400"), BudgetMS: new(int64(215 * minute)), BudgetLeftMS: new(int64(-2 * minute)),
		Downtimes: []rental.Downtime{
			{
				ID: "D7", UUIDs: []string{"GPU-gpu-a17-6"}, Span: rental.Span{Start: ago(200 * time.Hour), End: ago(196*time.Hour + 37*time.Minute)}, Cause: "provider",
				Reason: "reset_required", Witnesses: []string{"gpu_state", "xid 48"}, Incident: "INC-30", ApprovedBy: "automatic",
			},
			{ID: "D8", UUIDs: []string{"GPU-gpu-a17-3"}, Span: failed, Cause: "undetermined", Reason: "lost", Witnesses: []string{"gpu_state"}, Incident: "INC-42"},
			{
				ID: "DT-000001", UUIDs: []string{"GPU-gpu-a17-5"}, Span: rental.Span{Start: ago(100 * time.Hour), End: ago(99 * time.Hour)}, Cause: "provider",
				Reason: "host_down", Witnesses: []string{"ping failed"}, EnteredBy: "ann", DisputedBy: "tom", Acts: []rental.Act{
					{At: ago(98 * time.Hour), By: "ann", Kind: rental.ActRecorded, Note: "ping failed on two paths"},
					{At: ago(97 * time.Hour), By: "tom", Kind: rental.ActDisputed, Note: "it was a drill"},
				},
			},
		},
		Objectives: []rental.ObjectiveVerdict{
			rental.ObjectiveVerdict{Objective: rental.ObjectiveResponse, Target: decimal("100"), Runs: []rental.ClockRun{{
				Objective: rental.ObjectiveResponse, Incident: "INC-30", Severity: rental.Page, EvidenceAt: ago(200 * time.Hour), DetectedAt: ago(200 * time.Hour), StartAt: ago(200 * time.Hour),
				StopAt: ago(200*time.Hour) + 900_001, LimitMS: 900_000, ElapsedMS: 900_001, Hours: rental.HoursAlways, Outcome: rental.Breached,
			}}}.Counted("en"),
			rental.ObjectiveVerdict{Objective: rental.ObjectiveRPO, Target: decimal("100"), Runs: []rental.ClockRun{{
				Objective: rental.ObjectiveRPO, Failure: "REC-000001", Incident: "INC-30", Backup: id + ":work:20260506T120000.000Z", StartAt: ago(207 * time.Hour), StopAt: ago(200 * time.Hour),
				LimitMS: 24 * 60 * minute, ElapsedMS: 7 * 60 * minute, Hours: rental.HoursAlways, Outcome: rental.Kept,
			}}}.Counted("en"),
		},
		Credits: []rental.Credit{{
			Lease: id, Percent: decimal("10"), Amount: rental.Amount{Currency: s.Currency, Minor: 974_321}, State: "booked", Provisional: true,
			Arithmetic: "99.4969 % is under 99.5: 10 % of EUR 97,432.08",
		}},
	}, d.err
}

// Maintenances are one window that counts, one that its tenant was told of too late, and one of nobody.
func (d *demo) Maintenances(_ context.Context, q api.MaintenanceQuery) ([]api.MaintenanceFact, error) {
	if q.Lease != "acme-train" {
		return nil, d.err
	}
	start, told := ago(-100*time.Hour), ago(50*time.Hour)
	window := func(id string, start rental.Millis, acts ...rental.Act) rental.Maintenance {
		return rental.Maintenance{ID: id, Hosts: []string{"gpu-a17"}, Start: start, End: start + 3_600_000, Announced: told, Acts: acts}
	}
	announced := rental.Act{At: told, By: "ann", Kind: rental.ActAnnounced, Note: "new <firmware>"}
	touches := func(standing string, at rental.Millis) []api.MaintenanceLease {
		return []api.MaintenanceLease{{Lease: q.Lease, Tenant: "acme", NoticeMS: 48 * 3_600_000, Delivered: at, Standing: standing}}
	}
	return []api.MaintenanceFact{
		{Maintenance: window("M-old", ago(9000*time.Hour), announced), State: rental.MaintenanceOver, Touches: touches(rental.MaintenanceCounts, told)},
		{Maintenance: window("M-late", ago(30*time.Hour), announced), State: rental.MaintenanceOver, Touches: touches(rental.MaintenanceLate, told)},
		{Maintenance: window("M-31", start, announced, rental.Act{At: told, By: "ann", Kind: rental.ActDelivered, Tenant: "acme", Way: "mail", Note: "ticket 7"}),
			State: rental.MaintenanceAnnounced, Touches: touches(rental.MaintenanceCounts, told)},
		{Maintenance: window("M-32", start), State: rental.MaintenanceAnnounced, Touches: touches(rental.MaintenanceUndelivered, 0)},
	}, d.err
}

func (d *demo) Scorecard(_ context.Context, q api.SLAQuery) (rental.Scorecard, error) {
	if q.Provider != "northwind" {
		return rental.Scorecard{}, api.ErrNotFound
	}
	span := may("UTC")
	kept := rental.Verdict{Outcome: rental.Kept, Low: rental.Bound{Numerator: 999, Denominator: 1000}, High: rental.Bound{Numerator: 1, Denominator: 1}, Coverage: rental.Bound{Numerator: 99, Denominator: 100}}
	return rental.ScorecardOf(rental.ScoreInput{
		Provider: q.Provider, Period: span, MadeAt: span.End + 40*24*3_600_000, Leases: []rental.ScoredLease{{Lease: rental.Lease{ID: "acme-train"}, Period: span, Verdict: &kept}},
	}), d.err
}

func (d *demo) States(ctx context.Context, id string, _ api.Period) (api.StateHistory, error) {
	detail, err := d.Lease(ctx, id)
	if err != nil {
		return api.StateHistory{}, err
	}
	span := may(detail.Summary.TimeZone)
	h := api.StateHistory{Lease: id, TimeZone: detail.Summary.TimeZone, Span: span}
	for _, g := range detail.GPUs {
		cut := func(start, end rental.Millis, class rental.Class, reason string) []rental.Interval {
			return rental.Partition(span, []rental.Interval{
				{Span: rental.Span{Start: span.Start, End: start}, Class: rental.Up, Reason: "ok"},
				{Span: rental.Span{Start: start, End: end}, Class: class, Reason: reason},
				{Span: rental.Span{Start: end, End: span.End}, Class: rental.Up, Reason: "ok"},
			})
		}
		states := api.GPUStates{UUID: g.UUID, Serial: g.Serial, Host: g.Host, Slot: g.Slot}
		switch g.Slot {
		case 3:
			states.Intervals = cut(ago(14*time.Minute), span.End, rental.Down, "lost")
		case 6:
			states.Intervals = cut(ago(200*time.Hour), ago(176*time.Hour), rental.Down, "reset_required")
		case 5:
			states.Intervals = cut(ago(90*time.Hour), ago(40*time.Hour), rental.Up, "degraded")
		default:
			states.Intervals = cut(ago(300*time.Hour), ago(283*time.Hour), rental.NoData, rental.ReasonNoSamples)
		}
		h.GPUs = append(h.GPUs, states)
	}
	return h, d.err
}

func (d *demo) Incidents(_ context.Context, q api.IncidentQuery) (api.IncidentList, error) {
	var list api.IncidentList
	for _, in := range d.incident {
		if q.Status == "" || in.Status == q.Status {
			list.Incidents = append(list.Incidents, in)
		}
	}
	return list, d.err
}

func (d *demo) Incident(_ context.Context, id string) (api.IncidentDetail, error) {
	for _, in := range d.incident {
		if in.ID == id {
			return api.IncidentDetail{
				Incident: in, Runbook: "gpu-lost",
				Deliveries: []rental.Delivery{
					{Route: "slack:C0123", Kind: "post", State: rental.DeliverySent, CreatedAt: ago(14 * time.Minute), SentAt: ago(14*time.Minute - time.Second)},
					{Route: "slack:C0999", Kind: "post", State: rental.DeliveryFailed, CreatedAt: ago(14 * time.Minute), Error: "channel_not_found"},
				},
			}, d.err
		}
	}
	return api.IncidentDetail{}, api.NotFound("incident", id)
}

func (d *demo) OnCall(_ context.Context, q api.OnCallQuery) (api.OnCall, error) {
	if d.offDuty {
		return api.OnCall{}, api.ErrNotFound
	}
	return api.OnCall{Rotations: []api.OnCallRotation{{Name: "primary", Zone: "Europe/Oslo", Turns: []api.OnCallTurn{{
		Person: "wang-li", Shown: "Wang Li", Start: rental.At(now) - 3_600_000, End: rental.At(now) + 3_600_000,
	}}}}}, nil
}

func (d *demo) SilenceIncident(_ context.Context, id string, in api.SilenceIncident) (rental.Incident, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.acts = append(d.acts, fmt.Sprintf("silence %s %d %t", id, in.Minutes, in.UntilFixed))
	return rental.Incident{}, nil
}

func (d *demo) EscalateIncident(_ context.Context, id string) (rental.Incident, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.acts = append(d.acts, "escalate "+id)
	return rental.Incident{}, nil
}

func (d *demo) NoteIncident(_ context.Context, id string, in api.NoteIncident) (rental.Incident, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.acts = append(d.acts, "note "+id+": "+in.Note)
	return rental.Incident{}, nil
}

// Look answers by the link's own word.
func (d *demo) Look(_ context.Context, link string) (rental.Incident, string, error) {
	in := rental.Incident{ID: "INC-7", Status: rental.IncidentOpen, Severity: rental.Page, Title: hostile}
	switch link {
	case "good":
		return in, "Wang Li", nil
	case "taken":
		in.Status, in.AckedBy = rental.IncidentAcked, "Kari"
		return in, "Wang Li", nil
	case "used":
		return in, "Wang Li", rental.ErrUsed
	case "over":
		return in, "Wang Li", rental.ErrOver
	case "old":
		return rental.Incident{}, "", portal.ErrLinkExpired
	case "broken":
		return in, "Wang Li", errors.New("the disk is full")
	}
	return rental.Incident{}, "", portal.ErrLinkForged
}

// Use notes what was acknowledged.
func (d *demo) Use(ctx context.Context, link string) (rental.Incident, string, error) {
	in, by, err := d.Look(ctx, link)
	if err == nil && in.Status == rental.IncidentOpen {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.acts = append(d.acts, "ack "+in.ID+" by "+by)
		in.Status, in.AckedBy = rental.IncidentAcked, by
	}
	return in, by, err
}

func (d *demo) AckIncident(_ context.Context, id string, _ api.AckIncident) (rental.Incident, error) {
	d.mu.Lock()
	d.acked = append(d.acked, id)
	d.mu.Unlock()
	return rental.Incident{ID: id}, d.err
}

// runbooks holds one page.
type runbooks struct{}

func (runbooks) Runbook(name, lang string) ([]byte, bool) {
	if name != "gpu-lost" {
		return nil, false
	}
	title := map[string]string{"en": "A GPU is lost", "zh": "GPU 丢失"}[lang]
	return []byte("# " + title + "\n\n1. Drain the job.\n2. Power-cycle the host.\n\n" + hostile + "\n\n[x](javascript:alert(1))\n\n| step | who |\n|---|---|\n| drain | on call |\n"), true
}
