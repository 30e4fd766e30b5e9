package plugin_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/grafana/grafana-plugin-sdk-go/backend"

	"github.com/leasewatch/leasewatch/plugin/pkg/plugin"
	"github.com/leasewatch/leasewatch/plugin/pkg/seeded"
)

// forged are headers by which a browser might claim to be somebody else.
var forged = map[string]string{
	"X-Grafana-User":      "admin",
	"X-Grafana-Id":        "eyJhbGciOiJub25lIn0.e30.",
	"X-Scope-OrgID":       seeded.TenantOther,
	"X-Tenant":            seeded.TenantOther,
	"X-Leasewatch-Tenant": seeded.TenantOther,
	"Authorization":       "Bearer " + seeded.TokenGlobex,
	"Cookie":              "leasewatch_session=" + seeded.TokenGlobex,
	"X-ID-Token":          seeded.TokenGlobex,
	"X-Forwarded-For":     "127.0.0.1",
	"X-Rule-Uid":          "rule",
}

type principal struct {
	name     string
	user     *backend.User
	settings plugin.Settings
	admitted bool
}

var principals = []principal{
	{"user", viewer, plugin.Settings{}, true},
	{"admin", &backend.User{Login: "root", Role: "Admin"}, plugin.Settings{}, true},
	{"service account", &backend.User{Login: "sa-1-reports", Email: "sa-1-reports", Role: "Viewer"}, plugin.Settings{}, true},
	{"anonymous", &backend.User{Role: "Viewer"}, plugin.Settings{}, false},
	{"anonymous, allowed", &backend.User{Role: "Viewer"}, plugin.Settings{AllowAnonymous: true}, true},
	{"anonymous, alerting allowed", &backend.User{Role: "Viewer"}, plugin.Settings{AllowAlerting: true}, false},
	{"alerting", &backend.User{Login: "grafana_scheduler", Role: "Admin"}, plugin.Settings{}, false},
	{"alerting, allowed", &backend.User{Login: "grafana_scheduler", Role: "Admin"}, plugin.Settings{AllowAlerting: true}, true},
	{"alerting, anonymous allowed", &backend.User{Login: "grafana_scheduler", Role: "Admin"}, plugin.Settings{AllowAnonymous: true}, false},
	{"nobody", nil, plugin.Settings{AllowAnonymous: true, AllowAlerting: true}, false},
}

// queries are every query type, for one's own lease and for the other tenant's.
func queries(lease string) []string {
	list := []string{`{"type":"leases"}`, `{"type":"leases","tenant":"globex","lease":"globex-infer"}`}
	for _, kind := range []string{"usage", "cards", "sla", "downtime"} {
		list = append(list, fmt.Sprintf(`{"type":%q,"lease":%q}`, kind, lease))
	}
	return list
}

// everything asks every endpoint in every way, and returns all that came back as text,
// without the other tenant's name where the asker himself said it.
func everything(t *testing.T, s *stage, pctx backend.PluginContext, headers map[string]string, lease string) (texts []string, answered int) {
	t.Helper()
	for _, query := range queries(lease) {
		res := s.ask(t, pctx, headers, query)
		raw, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		if res.Error == nil {
			answered++
		}
		texts = append(texts, strings.ReplaceAll(string(raw), lease, "<asked>"))
	}
	many := map[string][]string{}
	for name, value := range headers {
		many[name] = []string{value}
	}
	status, body := s.resource(t, pctx, many, "leases?tenant="+seeded.TenantOther)
	if status == 200 {
		answered++
	}
	health, err := s.client.CheckHealth(t.Context(), &backend.CheckHealthRequest{PluginContext: pctx, Headers: headers})
	if err != nil {
		t.Fatal(err)
	}
	if health.Status == backend.HealthStatusOk {
		answered++
	}
	return append(texts, body, health.Message, string(health.JSONDetails)), answered
}

// TestNobodySeesAnotherTenant is the table of isolation: two tenants' data sources x who asks
// x every endpoint, with and without forged headers, for one's own lease and the other's.
func TestNobodySeesAnotherTenant(t *testing.T) {
	s := newStage(t)
	for _, tenant := range []struct{ token, own, ownLease, other, otherLease string }{
		{seeded.TokenAcme, seeded.TenantAcme, seeded.LeaseTrain, seeded.TenantOther, seeded.LeaseInfer},
		{seeded.TokenGlobex, seeded.TenantOther, seeded.LeaseInfer, seeded.TenantAcme, seeded.LeaseTrain},
	} {
		for _, p := range principals {
			for _, headers := range []map[string]string{nil, forged} {
				name := fmt.Sprintf("%s/%s/%d headers", tenant.own, p.name, len(headers))
				t.Run(name, func(t *testing.T) {
					pctx := s.as(t, p.user, tenant.token, p.settings)
					s.taken()
					texts, answered := everything(t, s, pctx, headers, tenant.ownLease)
					want := 0
					if p.admitted {
						want = len(queries("")) + 2
					}
					if answered != want {
						t.Errorf("%d of the questions about one's own lease were answered, expected %d: %q", answered, want, texts)
					}
					texts2, answered := everything(t, s, pctx, headers, tenant.otherLease)
					if p.admitted {
						want = 4 // both tables, the editor's list and the health check, of one's own leases
					}
					if answered != want {
						t.Errorf("%d of the questions about the other's lease were answered, expected %d: %q", answered, want, texts2)
					}
					for _, text := range append(texts, texts2...) {
						if strings.Contains(text, tenant.other) || strings.Contains(text, "do-not-print") {
							t.Errorf("the other tenant or a token shows: %s", text)
						}
					}
					requests := s.taken()
					if !p.admitted && len(requests) > 0 {
						t.Errorf("%d requests reached the server for somebody without access", len(requests))
					}
					for _, r := range requests {
						if got := r.Header.Get("Authorization"); got != "Bearer "+tenant.token {
							t.Errorf("%s was asked with another token than the data source's", r.URL)
						}
						for name, value := range forged {
							if name != "Authorization" && r.Header.Get(name) == value {
								t.Errorf("%s reached the server with the browser's header %s", r.URL, name)
							}
						}
						if strings.Contains(r.URL.RawQuery, "tenant") {
							t.Errorf("the browser's choice of tenant reached the server: %s", r.URL)
						}
					}
				})
			}
		}
	}
}
