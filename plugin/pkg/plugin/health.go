package plugin

import (
	"context"
	"errors"
	"fmt"

	"github.com/grafana/grafana-plugin-sdk-go/backend"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// CheckHealth asks the server who it takes this data source for, and names the remedy of
// whatever is wrong.
func (d *Datasource) CheckHealth(ctx context.Context, req *backend.CheckHealthRequest) (*backend.CheckHealthResult, error) {
	client, err := d.admit(req.PluginContext)
	if err != nil {
		return unhealthy(err.Error()), nil
	}
	who, err := client.Whoami(ctx)
	if err != nil {
		return unhealthy(d.remedy(err)), nil
	}
	if who.Role == rental.RolePush {
		return unhealthy("the token has role push, which may read nothing: make one with `leasewatch token create --role=tenant --tenant=NAME` or --role=finance"), nil
	}
	leases, err := client.Leases(ctx, api.LeaseQuery{})
	if err != nil {
		return unhealthy(d.remedy(err)), nil
	}
	message := fmt.Sprintf("connected as %s (%s): %d leases", who.Name, who.Role, len(leases))
	if who.Role == rental.RoleTenant {
		message = fmt.Sprintf("connected as %s: %d leases of tenant %s", who.Name, len(leases), who.Tenant)
	}
	return &backend.CheckHealthResult{Status: backend.HealthStatusOk, Message: message}, nil
}

// remedy says what an administrator can do about an error of the server.
func (d *Datasource) remedy(err error) string {
	switch {
	case errors.Is(err, api.ErrUnauthenticated) && !d.tokenSet:
		return "the server asks for a token and none is set: make one with `leasewatch token create` and enter it in the settings"
	case errors.Is(err, api.ErrUnauthenticated):
		return "the server does not know the token: it may have been revoked; make one with `leasewatch token create` and enter it in the settings"
	case errors.Is(err, api.ErrForbidden):
		return "the token may not read leases: make one with role tenant, finance, oncall, operator or admin"
	case errors.Is(err, api.ErrNotFound):
		return "there is no Leasewatch API at " + d.settings.URL + ": check the address and its path"
	}
	var wire *api.Error
	if errors.As(err, &wire) {
		return fmt.Sprintf("the server at %s answered with status %d: %s", d.settings.URL, wire.Status, wire)
	}
	return d.settings.URL + ": " + err.Error() + ": check the address and that the server runs"
}

func unhealthy(message string) *backend.CheckHealthResult {
	return &backend.CheckHealthResult{Status: backend.HealthStatusError, Message: message}
}
