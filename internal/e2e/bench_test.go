package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// BenchmarkFaultToSlack measures from the fault in the driver to the request at Slack, with
// the defaults of the embedded shape: the exporter pushes the event, the group fast runs each
// second, a page waits for nothing.
func BenchmarkFaultToSlack(b *testing.B) {
	s := newSite(b, fakenvml.H100x8())
	s.startServer()
	s.startExporter()
	s.ready()
	s.rent()
	eventually(b, "the lease is known to be up", s.explain, func() bool {
		sla, err := s.client.SLA(b.Context(), "acme-train", "")
		return err == nil && sla.Verdict != nil && sla.Verdict.UpMS > 0
	})
	var total, worst time.Duration
	for n := range b.N {
		gpu := n % 8
		told := s.slack.Calls("chat.postMessage") + s.slack.Calls("chat.update")
		began := time.Now()
		s.driver.Update(b, func(m *fakenvml.Scenario) {
			m.GPU(gpu).Lost()
			m.Event(gpu, 79)
		})
		for s.slack.Calls("chat.postMessage")+s.slack.Calls("chat.update") == told {
			if time.Since(began) > soon {
				b.Fatalf("nothing was told within %s\n%s", soon, s.explain())
			}
			time.Sleep(5 * time.Millisecond)
		}
		took := time.Since(began)
		total, worst = total+took, max(worst, took)
		s.driver.Update(b, func(m *fakenvml.Scenario) { m.GPU(gpu).Heal(n + 1) })
		eventually(b, fmt.Sprintf("GPU %d is well again", gpu), s.explain, func() bool {
			list, err := s.client.Incidents(b.Context(), incidentsOpen)
			return err == nil && len(list.Incidents) == 0
		})
	}
	b.ReportMetric(total.Seconds()/float64(b.N), "s/fault")
	b.ReportMetric(worst.Seconds(), "s-worst")
	b.ReportMetric(0, "ns/op")
}

// incidentsOpen asks for the incidents that nobody has in hand.
var incidentsOpen = api.IncidentQuery{Status: rental.IncidentOpen}
