package plugin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/experimental/datasourcetest"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/leasewatch/leasewatch/plugin/pkg/plugin"
	"github.com/leasewatch/leasewatch/plugin/pkg/seeded"
)

// noon is the present of all tests.
var noon = time.Date(2026, 5, 15, 12, 0, 0, 0, time.UTC)

// may is the span that the tests ask for.
var may = backend.TimeRange{From: noon.AddDate(0, 0, -14).Add(-12 * time.Hour), To: noon}

// stage is the plugin behind real gRPC, in front of a seeded server.
type stage struct {
	client  *datasourcetest.TestPluginClient
	url     string
	sources int // how many data sources were set up

	mu       sync.Mutex
	requests []*http.Request // what reached the server
}

func newStage(t *testing.T) *stage {
	t.Helper()
	h, err := seeded.Handler(func() time.Time { return noon }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Clone(context.Background()))
		s.mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL

	// Every server of the SDK registers its metrics, in one process that is one too many.
	prometheus.DefaultRegisterer = prometheus.NewRegistry()
	port, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := port.Addr().String()
	if err := port.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := datasourcetest.Manage(plugin.New, datasourcetest.ManageOpts{Address: address})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Shutdown() })
	s.client = p.Client
	return s
}

// taken returns what reached the server since the last call.
func (s *stage) taken() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.requests
	s.requests = nil
	return taken
}

var viewer = &backend.User{Login: "vera", Name: "Vera", Email: "vera@example.org", Role: "Viewer"}

// as is the plugin context of a data source with that token, asked by that user.
func (s *stage) as(t *testing.T, user *backend.User, token string, settings plugin.Settings) backend.PluginContext {
	t.Helper()
	if settings.URL == "" {
		settings.URL = s.url
	}
	s.sources++
	raw, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	return backend.PluginContext{
		OrgID: 1, PluginID: plugin.ID, User: user,
		DataSourceInstanceSettings: &backend.DataSourceInstanceSettings{
			UID: fmt.Sprint("ds-", s.sources), Name: "Leasewatch", JSONData: raw,
			DecryptedSecureJSONData: map[string]string{"token": token}, Updated: noon,
		},
	}
}

// ask sends one query and returns its answer.
func (s *stage) ask(t *testing.T, pctx backend.PluginContext, headers map[string]string, query string) backend.DataResponse {
	t.Helper()
	res, err := s.client.QueryData(t.Context(), &backend.QueryDataRequest{
		PluginContext: pctx, Headers: headers,
		Queries: []backend.DataQuery{{RefID: "A", TimeRange: may, JSON: []byte(query), MaxDataPoints: 500}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return res.Responses["A"]
}

// resource calls a resource and returns its status and body.
func (s *stage) resource(t *testing.T, pctx backend.PluginContext, headers map[string][]string, path string) (int, string) {
	t.Helper()
	var status int
	var body []byte
	err := s.client.CallResource(t.Context(), &backend.CallResourceRequest{
		PluginContext: pctx, Path: path, URL: path, Method: http.MethodGet, Headers: headers,
	}, backend.CallResourceResponseSenderFunc(func(r *backend.CallResourceResponse) error {
		status, body = r.Status, append(body, r.Body...)
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	return status, string(body)
}
