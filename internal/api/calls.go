package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Whoami returns who the server takes the caller for.
func (c *Client) Whoami(ctx context.Context) (rental.Principal, error) {
	var out rental.Principal
	return out, c.get(ctx, nil, &out, "whoami")
}

// Status returns how the server itself is.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var out Status
	return out, c.get(ctx, nil, &out, "status")
}

// Leases returns the leases that the query chooses, those of the caller's tenant only.
func (c *Client) Leases(ctx context.Context, q LeaseQuery) ([]LeaseSummary, error) {
	v := url.Values{}
	set(v, "tenant", q.Tenant)
	set(v, "provider", q.Provider)
	setTime(v, "at", q.At)
	var out List[LeaseSummary]
	return out.Items, c.get(ctx, v, &out, "leases")
}

// Lease returns one lease; ErrNotFound where there is none, or none for the caller.
func (c *Client) Lease(ctx context.Context, id string) (LeaseDetail, error) {
	var out LeaseDetail
	return out, c.get(ctx, nil, &out, "leases", id)
}

// LeaseHistory returns all that was recorded of a lease, the oldest first.
func (c *Client) LeaseHistory(ctx context.Context, id string) ([]rental.HistoryEntry, error) {
	var out List[rental.HistoryEntry]
	return out.Items, c.get(ctx, nil, &out, "leases", id, "history")
}

// EndLease ends a lease; ErrConflict where that would rewrite what is settled.
func (c *Client) EndLease(ctx context.Context, id string, in EndLease) (EndedLease, error) {
	var out EndedLease
	return out, c.post(ctx, in, &out, "leases", id, "end")
}

// Bill returns the bill of a lease.
func (c *Client) Bill(ctx context.Context, id string, p Period) (rental.Bill, error) {
	var out rental.Bill
	return out, c.get(ctx, p.values(), &out, "leases", id, "bill")
}

// BillAs returns the bill of a lease as the bytes of a format: json, csv, table, html, focus or
// focus-1.0. lang is that of a table or a page, en or zh; en where it is empty.
func (c *Client) BillAs(ctx context.Context, id string, p Period, format, lang string) ([]byte, error) {
	v := p.values()
	v.Set("format", format)
	set(v, "lang", lang)
	return c.do(ctx, request{method: http.MethodGet, path: []string{"leases", id, "bill"}, query: v})
}

// Usage returns a lease's cost beside its use in steps (StepHour, StepDay; "" is StepHour).
func (c *Client) Usage(ctx context.Context, id string, p Period, step string) (Usage, error) {
	v := p.values()
	set(v, "step", step)
	var out Usage
	return out, c.get(ctx, v, &out, "leases", id, "usage")
}

// SLA returns a lease's verdict for a contract's month; "" is the present one.
func (c *Client) SLA(ctx context.Context, id, month string) (SLA, error) {
	var out SLA
	return out, c.get(ctx, Period{Month: month}.values(), &out, "leases", id, "sla")
}

// SLATable returns the verdicts of the leases that the query chooses and that ran in the period.
func (c *Client) SLATable(ctx context.Context, q SLAQuery) (SLATable, error) {
	v := q.Period.values()
	set(v, "lease", q.Lease)
	set(v, "tenant", q.Tenant)
	set(v, "provider", q.Provider)
	var out SLATable
	return out, c.get(ctx, v, &out, "sla")
}

// Scorecard returns how a provider did, by the leases of the query that the caller may see. Its
// Provider is mandatory, its Lease is not looked at.
func (c *Client) Scorecard(ctx context.Context, q SLAQuery) (rental.Scorecard, error) {
	v := q.Period.values()
	set(v, "tenant", q.Tenant)
	var out rental.Scorecard
	return out, c.get(ctx, v, &out, "providers", q.Provider, "scorecard")
}

// Downtime returns the downtime of a lease that touches the period.
func (c *Client) Downtime(ctx context.Context, id string, p Period) (DowntimeList, error) {
	var out DowntimeList
	return out, c.get(ctx, p.values(), &out, "leases", id, "downtime")
}

// States returns how each GPU of a lease was over the period.
func (c *Client) States(ctx context.Context, id string, p Period) (StateHistory, error) {
	var out StateHistory
	return out, c.get(ctx, p.values(), &out, "leases", id, "states")
}

// CostVsUtilisation returns one row for each lease that the caller may see and that ran in
// the span; the zero span is the present month in UTC so far.
func (c *Client) CostVsUtilisation(ctx context.Context, span rental.Span) (CostTable, error) {
	v := Period{Span: span}.values()
	v.Set("group", "lease")
	var out CostTable
	return out, c.get(ctx, v, &out, "cost-vs-utilisation")
}

// Fleet returns every host and GPU as it is now.
func (c *Client) Fleet(ctx context.Context) (Fleet, error) {
	var out Fleet
	return out, c.get(ctx, nil, &out, "fleet")
}

// Incidents returns the incidents that the query chooses, the newest first.
func (c *Client) Incidents(ctx context.Context, q IncidentQuery) (IncidentList, error) {
	v := Period{Span: q.Span}.values()
	set(v, "status", string(q.Status))
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	var out IncidentList
	return out, c.get(ctx, v, &out, "incidents")
}

// Incident returns one incident with its timeline.
func (c *Client) Incident(ctx context.Context, id string) (IncidentDetail, error) {
	var out IncidentDetail
	return out, c.get(ctx, nil, &out, "incidents", id)
}

// AckIncident acknowledges an incident in the caller's name. Once acknowledged it stays so:
// a second call changes nothing.
func (c *Client) AckIncident(ctx context.Context, id string, in AckIncident) (rental.Incident, error) {
	var out rental.Incident
	return out, c.post(ctx, in, &out, "incidents", id, "ack")
}

// Apply takes YAML resources into the ledger as a whole, or with dryRun says what would change.
func (c *Client) Apply(ctx context.Context, yaml []byte, dryRun bool) (Changes, error) {
	v := url.Values{}
	if dryRun {
		v.Set("dry_run", "1")
	}
	var out Changes
	return out, c.call(ctx, request{
		method: http.MethodPost, path: []string{"apply"}, query: v, body: yaml, media: "application/yaml",
	}, &out)
}

// Proposals returns what exporters report beside what the inventory knows.
func (c *Client) Proposals(ctx context.Context) (Proposals, error) {
	var out Proposals
	return out, c.get(ctx, nil, &out, "inventory", "proposals")
}

// InventoryConflicts returns where records and reports contradict each other.
func (c *Client) InventoryConflicts(ctx context.Context) ([]rental.InventoryConflict, error) {
	var out List[rental.InventoryConflict]
	return out.Items, c.get(ctx, nil, &out, "inventory", "conflicts")
}

// Adopt takes proposals into the inventory.
func (c *Client) Adopt(ctx context.Context, in Adopt) (Changes, error) {
	var out Changes
	return out, c.post(ctx, in, &out, "inventory", "adopt")
}

// Providers returns all providers.
func (c *Client) Providers(ctx context.Context) ([]rental.Provider, error) {
	return list[rental.Provider](ctx, c, "providers")
}

// Tenants returns the tenants that the caller may see.
func (c *Client) Tenants(ctx context.Context) ([]rental.Tenant, error) {
	return list[rental.Tenant](ctx, c, "tenants")
}

// Sites returns all sites.
func (c *Client) Sites(ctx context.Context) ([]rental.Site, error) {
	return list[rental.Site](ctx, c, "sites")
}

// Hosts returns all hosts of the inventory.
func (c *Client) Hosts(ctx context.Context) ([]rental.Host, error) {
	return list[rental.Host](ctx, c, "hosts")
}

// GPUs returns all cards of the inventory.
func (c *Client) GPUs(ctx context.Context) ([]rental.GPU, error) {
	return list[rental.GPU](ctx, c, "gpus")
}

// MIGInstances returns all MIG instances of the inventory, those that were removed too.
func (c *Client) MIGInstances(ctx context.Context) ([]rental.MIGInstance, error) {
	return list[rental.MIGInstance](ctx, c, "mig-instances")
}

// SKUs returns all hardware classes.
func (c *Client) SKUs(ctx context.Context) ([]rental.SKU, error) {
	return list[rental.SKU](ctx, c, "skus")
}

// Contracts returns all contracts.
func (c *Client) Contracts(ctx context.Context) ([]rental.Contract, error) {
	return list[rental.Contract](ctx, c, "contracts")
}

// Tokens returns all tokens, without their secrets.
func (c *Client) Tokens(ctx context.Context) ([]rental.Token, error) {
	return list[rental.Token](ctx, c, "tokens")
}

// CreateToken makes a token; its secret is in this answer only.
func (c *Client) CreateToken(ctx context.Context, in NewToken) (CreatedToken, error) {
	var out CreatedToken
	return out, c.post(ctx, in, &out, "tokens")
}

// Enroll makes the guest that holds the client's enrolment token one that may push.
func (c *Client) Enroll(ctx context.Context, in Enroll) (Enrolled, error) {
	var out Enrolled
	return out, c.post(ctx, in, &out, "enroll")
}

// RevokeToken ends the token of that name at once.
func (c *Client) RevokeToken(ctx context.Context, name string) error {
	return c.call(ctx, request{method: http.MethodDelete, path: []string{"tokens", name}}, nil)
}

func list[T any](ctx context.Context, c *Client, path string) ([]T, error) {
	var out List[T]
	return out.Items, c.get(ctx, nil, &out, path)
}

func (p Period) values() url.Values {
	v := url.Values{}
	set(v, "month", p.Month)
	if p.Month == "" {
		setTime(v, "from", p.Span.Start)
		if p.Span.End != rental.Forever {
			setTime(v, "to", p.Span.End)
		}
	}
	return v
}

func set(v url.Values, name, value string) {
	if value != "" {
		v.Set(name, value)
	}
}

func setTime(v url.Values, name string, at rental.Millis) {
	if at != 0 {
		v.Set(name, at.String())
	}
}
