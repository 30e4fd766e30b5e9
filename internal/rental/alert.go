package rental

// Severity says who is woken: page wakes a person, ticket waits for the day, notice is for reading.
type Severity string

// The severities, the worst first.
const (
	Page   Severity = "page"
	Ticket Severity = "ticket"
	Notice Severity = "notice"
)

// Alert is one alert as an evaluation of the rules told it.
type Alert struct {
	// Fingerprint identifies the label set.
	Fingerprint string            `json:"fingerprint"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	StartsAt    Millis            `json:"starts_at"`
	// EndsAt is Forever while the alert fires.
	EndsAt Millis `json:"ends_at"`
	// Holders are the leases that an alert about several touches, as the ledger knew them when
	// it began: its labels say Several then. None where the labels name the one lease.
	Holders []Holder `json:"holders,omitempty"`
}

// Holder is a lease, and whose it is.
type Holder struct {
	Lease  string `json:"lease"`
	Tenant string `json:"tenant"`
}

// Several is what the rules write for the lease and the tenant of a host or a card that several
// share. It is no name: no lease and no tenant may be called so.
const Several = "several"

// Firing tells whether the alert still fires at the moment now.
func (a Alert) Firing(now Millis) bool { return a.EndsAt > now }

// AlertGroup is what grouping hands to the notifier: the alerts that share one group key.
type AlertGroup struct {
	// Key is the receiver with its sorted group labels; an edit of the routing does not change it.
	Key      string            `json:"key"`
	Receiver string            `json:"receiver"`
	Labels   map[string]string `json:"labels"`
	Alerts   []Alert           `json:"alerts"`
	// Truncated counts alerts that the sender left off.
	Truncated int `json:"truncated"`
	// At is when the group was handed over.
	At Millis `json:"at"`
	// Outside tells that another Alertmanager grouped it.
	Outside bool `json:"outside,omitempty"`
}
