package e2e

import (
	"encoding/json"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/experimental/datasourcetest"

	"github.com/leasewatch/leasewatch/plugin/pkg/plugin"
)

// pluginProcess is the data source's backend behind real gRPC. One serves all tests: the SDK
// registers its metrics once a process.
var pluginProcess = sync.OnceValues(func() (datasourcetest.TestPlugin, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return datasourcetest.TestPlugin{}, err
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		return datasourcetest.TestPlugin{}, err
	}
	return datasourcetest.Manage(plugin.New, datasourcetest.ManageOpts{Address: address})
})

// askPlugin sends queries to a data source of a server, as a signed-in viewer of Grafana would.
func askPlugin(t testing.TB, server string, queries ...backend.DataQuery) backend.Responses {
	t.Helper()
	process, err := pluginProcess()
	if err != nil {
		t.Fatal(err)
	}
	settings, err := json.Marshal(plugin.Settings{URL: server})
	if err != nil {
		t.Fatal(err)
	}
	response, err := process.Client.QueryData(t.Context(), &backend.QueryDataRequest{
		PluginContext: backend.PluginContext{
			OrgID: 1, PluginID: plugin.ID, User: &backend.User{Login: "ops", Role: "Viewer"},
			DataSourceInstanceSettings: &backend.DataSourceInstanceSettings{UID: server, JSONData: settings, Updated: time.Now()},
		},
		Queries: queries,
	})
	if err != nil {
		t.Fatal(err)
	}
	return response.Responses
}
