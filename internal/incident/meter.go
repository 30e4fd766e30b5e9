package incident

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// outboxMeter shows on /metrics what has not been told.
type outboxMeter struct {
	undelivered *prometheus.GaugeVec
	oldestAt    *prometheus.GaugeVec
	sent        *prometheus.CounterVec
	failures    *prometheus.CounterVec
	oldest      *atomic.Int64 // Millis of the oldest new message that waits; 0 where none does
}

func newOutboxMeter(registerer prometheus.Registerer, now func() time.Time) (outboxMeter, error) {
	oldest := new(atomic.Int64)
	m := outboxMeter{
		oldest: oldest,
		undelivered: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "leasewatch_deliveries_undelivered",
			Help: "Messages not told yet; failed ones wait for a person to repair their route.",
		}, []string{"severity", "kind", "state"}),
		oldestAt: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "leasewatch_outbox_oldest_timestamp_seconds",
			Help: "When the oldest new message that is not told yet was written; 0 where none waits.",
		}, []string{"severity"}),
		sent: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "leasewatch_deliveries_sent_total", Help: "Messages told.",
		}, []string{"kind"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "leasewatch_delivery_failures_total", Help: "Tries that failed.",
		}, []string{"kind"}),
	}
	for _, kind := range kinds() {
		m.sent.WithLabelValues(kind)
		m.failures.WithLabelValues(kind)
	}
	m.show(nil)
	if registerer == nil {
		return m, nil
	}
	age := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "leasewatch_outbox_oldest_seconds",
		Help: "Age of the oldest new message that is not told yet; 0 where none waits.",
	}, func() float64 {
		if at := oldest.Load(); at != 0 {
			return now().Sub(rental.Millis(at).Time()).Seconds()
		}
		return 0
	})
	for _, c := range []prometheus.Collector{m.undelivered, m.oldestAt, m.sent, m.failures, age} {
		if err := registerer.Register(c); err != nil {
			return m, fmt.Errorf("outbox: register its metrics: %w", err)
		}
	}
	return m, nil
}

// show counts the outbox anew. Edits and details count as undelivered but not as old: they
// wake nobody.
func (m outboxMeter) show(pending []rental.Delivery) {
	type cell struct {
		severity rental.Severity
		kind     string
		state    rental.DeliveryState
	}
	counts, oldest := map[cell]int{}, map[rental.Severity]rental.Millis{}
	var first rental.Millis
	for _, d := range pending {
		counts[cell{d.Severity, d.Kind, d.State}]++
		if d.Kind == kindUpdate || isDetails(d) {
			continue
		}
		if at := oldest[d.Severity]; at == 0 || d.CreatedAt < at {
			oldest[d.Severity] = d.CreatedAt
		}
		if first == 0 || d.CreatedAt < first {
			first = d.CreatedAt
		}
	}
	m.oldest.Store(int64(first))
	for _, severity := range []rental.Severity{rental.Page, rental.Ticket, rental.Notice} {
		m.oldestAt.WithLabelValues(string(severity)).Set(float64(oldest[severity]) / 1000)
		for _, kind := range kinds() {
			for _, state := range []rental.DeliveryState{rental.DeliveryPending, rental.DeliveryFailed} {
				m.undelivered.WithLabelValues(string(severity), kind, string(state)).Set(float64(counts[cell{severity, kind, state}]))
			}
		}
	}
}

func kinds() []string { return []string{kindPost, kindUpdate, kindThread} }
