package httpapi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/httpapi"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// noon is the present of all tests.
var noon = time.Date(2026, 5, 15, 12, 0, 0, 0, time.UTC)

// The leases of two tenants; what belongs to globex says so in every text, so that a leak
// is found by looking for its name.
var (
	acmeLease   = api.LeaseSummary{ID: "L-acme", Tenant: "acme", Provider: "north", Currency: "USD"}
	globexLease = api.LeaseSummary{ID: "L-globex", Tenant: "globex", Provider: "north", Currency: "USD"}
)

// backend answers for every room behind the API, from memory.
type backend struct {
	fail   error // what every method answers, where set
	panics bool
	asked  []string // what was asked of it, for tests of what must not be asked
	acked  []string

	leaks    bool // Bills answers with another's bill too
	unbilled bool // Bills could not make one
	stuck    bool // ActOnMaintenance cannot write
}

var (
	_ httpapi.StatusReader = (*backend)(nil)
	_ httpapi.LeaseReader  = (*backend)(nil)
	_ httpapi.Past         = (*backend)(nil)
	_ httpapi.LeaseEnder   = (*backend)(nil)
	_ httpapi.BillReader   = (*backend)(nil)
	_ httpapi.BillRenderer = (*backend)(nil)
	_ httpapi.Books        = (*backend)(nil)
	_ httpapi.UsageReader  = (*backend)(nil)
	_ httpapi.SLAReader    = (*backend)(nil)
	_ httpapi.Downtimes    = (*backend)(nil)
	_ httpapi.Proofs       = (*backend)(nil)
	_ httpapi.Credits      = (*backend)(nil)
	_ httpapi.Maintenances = (*backend)(nil)
	_ httpapi.FleetReader  = (*backend)(nil)
	_ httpapi.Incidents    = (*backend)(nil)
	_ httpapi.IncidentActs = (*backend)(nil)
	_ httpapi.OnCallReader = (*backend)(nil)
	_ httpapi.Ledger       = (*backend)(nil)
	_ httpapi.Adopter      = (*backend)(nil)
	_ httpapi.Assigner     = (*backend)(nil)
	_ httpapi.Approvals    = (*backend)(nil)
	_ httpapi.Tokens       = (*backend)(nil)
)

func (b *backend) ask(format string, args ...any) error {
	b.asked = append(b.asked, fmt.Sprintf(format, args...))
	if b.panics {
		panic("broken")
	}
	return b.fail
}

func (b *backend) Status(context.Context) (api.Status, error) {
	return api.Status{
		Version:     "1.2.3",
		Paging:      api.Paging{Reason: "no Slack token is configured"},
		Outbox:      api.Outbox{Pending: 1, Reason: "about globex"},
		TargetsDown: []api.Failure{{Name: "host-globex", Reason: "connection refused"}},
	}, b.ask("status")
}

func (b *backend) Leases(_ context.Context, q api.LeaseQuery) ([]api.LeaseSummary, error) {
	// Deliberately deaf to the filter: the view must cut by itself.
	return []api.LeaseSummary{acmeLease, globexLease}, b.ask("leases tenant=%s at=%s", q.Tenant, q.At)
}

func (b *backend) Lease(_ context.Context, id string) (api.LeaseDetail, error) {
	return api.LeaseDetail{
		Lease:       rental.Lease{ID: id, End: rental.Forever},
		GPUs:        []rental.GPU{{UUID: "GPU-a", Host: "shared-host"}},
		Maintenance: []rental.Maintenance{{ID: "M1", Leases: []string{"L-acme", "L-globex"}, Hosts: []string{"host-globex", "shared-host"}}},
	}, b.ask("lease %s", id)
}

func (b *backend) Pending(context.Context) ([]rental.Pending, error) {
	return []rental.Pending{{ID: "P-1", EnteredBy: "PER-1"}, {ID: "P-2", Decision: rental.DecisionRejected}}, b.ask("pending")
}

func (b *backend) DecidePending(_ context.Context, by rental.Principal, id string, approve bool, note string) (rental.Pending, error) {
	return rental.Pending{ID: id}, b.ask("decide %s by %s: %t, %q", id, by.Name, approve, note)
}

func (b *backend) LeaseHistory(_ context.Context, id string) ([]rental.HistoryEntry, error) {
	return []rental.HistoryEntry{{Kind: rental.KindLease, Name: id, Revision: 1, Action: rental.ActionCreate, By: "ada", Why: "as globex has it"}}, b.ask("history %s", id)
}

// AsOf answers with the same backend, which then says from when.
func (b *backend) AsOf(at rental.Millis) httpapi.Known {
	_ = b.ask("as of %s", at)
	return httpapi.Known{Leases: b, Bills: b, Books: b, SLA: b}
}

func (b *backend) LeaseTenant(_ context.Context, id string) (string, error) {
	if b.fail != nil {
		return "", b.fail
	}
	switch id {
	case acmeLease.ID:
		return "acme", nil
	case globexLease.ID:
		return "globex", nil
	}
	return "", &rental.Error{Code: rental.CodeNotFound, Message: "the ledger holds no such lease"}
}

func (b *backend) EndLease(_ context.Context, by rental.Principal, id string, at rental.Millis) (api.EndedLease, error) {
	return api.EndedLease{Lease: rental.Lease{ID: id, End: at}}, b.ask("end %s at %s by %s", id, at, by.Name)
}

func (b *backend) Bill(_ context.Context, lease string, p api.Period, _ string) (rental.Bill, error) {
	return rental.Bill{Lease: lease, Currency: "USD"}, b.ask("bill %s month=%s %s..%s", lease, p.Month, p.Span.Start, p.Span.End)
}

func (b *backend) RenderBills(_ context.Context, w io.Writer, bills []rental.Bill, format, lang string) error {
	for _, bill := range bills {
		if _, err := fmt.Fprintf(w, "bill of %s as %s in %s\n", bill.Lease, format, lang); err != nil {
			return err
		}
	}
	return nil
}

func (b *backend) Bills(_ context.Context, q api.BillQuery) (api.Bills, error) {
	all := api.Bills{Bills: []rental.Bill{{Lease: "L-acme", Tenant: "acme"}, {Lease: "L-globex", Tenant: "globex"}}}
	if q.Tenant == "acme" && !b.leaks {
		all.Bills = all.Bills[:1]
	}
	if b.unbilled {
		all.Failures = []api.Failure{{Name: "L-3", Reason: "no rate holds"}}
	}
	return all, b.ask("bills lease=%s tenant=%s provider=%s month=%s", q.Lease, q.Tenant, q.Provider, q.Period.Month)
}

func (b *backend) Simulate(_ context.Context, lease string, p api.Period) ([]rental.Quote, error) {
	return []rental.Quote{{Contract: "cheap", Lines: []rental.BillLine{}}}, b.ask("simulate %s month=%s", lease, p.Month)
}

func (b *backend) SimulateProfile(_ context.Context, in api.UseProfile) ([]rental.Quote, error) {
	return []rental.Quote{{Contract: "cheap", Lines: []rental.BillLine{}}}, b.ask("simulate %d GPUs for %d days from %s", in.GPUs, in.Days, in.From)
}

func (b *backend) OwnOrRent(_ context.Context, lease string, in api.OwnOrRent) (api.OwnComparison, error) {
	return api.OwnComparison{Lease: lease, Month: in.Month}, b.ask("own or rent %s in %s for %s", lease, in.Month, in.Price)
}

func (b *backend) CloseMonth(_ context.Context, by rental.Principal, in api.CloseMonth) (api.Closing, error) {
	return api.Closing{Month: in.Month}, b.ask("close %s by %s", in.Month, by.Name)
}

func (b *backend) Invoices(_ context.Context, month string) ([]api.InvoiceSummary, error) {
	return []api.InvoiceSummary{{Number: "INV-acme", Tenant: "acme"}, {Number: "INV-globex", Tenant: "globex"}}, b.ask("invoices %s", month)
}

func (b *backend) Invoice(_ context.Context, number string) (string, []byte, error) {
	tenant := map[string]string{"INV-acme": "acme", "INV-globex": "globex"}[number]
	if tenant == "" {
		return "", nil, &rental.Error{Code: rental.CodeNotFound, Message: "none"}
	}
	return tenant, []byte("{}\n"), b.fail
}

func (b *backend) Usage(_ context.Context, lease string, p api.Period, step string) (api.Usage, error) {
	return api.Usage{Lease: lease, Step: step}, b.ask("usage %s month=%s %s..%s by %s", lease, p.Month, p.Span.Start, p.Span.End, step)
}

func (b *backend) CostVsUtilisation(_ context.Context, _ rental.Span, tenant string) (api.CostTable, error) {
	return api.CostTable{Rows: []api.CostRow{{Lease: acmeLease.ID, Tenant: "acme"}, {Lease: globexLease.ID, Tenant: "globex"}}}, b.ask("cost tenant=%s", tenant)
}

func (b *backend) Heads(_ context.Context, lease string) (api.Heads, error) {
	return api.Heads{Lease: lease, Heads: []rental.Head{{Lease: lease, Number: 1}}}, b.ask("heads %s", lease)
}

func (b *backend) Report(_ context.Context, lease string, q api.ReportQuery) ([]byte, error) {
	return []byte("{}"), b.ask("report %s month=%s trial=%v as %s", lease, q.Period.Month, q.Trial, q.Format)
}

func (b *backend) SigningKeys(context.Context) ([]rental.SigningKey, error) {
	return []rental.SigningKey{{ID: "k1"}}, b.ask("signing keys")
}

func (b *backend) SLATable(_ context.Context, q api.SLAQuery) (api.SLATable, error) {
	// Deliberately deaf to the filter, as Leases is.
	return api.SLATable{
		Rows:     []api.LeaseSLA{{Lease: "L-acme", Tenant: "acme"}, {Lease: "L-globex", Tenant: "globex"}},
		Failures: []api.Failure{{Name: "L-globex", Reason: "contract of globex"}},
	}, b.ask("sla lease=%s tenant=%s provider=%s month=%s", q.Lease, q.Tenant, q.Provider, q.Period.Month)
}

func (b *backend) Scorecard(_ context.Context, q api.SLAQuery) (rental.Scorecard, error) {
	return rental.Scorecard{Provider: q.Provider, Tenant: q.Tenant, Leases: []string{"L-" + q.Tenant}}, b.ask("scorecard provider=%s tenant=%s month=%s", q.Provider, q.Tenant, q.Period.Month)
}

func (b *backend) SLA(_ context.Context, lease string, p api.Period) (api.SLA, error) {
	return api.SLA{Verdict: &rental.Verdict{Lease: lease}}, b.ask("sla %s month=%s", lease, p.Month)
}

func (b *backend) LeaseDowntime(_ context.Context, lease string, _ api.Period) (api.DowntimeList, error) {
	return api.DowntimeList{Lease: lease}, b.ask("downtime %s", lease)
}

func (b *backend) States(_ context.Context, lease string, _ api.Period) (api.StateHistory, error) {
	return api.StateHistory{Lease: lease}, b.ask("states %s", lease)
}

// downtimeFacts are one of each tenant.
func downtimeFacts() []api.DowntimeFact {
	return []api.DowntimeFact{
		{Downtime: rental.Downtime{ID: "DT-acme", EnteredBy: "PER-1", Lease: acmeLease.ID, UUIDs: []string{"GPU-a"}}, Tenant: "acme", State: rental.DowntimeWaiting},
		{Downtime: rental.Downtime{ID: "DT-globex", Lease: globexLease.ID, UUIDs: []string{"GPU-globex"}}, Tenant: "globex", State: rental.DowntimeWaiting},
	}
}

func (b *backend) Downtimes(_ context.Context, q api.DowntimeQuery) ([]api.DowntimeFact, error) {
	return downtimeFacts(), b.ask("downtimes lease=%s tenant=%s state=%s", q.Lease, q.Tenant, q.State)
}

func (b *backend) Downtime(_ context.Context, id string) (api.DowntimeFact, error) {
	for _, d := range downtimeFacts() {
		if d.ID == id {
			return d, b.fail
		}
	}
	return api.DowntimeFact{}, &rental.Error{Code: rental.CodeNotFound, Message: "none"}
}

func (b *backend) RecordDowntime(_ context.Context, by rental.Principal, in api.RecordDowntime) (api.DowntimeFact, error) {
	return api.DowntimeFact{Downtime: rental.Downtime{ID: "DT-1", Lease: in.Lease}}, b.ask("record downtime of %s by %s", in.Lease, by.Name)
}

func (b *backend) ActOnDowntime(_ context.Context, by rental.Principal, id string, act rental.Act) (api.DowntimeFact, error) {
	return api.DowntimeFact{Downtime: rental.Downtime{ID: id}}, b.ask("%s %s by %s for the %s: %s%s %s", act.Kind, id, by.Name, act.Side, act.Cause, act.Outcome, act.Note)
}

// maintenanceFacts are one of both tenants, one of globex alone and one that was over; nobody was told yet.
func maintenanceFacts() []api.MaintenanceFact {
	announced := rental.Act{At: 1, By: "ann", Kind: rental.ActAnnounced, Note: "firmware"}
	told := rental.Act{At: 2, By: "ann", Kind: rental.ActDelivered, Tenant: "globex", Way: "mail", Note: "globex was told"}
	acme, globex := api.MaintenanceLease{Lease: "L-acme", Tenant: "acme", Hosts: []string{"shared-host"}}, api.MaintenanceLease{Lease: "L-globex", Tenant: "globex", Hosts: []string{"host-globex", "shared-host"}}
	return []api.MaintenanceFact{
		{Maintenance: rental.Maintenance{ID: "M-both", Hosts: []string{"shared-host", "host-globex"}, Recipients: []string{"acme", "globex"}, Acts: []rental.Act{announced, told}},
			State: rental.MaintenanceAnnounced, Touches: []api.MaintenanceLease{acme, globex}},
		{Maintenance: rental.Maintenance{ID: "M-globex", Leases: []string{"L-globex"}, Acts: []rental.Act{announced}}, State: rental.MaintenanceRunning, Touches: []api.MaintenanceLease{globex}},
		{Maintenance: rental.Maintenance{ID: "M-over", Leases: []string{"L-acme"}, Acts: []rental.Act{announced}}, State: rental.MaintenanceOver, Touches: []api.MaintenanceLease{acme}},
	}
}

func (b *backend) Maintenances(_ context.Context, q api.MaintenanceQuery) ([]api.MaintenanceFact, error) {
	return maintenanceFacts(), b.ask("maintenances lease=%s tenant=%s host=%s state=%s", q.Lease, q.Tenant, q.Host, q.State)
}

func (b *backend) Maintenance(_ context.Context, id string) (api.MaintenanceFact, error) {
	for _, m := range maintenanceFacts() {
		if m.ID == id {
			return m, b.fail
		}
	}
	return api.MaintenanceFact{}, &rental.Error{Code: rental.CodeNotFound, Message: "none"}
}

func (b *backend) AnnounceMaintenance(_ context.Context, by rental.Principal, in api.AnnounceMaintenance) (api.MaintenanceFact, error) {
	return api.MaintenanceFact{}, b.ask("announce %s by %s: %s", in.ID, by.Name, in.Reason)
}

func (b *backend) ActOnMaintenance(_ context.Context, by rental.Principal, id string, act rental.Act) (api.MaintenanceFact, error) {
	if b.stuck {
		return api.MaintenanceFact{}, errors.New("the disk is full")
	}
	for _, m := range maintenanceFacts() {
		if m.ID == id {
			act.By = by.Name
			m.Acts = append(m.Acts, act)
			return m, b.ask("%s %s by %s for the %s to %q by %q: %s", act.Kind, id, by.Name, act.Side, act.Tenant, act.Way, act.Note)
		}
	}
	return api.MaintenanceFact{}, &rental.Error{Code: rental.CodeNotFound, Message: "none"}
}

// creditFacts are one of each tenant.
func creditFacts() []api.CreditFact {
	return []api.CreditFact{
		{Credit: rental.Credit{ID: "L-acme:2026-04", Lease: acmeLease.ID}, Tenant: "acme", Month: "2026-04"},
		{Credit: rental.Credit{ID: "L-globex:2026-04", Lease: globexLease.ID}, Tenant: "globex", Month: "2026-04"},
	}
}

func (b *backend) Credits(_ context.Context, q api.CreditQuery) ([]api.CreditFact, error) {
	return creditFacts(), b.ask("credits lease=%s tenant=%s month=%s state=%s", q.Lease, q.Tenant, q.Month, q.State)
}

func (b *backend) Credit(_ context.Context, id string) (api.CreditFact, error) {
	for _, c := range creditFacts() {
		if c.ID == id {
			return c, b.fail
		}
	}
	return api.CreditFact{}, &rental.Error{Code: rental.CodeNotFound, Message: "none"}
}

func (b *backend) ActOnCredit(_ context.Context, by rental.Principal, id string, act rental.Act) (api.CreditFact, error) {
	return api.CreditFact{Credit: rental.Credit{ID: id}}, b.ask("%s %s by %s for the %s: %s", act.Kind, id, by.Name, act.Side, act.Note)
}

func (b *backend) CreditPack(_ context.Context, id, format, lang string) ([]byte, error) {
	return []byte("pack"), b.ask("pack %s as %s in %s", id, format, lang)
}

func (b *backend) Fleet(context.Context) (api.Fleet, error) {
	return api.Fleet{Hosts: []api.FleetHost{
		{Host: "shared-host", GPUs: []api.FleetGPU{
			{UUID: "GPU-a", Tenant: "acme", Lease: acmeLease.ID},
			{UUID: "GPU-globex", Tenant: "globex", Lease: globexLease.ID},
			{UUID: "GPU-unleased"},
		}},
		{Host: "cut-host", GPUs: []api.FleetGPU{{UUID: "GPU-cut", State: "ok", PowerWatts: new(400.0), MIG: []api.FleetMIG{
			{UUID: "MIG-acme", Lease: "L-acme", Tenant: "acme"}, {UUID: "MIG-globex", Lease: "L-globex", Tenant: "globex"}}},
			{UUID: "GPU-unleased-cut", MIG: []api.FleetMIG{{UUID: "MIG-free"}}}}},
		{Host: "host-globex", GPUs: []api.FleetGPU{{UUID: "GPU-globex-2", Tenant: "globex"}}},
	}}, b.ask("fleet")
}

// incidents are one of both tenants, one of each alone and one of nobody's.
func incidents() []rental.Incident {
	alert := func(tenant, lease string) rental.Alert {
		return rental.Alert{
			Labels:      map[string]string{"tenant": tenant, "lease": lease},
			Annotations: map[string]string{"summary": "GPU of " + tenant + " lost"},
		}
	}
	return []rental.Incident{
		{
			ID: "INC-both", Key: "slack/{subject=host-globex}", Title: "GPU of globex lost", AckedBy: "ann", Status: rental.IncidentAcked,
			Tenants: []string{"globex", "acme"}, Leases: []string{globexLease.ID, acmeLease.ID},
			Alerts:   []rental.Alert{alert("globex", globexLease.ID), alert("acme", acmeLease.ID)},
			Messages: map[string]rental.MessageRef{"slack:C1": {Channel: "C1"}},
			Events: []rental.IncidentEvent{
				{Kind: "opened", Note: "globex first"}, {Kind: "note", By: "ann", Note: "called globex"}, {Kind: "acked", By: "ann"},
			},
		},
		{ID: "INC-globex", Title: "globex alone", Tenants: []string{"globex"}, Leases: []string{globexLease.ID}, Alerts: []rental.Alert{alert("globex", globexLease.ID)}},
		{ID: "INC-acme", Title: "acme alone", Tenants: []string{"acme"}, Leases: []string{acmeLease.ID}, Alerts: []rental.Alert{alert("acme", acmeLease.ID)}},
		{
			ID: "INC-alone", Title: "driver down on shared-host", Tenants: []string{"acme"}, Leases: []string{acmeLease.ID},
			Alerts: []rental.Alert{{Labels: map[string]string{"host": "shared-host"}, Annotations: map[string]string{"summary": "driver down on shared-host"}}},
		},
		{
			ID: "INC-late", Title: "GPU of globex lost", Tenants: []string{"acme"}, Leases: []string{acmeLease.ID},
			Alerts: []rental.Alert{alert("globex", globexLease.ID), alert("acme", acmeLease.ID)},
		},
		{
			ID: "INC-shared", Title: "host silent: shared-host", Tenants: []string{"acme", "globex"}, Leases: []string{acmeLease.ID, globexLease.ID},
			Alerts: []rental.Alert{{
				Labels:      map[string]string{"host": "shared-host", "lease": rental.Several, "tenant": rental.Several},
				Annotations: map[string]string{"summary": "host silent: shared-host"},
				Holders:     []rental.Holder{{Lease: acmeLease.ID, Tenant: "acme"}, {Lease: globexLease.ID, Tenant: "globex"}},
			}},
		},
		{ID: "INC-nobody", Title: "exporter down on host-globex"},
	}
}

func (b *backend) Incidents(_ context.Context, q api.IncidentQuery) ([]rental.Incident, error) {
	found := slices.DeleteFunc(incidents(), func(in rental.Incident) bool {
		return q.Tenant != "" && !slices.Contains(in.Tenants, q.Tenant)
	})
	return found[:min(len(found), q.Limit)], b.ask("incidents status=%s limit=%d", q.Status, q.Limit)
}

func (b *backend) Incident(_ context.Context, id string) (api.IncidentDetail, error) {
	for _, in := range incidents() {
		if in.ID == id {
			return api.IncidentDetail{Incident: in, Deliveries: []rental.Delivery{{Text: "globex is told"}}}, b.fail
		}
	}
	return api.IncidentDetail{}, &rental.Error{Code: rental.CodeNotFound, Message: "none"}
}

func (b *backend) AckIncident(_ context.Context, by rental.Principal, id, note string) (rental.Incident, error) {
	b.acked = append(b.acked, fmt.Sprintf("%s by %s: %s", id, by.Name, note))
	return rental.Incident{ID: id, Status: rental.IncidentAcked, AckedBy: by.Name}, b.fail
}

func (b *backend) SilenceIncident(_ context.Context, by rental.Principal, id string, length time.Duration) (rental.Incident, error) {
	return rental.Incident{ID: id}, b.ask("silence %s for %s by %s", id, length, by.Name)
}

func (b *backend) EscalateIncident(_ context.Context, by rental.Principal, id string) (rental.Incident, error) {
	return rental.Incident{ID: id}, b.ask("escalate %s by %s", id, by.Name)
}

func (b *backend) NoteIncident(_ context.Context, by rental.Principal, id, note string) (rental.Incident, error) {
	return rental.Incident{ID: id}, b.ask("note %q on %s by %s", note, id, by.Name)
}

func (b *backend) ExportIncident(_ context.Context, id, lang string) ([]byte, error) {
	return []byte("# " + id + " " + lang), b.fail
}

func (b *backend) OnCall(_ context.Context, q api.OnCallQuery) (api.OnCall, error) {
	return api.OnCall{At: q.At}, b.ask("on call at %s, %d turns", q.At, q.Turns)
}

func (b *backend) Apply(_ context.Context, by rental.Principal, yaml []byte, dryRun bool) (api.Changes, error) {
	return api.Changes{DryRun: dryRun, Changes: []rental.Change{{Kind: rental.KindLease, Name: "L", Action: rental.ActionCreate}}}, b.ask("apply %d bytes dry=%t by %s", len(yaml), dryRun, by.Name)
}

func (b *backend) Resources(context.Context) (rental.Resources, error) {
	return rental.Resources{Tenants: []rental.Tenant{{Name: "acme"}, {Name: "globex"}}}, b.ask("resources")
}

func (b *backend) Conflicts(context.Context) ([]rental.InventoryConflict, error) {
	return nil, b.ask("conflicts")
}

func (b *backend) TellAssignments(_ context.Context, by rental.Principal, in api.TellAssignments) (api.ToldAssignments, error) {
	return api.ToldAssignments{}, b.ask("assignments by=%s strict=%v", by.Name, in.Strict)
}

var (
	_ httpapi.Cards      = (*backend)(nil)
	_ httpapi.UseReports = (*backend)(nil)
	_ httpapi.RMAs       = (*backend)(nil)
)

func (b *backend) RMAs(_ context.Context, q api.RMAQuery) ([]rental.RMA, error) {
	return nil, b.ask("rmas gpu=%s state=%s", q.GPU, q.State)
}

func (b *backend) RMA(_ context.Context, id string) (rental.RMA, error) {
	return rental.RMA{ID: id}, b.ask("rma %s", id)
}

func (b *backend) OpenRMA(_ context.Context, by rental.Principal, in api.OpenRMA) (rental.RMA, error) {
	return rental.RMA{GPU: in.GPU}, b.ask("open rma by=%s gpu=%s incident=%s: %s", by.Name, in.GPU, in.Incident, in.Why)
}

func (b *backend) ActOnRMA(_ context.Context, by rental.Principal, id string, act rental.Act, with rental.RMAReplacement) (rental.RMA, error) {
	return rental.RMA{ID: id}, b.ask("%s %s by=%s as %s with %s %s: %s", act.Kind, id, by.Name, act.Outcome, with.UUID, with.Serial, act.Note)
}

func (b *backend) RMABundle(_ context.Context, id string, q api.RMABundleQuery) ([]byte, error) {
	return []byte("bundle"), b.ask("bundle %s days=%d tenants=%v", id, q.Days, q.Tenants)
}

func (b *backend) SwapGPU(_ context.Context, by rental.Principal, lease string, in api.SwapGPU) ([]rental.Assignment, error) {
	return nil, b.ask("swap by=%s lease=%s gpu=%s with=%s", by.Name, lease, in.GPU, in.With)
}

func (b *backend) SetGPULife(_ context.Context, by rental.Principal, uuid string, in api.SetGPULife, _ rental.Millis) (api.Changes, error) {
	return api.Changes{}, b.ask("life by=%s gpu=%s life=%s", by.Name, uuid, in.Life)
}

func (b *backend) GPUHistory(_ context.Context, uuid string) ([]api.GPUStay, error) {
	return nil, b.ask("history gpu=%s", uuid)
}

func (b *backend) IdleUse(_ context.Context, _ rental.Span, tenant string, perKWh rental.Decimal) (api.IdleReport, error) {
	// Deliberately deaf to the filter: the view must cut by itself.
	return api.IdleReport{Rows: []api.IdleRow{{CostRow: api.CostRow{Lease: "L-acme", Tenant: "acme"}}, {CostRow: api.CostRow{Lease: "L-globex", Tenant: "globex"}}}},
		b.ask("idle tenant=%s price=%s", tenant, perKWh)
}

func (b *backend) UnleasedUse(context.Context, rental.Span) (api.UnleasedReport, error) {
	return api.UnleasedReport{}, b.ask("unleased")
}

func (b *backend) Proposals(context.Context) (api.Proposals, error) {
	return api.Proposals{}, b.ask("proposals")
}

func (b *backend) Adopt(_ context.Context, _ rental.Principal, in api.Adopt) (api.Changes, error) {
	return api.Changes{}, b.ask("adopt %v at %s", in.Hosts, in.Site)
}

func (b *backend) Tokens(context.Context) ([]rental.Token, error) { return nil, b.ask("tokens") }

func (b *backend) CreateToken(_ context.Context, _, holder rental.Principal) (rental.Token, string, error) {
	return rental.Token{Principal: holder}, "lw_new", b.ask("create token %s", holder.Name)
}

func (b *backend) Holds(context.Context) ([]rental.Hold, error) {
	return []rental.Hold{{ID: "HOLD-1", PlacedBy: "PER-1"}, {ID: "HOLD-2", ReleasedAt: 1}}, b.ask("holds")
}

func (b *backend) PlaceHold(_ context.Context, by rental.Principal, in api.PlaceHold) (rental.Hold, error) {
	return rental.Hold{ID: "HOLD-1"}, b.ask("place hold on %s by %s: %s", in.Scope, by.Name, in.Reason)
}

func (b *backend) ReleaseHold(_ context.Context, by rental.Principal, id, why string) (rental.Hold, error) {
	return rental.Hold{ID: id}, b.ask("release %s by %s: %s", id, by.Name, why)
}

func (b *backend) Retention(_ context.Context, count bool) ([]rental.Retained, error) {
	return []rental.Retained{{Kind: rental.RetainTokens}}, b.ask("retention %t", count)
}

// Names knows one person: ids of others are shown as they are.
func (b *backend) Names(_ context.Context, tenant string) (rental.Names, error) {
	if tenant == "acme" {
		return rental.Names{}, nil
	}
	return rental.Names{"PER-1": "Ada Lovelace (PER-1)"}, nil
}

func (b *backend) People(context.Context) ([]rental.Person, error) { return nil, b.ask("people") }

func (b *backend) Person(_ context.Context, id string) (api.PersonDetail, error) {
	return api.PersonDetail{}, b.ask("person %s", id)
}

func (b *backend) AddPerson(_ context.Context, by rental.Principal, in api.NewPerson) (rental.Person, error) {
	return rental.Person{ID: "PER-1", Name: in.Name}, b.ask("add person by=%s name=%s", by.Name, in.Name)
}

func (b *backend) ChangePerson(_ context.Context, by rental.Principal, id string, in api.NewPerson) (rental.Person, error) {
	return rental.Person{ID: id, Name: in.Name}, b.ask("change person by=%s id=%s name=%s", by.Name, id, in.Name)
}

func (b *backend) ErasePerson(_ context.Context, by rental.Principal, id, why string) (api.ErasedPerson, error) {
	return api.ErasedPerson{Person: rental.Person{ID: id}}, b.ask("erase person by=%s id=%s why=%s", by.Name, id, why)
}

func (b *backend) RevokeToken(_ context.Context, _ rental.Principal, name string) error {
	return b.ask("revoke token %s", name)
}

func (b *backend) CreateEnrolment(_ context.Context, _ rental.Principal, name, lease string, ttl time.Duration) (rental.Token, string, error) {
	return rental.Token{Principal: rental.Principal{Name: name, Role: rental.RoleEnroll, Lease: lease}}, "lw_once", b.ask("create enrolment %s of %s for %s", name, lease, ttl)
}

func (b *backend) Enroll(_ context.Context, guest rental.Principal, host, hash string) (rental.Principal, error) {
	return rental.Principal{Name: guest.Name, Role: rental.RolePush, Host: host, Lease: guest.Lease}, b.ask("enroll %s at %s by %s", guest.Name, host, hash[:4])
}

// holders are the tokens that the tests know: one of every role, and a second tenant's.
type holders struct{ fail error }

var _ httpapi.Authenticator = holders{}

func (h holders) Authenticate(_ context.Context, secret string) (rental.Principal, error) {
	if h.fail != nil {
		return rental.Principal{}, h.fail
	}
	switch secret {
	case "tenant":
		return rental.Principal{Name: "acme-bot", Role: rental.RoleTenant, Tenant: "acme"}, nil
	case "tenant-of-none": // a row that was damaged
		return rental.Principal{Name: "nobody", Role: rental.RoleTenant}, nil
	case "stranger":
		return rental.Principal{Name: "stranger", Role: "root"}, nil
	}
	if secret == string(rental.RoleEnroll) {
		return rental.Principal{Name: "vm-3", Role: rental.RoleEnroll, Lease: "L-acme"}, nil
	}
	for _, role := range rental.Roles {
		if secret == string(role) {
			return rental.Principal{Name: "a-" + secret, Role: role}, nil
		}
	}
	return rental.Principal{}, &rental.Error{Code: rental.CodeNotFound, Message: "no such token"}
}

// served is the handler under test with what lies behind it.
type served struct {
	http.Handler

	backend *backend
	logged  *bytes.Buffer
}

func serve(tb testing.TB, anonymous *rental.Principal) served {
	tb.Helper()
	s := served{backend: &backend{}, logged: &bytes.Buffer{}}
	log := slog.New(slog.NewTextHandler(s.logged, nil))
	b := s.backend
	h, err := httpapi.New(httpapi.Deps{
		Gate:   httpapi.NewGate(holders{}, anonymous, log),
		Status: b, Leases: b, Past: b, Ender: b, Bills: b, Renderer: b, Books: b, Usage: b, SLA: b, Downtimes: b, Credits: b, Maintenances: b, Fleet: b,
		Proofs: b,
		Clocks: b, Protection: b,
		Incidents: b, IncidentActs: b, OnCall: b, Ledger: b, Adopter: b, Approvals: b, Tokens: b, People: b, Holds: b,
		Assigner: b, Cards: b, RMAs: b, Use: b,
		Log: log, Now: func() time.Time { return noon }, Version: "1.2.3",
	})
	if err != nil {
		tb.Fatal(err)
	}
	s.Handler = h
	return s
}
