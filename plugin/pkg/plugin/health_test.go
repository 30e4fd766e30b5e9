package plugin_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/grafana/grafana-plugin-sdk-go/backend"

	"github.com/leasewatch/leasewatch/plugin/pkg/plugin"
	"github.com/leasewatch/leasewatch/plugin/pkg/seeded"
)

func TestTheHealthCheckNamesTheRemedy(t *testing.T) {
	s := newStage(t)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>a login page</html>"))
	}))
	t.Cleanup(page.Close)
	unset := s.as(t, viewer, "", plugin.Settings{})
	unset.DataSourceInstanceSettings.JSONData = []byte(`{}`)
	broken := s.as(t, viewer, "", plugin.Settings{})
	broken.DataSourceInstanceSettings.JSONData = []byte(`{"url":7}`)

	for name, c := range map[string]struct {
		pctx backend.PluginContext
		ok   bool
		want []string
	}{
		"no address":    {unset, false, []string{"no address of a Leasewatch server", "http://127.0.0.1:8080"}},
		"no settings":   {broken, false, []string{"not readable"}},
		"not an URL":    {s.as(t, viewer, "", plugin.Settings{URL: "gpu-house:8080"}), false, []string{`"gpu-house:8080"`, "expected http://host:port"}},
		"no token":      {s.as(t, viewer, "", plugin.Settings{}), false, []string{"none is set", "leasewatch token create"}},
		"wrong token":   {s.as(t, viewer, seeded.TokenWrong, plugin.Settings{}), false, []string{"does not know the token", "leasewatch token create"}},
		"push token":    {s.as(t, viewer, seeded.TokenPush, plugin.Settings{}), false, []string{"role push", "--role=tenant --tenant=NAME"}},
		"on-call token": {s.as(t, viewer, seeded.TokenOnCall, plugin.Settings{}), true, []string{"connected as ann (oncall): 4 leases"}},
		"nobody there":  {s.as(t, viewer, seeded.TokenAcme, plugin.Settings{URL: "http://127.0.0.1:1"}), false, []string{"http://127.0.0.1:1", "refused", "check the address"}},
		"wrong path":    {s.as(t, viewer, seeded.TokenAcme, plugin.Settings{URL: s.url + "/elsewhere"}), false, []string{"no Leasewatch API at", "/elsewhere"}},
		"a login page":  {s.as(t, viewer, seeded.TokenAcme, plugin.Settings{URL: page.URL}), false, []string{"is this a Leasewatch server?"}},
		"tenant token":  {s.as(t, viewer, seeded.TokenAcme, plugin.Settings{}), true, []string{"connected as acme-grafana", "3 leases of tenant acme"}},
		"finance token": {s.as(t, viewer, seeded.TokenFinance, plugin.Settings{}), true, []string{"connected as ledger-office (finance): 4 leases"}},
		"slash at end":  {s.as(t, viewer, seeded.TokenAcme, plugin.Settings{URL: s.url + "/"}), true, []string{"3 leases"}},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := s.client.CheckHealth(t.Context(), &backend.CheckHealthRequest{PluginContext: c.pctx})
			if err != nil {
				t.Fatal(err)
			}
			if (res.Status == backend.HealthStatusOk) != c.ok {
				t.Errorf("status %v: %s", res.Status, res.Message)
			}
			for _, want := range c.want {
				if !strings.Contains(res.Message, want) {
					t.Errorf("it says %q, expected %q in it", res.Message, want)
				}
			}
			if strings.Contains(res.Message+string(res.JSONDetails), "do-not-print") {
				t.Errorf("the message holds the token: %s", res.Message)
			}
		})
	}
}

func TestTheEditorsAreOfferedTheLeasesOfTheToken(t *testing.T) {
	s := newStage(t)
	status, body := s.resource(t, s.as(t, viewer, seeded.TokenAcme, plugin.Settings{}), nil, "leases")
	var choices []struct{ Lease, Tenant, SKU string }
	if err := json.Unmarshal([]byte(body), &choices); err != nil || status != http.StatusOK {
		t.Fatalf("status %d, %v: %s", status, err, body)
	}
	if len(choices) != 3 || choices[0].Lease != seeded.LeaseDark || choices[0].SKU != "a100-80" {
		t.Errorf("offered %+v", choices)
	}
	for path, want := range map[string]int{"elsewhere": 404, "leases/x": 404} {
		if status, _ := s.resource(t, s.as(t, viewer, seeded.TokenAcme, plugin.Settings{}), nil, path); status != want {
			t.Errorf("resource %s: status %d, expected %d", path, status, want)
		}
	}
	// 401 would make Grafana's pages end the visitor's session.
	status, body = s.resource(t, s.as(t, viewer, seeded.TokenWrong, plugin.Settings{}), nil, "leases")
	if status != http.StatusForbidden || !strings.Contains(body, "does not know the token") || strings.Contains(body, "do-not-print") {
		t.Errorf("with a wrong token: %d %s", status, body)
	}
}
