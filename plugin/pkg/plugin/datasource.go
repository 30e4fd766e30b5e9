// Package plugin is the backend of the Leasewatch data source: it turns queries of Grafana
// into calls of a Leasewatch server's API and its answers into frames. It keeps no state
// but the client, reads no file and no environment variable.
package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/backend/httpclient"
	"github.com/grafana/grafana-plugin-sdk-go/backend/instancemgmt"

	"github.com/leasewatch/leasewatch/internal/api"
)

// ID is the data source's plugin id.
const ID = "leasewatch-gpu-datasource"

var (
	_ backend.QueryDataHandler      = (*Datasource)(nil)
	_ backend.CheckHealthHandler    = (*Datasource)(nil)
	_ backend.CallResourceHandler   = (*Datasource)(nil)
	_ instancemgmt.InstanceDisposer = (*Datasource)(nil)
)

// Settings are what an administrator sets; the token is kept apart, encrypted by Grafana.
type Settings struct {
	// URL is the server's address.
	URL string `json:"url"`
	// AllowAlerting lets Grafana's alert evaluation, which acts for no person, run queries.
	AllowAlerting bool `json:"allowAlerting"`
	// AllowAnonymous lets visitors without a login run queries.
	AllowAnonymous bool `json:"allowAnonymous"`
}

// Datasource is one configured data source.
type Datasource struct {
	settings  Settings
	client    *api.Client
	http      *http.Client
	tokenSet  bool
	configErr error
	resources http.Handler
}

// New makes the instance of a data source from its settings. Settings that do not fit are no
// error here: the health check and each query say what is wrong, so that it can be mended.
func New(ctx context.Context, s backend.DataSourceInstanceSettings) (instancemgmt.Instance, error) {
	d := &Datasource{}
	d.resources = d.routes()
	if err := json.Unmarshal(s.JSONData, &d.settings); err != nil {
		d.configErr = fmt.Errorf("the settings of this data source are not readable: %w", err)
		return d, nil
	}
	if d.settings.URL == "" {
		d.settings.URL = s.URL
	}
	if d.settings.URL == "" {
		d.configErr = errors.New("no address of a Leasewatch server is set: enter it in the data source's settings, such as http://127.0.0.1:8080")
		return d, nil
	}
	opts, err := s.HTTPClientOptions(ctx)
	if err != nil {
		return nil, fmt.Errorf("http options: %w", err)
	}
	d.http, err = httpclient.New(opts)
	if err != nil {
		return nil, fmt.Errorf("http client: %w", err)
	}
	token := strings.TrimSpace(s.DecryptedSecureJSONData["token"])
	d.tokenSet = token != ""
	d.client, d.configErr = api.New(d.settings.URL, api.NewSecret(token), d.http)
	return d, nil
}

// Dispose closes idle connections when the settings change.
func (d *Datasource) Dispose() {
	if d.http != nil {
		d.http.CloseIdleConnections()
	}
}

// schedulerLogin is the login under which Grafana evaluates alerts; it has role Admin and
// stands for no person.
const schedulerLogin = "grafana_scheduler"

// errDenied is returned to whoever has no access; it says what an administrator can do.
type errDenied string

func (e errDenied) Error() string { return string(e) }

// admit is the one door of every handler: it decides by who asks, never by what a request
// says in its headers or its query, and denies by default. What a principal may see is
// decided by the server from this data source's token: give each tenant a data source of
// its own with the tenant's token.
func (d *Datasource) admit(pctx backend.PluginContext) (*api.Client, error) {
	user := pctx.User
	switch {
	case user == nil:
		return nil, errDenied("the request names no user: access is denied")
	case user.Login == "" && !d.settings.AllowAnonymous:
		return nil, errDenied("anonymous visitors have no access: an administrator can allow it in the data source's settings")
	case user.Login == schedulerLogin && !d.settings.AllowAlerting:
		return nil, errDenied("alert evaluation has no access: an administrator can allow it in the data source's settings")
	}
	if d.configErr != nil {
		return nil, d.configErr
	}
	return d.client, nil
}
