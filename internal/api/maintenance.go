package api

import (
	"context"
	"net/url"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// MaintenanceFact is a window of maintenance with where it stands and whom it touches.
type MaintenanceFact struct {
	rental.Maintenance
	// State is one of rental.MaintenanceStates.
	State   string             `json:"state"`
	Touches []MaintenanceLease `json:"touches"`
}

// MaintenanceLease is one lease that a window touches, and whether the window excuses its time.
type MaintenanceLease struct {
	Lease  string `json:"lease"`
	Tenant string `json:"tenant"`
	// Hosts are those of the window whose GPUs serve the lease in it.
	Hosts []string `json:"hosts,omitempty"`
	// NoticeMS is the notice that its contract asks for, in milliseconds.
	NoticeMS int64 `json:"notice_ms"`
	// Delivered is when its tenant was first told; 0 where it was not.
	Delivered rental.Millis `json:"delivered,omitempty"`
	// Standing is counts, undelivered or late.
	Standing string `json:"standing"`
}

// MaintenanceQuery chooses windows; its zero value is all that the caller may see.
type MaintenanceQuery struct {
	Lease  string
	Tenant string
	Host   string
	State  string // one of rental.MaintenanceStates
}

// AnnounceMaintenance announces a window: hosts, leases or both.
type AnnounceMaintenance struct {
	// ID names the window, such as M-31.
	ID     string        `json:"id" maxLength:"100" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]*$" patternDescription:"letters, digits, dots, lines"`
	Hosts  []string      `json:"hosts,omitempty" maxItems:"10000"`
	Leases []string      `json:"leases,omitempty" maxItems:"10000"`
	Start  rental.Millis `json:"start"`
	End    rental.Millis `json:"end"`
	// Reason is what is done and why, for tenants to read.
	Reason string `json:"reason" maxLength:"2000" minLength:"1"`
}

// DeliverMaintenance says that a tenant was told of a window, now.
type DeliverMaintenance struct {
	Tenant string `json:"tenant" maxLength:"200" minLength:"1"`
	// Way is how: mail, slack, phone...
	Way string `json:"way" maxLength:"100" minLength:"1"`
	// Note is what proves it, such as the message's id, for both sides to read.
	Note string `json:"note" maxLength:"2000" minLength:"1"`
}

// CancelMaintenance calls a window off: it ends now, or never begins.
type CancelMaintenance struct {
	Reason string `json:"reason" maxLength:"2000" minLength:"1"`
}

// Maintenances returns the windows that the query chooses, by start. A tenant's person who asks is
// told of them by that.
func (c *Client) Maintenances(ctx context.Context, q MaintenanceQuery) ([]MaintenanceFact, error) {
	v := url.Values{}
	set(v, "lease", q.Lease)
	set(v, "tenant", q.Tenant)
	set(v, "host", q.Host)
	set(v, "state", q.State)
	var out List[MaintenanceFact]
	return out.Items, c.get(ctx, v, &out, "maintenances")
}

// Maintenance returns one window; ErrNotFound where there is none, or none for the caller.
func (c *Client) Maintenance(ctx context.Context, id string) (MaintenanceFact, error) {
	var out MaintenanceFact
	return out, c.get(ctx, nil, &out, "maintenances", id)
}

// AnnounceMaintenance announces a window in the caller's name; ErrConflict where it has begun or
// its name is taken.
func (c *Client) AnnounceMaintenance(ctx context.Context, in AnnounceMaintenance) (MaintenanceFact, error) {
	var out MaintenanceFact
	return out, c.post(ctx, in, &out, "maintenances")
}

// DeliverMaintenance records that a tenant was told, now.
func (c *Client) DeliverMaintenance(ctx context.Context, id string, in DeliverMaintenance) (MaintenanceFact, error) {
	var out MaintenanceFact
	return out, c.post(ctx, in, &out, "maintenances", id, "deliver")
}

// CancelMaintenance calls a window off; ErrConflict where it is over.
func (c *Client) CancelMaintenance(ctx context.Context, id string, in CancelMaintenance) (MaintenanceFact, error) {
	var out MaintenanceFact
	return out, c.post(ctx, in, &out, "maintenances", id, "cancel")
}
