package httpapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/httpapi"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestWhatTheRoomsBehindAreAsked(t *testing.T) {
	cases := []struct{ target, want string }{
		{"/leases?provider=north", "leases tenant= at=1970-01-01T00:00:00Z"},
		{"/leases?at=2026-05-01T02:00:00%2B02:00", "leases tenant= at=2026-05-01T00:00:00Z"},
		{"/leases/L-acme/bill?month=2026-05", "bill L-acme month=2026-05 1970-01-01T00:00:00Z..1970-01-01T00:00:00Z"},
		{"/leases/L-acme/bill?from=2026-05-01T00:00:00Z", "bill L-acme month= 2026-05-01T00:00:00Z..2026-05-15T12:00:00Z"},
		{"/leases/L-acme/usage", "usage L-acme month= 1970-01-01T00:00:00Z..1970-01-01T00:00:00Z by hour"},
		{"/leases/L-acme/usage?from=2026-05-01T00:00:00.5Z&to=2026-05-02T00:00:00Z&step=day", "usage L-acme month= 2026-05-01T00:00:00.5Z..2026-05-02T00:00:00Z by day"},
		{"/leases/L-acme/sla?month=2026-04", "sla L-acme month=2026-04"},
		{"/providers/north/scorecard?tenant=acme&month=2026-04", "scorecard provider=north tenant=acme month=2026-04"},
		{"/sla?provider=north&month=2026-04", "sla lease= tenant= provider=north month=2026-04"},
		{"/cost-vs-utilisation?group=lease", "cost tenant="},
		{"/incidents?status=open&limit=5", "incidents status=open limit=6"},
	}
	for _, tc := range cases {
		t.Run(tc.target, func(t *testing.T) {
			s := serve(t, nil)
			got := call(s, "GET", api.Root+tc.target, "admin", "")
			if got.Code != 200 || len(s.backend.asked) != 1 || s.backend.asked[0] != tc.want {
				t.Errorf("status %d, %s\ngot  %q\nwant %q", got.Code, got.Body, s.backend.asked, tc.want)
			}
		})
	}
}

func TestAnAnswerAsOfAMomentIsReadFromWhatWasKnownThen(t *testing.T) {
	for target, want := range map[string]string{
		"/leases":                                       "leases tenant=acme at=1970-01-01T00:00:00Z",
		"/leases/L-acme":                                "lease L-acme",
		"/leases/L-acme/history":                        "history L-acme",
		"/leases/L-acme/sla":                            "sla L-acme month=",
		"/providers/north/scorecard":                    "scorecard provider=north tenant=acme month=",
		"/leases/L-acme/bill?month=2026-05":             "bill L-acme month=2026-05 1970-01-01T00:00:00Z..1970-01-01T00:00:00Z",
		"/leases/L-acme/bill?from=2026-04-01T00:00:00Z": "bill L-acme month= 2026-04-01T00:00:00Z..2026-05-02T00:00:00Z", // up to then, not to now
		"/bills?month=2026-05":                          "bills lease= tenant=acme provider= month=2026-05",
	} {
		t.Run(target, func(t *testing.T) {
			s := serve(t, nil)
			join := "?"
			if strings.Contains(target, "?") {
				join = "&"
			}
			got := call(s, "GET", api.Root+target+join+"as_of=2026-05-02T02:00:00%2B02:00", "tenant", "")
			if got.Code != 200 || !slices.Equal(s.backend.asked, []string{"as of 2026-05-02T00:00:00Z", want}) {
				t.Errorf("status %d, %s\ngot  %q\nwant %q", got.Code, got.Body, s.backend.asked, want)
			}
			others := strings.ReplaceAll(target, "L-acme", "L-globex") + join + "as_of=2026-05-02T00:00:00Z"
			if got := call(s, "GET", api.Root+others, "tenant", ""); strings.Contains(target, "L-acme") && got.Code != 404 {
				t.Errorf("another tenant's as of then: status %d, want 404", got.Code)
			}
		})
	}
}

func TestARequestThatCannotBeMeantIsRefusedWithItsPlace(t *testing.T) {
	long := "from=2020-01-01T00:00:00Z&to=2026-01-01T00:00:00Z"
	cases := []struct{ method, target, body, want string }{
		{"GET", "/leases/L-acme/bill?month=2026-13", "", "query.month"},
		{"GET", "/leases/L-acme/bill?month=2026-05&from=2026-05-01T00:00:00Z", "", "a month and a span"},
		{"GET", "/leases/L-acme/bill?to=2026-05-01T00:00:00Z", "", "query.from"},
		{"GET", "/leases/L-acme/bill?from=yesterday", "", "query.from"},
		{"GET", "/leases/L-acme/bill?from=2026-05-02T00:00:00Z&to=2026-05-02T00:00:00Z", "", "holds no time"},
		{"GET", "/leases/L-acme/bill?format=pdf", "", "query.format"},
		{"GET", "/leases/L-acme/usage?step=week", "", "query.step"},
		{"GET", "/leases/L-acme/usage?" + long, "", "longer than 400 days"},
		{"GET", "/leases?tennant=acme", "", "query.tennant"},
		{"GET", "/leases?as_of=2026-05-15T12:00:00.001Z", "", "a moment that has passed"},
		{"GET", "/leases/L-acme/bill?as_of=yesterday", "", "query.as_of"},
		{"GET", "/leases/L-acme/usage?as_of=2026-05-01T00:00:00Z", "", "query.as_of"},
		{"GET", "/fleet?as_of=2026-05-01T00:00:00Z", "", "query.as_of"},
		{"GET", "/leases/" + strings.Repeat("x", 300), "", "path.id"},
		{"GET", "/incidents?status=closed", "", "query.status"},
		{"GET", "/incidents?limit=0", "", "query.limit"},
		{"POST", "/leases/L-acme/end", `{"at":"open"}`, "an end is a moment"},
		{"POST", "/leases/L-acme/end", `{"at":"soon"}`, "RFC 3339"},
		{"POST", "/leases/L-acme/end", `{}`, "body"},
		{"POST", "/leases/L-acme/end", `{"at":"2026-06-01T00:00:00Z","why":"x"}`, "unexpected property"},
		{"POST", "/tokens", `{"name":"x","role":"root"}`, "body.role"},
		{"POST", "/tokens", `{"name":"x","role":"tenant"}`, "body.tenant"},
		{"POST", "/tokens", `{"name":"x","role":"admin","tenant":"acme"}`, "body.tenant"},
		{"POST", "/inventory/adopt", `{"site":""}`, "body.site"},
	}
	for _, tc := range cases {
		t.Run(tc.target+" "+tc.body, func(t *testing.T) {
			s := serve(t, nil)
			got := call(s, tc.method, api.Root+tc.target, "admin", tc.body)
			if got.Code != 422 && got.Code != 400 {
				t.Errorf("status %d", got.Code)
			}
			if media := got.Header().Get("Content-Type"); media != "application/problem+json" {
				t.Errorf("content type %q", media)
			}
			if !strings.Contains(got.Body.String(), tc.want) {
				t.Errorf("got %s, want it to say %q", got.Body, tc.want)
			}
			if len(s.backend.asked) > 0 {
				t.Errorf("the rooms behind were asked %v", s.backend.asked)
			}
		})
	}
}

func TestABodyThatIsTooLongIsRefused(t *testing.T) {
	s := serve(t, nil)
	if got := call(s, "POST", api.Root+"/incidents/INC-acme/ack", "oncall", `{"note":"`+strings.Repeat("x", 70<<10)+`"}`); got.Code != 413 {
		t.Errorf("acknowledgement: status %d, want 413", got.Code)
	}
	if got := call(s, "POST", api.Root+"/apply", "operator", "# "+strings.Repeat("x", 1<<20)); got.Code != 200 {
		t.Errorf("apply of 1 MiB: status %d, want 200: %s", got.Code, got.Body)
	}
	if got := call(s, "POST", api.Root+"/apply", "operator", strings.Repeat("x", 17<<20)); got.Code != 413 {
		t.Errorf("apply of 17 MiB: status %d, want 413", got.Code)
	}
}

func TestAnErrorReachesTheCallerByItsKindAndTheLogByItsCause(t *testing.T) {
	cases := []struct {
		name   string
		err    error
		status int
		told   string
		hidden string // what must be in the log and not in the answer
	}{
		{"conflict", &rental.Error{Code: rental.CodeConflict, Message: "gpu G is leased twice"}, 409, "gpu G is leased twice", ""},
		{"refused", fmt.Errorf("apply: %w", &rental.Error{Code: rental.CodeRefused, Message: "2026-04 is closed"}), 409, "2026-04 is closed", ""},
		{"invalid", &rental.Error{Code: rental.CodeInvalid, Message: "currency XXY"}, 422, "currency XXY", ""},
		{"an API error", api.Errorf(422, "a.yaml:3: unknown field"), 422, "a.yaml:3: unknown field", ""},
		{"unavailable", &rental.Error{Code: rental.CodeUnavailable, Message: "the ledger is read-only", Cause: errors.New("/var/x: EROFS")}, 503, "the ledger is read-only", "/var/x: EROFS"},
		{"anything else", errors.New("pq: password of bob"), 500, "its log says why", "password of bob"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			s := serve(t, nil)
			s.backend.fail = tc.err
			got := call(s, "POST", api.Root+"/apply", "operator", "x")
			var told api.Error
			if err := json.Unmarshal(got.Body.Bytes(), &told); err != nil {
				t.Fatal(err)
			}
			if got.Code != tc.status || told.Status != tc.status || !strings.Contains(told.Detail, tc.told) {
				t.Errorf("status %d: %s", got.Code, got.Body)
			}
			if tc.hidden != "" && (strings.Contains(got.Body.String(), tc.hidden) || strings.Count(s.logged.String(), tc.hidden) != 1) {
				t.Errorf("answer %s; log %s", got.Body, s.logged)
			}
		})
	}
}

func TestARequestThatPanicsIsOneAnswerAndTheServerGoesOn(t *testing.T) {
	s := serve(t, nil)
	s.backend.panics = true
	if got := call(s, "GET", api.Root+"/fleet", "admin", ""); got.Code != 500 || !strings.Contains(s.logged.String(), "panic=broken") {
		t.Errorf("status %d, log %s", got.Code, s.logged)
	}
	s.backend.panics = false
	if got := call(s, "GET", api.Root+"/fleet", "admin", ""); got.Code != 200 {
		t.Errorf("status %d afterwards", got.Code)
	}
}

func TestABillIsJSONOrWhatAPersonReads(t *testing.T) {
	s := serve(t, nil)
	for format, want := range map[string][2]string{
		"":      {"application/json", `"lease":"L-acme"`},
		"json":  {"application/json", `"lease":"L-acme"`},
		"csv":   {"text/csv; charset=utf-8", "bill of L-acme as csv"},
		"table": {"text/plain; charset=utf-8", "bill of L-acme as table"},
		"html":  {"text/html; charset=utf-8", "bill of L-acme as html"},
		"focus": {"text/csv; charset=utf-8", "bill of L-acme as focus"},
	} {
		target := api.Root + "/leases/L-acme/bill"
		if format != "" {
			target += "?format=" + format
		}
		got := call(s, "GET", target, "tenant", "")
		if got.Code != 200 || got.Header().Get("Content-Type") != want[0] || !strings.Contains(got.Body.String(), want[1]) {
			t.Errorf("format %q: status %d, %s, %s", format, got.Code, got.Header().Get("Content-Type"), got.Body)
		}
	}
}

func TestTheAcknowledgementIsInTheNameOfWhoAsked(t *testing.T) {
	s := serve(t, nil)
	got := call(s, "POST", api.Root+"/incidents/INC-acme/ack", "oncall", `{"note":"looking"}`)
	if got.Code != 200 || len(s.backend.acked) != 1 || s.backend.acked[0] != "INC-acme by a-oncall: looking" {
		t.Errorf("status %d, %v", got.Code, s.backend.acked)
	}
}

func TestEveryAnswerForbidsWhatABrowserNeedNotDo(t *testing.T) {
	s := serve(t, nil)
	for _, target := range []string{"/whoami", "/nothing", "/leases/L-globex", "/openapi.json"} {
		got := call(s, "GET", api.Root+target, "tenant", "")
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Referrer-Policy": "no-referrer",
		} {
			if value := got.Header().Get(name); value != want {
				t.Errorf("%s: %s is %q", target, name, value)
			}
		}
	}
	if got := call(s, "GET", api.Root+"/whoami", "", ""); got.Header().Get("WWW-Authenticate") == "" {
		t.Error("a 401 does not say how to authenticate")
	}
}

func TestTheDescriptionNamesEveryOperationAndIsOpen(t *testing.T) {
	s := serve(t, nil)
	var doc struct {
		OpenAPI string `json:"openapi"`
		Paths   map[string]map[string]struct {
			OperationID string                    `json:"operationId"`
			Responses   map[string]map[string]any `json:"responses"`
		} `json:"paths"`
		Components struct {
			Schemas map[string]struct {
				Properties map[string]map[string]any `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	decode(t, call(s, "GET", api.Root+"/openapi.json", "", ""), &doc)
	if !strings.HasPrefix(doc.OpenAPI, "3.1") {
		t.Errorf("OpenAPI version %q", doc.OpenAPI)
	}
	for _, row := range httpapi.AccessTable() {
		if got := doc.Paths[row.Path][strings.ToLower(row.Method)].OperationID; got != row.ID {
			t.Errorf("%s %s: operation %q, want %q", row.Method, row.Path, got, row.ID)
		}
	}
	if verdict := doc.Components.Schemas["SLA"].Properties["verdict"]; !strings.Contains(fmt.Sprint(verdict["anyOf"]), "null") {
		t.Errorf("a verdict that may be null is described as %v", verdict)
	}
	if use := doc.Components.Schemas["UsagePoint"].Properties["utilisation"]; !strings.Contains(fmt.Sprint(use["type"]), "null") {
		t.Errorf("a use that may be null is described as %v", use)
	}
	if start := doc.Components.Schemas["LeaseSummary"].Properties["start"]; start["type"] != "string" {
		t.Errorf("a time is described as %v", start)
	}
	if _, ok := doc.Components.Schemas["ErrorModel"].Properties["detail"]; !ok {
		t.Error("errors are not described")
	}
}

func TestTheClientReadsWhatTheHandlerWrites(t *testing.T) {
	s := serve(t, &httpapi.Local)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	overSocket, err := api.New(server.URL, api.NewSecret("admin"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*api.Client{"over a socket": overSocket, "in process": api.NewInProcess(s, api.Secret{})} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			must := func(what string, err error) {
				t.Helper()
				if err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
			p, err := c.Whoami(ctx)
			must("whoami", err)
			if p.Role != rental.RoleAdmin {
				t.Errorf("whoami: got %+v", p)
			}
			leases, err := c.Leases(ctx, api.LeaseQuery{At: rental.At(noon)})
			must("leases", err)
			if len(leases) != 2 || leases[0].ID != "L-acme" {
				t.Errorf("leases: got %+v", leases)
			}
			d, err := c.Lease(ctx, "L-acme")
			must("lease", err)
			if d.Lease.End != rental.Forever {
				t.Errorf("an open end came back as %s", d.Lease.End)
			}
			ended, err := c.EndLease(ctx, "L-acme", api.EndLease{At: rental.At(noon.Add(time.Hour))})
			must("end", err)
			if ended.End != rental.At(noon.Add(time.Hour)) {
				t.Errorf("end: got %s", ended.End)
			}
			_, err = c.Bill(ctx, "L-acme", api.Period{Month: "2026-05"})
			must("bill", err)
			text, err := c.BillAs(ctx, "L-acme", api.Period{}, "csv", "zh")
			must("bill as csv", err)
			if string(text) != "bill of L-acme as csv in zh\n" {
				t.Errorf("bill as csv: got %q", text)
			}
			bills, err := c.Bills(ctx, api.BillQuery{Tenant: "acme", Provider: "north", Period: api.Period{Month: "2026-04"}})
			must("bills", err)
			if len(bills.Bills) != 1 || bills.Bills[0].Lease != "L-acme" {
				t.Errorf("bills: %+v", bills)
			}
			text, err = c.BillsAs(ctx, api.BillQuery{Lease: "L-acme", Tenant: "acme"}, "focus", "")
			must("bills as focus", err)
			if string(text) != "bill of L-acme as focus in \n" {
				t.Errorf("bills as focus: got %q", text)
			}
			quotes, err := c.Simulate(ctx, "L-acme", api.Period{Month: "2026-04"})
			must("simulate", err)
			if len(quotes) != 1 || quotes[0].Contract != "cheap" {
				t.Errorf("quotes: %+v", quotes)
			}
			quotes, err = c.SimulateProfile(ctx, api.UseProfile{GPUs: 4, Days: 250, From: "2026-01-01", HoursPerDay: "8"})
			must("simulate a profile", err)
			if len(quotes) != 1 {
				t.Errorf("quotes of a profile: %+v", quotes)
			}
			owned, err := c.OwnOrRent(ctx, "L-acme", api.OwnOrRent{Month: "2026-04", Price: "250000", LifeDays: 1095})
			must("own or rent", err)
			if owned.Lease != "L-acme" || owned.Month != "2026-04" {
				t.Errorf("owned: %+v", owned)
			}
			closing, err := c.CloseMonth(ctx, api.CloseMonth{Month: "2026-04", DryRun: true})
			must("close", err)
			if closing.Month != "2026-04" {
				t.Errorf("closing: %+v", closing)
			}
			invoices, err := c.Invoices(ctx, "2026-04")
			must("invoices", err)
			text, err = c.InvoiceBytes(ctx, "INV-acme")
			must("invoice", err)
			if len(invoices) != 2 || string(text) != "{}\n" {
				t.Errorf("invoices %+v, one of them %q", invoices, text)
			}
			_, err = c.Usage(ctx, "L-acme", api.Period{Span: rental.Span{Start: rental.At(noon.Add(-time.Hour)), End: rental.Forever}}, api.StepDay)
			must("usage", err)
			_, err = c.SLA(ctx, "L-acme", "")
			must("sla", err)
			_, err = c.Downtime(ctx, "L-acme", api.Period{})
			must("downtime", err)
			_, err = c.States(ctx, "L-acme", api.Period{})
			must("states", err)
			_, err = c.CostVsUtilisation(ctx, rental.Span{})
			must("cost", err)
			_, err = c.Fleet(ctx)
			must("fleet", err)
			_, err = c.Status(ctx)
			must("status", err)
			_, err = c.Incidents(ctx, api.IncidentQuery{})
			must("incidents", err)
			_, err = c.Incident(ctx, "INC-acme")
			must("incident", err)
			_, err = c.AckIncident(ctx, "INC-acme", api.AckIncident{})
			must("ack", err)
			changes, err := c.Apply(ctx, []byte("x"), true)
			must("apply", err)
			if !changes.DryRun || len(changes.Changes) != 1 {
				t.Errorf("apply: got %+v", changes)
			}
			_, err = c.Proposals(ctx)
			must("proposals", err)
			_, err = c.Adopt(ctx, api.Adopt{Site: "s", Hosts: []string{"h"}})
			must("adopt", err)
			tenants, err := c.Tenants(ctx)
			must("tenants", err)
			if len(tenants) != 2 {
				t.Errorf("tenants: got %v", tenants)
			}
			for what, list := range map[string]func() error{
				"providers": func() error { _, err := c.Providers(ctx); return err },
				"sites":     func() error { _, err := c.Sites(ctx); return err },
				"hosts":     func() error { _, err := c.Hosts(ctx); return err },
				"gpus":      func() error { _, err := c.GPUs(ctx); return err },
				"skus":      func() error { _, err := c.SKUs(ctx); return err },
				"contracts": func() error { _, err := c.Contracts(ctx); return err },
				"tokens":    func() error { _, err := c.Tokens(ctx); return err },
			} {
				must(what, list())
			}
			made, err := c.CreateToken(ctx, api.NewToken{Name: "grafana", Role: rental.RoleTenant, Tenant: "acme"})
			must("create token", err)
			if made.Secret != "lw_new" || made.Token.Tenant != "acme" {
				t.Errorf("create token: got %+v", made)
			}
			must("revoke token", c.RevokeToken(ctx, "grafana"))
			made, err = c.CreateToken(ctx, api.NewToken{Name: "vm-3", Role: rental.RoleEnroll, Lease: "L-acme"})
			must("create enrolment", err)
			if made.Secret != "lw_once" || made.Token.Lease != "L-acme" || !slices.Contains(s.backend.asked, "create enrolment vm-3 of L-acme for 24h0m0s") {
				t.Errorf("create enrolment: got %+v, asked %v", made, s.backend.asked)
			}
			for what, wrong := range map[string]api.NewToken{
				"an enrolment without a lease":     {Name: "x", Role: rental.RoleEnroll},
				"an enrolment for a host":          {Name: "x", Role: rental.RoleEnroll, Lease: "L", Host: "h"},
				"a push token of a lease":          {Name: "x", Role: rental.RolePush, Host: "h", Lease: "L"},
				"an admin's for a while":           {Name: "x", Role: rental.RoleAdmin, ValidForSeconds: 60},
				"an enrolment for a tenant":        {Name: "x", Role: rental.RoleEnroll, Lease: "L", Tenant: "acme"},
				"an enrolment of seconds":          {Name: "x", Role: rental.RoleEnroll, Lease: "L", ValidForSeconds: 5},
				"an enrolment of more than a year": {Name: "x", Role: rental.RoleEnroll, Lease: "L", ValidForSeconds: 40_000_000},
			} {
				if _, err := c.CreateToken(ctx, wrong); !errors.Is(err, api.ErrInvalid) {
					t.Errorf("%s: got %v, expected it refused as invalid", what, err)
				}
			}
			if _, err := c.Lease(ctx, "L-nobody"); !errors.Is(err, api.ErrNotFound) {
				t.Errorf("a lease that does not exist: got %v", err)
			}
		})
	}
}
