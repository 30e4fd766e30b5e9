package rental

import "encoding/json"

// The kinds of resources, as manifests and the ledger name them.
const (
	KindProvider    = "Provider"
	KindTenant      = "Tenant"
	KindSite        = "Site"
	KindHost        = "Host"
	KindSKU         = "SKU"
	KindGPU         = "GPU"
	KindMIG         = "MIGInstance"
	KindCalendar    = "Calendar"
	KindContract    = "Contract"
	KindLease       = "Lease"
	KindMaintenance = "Maintenance"
	KindConsumption = "Consumption"
	KindAdjustment  = "Adjustment"
)

// Resources is a set of things to be recorded together; its order carries no meaning.
type Resources struct {
	Providers    []Provider
	Tenants      []Tenant
	Sites        []Site
	Hosts        []Host
	SKUs         []SKU
	GPUs         []GPU
	MIGInstances []MIGInstance
	Calendars    []Calendar
	Contracts    []Contract
	Leases       []Lease
	Maintenances []Maintenance
	Consumptions []Consumption
	Adjustments  []Adjustment
}

// Append adds what o holds.
func (r *Resources) Append(o Resources) {
	r.Providers = append(r.Providers, o.Providers...)
	r.Tenants = append(r.Tenants, o.Tenants...)
	r.Sites = append(r.Sites, o.Sites...)
	r.Hosts = append(r.Hosts, o.Hosts...)
	r.SKUs = append(r.SKUs, o.SKUs...)
	r.GPUs = append(r.GPUs, o.GPUs...)
	r.MIGInstances = append(r.MIGInstances, o.MIGInstances...)
	r.Calendars = append(r.Calendars, o.Calendars...)
	r.Contracts = append(r.Contracts, o.Contracts...)
	r.Leases = append(r.Leases, o.Leases...)
	r.Maintenances = append(r.Maintenances, o.Maintenances...)
	r.Consumptions = append(r.Consumptions, o.Consumptions...)
	r.Adjustments = append(r.Adjustments, o.Adjustments...)
}

// Len counts the resources.
func (r Resources) Len() int {
	return len(r.Providers) + len(r.Tenants) + len(r.Sites) + len(r.Hosts) + len(r.SKUs) +
		len(r.GPUs) + len(r.MIGInstances) + len(r.Calendars) + len(r.Contracts) + len(r.Leases) + len(r.Maintenances) +
		len(r.Consumptions) + len(r.Adjustments)
}

// Change says what applying one resource did, or would do.
type Change struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Action string `json:"action"` // create, update or unchanged
	// Diff holds one line a changed field: "plan.prices[0].price: 10 -> 12".
	Diff string `json:"diff,omitempty"`
}

// The actions of a Change.
const (
	ActionCreate    = "create"
	ActionUpdate    = "update"
	ActionUnchanged = "unchanged"
	ActionErase     = "erase" // of a person: all but the id
)

// Fact is one revision of one thing in the ledger: never changed, never deleted.
type Fact struct {
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	Revision int    `json:"revision"` // 1, 2, ...
	At       Millis `json:"at"`       // when it was recorded
	By       string `json:"by"`       // a person's id, or a program's name
	// ApprovedBy is the second person, where one was needed.
	ApprovedBy string          `json:"approved_by,omitempty"`
	Why        string          `json:"why"`
	Body       json.RawMessage `json:"body"`
}

// Token is what is kept of a token; the secret itself is never kept.
type Token struct {
	Principal
	CreatedAt Millis `json:"created_at"`
	RevokedAt Millis `json:"revoked_at,omitempty"` // 0 while it is valid
	ExpiresAt Millis `json:"expires_at,omitempty"` // of an enrolment; 0 for never
	UsedAt    Millis `json:"used_at,omitempty"`    // when an enrolment was used, 0 while it was not
}

// SampleInterval says how far apart the samples of a span of history are.
type SampleInterval struct {
	Span       Span  `json:"span"`
	IntervalMS int64 `json:"interval_ms"`
}

// AssignmentEvent is what a scheduler says of one card: that it began or ceased to serve a lease.
type AssignmentEvent struct {
	// Key is the scheduler's own; the same key twice is the same event.
	Key string `json:"key"`
	// Session joins a start with its stop: a pod's uid, a job's id.
	Session string `json:"session"`
	Lease   string `json:"lease"`
	// UUID is the GPU's or MIG instance's; empty in a stop for all of the session's.
	UUID string `json:"uuid"`
	Kind string `json:"kind"` // start or stop
	At   Millis `json:"at"`
}

// The kinds of an AssignmentEvent.
const (
	EventStart = "start"
	EventStop  = "stop"
)
