package httpapi_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/httpapi"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// bodies holds what a POST of an operation needs.
var bodies = map[string]string{
	"approve-pending": `{}`, "reject-pending": `{"note":"no"}`,
	"end-lease":    `{"at":"2026-06-01T00:00:00Z"}`,
	"ack-incident": `{}`, "silence-incident": `{"minutes":60}`, "escalate-incident": `{}`, "note-incident": `{"note":"fan ordered"}`,
	"apply":       "kind: Lease\n",
	"adopt":       `{"site":"s1"}`,
	"close-month": `{"month":"2026-04"}`,

	"claim-credit": `{"reason":"the month was missed"}`, "approve-credit": `{"reason":"checked"}`, "refuse-credit": `{"reason":"late"}`,
	"simulate-profile": `{"gpus":4,"days":250,"from":"2026-01-01"}`,
	"own-or-rent":      `{"month":"2026-04","price":"250000","life_days":1095}`,

	"record-downtime": `{"lease":"L-acme","start":"2026-05-01T00:00:00Z","end":"2026-05-01T01:00:00Z","cause":"provider","reason":"host_down",
		"evidence":[{"kind":"text","text":"ping failed"}]}`,
	"approve-downtime": `{"reason":"seen on site","cause":"provider"}`,
	"reject-downtime":  `{"reason":"the exporter was wrong"}`,
	"dispute-downtime": `{"note":"it was a drill"}`,
	"decide-downtime":  `{"outcome":"approved","reason":"the BMC log says so"}`,

	"announce-maintenance": `{"id":"M-1","hosts":["h"],"start":"2026-06-01T00:00:00Z","end":"2026-06-01T01:00:00Z","reason":"fans"}`,
	"deliver-maintenance":  `{"tenant":"acme","way":"mail","note":"ticket 7"}`,
	"cancel-maintenance":   `{"reason":"no parts"}`,

	"report-incident": `{"note":"our job hangs"}`, "verify-incident": `{"note":"it runs"}`,
	"note-answer": `{"at":"2026-05-01T03:05:00Z","note":"by phone"}`, "approve-answer": `{}`,
	"report-backup":   `{"lease":"L-acme","set":"work","data_at":"2026-05-01T02:00:00Z","finished_at":"2026-05-01T02:20:00Z"}`,
	"check-backup":    `{"outcome":"verified","note":"read back"}`,
	"open-failure":    `{"lease":"L-acme","note":"the disk is gone"}`,
	"restore-failure": `{"backup":"L-acme:work:20260501T020000.000Z","note":"from the bucket"}`,
	"settle-failure":  `{"outcome":"verified","note":"it trains"}`,

	"swap-gpu":         `{"gpu":"GPU-a","with":"GPU-b","at":"2026-05-01T00:00:00Z"}`,
	"set-gpu-life":     `{"life":"suspect","why":"XID 79"}`,
	"open-rma":         `{"gpu":"GPU-a","why":"XID 79","incident":"INC-4"}`,
	"replace-rma":      `{"uuid":"GPU-b","serial":"2","why":"the box came"}`,
	"close-rma":        `{"outcome":"replaced","why":"done"}`,
	"tell-assignments": `{"sessions":[{"scheduler":"slurm","cluster":"c","session":"1","lease":"L-acme","uuid":"GPU-a","start":"2026-05-01T00:00:00Z"}]}`,
	"create-token":     `{"name":"x","role":"oncall"}`,
	"add-person":       `{"name":"Ada"}`,
	"place-hold":       `{"scope":"all","reason":"a dispute"}`,
	"release-hold":     `{"why":"settled"}`,
	"change-person":    `{"name":"Ada"}`,
	"erase-person":     `{"why":"asked for it"}`,
	"enroll":           `{"host":"vm-3","hash":"` + strings.Repeat("ab", 32) + `"}`,
}

// call sends one request as the holder of the secret ("" is nobody), from elsewhere.
func call(h http.Handler, method, target, secret, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.RemoteAddr = "192.0.2.7:4000"
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/apply"):
		r.Header.Set("Content-Type", "application/yaml")
	case body != "":
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// want is the table of who may do what, written a second time and by hand: a change of the
// first must be meant.
var want = map[string]string{
	"report-incident": "admin operator oncall tenant", "verify-incident": "admin operator oncall tenant",
	"note-answer": "admin operator oncall", "approve-answer": "admin operator oncall",
	"list-backups": "admin operator oncall finance tenant", "report-backup": "admin operator oncall tenant", "check-backup": "admin operator oncall tenant",
	"list-failures": "admin operator oncall finance tenant", "get-failure": "admin operator oncall finance tenant",
	"open-failure": "admin operator oncall tenant", "restore-failure": "admin operator oncall tenant", "settle-failure": "admin operator oncall tenant",
	"whoami": "admin operator oncall finance tenant push enroll scheduler", "status": "admin operator oncall finance tenant",
	"list-leases": "admin operator oncall finance tenant", "get-lease": "admin operator oncall finance tenant",
	"lease-history": "admin operator oncall finance tenant",
	"get-usage":     "admin operator oncall finance tenant", "get-sla": "admin operator oncall finance tenant",
	"get-report":        "admin operator oncall finance tenant",
	"get-heads":         "admin operator oncall finance tenant",
	"list-signing-keys": "admin operator oncall finance tenant",
	"list-sla":          "admin operator oncall finance tenant",
	"get-scorecard":     "admin operator oncall finance tenant",
	"get-downtime":      "admin operator oncall finance tenant", "get-states": "admin operator oncall finance tenant",
	"get-bill": "admin operator oncall finance tenant", "cost-vs-utilisation": "admin operator oncall finance tenant",
	"list-bills": "admin operator oncall finance tenant", "list-invoices": "admin operator oncall finance tenant",
	"get-invoice": "admin operator oncall finance tenant", "close-month": "admin finance", "simulate-prices": "admin operator oncall finance",
	"simulate-profile": "admin operator oncall finance", "own-or-rent": "admin operator oncall finance tenant",
	"list-downtimes": "admin operator oncall finance tenant", "get-downtime-fact": "admin operator oncall finance tenant",
	"list-credits": "admin operator oncall finance tenant", "get-credit": "admin operator oncall finance tenant",
	"get-credit-pack": "admin operator oncall finance tenant", "claim-credit": "admin operator finance tenant",
	"approve-credit": "admin finance", "refuse-credit": "admin finance",
	"list-maintenances": "admin operator oncall finance tenant", "get-maintenance": "admin operator oncall finance tenant",
	"announce-maintenance": "admin operator", "deliver-maintenance": "admin operator", "cancel-maintenance": "admin operator",
	"record-downtime": "admin operator oncall tenant", "dispute-downtime": "admin operator oncall finance tenant",
	"approve-downtime": "admin operator finance", "reject-downtime": "admin operator finance", "decide-downtime": "admin operator finance",
	"get-fleet": "admin operator oncall tenant", "list-incidents": "admin operator oncall tenant",
	"get-incident": "admin operator oncall tenant", "ack-incident": "admin operator oncall",
	"silence-incident": "admin operator oncall", "escalate-incident": "admin operator oncall", "note-incident": "admin operator oncall",
	"export-incident": "admin operator oncall", "get-oncall": "admin operator oncall",
	"list-pending": "admin operator finance", "get-pending": "admin operator finance",
	"approve-pending": "admin operator finance", "reject-pending": "admin operator finance",
	"end-lease": "admin operator", "apply": "admin operator", "list-proposals": "admin operator", "tell-assignments": "admin operator scheduler", "list-inventory-conflicts": "admin operator oncall", "adopt": "admin operator",
	"idle-use": "admin operator oncall finance tenant", "unleased-use": "admin operator oncall", "swap-gpu": "admin operator",
	"set-gpu-life": "admin operator", "gpu-history": "admin operator oncall",
	"list-rmas": "admin operator oncall", "get-rma": "admin operator oncall", "get-rma-bundle": "admin operator oncall",
	"open-rma": "admin operator", "replace-rma": "admin operator", "close-rma": "admin operator",
	"list-providers": "admin operator oncall finance", "list-tenants": "admin operator oncall finance",
	"list-sites": "admin operator oncall", "list-hosts": "admin operator oncall",
	"list-gpus": "admin operator oncall", "list-mig-instances": "admin operator oncall", "list-skus": "admin operator oncall finance",
	"list-contracts": "admin operator oncall finance",
	"list-tokens":    "admin", "create-token": "admin", "revoke-token": "admin", "enroll": "enroll",
	"list-holds": "admin finance", "place-hold": "admin finance", "release-hold": "admin finance", "get-retention": "admin finance",
	"list-people": "admin", "get-person": "admin", "add-person": "admin", "change-person": "admin", "erase-person": "admin",
}

// TestEveryOperationForEveryRoleOnOwnOthersAndNoThing goes through the whole of it: each
// operation, each role and nobody, on things of the tenant acme, of the tenant globex and of
// nobody. What a role may not do is 403, what a tenant may not see is 404, and no answer to
// acme ever names globex.
func TestEveryOperationForEveryRoleOnOwnOthersAndNoThing(t *testing.T) {
	s := serve(t, nil)
	table := httpapi.AccessTable()
	if len(table) != len(want) {
		t.Errorf("the table has %d rows, this test knows %d", len(table), len(want))
	}
	things := map[string][]string{
		"leases":       {"L-acme", "L-globex", "L-nobody"},
		"incidents":    {"INC-acme", "INC-globex", "INC-missing", "INC-both", "INC-alone", "INC-late", "INC-nobody"},
		"invoices":     {"INV-acme", "INV-globex", "INV-missing"},
		"credits":      {"L-acme:2026-04", "L-globex:2026-04", "L-acme:2026-03"},
		"downtimes":    {"DT-acme", "DT-globex", "DT-missing"},
		"maintenances": {"M-both", "M-globex", "M-missing"},
		"tokens":       {"T1"},
		"people":       {"PER-1"},
		"holds":        {"HOLD-1"},
		"pending":      {"P-1"},
		"gpus":         {"GPU-a"},
		"rmas":         {"RMA-000001"},
	}
	for _, row := range table {
		kind, _, _ := strings.Cut(strings.TrimPrefix(row.Path, "/"), "/")
		names := []string{""}
		if strings.Contains(row.Path, "{") {
			names = things[kind]
		}
		for _, name := range names {
			for _, role := range append([]rental.Role{""}, rental.Roles...) {
				t.Run(row.ID+" "+name+" as "+string(role), func(t *testing.T) {
					s.backend.asked, s.backend.acked = nil, nil
					path := strings.NewReplacer("{id}", name, "{name}", name).Replace(row.Path)
					got := call(s, row.Method, api.Root+path, string(role), bodies[row.ID])

					expected := statusFor(row, name, role)
					if got.Code != expected {
						t.Fatalf("status %d, want %d: %s", got.Code, expected, got.Body)
					}
					if expected == http.StatusUnauthorized || expected == http.StatusForbidden || expected == http.StatusNotFound {
						if media := got.Header().Get("Content-Type"); media != "application/problem+json" {
							t.Errorf("content type %q", media)
						}
						if len(s.backend.asked)+len(s.backend.acked) > 0 {
							t.Errorf("the refused request reached the rooms behind: %v %v", s.backend.asked, s.backend.acked)
						}
					}
					answered := strings.ReplaceAll(got.Body.String(), name, "")
					if role == rental.RoleTenant && (strings.Contains(answered, "globex") || strings.Contains(answered, "GPU-unleased")) {
						t.Errorf("the answer to acme names another: %s", got.Body)
					}
				})
			}
		}
	}
}

func statusFor(row httpapi.Access, name string, role rental.Role) int {
	missing := name == "L-nobody" || name == "INC-missing" || name == "INV-missing" || name == "DT-missing" || name == "M-missing" || name == "L-acme:2026-03"
	others := name == "L-globex" || name == "INC-globex" || name == "INC-nobody" || name == "INV-globex" || name == "DT-globex" || name == "M-globex" || name == "L-globex:2026-04"
	switch {
	case role == "":
		return http.StatusUnauthorized
	case !slices.Contains(strings.Fields(want[row.ID]), string(role)):
		return http.StatusForbidden
	case missing, others && role == rental.RoleTenant:
		return http.StatusNotFound
	case row.ID == "create-token", row.ID == "add-person", row.ID == "place-hold", row.ID == "record-downtime", row.ID == "announce-maintenance":
		return http.StatusCreated
	case row.ID == "revoke-token":
		return http.StatusNoContent
	}
	return http.StatusOK
}

func TestAnotherTenantsThingReadsLikeOneThatDoesNotExist(t *testing.T) {
	s := serve(t, nil)
	for _, pair := range [][2]string{{"/leases/L-globex", "/leases/L-nobody"}, {"/incidents/INC-globex", "/incidents/INC-missing"}, {"/invoices/INV-globex", "/invoices/INV-missing"}, {"/downtimes/DT-globex", "/downtimes/DT-missing"}, {"/credits/L-globex:2026-04", "/credits/L-acme:2026-03"}, {"/maintenances/M-globex", "/maintenances/M-missing"}} {
		others := call(s, "GET", api.Root+pair[0], "tenant", "").Body.String()
		missing := call(s, "GET", api.Root+pair[1], "tenant", "").Body.String()
		name := func(path string) string { return path[strings.LastIndex(path, "/")+1:] }
		if a, b := strings.ReplaceAll(others, name(pair[0]), ""), strings.ReplaceAll(missing, name(pair[1]), ""); a != b {
			t.Errorf("the answers differ: %s and %s", others, missing)
		}
	}
}

func TestATenantSeesOfASharedIncidentOnlyWhatTouchesIt(t *testing.T) {
	s := serve(t, nil)
	var got api.IncidentDetail
	decode(t, call(s, "GET", api.Root+"/incidents/INC-both", "tenant", ""), &got)
	in := got.Incident
	if in.Title != "GPU of acme lost" || len(in.Alerts) != 1 || !slices.Equal(in.Leases, []string{"L-acme"}) || !slices.Equal(in.Tenants, []string{"acme"}) {
		t.Errorf("got %+v", in)
	}
	if in.Status != rental.IncidentAcked || in.AckedBy != "" || in.Key != "" || len(in.Messages) > 0 || len(got.Deliveries) > 0 {
		t.Errorf("told more than that it is acknowledged: %+v, %v", in, got.Deliveries)
	}
	if len(in.Events) != 2 || in.Events[0].Note != "" || in.Events[1].By != "" {
		t.Errorf("events: got %+v", in.Events)
	}
}

func TestATenantAloneOnAHostSeesTheAlertsAboutTheHost(t *testing.T) {
	s := serve(t, nil)
	var got api.IncidentDetail
	decode(t, call(s, "GET", api.Root+"/incidents/INC-alone", "tenant", ""), &got)
	if len(got.Incident.Alerts) != 1 || got.Incident.Title != "driver down on shared-host" {
		t.Errorf("got %+v", got.Incident)
	}
}

func TestATenantOnASharedHostSeesTheHostsAlertAndItsOwnLeases(t *testing.T) {
	s := serve(t, nil)
	got := call(s, "GET", api.Root+"/incidents/INC-shared", "tenant", "")
	var shown api.IncidentDetail
	decode(t, got, &shown)
	in := shown.Incident
	if len(in.Alerts) != 1 || in.Title != "host silent: shared-host" || !slices.Equal(in.Leases, []string{"L-acme"}) || len(in.Alerts[0].Holders) != 1 {
		t.Errorf("got %+v", in)
	}
	if strings.Contains(got.Body.String(), "globex") {
		t.Errorf("another tenant is named: %s", got.Body)
	}
}

func TestATenantIsToldWhetherAnybodyIsPagedAndNothingOfTheServer(t *testing.T) {
	s := serve(t, nil)
	var got api.Status
	decode(t, call(s, "GET", api.Root+"/status", "tenant", ""), &got)
	if got.Version != "1.2.3" || got.Paging.Reason == "" || len(got.TargetsDown) > 0 || got.Outbox.Reason != "" {
		t.Errorf("got %+v", got)
	}
}

func TestATenantWhoAsksForAnotherGetsAnEmptyListAndNobodyIsAsked(t *testing.T) {
	s := serve(t, nil)
	got := call(s, "GET", api.Root+"/leases?tenant=globex", "tenant", "")
	if got.Code != 200 || strings.TrimSpace(got.Body.String()) != `{"items":[]}` || len(s.backend.asked) > 0 {
		t.Errorf("status %d, %s, asked %v", got.Code, got.Body, s.backend.asked)
	}
}

func TestAListOfATenantIsCutAfterItsOwnAndSaysWhetherThereAreMore(t *testing.T) {
	s := serve(t, nil)
	for _, tc := range []struct {
		role string
		ids  []string
		more bool
	}{{"tenant", []string{"INC-both"}, true}, {"oncall", []string{"INC-both"}, true}} {
		var got api.IncidentList
		decode(t, call(s, "GET", api.Root+"/incidents?limit=1", tc.role, ""), &got)
		if len(got.Incidents) != 1 || got.Incidents[0].ID != tc.ids[0] || got.More != tc.more {
			t.Errorf("as %s: got %+v", tc.role, got)
		}
	}
	var all api.IncidentList
	decode(t, call(s, "GET", api.Root+"/incidents", "tenant", ""), &all)
	if len(all.Incidents) != 5 || all.More {
		t.Errorf("got %d incidents, more %t", len(all.Incidents), all.More)
	}
}

func TestATenantsListIsNotCutByOthersIncidents(t *testing.T) {
	s := serve(t, nil)
	var got api.IncidentList
	decode(t, call(s, "GET", api.Root+"/incidents?limit=2", "tenant", ""), &got)
	if len(got.Incidents) != 2 || got.Incidents[1].ID != "INC-acme" || !got.More {
		t.Errorf("got %+v, expected the second of its own though another's stands between", got)
	}
	if len(s.backend.asked) != 1 || s.backend.asked[0] != "incidents status= limit=3" {
		t.Errorf("asked %v, expected three of the tenant's own", s.backend.asked)
	}
}

func TestATenantsMaintenanceNamesNoOtherHostAndLease(t *testing.T) {
	s := serve(t, nil)
	for role, want := range map[string][2]int{"tenant": {1, 1}, "oncall": {2, 2}} {
		var got api.LeaseDetail
		decode(t, call(s, "GET", api.Root+"/leases/L-acme", role, ""), &got)
		window := got.Maintenance[0]
		if len(window.Hosts) != want[0] || len(window.Leases) != want[1] || !slices.Contains(window.Hosts, "shared-host") {
			t.Errorf("as %s: %+v", role, window)
		}
	}
}

func decode(t *testing.T, got *httptest.ResponseRecorder, into any) {
	t.Helper()
	if got.Code/100 != 2 {
		t.Fatalf("status %d: %s", got.Code, got.Body)
	}
	if err := json.NewDecoder(bytes.NewReader(got.Body.Bytes())).Decode(into); err != nil {
		t.Fatalf("%v in %s", err, got.Body)
	}
}

func TestATenantIsBilledForItselfAlone(t *testing.T) {
	s := serve(t, nil)
	got := call(s, "GET", api.Root+"/bills?tenant=globex", "tenant", "")
	if got.Code != 200 || strings.TrimSpace(got.Body.String()) != `{"bills":[],"subtotals":[]}` || len(s.backend.asked) > 0 {
		t.Errorf("status %d, %s, asked %v", got.Code, got.Body, s.backend.asked)
	}
	if got := call(s, "GET", api.Root+"/bills?lease=L-globex", "tenant", ""); got.Code != 404 {
		t.Errorf("another's lease: %d %s", got.Code, got.Body)
	}
	for _, format := range []string{"json", "csv", "table", "html", "focus", "focus-1.0"} {
		got := call(s, "GET", api.Root+"/bills?month=2026-04&format="+format, "tenant", "")
		if got.Code != 200 || !strings.Contains(got.Body.String(), "L-acme") || strings.Contains(got.Body.String(), "globex") {
			t.Errorf("%s: %d %s", format, got.Code, got.Body)
		}
	}
	s.backend.leaks = true // a fault of the room behind must not become one of the tenant's privacy
	if got := call(s, "GET", api.Root+"/bills", "tenant", ""); got.Code != 500 || strings.Contains(got.Body.String(), "globex") {
		t.Errorf("a leak: %d %s", got.Code, got.Body)
	}
}

func TestAFileOfBillsThatLacksOneIsNotWritten(t *testing.T) {
	s := serve(t, nil)
	s.backend.unbilled = true
	if got := call(s, "GET", api.Root+"/bills?format=csv", "finance", ""); got.Code != 409 || !strings.Contains(got.Body.String(), "no rate holds") {
		t.Errorf("csv: %d %s", got.Code, got.Body)
	}
	var bills api.Bills
	decode(t, call(s, "GET", api.Root+"/bills", "finance", ""), &bills)
	if len(bills.Failures) != 1 || len(bills.Bills) != 2 {
		t.Errorf("json: %+v", bills)
	}
}

func TestATenantOfAMIGInstanceSeesHowItsCardIsAndNothingOfTheOtherParts(t *testing.T) {
	s := serve(t, nil)
	got := call(s, http.MethodGet, api.Root+"/fleet", string(rental.RoleTenant), "")
	var f api.Fleet
	if err := json.Unmarshal(got.Body.Bytes(), &f); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(f.Hosts, func(h api.FleetHost) bool { return h.Host == "cut-host" })
	if i < 0 || len(f.Hosts[i].GPUs) != 1 {
		t.Fatalf("found %s, expected the one card that acme has a part of", got.Body)
	}
	card := f.Hosts[i].GPUs[0]
	if card.UUID != "GPU-cut" || card.State != "ok" || card.PowerWatts != nil || len(card.MIG) != 1 || card.MIG[0].UUID != "MIG-acme" {
		t.Errorf("found %+v, expected its state, no reading of the whole card and acme's part alone", card)
	}
}
