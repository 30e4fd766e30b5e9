package server_test

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/server"
)

// tokens makes a token for each holder in a directory where no server runs yet.
func tokens(t *testing.T, storage string, holders ...api.NewToken) map[string]string {
	t.Helper()
	offline, err := server.OpenOffline(context.Background(), server.OfflineOptions{StoragePath: storage})
	if err != nil {
		t.Fatal(err)
	}
	client, err := offline.Client()
	if err != nil {
		t.Fatal(err)
	}
	secrets := map[string]string{}
	for _, holder := range holders {
		made, err := client.CreateToken(t.Context(), holder)
		if err != nil {
			t.Fatal(err)
		}
		secrets[cmp.Or(holder.Name, holder.Person)] = made.Secret
	}
	if err := offline.Close(); err != nil {
		t.Fatal(err)
	}
	return secrets
}

func ask(t *testing.T, method, url, token, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func TestWhoMayReachWhatBesideTheAPI(t *testing.T) {
	t.Chdir(t.TempDir())
	holders := []api.NewToken{{Name: "bound", Role: rental.RolePush, Host: "gpu-a17"}}
	for _, role := range rental.Roles {
		if role != rental.RoleTenant && role != rental.RoleEnroll { // need a tenant, a lease; other tests have one
			holders = append(holders, api.NewToken{Name: string(role), Role: role})
		}
	}
	secrets := tokens(t, "data", holders...)
	base := startServer(t, "access: {required: true}\n", "data")
	const webhook = `{"version":"4","receiver":"leasewatch","groupLabels":{"subject":"x"},"alerts":[{"status":"firing","labels":{"alertname":"A","severity":"notice"},"startsAt":"2026-05-01T00:00:00Z"}]}`
	for path, c := range map[string]struct{ method, body, allowed string }{
		"/metrics":                         {http.MethodGet, "", "admin operator oncall"},
		"/prometheus/api/v1/query?query=1": {http.MethodGet, "", "admin operator oncall"},
		"/alertmanager/api/v2/alerts":      {http.MethodGet, "", "admin operator oncall"},
		"/prometheus/api/v1/write":         {http.MethodPost, "no message", "admin operator push bound"},
		"/api/v1/webhook/alertmanager":     {http.MethodPost, webhook, "admin operator push"},
		"/api/v1/fleet":                    {http.MethodGet, "", "admin operator oncall"},
		"/api/v1/incidents":                {http.MethodGet, "", "admin operator oncall"},
		"/api/v1/leases":                   {http.MethodGet, "", "admin operator oncall finance"},
		"/-/reload":                        {http.MethodPost, "", "admin"},
	} {
		for holder, secret := range secrets {
			status, body := ask(t, c.method, base+path, secret, c.body)
			may := strings.Contains(" "+c.allowed+" ", " "+holder+" ")
			if may == (status == http.StatusForbidden) || status == http.StatusUnauthorized {
				t.Errorf("%s as %s: status %d (%s), expected it allowed: %v", path, holder, status, body, may)
			}
		}
		if status, _ := ask(t, c.method, base+path, "", c.body); status != http.StatusUnauthorized {
			t.Errorf("%s without a token: status %d, expected 401", path, status)
		}
	}
}

func TestAReloadThatWouldNotBeTakenUpIsRefusedWithTheField(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("bot", "xoxb-1")
	const slack = "slack: {channel: C0123, bot_token_file: bot, api_url: 'http://127.0.0.1:1/'}\n"
	base := startServer(t, slack, filepath.Join(t.TempDir(), "data"))
	eventually(t, "the server is ready", func() bool { code, _ := get(t, base+"/-/ready"); return code == http.StatusOK })
	for what, c := range map[string]struct{ yaml, bot, says string }{
		"access":               {slack + "access: {required: true}\n", "xoxb-1", "leasewatch.yaml:2: access.required differs"},
		"the scrape interval":  {slack + "global:\n  scrape_interval: 5s\n", "xoxb-1", "leasewatch.yaml:3: global.scrape_interval differs"},
		"two fields":           {slack + "global: {language: zh}\nmetering: {running: 0s}\n", "xoxb-1", "leasewatch.yaml:3: metering.running differs"},
		"a slower job":         {slack + "scrape_configs: [{job_name: a, scrape_interval: 20s}]\n", "xoxb-1", "leasewatch.yaml:2: scrape_configs: a job has the interval 20s"},
		"the ledger":           {slack + "ledger: {dsn: 'postgres://u:hunter2@db/x'}\n", "xoxb-1", "leasewatch.yaml:2: ledger.dsn differs"},
		"the channel":          {strings.Replace(slack, "C0123", "C0999", 1), "xoxb-1", "leasewatch.yaml:1: slack.channel differs"},
		"another token":        {slack, "xoxb-2", "leasewatch.yaml:1: slack.bot_token_file differs"},
		"thresholds and rules": {slack + "thresholds: [{name: idle_ratio, value: 0.5}]\nrule_files: [extra.yaml]\n", "xoxb-1", ""},
	} {
		t.Run(what, func(t *testing.T) {
			write("leasewatch.yaml", c.yaml)
			write("bot", c.bot)
			write("extra.yaml", "groups: []\n")
			status, body := ask(t, http.MethodPost, base+"/-/reload", "", "")
			switch {
			case c.says == "" && (status != http.StatusOK || body != "reloaded\n"):
				t.Errorf("status %d %q, expected it reloaded", status, body)
			case c.says != "" && (status != http.StatusUnprocessableEntity || !strings.Contains(body, c.says) || !strings.Contains(body, "restart the server")):
				t.Errorf("status %d %q, expected a refusal with %q", status, body, c.says)
			}
			if strings.Contains(body, "hunter2") || strings.Contains(body, "xoxb") {
				t.Errorf("the answer holds a secret: %s", body)
			}
			if status, _ := get(t, base+"/metrics"); status != http.StatusOK {
				t.Errorf("/metrics answers %d after it", status)
			}
		})
	}
	if _, body := get(t, base+"/metrics"); !strings.Contains(body, `lease_threshold{lease="",name="idle_ratio"`) {
		t.Error("the threshold was not taken up")
	}
}
