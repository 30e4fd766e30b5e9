package api

import "github.com/leasewatch/leasewatch/internal/rental"

// IncidentQuery chooses incidents; its zero value is the newest ones.
type IncidentQuery struct {
	// Span chooses the incidents whose life touches it; the zero value is all of time.
	Span rental.Span
	// Status chooses by status ("" is any).
	Status rental.IncidentStatus
	// Tenant chooses those that touched one of the tenant's leases ("" is all). It is the server's
	// own word on whoever asks: no request carries it.
	Tenant string
	// Limit is the most that are returned; 0 is the server's own limit.
	Limit int
}

// IncidentList is incidents, the newest first.
type IncidentList struct {
	Incidents []rental.Incident `json:"incidents"`
	// More says that the limit cut off older ones.
	More bool `json:"more"`
}

// IncidentDetail is one incident with the deliveries that told, or did not tell, people of it.
type IncidentDetail struct {
	Incident   rental.Incident   `json:"incident"`
	Deliveries []rental.Delivery `json:"deliveries"`
	// Runbook is the name of the page that says what to do; "" where there is none.
	Runbook string `json:"runbook,omitempty"`
}

// AckIncident acknowledges an incident.
type AckIncident struct {
	Note string `doc:"What the person wants to add, in their own words." json:"note,omitempty" maxLength:"2000"`
}
