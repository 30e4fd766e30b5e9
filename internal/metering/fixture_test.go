package metering_test

import (
	"context"
	"log/slog"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/metering"
	"github.com/leasewatch/leasewatch/internal/rental"
)

var _ metering.Ledger = (*ledger.Ledger)(nil)

const minute = rental.Millis(60_000)

// memory is a store of samples as a test lays them down.
type memory struct {
	series map[string][]rental.Series // by metric
	asked  int
}

func (m *memory) Select(_ context.Context, metric string, matchers map[string]string, span rental.Span) ([]rental.Series, error) {
	m.asked++
	var found []rental.Series
	for _, s := range m.series[metric] {
		if uuid, ok := matchers["uuid"]; ok && s.Labels["uuid"] != uuid {
			continue
		}
		cut := rental.Series{Labels: s.Labels}
		for _, sample := range s.Samples {
			if span.Contains(sample.At) {
				cut.Samples = append(cut.Samples, sample)
			}
		}
		found = append(found, cut)
	}
	return found, nil
}

func (m *memory) put(metric, uuid, job string, samples ...rental.Sample) {
	if m.series == nil {
		m.series = map[string][]rental.Series{}
	}
	m.series[metric] = append(m.series[metric], rental.Series{Labels: map[string]string{"uuid": uuid, "job": job}, Samples: samples})
}

// every lays samples of one value, ms apart, from the start up to and with the end.
func every(span rental.Span, ms int64, value float64) []rental.Sample {
	var all []rental.Sample
	for at := span.Start; at <= span.End; at += rental.Millis(ms) {
		all = append(all, rental.Sample{At: at, Value: value})
	}
	return all
}

func at(text string) rental.Millis {
	var m rental.Millis
	if err := m.UnmarshalText([]byte(text)); err != nil {
		panic(err)
	}
	return m
}

func span(from, to string) rental.Span { return rental.Span{Start: at(from), End: at(to)} }

// world is a real ledger, samples in memory and a clock that the test moves.
type world struct {
	*memory
	t      testing.TB
	ledger *ledger.Ledger
	now    time.Time
	zone   string
	prices []rental.PriceVersion
}

func newWorld(t testing.TB) *world {
	w := &world{memory: &memory{}, t: t, now: at("2026-06-10T00:00:00Z").Time(), zone: "UTC"}
	var err error
	w.ledger, err = ledger.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"),
		ledger.Options{Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return w.now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.ledger.Close() })
	w.prices = []rental.PriceVersion{{Price: decimal("10")}}
	return w
}

func decimal(text string) rental.Decimal {
	d, err := rental.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return d
}

// lease records a lease over cards, with all that it refers to.
func (w *world) lease(id string, s rental.Span, cards ...string) {
	w.t.Helper()
	w.apply(w.leaseOf(id, s, cards...))
}

func (w *world) leaseOf(id string, s rental.Span, cards ...string) rental.Lease {
	l := rental.Lease{ID: id, Tenant: "acme", Contract: "c", Start: s.Start, End: s.End}
	for _, c := range cards {
		l.GPUs = append(l.GPUs, rental.GPURef{UUID: c})
	}
	return l
}

func (w *world) apply(leases ...rental.Lease) {
	w.t.Helper()
	no := false
	r := rental.Resources{
		Providers: []rental.Provider{{Name: "north"}}, Tenants: []rental.Tenant{{Name: "acme"}},
		Sites: []rental.Site{{Name: "oslo", Provider: "north"}}, SKUs: []rental.SKU{{Name: "h100", Model: "H100"}},
		Contracts: []rental.Contract{{Name: "c", Provider: "north", Currency: "USD", TimeZone: w.zone,
			Plan:          rental.Plan{Mode: "hour", Unit: "gpu", Rounding: rental.Exact, Prices: w.prices},
			BillWhileDown: &no, BillWhileMaintenance: &no, LineRounding: rental.HalfUp, DowntimeApproval: "automatic"}},
		Leases: leases,
	}
	known := map[string]bool{}
	for _, l := range leases {
		for _, g := range l.GPUs {
			if !known[g.UUID] { // a host for each card keeps the slots simple
				known[g.UUID] = true
				r.Hosts = append(r.Hosts, rental.Host{Name: "host-of-" + g.UUID, Site: "oslo", Slots: 1})
				r.GPUs = append(r.GPUs, rental.GPU{UUID: g.UUID, SKU: "h100", Host: "host-of-" + g.UUID})
			}
		}
	}
	if _, err := w.ledger.Apply(w.t.Context(), "test", "", r, false); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) service() *metering.Service {
	return metering.New(w.memory, w.ledger, metering.Options{Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return w.now }})
}

func (w *world) meter(s rental.Span) int {
	w.t.Helper()
	n, err := w.service().Meter(w.t.Context(), s)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.ledger.CheckTotals(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// total sums a lease's records and checks what must hold of each.
func (w *world) total(lease string) rental.UsageRecord {
	w.t.Helper()
	records, err := w.ledger.UsageRecords(w.t.Context(), lease, rental.Span{End: math.MaxInt64})
	if err != nil {
		w.t.Fatal(err)
	}
	var sum rental.UsageRecord
	for _, r := range records {
		if r.AllocatedMS != r.Span.Duration() || r.MeasuredMS > r.AllocatedMS || r.BusyMS > r.MeasuredMS || r.UsedMicros > r.MeasuredMS*1000 ||
			r.HeldMS > r.HeldKnownMS || r.HeldKnownMS > r.AllocatedMS || r.UpMS+r.DownMS+r.ExcludedMS+r.UnknownMS != r.AllocatedMS ||
			r.WorkingMicros > r.WorkingKnownMS*1000 || r.WorkingKnownMS > r.AllocatedMS || r.EnergyKnownMS > r.AllocatedMS ||
			r.SplitMS != r.AllocatedMS || r.NightMS != 0 && r.NightMS != r.AllocatedMS || r.NightMeasuredMS > r.MeasuredMS || r.NightUsedMicros > r.UsedMicros {
			w.t.Errorf("record breaks its own rules: %+v", r)
		}
		sum.AllocatedMS += r.AllocatedMS
		sum.MeasuredMS += r.MeasuredMS
		sum.BusyMS += r.BusyMS
		sum.UsedMicros += r.UsedMicros
		sum.HeldKnownMS += r.HeldKnownMS
		sum.HeldMS += r.HeldMS
		sum.UpMS += r.UpMS
		sum.DownMS += r.DownMS
		sum.ExcludedMS += r.ExcludedMS
		sum.UnknownMS += r.UnknownMS
		sum.EnergyMilliJoules += r.EnergyMilliJoules
	}
	return sum
}
