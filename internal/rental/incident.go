package rental

import "errors"

// Why nothing was done to an incident that a person asked for.
var (
	// ErrOver says that it is over: there is nothing left to silence or to escalate.
	ErrOver = errors.New("the incident is over")
	// ErrOutside says that another Alertmanager holds its alerts.
	ErrOutside = errors.New("its alerts come from another Alertmanager: silence them there")
	// ErrUsed says that a link to acknowledge was used before, or belongs to an earlier opening.
	ErrUsed = errors.New("the link was used before, or the incident was opened anew since")
	// ErrNoStep says that it was told on every way that is configured.
	ErrNoStep = errors.New("no further way is configured (paging.next or paging.oncall_file), or all have been told")
)

// IncidentStatus is where an incident stands.
type IncidentStatus string

// The statuses of an incident. Unmarshalled ones from elsewhere are refused by the ledger.
const (
	IncidentOpen     IncidentStatus = "open"
	IncidentAcked    IncidentStatus = "acked"
	IncidentResolved IncidentStatus = "resolved"
	// IncidentUnknown is an incident whose alert vanished while nobody was watching and
	// whose evidence does not tell whether it healed.
	IncidentUnknown IncidentStatus = "unknown"
)

// Incident is the life of one alert group, from the first alert to the last.
type Incident struct {
	ID       string         `json:"id"`  // "INC-42"
	Key      string         `json:"key"` // AlertGroup.Key
	Status   IncidentStatus `json:"status"`
	Severity Severity       `json:"severity"`
	Provider string         `json:"provider"`
	Subject  string         `json:"subject"` // the host, else the lease, else "leasewatch"
	// Title is line 1 without glyph and severity: "GPU lost  gpu-a17 slot 3 (H100, serial 1654)".
	Title   string   `json:"title"`
	Leases  []string `json:"leases"`
	Tenants []string `json:"tenants"`
	Drill   bool     `json:"drill"`

	// EvidenceAt is the first bad sample, DetectedAt the first alert, OpenedAt this record.
	EvidenceAt Millis `json:"evidence_at"`
	DetectedAt Millis `json:"detected_at"`
	OpenedAt   Millis `json:"opened_at"`
	AckedAt    Millis `json:"acked_at,omitempty"`
	AckedBy    string `json:"acked_by,omitempty"`
	ResolvedAt Millis `json:"resolved_at,omitempty"`

	// ReportedAt is when somebody told the provider of it here, VerifiedAt when somebody said that
	// it works again after it was resolved.
	ReportedAt Millis `json:"reported_at,omitempty"`
	ReportedBy string `json:"reported_by,omitempty"`
	VerifiedAt Millis `json:"verified_at,omitempty"`
	VerifiedBy string `json:"verified_by,omitempty"`
	// Answers are responses that were noted later than they were given, the oldest first.
	Answers []LateAnswer `json:"answers,omitempty"`

	// Silence mutes it; nil where it is heard.
	Silence *IncidentSilence `json:"silence,omitempty"`
	// Outside tells that another Alertmanager holds its alerts and hands them over by webhook.
	Outside bool `json:"outside,omitempty"`

	// Alerts holds the newest word on every alert that was ever part of the incident.
	Alerts []Alert `json:"alerts"`
	// Revision rises with every change that people should see.
	Revision int `json:"revision"`
	// Messages maps a route ("slack:C0123") to where its message stands there (Slack's channel and ts).
	Messages map[string]MessageRef `json:"messages"`
	// Climbed names the routes that it was taken to beyond its first ones.
	Climbed []string `json:"climbed,omitempty"`
	// PagedAt is when it became a page; 0 where it is none, or became one before this was kept.
	PagedAt Millis `json:"paged_at,omitempty"`
	// Called names the calls of the ladder that it has climbed since it was last opened or heard.
	Called []string `json:"called,omitempty"`
	// Links names the links to acknowledge that were used: none works twice.
	Links []string `json:"links,omitempty"`
	// Events is the timeline, oldest first.
	Events []IncidentEvent `json:"events"`
}

// IncidentSilence is what mutes an incident.
type IncidentSilence struct {
	ID string `json:"id"` // the pager's
	// Until is when it ends; one until fixed is prolonged before.
	Until      Millis `json:"until"`
	UntilFixed bool   `json:"until_fixed,omitempty"`
	By         string `json:"by"`
}

// The words of a thread delivery's text beside fingerprints of alerts. Each route says them in its
// own language.
const (
	// CallPrefix comes before the Slack user whom the reply calls.
	CallPrefix = "call:"
	// CallLast says that nobody else will be called.
	CallLast = "call-last:"
	// CallAgain says that the page is told again because nobody has acknowledged it.
	CallAgain = "call-again:"
)

// MessageRef says where a route keeps the message of an incident.
type MessageRef struct {
	Channel string `json:"channel"`
	ID      string `json:"id"` // Slack's ts
}

// IncidentEvent is one entry of an incident's timeline.
type IncidentEvent struct {
	At   Millis `json:"at"`
	Kind string `json:"kind"` // opened, worsened, changed, acked, resolved, reopened, unknown, note, notified, undelivered, climbed, repeated, silenced, heard, acked_by_program, reported, verified, answer_noted, answer_approved
	By   string `json:"by,omitempty"`
	Note string `json:"note,omitempty"`
}

// DeliveryState is where a message to a person stands.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryPending    DeliveryState = "pending"
	DeliverySent       DeliveryState = "sent"
	DeliveryFailed     DeliveryState = "failed"     // given up on this route; a terminal error or too many tries
	DeliverySuperseded DeliveryState = "superseded" // a newer one says all that it would have said
)

// Delivery is one entry of the outbox: something that a route must tell.
type Delivery struct {
	ID       int64  `json:"id"`
	Incident string `json:"incident"`
	Route    string `json:"route"` // "slack:C0123"
	// Kind is post (the first message), update (the message in place) or thread (a reply below it).
	Kind     string        `json:"kind"`
	Severity Severity      `json:"severity"`
	Revision int           `json:"revision"` // the incident's revision that asked for it
	Text     string        `json:"text,omitempty"`
	State    DeliveryState `json:"state"`
	// Started is set before the first call goes out and kept: a crash between the route's
	// answer and its record leaves Started without SentAt, and the next try looks first
	// whether the message is there already.
	Started   Millis `json:"started,omitempty"`
	Attempts  int    `json:"attempts"`
	NextAt    Millis `json:"next_at"`
	CreatedAt Millis `json:"created_at"`
	SentAt    Millis `json:"sent_at,omitempty"`
	Error     string `json:"error,omitempty"`
	// Repeat marks a message that may have been told before.
	Repeat bool `json:"repeat,omitempty"`
}
