package httpapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// Maintenances keeps announced windows and to whom they were delivered.
type Maintenances interface {
	// Maintenances returns those that the query chooses, by start.
	Maintenances(ctx context.Context, q api.MaintenanceQuery) ([]api.MaintenanceFact, error)
	Maintenance(ctx context.Context, id string) (api.MaintenanceFact, error)
	AnnounceMaintenance(ctx context.Context, by rental.Principal, in api.AnnounceMaintenance) (api.MaintenanceFact, error)
	// ActOnMaintenance delivers or cancels; who and when are filled in. A delivery by reading of
	// what was delivered already changes nothing.
	ActOnMaintenance(ctx context.Context, by rental.Principal, id string, act rental.Act) (api.MaintenanceFact, error)
}

// MaintenancePath is the path of one window.
type MaintenancePath struct {
	ID string `doc:"The window's name, such as M-31." maxLength:"200" path:"id"`
}

func (r *routes) addMaintenances() error {
	type query struct {
		Lease  string `maxLength:"200"                         query:"lease"`
		Tenant string `maxLength:"200"                         query:"tenant"`
		Host   string `maxLength:"200"                         query:"host"`
		State  string `enum:"announced,running,over,cancelled" query:"state"`
	}
	if err := operation(r, "list-maintenances", "List windows of maintenance with whom they touch and who was told",
		func(ctx context.Context, v view, in *query) (*body[api.List[api.MaintenanceFact]], error) {
			return items(v.maintenances(ctx, api.MaintenanceQuery{Lease: in.Lease, Tenant: in.Tenant, Host: in.Host, State: in.State}))
		}); err != nil {
		return err
	}
	if err := operation(r, "get-maintenance", "Show one window of maintenance with whom it touches and who was told",
		func(ctx context.Context, v view, in *MaintenancePath) (*body[api.MaintenanceFact], error) {
			return answer(v.maintenance(ctx, in.ID))
		}); err != nil {
		return err
	}
	if err := operation(r, "announce-maintenance", "Announce a window of maintenance; it excuses nothing until it is delivered",
		func(ctx context.Context, v view, in *body[api.AnnounceMaintenance]) (*body[api.MaintenanceFact], error) {
			return answer(v.deps.Maintenances.AnnounceMaintenance(ctx, v.who, in.Body))
		},
		func(op *huma.Operation) { op.DefaultStatus = http.StatusCreated }); err != nil {
		return err
	}
	type delivery struct {
		MaintenancePath

		Body api.DeliverMaintenance
	}
	if err := operation(r, "deliver-maintenance", "Say that a tenant was told of a window, now",
		func(ctx context.Context, v view, in *delivery) (*body[api.MaintenanceFact], error) {
			return answer(v.deps.Maintenances.ActOnMaintenance(ctx, v.who, in.ID, rental.Act{
				Kind: rental.ActDelivered, Side: rental.SideProvider, Tenant: in.Body.Tenant, Way: in.Body.Way, Note: in.Body.Note}))
		}); err != nil {
		return err
	}
	type cancellation struct {
		MaintenancePath

		Body api.CancelMaintenance
	}
	return operation(r, "cancel-maintenance", "Cancel a window: it ends now, or never begins",
		func(ctx context.Context, v view, in *cancellation) (*body[api.MaintenanceFact], error) {
			return answer(v.deps.Maintenances.ActOnMaintenance(ctx, v.who, in.ID, rental.Act{Kind: rental.ActCancelled, Side: rental.SideProvider, Note: in.Body.Reason}))
		})
}

func (v view) maintenances(ctx context.Context, q api.MaintenanceQuery) ([]api.MaintenanceFact, error) {
	if only := v.tenantOnly(); only != "" {
		if q.Tenant != "" && q.Tenant != only {
			return nil, nil
		}
		q.Tenant = only
	}
	if q.Lease != "" {
		if err := v.lease(ctx, q.Lease); err != nil {
			return nil, err
		}
	}
	found, err := v.deps.Maintenances.Maintenances(ctx, q)
	if err != nil {
		return nil, err
	}
	var out []api.MaintenanceFact
	for _, m := range found {
		if m, touches := v.read(ctx, m); touches {
			out = append(out, m)
		}
	}
	return out, nil
}

func (v view) maintenance(ctx context.Context, id string) (api.MaintenanceFact, error) {
	m, err := v.deps.Maintenances.Maintenance(ctx, id)
	if rental.CodeOf(err) == rental.CodeNotFound {
		return m, api.NotFound("maintenance", id)
	}
	if err != nil {
		return m, err
	}
	m, touches := v.read(ctx, m)
	if !touches {
		return api.MaintenanceFact{}, api.NotFound("maintenance", id)
	}
	return m, nil
}

// read cuts a window down to what its reader may see of it; false where that is nothing. A person
// of a tenant who reads of it was told by that, which is recorded once. A program that asks was
// not told.
func (v view) read(ctx context.Context, m api.MaintenanceFact) (api.MaintenanceFact, bool) {
	only := v.tenantOnly()
	if only == "" {
		return m, true
	}
	touched := slices.ContainsFunc(m.Touches, func(t api.MaintenanceLease) bool { return t.Tenant == only })
	if !touched {
		return m, false
	}
	coming := m.State == rental.MaintenanceAnnounced || m.State == rental.MaintenanceRunning
	if coming && !v.who.Service && m.Delivered(only) == 0 {
		told, err := v.deps.Maintenances.ActOnMaintenance(ctx, v.who, m.ID, rental.Act{
			Kind: rental.ActDelivered, Side: rental.SideTenant, Tenant: only, Way: rental.WayRead, Note: "read by the tenant"})
		if err == nil {
			m = told
		} else { // whoever asks is shown it all the same; it stays undelivered
			v.deps.Log.Warn("a window of maintenance was read and could not be marked as delivered", "maintenance", m.ID, "tenant", only, "err", err)
		}
	}
	m.Touches = slices.DeleteFunc(slices.Clone(m.Touches), func(t api.MaintenanceLease) bool { return t.Tenant != only })
	m.Maintenance = m.For(only,
		func(lease string) bool {
			return slices.ContainsFunc(m.Touches, func(t api.MaintenanceLease) bool { return t.Lease == lease })
		},
		func(host string) bool {
			return slices.ContainsFunc(m.Touches, func(t api.MaintenanceLease) bool { return slices.Contains(t.Hosts, host) })
		})
	return m, true
}
