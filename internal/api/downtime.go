package api

import (
	"context"
	"net/url"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// DowntimeFact is a downtime with whose it is and where it stands.
type DowntimeFact struct {
	rental.Downtime
	Tenant string `json:"tenant"`
	// State is waiting, approved, rejected, disputed or withdrawn.
	State string `json:"state"`
}

// DowntimeQuery chooses downtimes; its zero value is all that the caller may see and that stand.
type DowntimeQuery struct {
	Lease  string
	Tenant string
	// State is one of rental.DowntimeStatuses; all but withdrawn ones where it is empty.
	State string
	// Span chooses those that touch it; all of time where it is zero.
	Span rental.Span
}

// RecordDowntime enters a downtime that no sample told of, or told wrong.
type RecordDowntime struct {
	Lease string `json:"lease" maxLength:"200" minLength:"1"`
	// UUIDs are the cards that were down; where none are named, all that served the lease then.
	UUIDs []string      `json:"uuids,omitempty" maxItems:"10000"`
	Start rental.Millis `json:"start"`
	End   rental.Millis `json:"end"`
	Cause string        `json:"cause" enum:"provider,tenant,undetermined"`
	// Reason is what was seen, such as host_down or "network unreachable".
	Reason string `json:"reason" maxLength:"200" minLength:"1"`
	// Evidence is of kind text, file or incident.
	Evidence []rental.Evidence `json:"evidence" maxItems:"100" minItems:"1"`
	Note     string            `json:"note,omitempty" maxLength:"2000"`
}

// SettleDowntime approves or rejects a downtime, with the reason.
type SettleDowntime struct {
	// Cause is what the cause is found to be; it stays as it is where it is empty. A rejection has none.
	Cause  string `json:"cause,omitempty" enum:"provider,tenant,undetermined"`
	Reason string `json:"reason" maxLength:"2000" minLength:"1"`
}

// DisputeDowntime says one side's word against a downtime, or to a dispute that is open.
type DisputeDowntime struct {
	// Side is provider or tenant, for whom the note speaks: a tenant's is always its own, anybody
	// else's the provider's where it is empty. Another may write down what the tenant said.
	Side string `json:"side,omitempty" enum:"provider,tenant"`
	Note string `json:"note" maxLength:"2000" minLength:"1"`
}

// DecideDowntime ends a dispute.
type DecideDowntime struct {
	Outcome string `json:"outcome" enum:"approved,rejected"`
	Cause   string `json:"cause,omitempty" enum:"provider,tenant,undetermined"`
	Reason  string `json:"reason" maxLength:"2000" minLength:"1"`
}

// Downtimes returns the downtimes that the query chooses, in order of time.
func (c *Client) Downtimes(ctx context.Context, q DowntimeQuery) ([]DowntimeFact, error) {
	v := url.Values{}
	set(v, "lease", q.Lease)
	set(v, "tenant", q.Tenant)
	set(v, "state", q.State)
	setTime(v, "from", q.Span.Start)
	if q.Span.End != rental.Forever {
		setTime(v, "to", q.Span.End)
	}
	var out List[DowntimeFact]
	return out.Items, c.get(ctx, v, &out, "downtimes")
}

// DowntimeFact returns one downtime; ErrNotFound where there is none, or none for the caller.
func (c *Client) DowntimeFact(ctx context.Context, id string) (DowntimeFact, error) {
	var out DowntimeFact
	return out, c.get(ctx, nil, &out, "downtimes", id)
}

// RecordDowntime enters a downtime in the caller's name; it waits for somebody else's approval.
func (c *Client) RecordDowntime(ctx context.Context, in RecordDowntime) (DowntimeFact, error) {
	var out DowntimeFact
	return out, c.post(ctx, in, &out, "downtimes")
}

// ApproveDowntime lets a downtime change money; ErrConflict where the caller entered it.
func (c *Client) ApproveDowntime(ctx context.Context, id string, in SettleDowntime) (DowntimeFact, error) {
	var out DowntimeFact
	return out, c.post(ctx, in, &out, "downtimes", id, "approve")
}

// RejectDowntime keeps a downtime from changing money.
func (c *Client) RejectDowntime(ctx context.Context, id string, in SettleDowntime) (DowntimeFact, error) {
	var out DowntimeFact
	return out, c.post(ctx, in, &out, "downtimes", id, "reject")
}

// DisputeDowntime holds a downtime, and the credit of its month, until a person decides.
func (c *Client) DisputeDowntime(ctx context.Context, id string, in DisputeDowntime) (DowntimeFact, error) {
	var out DowntimeFact
	return out, c.post(ctx, in, &out, "downtimes", id, "dispute")
}

// DecideDowntime ends a dispute; ErrConflict while a side has said nothing.
func (c *Client) DecideDowntime(ctx context.Context, id string, in DecideDowntime) (DowntimeFact, error) {
	var out DowntimeFact
	return out, c.post(ctx, in, &out, "downtimes", id, "decide")
}
