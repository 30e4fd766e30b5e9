// Package httpapi serves Leasewatch's HTTP API (/api/v1): who may ask what, what a tenant
// sees, and the shape of requests and answers. What it answers with comes from the small
// interfaces below, which the server joins to the rooms behind them.
package httpapi

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// An error of any of these interfaces reaches the caller by its kind: *api.Error with its
// own status; *rental.Error by its code (not_found 404, invalid 422, conflict and refused
// 409, unavailable 503); any other is logged and answered with 500, without its text.

// Authenticator tells who holds a secret.
type Authenticator interface {
	// Authenticate returns an error of rental.CodeNotFound or CodeRefused for a secret that
	// nobody holds (any more); any other error means that it could not be looked up.
	Authenticate(ctx context.Context, secret string) (rental.Principal, error)
}

// StatusReader tells how the server itself is.
type StatusReader interface {
	Status(ctx context.Context) (api.Status, error)
}

// LeaseReader reads leases.
type LeaseReader interface {
	Leases(ctx context.Context, q api.LeaseQuery) ([]api.LeaseSummary, error)
	Lease(ctx context.Context, id string) (api.LeaseDetail, error)
	// LeaseHistory returns all that was recorded of a lease, the oldest first.
	LeaseHistory(ctx context.Context, id string) ([]rental.HistoryEntry, error)
	// LeaseTenant returns whose lease it is; rental.CodeNotFound where there is none.
	LeaseTenant(ctx context.Context, id string) (string, error)
}

// Past answers as things were known at a moment.
type Past interface {
	AsOf(at rental.Millis) Known
}

// Known are the readers whose answers rest on recorded facts alone.
type Known struct {
	Leases LeaseReader
	Bills  BillReader
	Books  Books
	SLA    SLAReader
}

// LeaseEnder ends leases.
type LeaseEnder interface {
	EndLease(ctx context.Context, by rental.Principal, id string, at rental.Millis) (api.EndedLease, error)
}

// BillReader makes bills. The zero Period is the contract's present month.
type BillReader interface {
	// Bill writes its sentences in lang, "en" or "zh"; in the contract's where it is empty.
	Bill(ctx context.Context, lease string, p api.Period, lang string) (rental.Bill, error)
}

// BillRenderer writes a bill as a person or another program reads it.
type BillRenderer interface {
	// RenderBills writes bills as format, "csv", "table", "html", "focus" or "focus-1.0", with
	// sentences in lang, "en" or "zh".
	RenderBills(ctx context.Context, w io.Writer, bills []rental.Bill, format, lang string) error
}

// Books makes the bills of several leases and closes months.
type Books interface {
	Bills(ctx context.Context, q api.BillQuery) (api.Bills, error)
	// Simulate prices a lease under every contract.
	Simulate(ctx context.Context, lease string, p api.Period) ([]rental.Quote, error)
	// SimulateProfile prices a use that is no lease yet under every contract.
	SimulateProfile(ctx context.Context, in api.UseProfile) ([]rental.Quote, error)
	// OwnOrRent compares a month of a lease that has ended with owning its GPUs.
	OwnOrRent(ctx context.Context, lease string, in api.OwnOrRent) (api.OwnComparison, error)
	CloseMonth(ctx context.Context, by rental.Principal, in api.CloseMonth) (api.Closing, error)
	// Invoices returns the closed bills of a month, of all where it is empty.
	Invoices(ctx context.Context, month string) ([]api.InvoiceSummary, error)
	// Invoice returns whose it is and its frozen bytes; rental.CodeNotFound where there is none.
	Invoice(ctx context.Context, number string) (tenant string, text []byte, err error)
}

// UsageReader tells cost beside use. The zero Period is the contract's present month.
type UsageReader interface {
	// Usage sums a lease's usage in steps of api.StepHour or api.StepDay.
	Usage(ctx context.Context, lease string, p api.Period, step string) (api.Usage, error)
	// CostVsUtilisation compares the leases of a tenant, or of all where tenant is "".
	CostVsUtilisation(ctx context.Context, span rental.Span, tenant string) (api.CostTable, error)
}

// SLAReader tells how a lease's availability was. The zero Period is the contract's present month.
type SLAReader interface {
	SLA(ctx context.Context, lease string, p api.Period) (api.SLA, error)
	// SLATable judges several leases.
	SLATable(ctx context.Context, q api.SLAQuery) (api.SLATable, error)
	// Scorecard says how the query's provider did by the leases of its tenant, of all where it has none.
	Scorecard(ctx context.Context, q api.SLAQuery) (rental.Scorecard, error)
	LeaseDowntime(ctx context.Context, lease string, p api.Period) (api.DowntimeList, error)
	States(ctx context.Context, lease string, p api.Period) (api.StateHistory, error)
}

// Downtimes keeps what people do with downtimes.
type Downtimes interface {
	// Downtimes returns those that the query chooses, in order of time.
	Downtimes(ctx context.Context, q api.DowntimeQuery) ([]api.DowntimeFact, error)
	Downtime(ctx context.Context, id string) (api.DowntimeFact, error)
	RecordDowntime(ctx context.Context, by rental.Principal, in api.RecordDowntime) (api.DowntimeFact, error)
	// ActOnDowntime approves, rejects, disputes or decides; who and when are filled in.
	ActOnDowntime(ctx context.Context, by rental.Principal, id string, act rental.Act) (api.DowntimeFact, error)
}

// Proofs tells what proves a lease's records.
type Proofs interface {
	// Heads returns the heads of a lease's chain.
	Heads(ctx context.Context, lease string) (api.Heads, error)
	// Report writes the report on a lease in the format that the query names.
	Report(ctx context.Context, lease string, q api.ReportQuery) ([]byte, error)
	// SigningKeys returns the public keys that reports are signed with, the oldest first.
	SigningKeys(ctx context.Context) ([]rental.SigningKey, error)
}

// FleetReader tells how every host and GPU is now.
type FleetReader interface {
	Fleet(ctx context.Context) (api.Fleet, error)
}

// Incidents reads incidents and takes acknowledgements.
type Incidents interface {
	// Incidents returns the newest first, at most q.Limit.
	Incidents(ctx context.Context, q api.IncidentQuery) ([]rental.Incident, error)
	Incident(ctx context.Context, id string) (api.IncidentDetail, error)
	// AckIncident is idempotent: one that is acknowledged already stays as it is.
	AckIncident(ctx context.Context, by rental.Principal, id, note string) (rental.Incident, error)
}

// Ledger takes resources in and lists them.
type Ledger interface {
	// Apply reads YAML and records it as a whole, or with dryRun says what it would change.
	Apply(ctx context.Context, by rental.Principal, yaml []byte, dryRun bool) (api.Changes, error)
	Resources(ctx context.Context) (rental.Resources, error)
}

// Assigner takes in which GPUs a scheduler gave to which lease.
type Assigner interface {
	TellAssignments(ctx context.Context, by rental.Principal, in api.TellAssignments) (api.ToldAssignments, error)
}

// Adopter compares the inventory with what exporters report.
type Adopter interface {
	Proposals(ctx context.Context) (api.Proposals, error)
	// Conflicts returns where records and reports contradict each other.
	Conflicts(ctx context.Context) ([]rental.InventoryConflict, error)
	Adopt(ctx context.Context, by rental.Principal, in api.Adopt) (api.Changes, error)
}

// Tokens keeps the tokens.
type Tokens interface {
	Tokens(ctx context.Context) ([]rental.Token, error)
	// CreateToken returns the secret, which is kept nowhere.
	CreateToken(ctx context.Context, by rental.Principal, holder rental.Principal) (rental.Token, string, error)
	RevokeToken(ctx context.Context, by rental.Principal, name string) error
	// CreateEnrolment makes a token that a guest of the lease uses once, within ttl.
	CreateEnrolment(ctx context.Context, by rental.Principal, name, lease string, ttl time.Duration) (rental.Token, string, error)
	// Enroll turns the enrolment of the guest into a push token for its host, by the token's hash.
	Enroll(ctx context.Context, guest rental.Principal, host, hash string) (rental.Principal, error)
}

// Deps is what the handlers need; every field is mandatory.
type Deps struct {
	Gate         *Gate
	Status       StatusReader
	Leases       LeaseReader
	Past         Past
	Ender        LeaseEnder
	Bills        BillReader
	Renderer     BillRenderer
	Books        Books
	Usage        UsageReader
	SLA          SLAReader
	Downtimes    Downtimes
	Proofs       Proofs
	Credits      Credits
	Maintenances Maintenances
	Fleet        FleetReader
	Incidents    Incidents
	IncidentActs IncidentActs
	OnCall       OnCallReader
	Clocks       IncidentClocks
	Protection   Protection
	Ledger       Ledger
	Adopter      Adopter
	Assigner     Assigner
	Approvals    Approvals
	Cards        Cards
	RMAs         RMAs
	Use          UseReports
	Tokens       Tokens
	People       People
	Holds        Holds

	Log     *slog.Logger
	Now     func() time.Time
	Version string
}
