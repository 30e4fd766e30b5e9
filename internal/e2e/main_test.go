package e2e

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/data"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/slack/slackfake"
)

// oneHour is a contract and a lease of one hour from now on: the denominator is the lease.
const oneHour = `
apiVersion: leasewatch.dev/v1
kind: Provider
metadata: {name: northgpu}
spec: {display_name: North GPU}
---
apiVersion: leasewatch.dev/v1
kind: Tenant
metadata: {name: acme}
spec: {display_name: Acme}
---
apiVersion: leasewatch.dev/v1
kind: Site
metadata: {name: osl1}
spec: {provider: northgpu, time_zone: Europe/Oslo}
---
apiVersion: leasewatch.dev/v1
kind: Contract
metadata: {name: hourly}
spec:
  provider: northgpu
  currency: USD
  time_zone: UTC
  plan:
    mode: hour
    unit: gpu
    rounding: exact
    prices: [{price: "3600"}]
  bill_while_down: true
  bill_while_maintenance: true
  line_rounding: half_up
  downtime_approval: automatic
  auto_credit: true
  availability:
    target_percent: "99.5"
    scope: gpu
    period: calendar_month
    denominator: lease
    outage: exact
    degraded: up
    unknown: excluded
    excluded_leaves_denominator: true
  credits:
    base: gross
    scope: gpu
    cap_percent: "100"
    tiers:
      - {under: "99.5", percent: "10"}
      - {under: "95", percent: "100"}
`

const oneLease = `
apiVersion: leasewatch.dev/v1
kind: Lease
metadata: {name: acme-train}
spec:
  tenant: acme
  contract: hourly
  start: %q
  end: %q
  gpus: [{host: gpu-a17, slot: 2}, {host: gpu-a17, slot: 3}]
`

// rent takes the host into the inventory and rents two of its GPUs out for an hour.
func (s *site) rent() {
	s.t.Helper()
	s.cli("lease", "apply", "-f", s.write("contract.yaml", oneHour))
	eventually(s.t, "the exporter's eight GPUs are proposed", s.explain, func() bool {
		proposals, err := s.client.Proposals(s.t.Context())
		return err == nil && len(proposals.Hosts) == 1 && len(proposals.Hosts[0].GPUs) == 8
	})
	s.cli("inventory", "adopt", "--accept", "--site=osl1")
	start := time.Now().UTC().Truncate(time.Second)
	s.cli("lease", "apply", "-f", s.write("lease.yaml", fmt.Sprintf(oneLease, start.Format(time.RFC3339), start.Add(time.Hour).Format(time.RFC3339))))
	// The provider is part of an incident's key: a fault within seconds of the adoption would
	// be told for an unknown one first.
	eventually(s.t, "the rules know whose the GPUs are", s.explain, func() bool {
		return instant(s.t, "http://"+s.serverAddress, `uuid:gpu_place:info{provider="northgpu"}`) == 8 &&
			instant(s.t, "http://"+s.serverAddress, `uuid:gpu_place:info{lease="acme-train"}`) == 2
	})
}

// posts are the messages that stand in the channel by themselves and mention the text.
func (s *site) posts(text string) []slackfake.Message {
	var found []slackfake.Message
	for _, m := range s.slack.Messages() {
		if m.ThreadTS == "" && strings.Contains(m.Rendered(), text) {
			found = append(found, m)
		}
	}
	return found
}

func TestALostGPUReachesSlackIsAcknowledgedHealsAndIsPaidBack(t *testing.T) {
	s := newSite(t, fakenvml.H100x8())
	s.startServer()
	s.startExporter()
	s.ready()
	s.rent()

	eventually(t, "both cards of the lease are known to be up", s.explain, func() bool {
		sla, err := s.client.SLA(t.Context(), "acme-train", "")
		return err == nil && sla.Verdict != nil && sla.Verdict.UpMS > 0
	})
	s.driver.Update(t, func(m *fakenvml.Scenario) {
		m.GPU(3).Lost()
		m.Event(3, 79)
	})
	eventually(t, "the page is in Slack", s.explain, func() bool { return len(s.posts("gpu-a17")) == 1 })
	message := s.posts("gpu-a17")[0]
	for _, want := range []string{"✕ PAGE", "gpu-a17", "acme-train", "acme"} {
		if !strings.Contains(message.Rendered(), want) {
			t.Errorf("the page does not say %q:\n%s", want, message.Rendered())
		}
	}
	if err := s.slack.ClickAck(t.Context(), message.TS, "U0ADA"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the incident is acknowledged by ada", s.explain, func() bool {
		list, err := s.client.Incidents(t.Context(), api.IncidentQuery{Status: rental.IncidentAcked})
		return err == nil && slices.ContainsFunc(list.Incidents, func(i rental.Incident) bool { return i.AckedBy == "ada" })
	})
	eventually(t, "the downtime is on the SLA", s.explain, func() bool {
		sla, err := s.client.SLA(t.Context(), "acme-train", "")
		return err == nil && len(sla.Downtimes) == 1 && sla.Verdict.DownMS > 2000
	})

	s.driver.Update(t, func(m *fakenvml.Scenario) { m.GPU(3).Heal(1) })
	s.theMessageIsUpdated(message.TS)
	s.theDowntimeIsPaidBack()
	s.thePluginTellsTheSame()
	if posts := s.posts("gpu-a17"); len(posts) != 1 {
		t.Errorf("%d pages for one lost GPU, expected one that is updated in place\n%s", len(posts), s.explain())
	}
}

// theMessageIsUpdated waits until the page says in place that it is over.
func (s *site) theMessageIsUpdated(ts string) {
	s.t.Helper()
	eventually(s.t, "the message says in place that the GPU is back", s.explain, func() bool {
		m, ok := s.slack.Message(ts)
		return ok && strings.Contains(m.Rendered(), "Resolved") && !strings.Contains(string(m.Blocks), "leasewatch_ack")
	})
}

// theDowntimeIsPaidBack checks the fact, the verdict and the bill.
func (s *site) theDowntimeIsPaidBack() {
	t := s.t
	t.Helper()
	var sla api.SLA
	eventually(t, "the downtime has its end", s.explain, func() bool {
		var err error
		sla, err = s.client.SLA(t.Context(), "acme-train", "")
		return err == nil && len(sla.Downtimes) == 1 && sla.Downtimes[0].Span.End != rental.Forever
	})
	down := sla.Downtimes[0]
	if down.Cause != rental.CauseProvider || down.ApprovedBy != rental.ApprovalAutomatic || len(down.Witnesses) == 0 {
		t.Errorf("downtime %+v: expected cause provider, approved automatically, with a witness", down)
	}
	if sla.Verdict.Outcome != rental.Breached {
		t.Errorf("verdict %s, expected breached: %s", sla.Verdict.Outcome, sla.Verdict.Arithmetic)
	}
	if len(sla.Credits) != 1 || !sla.Credits[0].Provisional || sla.Credits[0].Amount.Minor <= 0 {
		t.Fatalf("credits %+v: expected one, provisional", sla.Credits)
	}
	month := time.Now().UTC().Format("2006-01")
	bill, err := s.client.Bill(t.Context(), "acme-train", api.Period{Month: month})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(bill.Lines, func(l rental.BillLine) bool { return l.Item == "sla_credit" && l.Amount.Minor < 0 }) {
		t.Errorf("the bill has no credit line: %+v", bill.Lines)
	}
	if len(bill.Provisional) == 0 {
		t.Error("the bill of an open month is not marked provisional")
	}
	table := s.cli("bill", "--lease=acme-train", "--month="+month)
	if !strings.Contains(table, "acme-train") {
		t.Errorf("the bill's table does not name the lease:\n%s", table)
	}
}

// thePluginTellsTheSame asks through the data source's backend, over real gRPC, and compares
// with the API's own words. The credit grows with the lease while it runs: what the plugin
// says lies between what the API said before and after.
func (s *site) thePluginTellsTheSame() {
	t := s.t
	t.Helper()
	span := backend.TimeRange{From: time.Now().Add(-time.Hour), To: time.Now()}
	query := func(ref, body string) backend.DataQuery {
		return backend.DataQuery{RefID: ref, JSON: []byte(body), TimeRange: span}
	}
	before := s.slaNow()
	responses := askPlugin(t, "http://"+s.serverAddress,
		query("use", `{"type":"usage","lease":"acme-train"}`),
		query("all", `{"type":"leases"}`),
		query("sla", `{"type":"sla","lease":"acme-train"}`),
		query("down", `{"type":"downtime","lease":"acme-train"}`),
	)
	after := s.slaNow()
	frames := map[string]*data.Frame{}
	for _, ref := range []string{"use", "all", "sla", "down"} {
		r := responses[ref]
		if r.Error != nil || len(r.Frames) != 1 || r.Frames[0].Rows() == 0 {
			t.Fatalf("query %s of the plugin: error %v, frames %d", ref, r.Error, len(r.Frames))
		}
		frames[ref] = r.Frames[0]
	}
	down := before.Downtimes[0].Span
	equal := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("the plugin's %s: found %v, expected %v", what, got, want)
		}
	}
	equal("verdict", cell[string](t, frames["sla"], "outcome", 0), "Breached")
	equal("down time", *cell[*float64](t, frames["sla"], "down_seconds", 0), float64(before.Verdict.DownMS)/1000)
	equal("state of the credit", cell[string](t, frames["sla"], "credit_state", 0), "Booked, provisional")
	credit := int64(math.Round(*cell[*float64](t, frames["sla"], "credit", 0) * 100)) // the copy for show, in cents
	if low, high := before.Credits[0].Amount.Minor, after.Credits[0].Amount.Minor; credit < low || credit > high || low <= 0 {
		t.Errorf("the plugin's credit: found %d cents, expected between %d and %d", credit, low, high)
	}
	equal("start of the downtime", cell[time.Time](t, frames["down"], "time", 0).UnixMilli(), int64(down.Start))
	equal("length of the downtime", *cell[*float64](t, frames["down"], "seconds", 0), float64(down.Duration())/1000)
	equal("lease", cell[string](t, frames["all"], "lease", 0), "acme-train")
	if cost := cell[*float64](t, frames["all"], "cost", 0); cost == nil || *cost <= 0 {
		t.Errorf("the plugin's cost of the lease: %v, expected more than nothing", cost)
	}
}

// slaNow is the API's word on the lease's month.
func (s *site) slaNow() api.SLA {
	s.t.Helper()
	sla, err := s.client.SLA(s.t.Context(), "acme-train", "")
	if err != nil || sla.Verdict == nil || len(sla.Credits) != 1 || len(sla.Downtimes) != 1 {
		s.t.Fatalf("SLA %+v, %v: expected a verdict with one downtime and its credit", sla, err)
	}
	return sla
}

// cell is a value of a frame by the name of its column.
func cell[T any](t testing.TB, f *data.Frame, name string, row int) T {
	t.Helper()
	field, _ := f.FieldByName(name)
	if field == nil {
		t.Fatalf("frame %s has no column %s", f.Name, name)
	}
	v, ok := field.At(row).(T)
	if !ok {
		t.Fatalf("column %s of frame %s: found %T", name, f.Name, field.At(row))
	}
	return v
}
