package httpapi_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/httpapi"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestWhoARequestIsTakenFor(t *testing.T) {
	cases := []struct {
		name      string
		anonymous bool
		change    func(r *http.Request)
		want      string // the name, or the status as text
	}{
		{"a bearer token", false, func(r *http.Request) { r.Header.Set("Authorization", "Bearer oncall") }, "a-oncall"},
		{"a bearer token in other letters", false, func(r *http.Request) { r.Header.Set("Authorization", "bearer  oncall") }, "a-oncall"},
		{"the password of basic authentication", false, func(r *http.Request) { r.SetBasicAuth("any", "push") }, "a-push"},
		{"the portal's cookie", false, func(r *http.Request) { r.AddCookie(&http.Cookie{Name: api.SessionCookie, Value: "finance"}) }, "a-finance"},
		{"a token before the cookie", false, func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer oncall")
			r.AddCookie(&http.Cookie{Name: api.SessionCookie, Value: "admin"})
		}, "a-oncall"},
		{"another scheme, though a cookie is there", false, func(r *http.Request) {
			r.Header.Set("Authorization", "Digest x")
			r.AddCookie(&http.Cookie{Name: api.SessionCookie, Value: "admin"})
		}, "401"},
		{"an unknown token", false, func(r *http.Request) { r.Header.Set("Authorization", "Bearer none") }, "401"},
		{"a token of a role that does not exist", false, func(r *http.Request) { r.Header.Set("Authorization", "Bearer stranger") }, "401"},
		{"a tenant's token without a tenant", false, func(r *http.Request) { r.Header.Set("Authorization", "Bearer tenant-of-none") }, "401"},
		{"nothing", false, func(*http.Request) {}, "401"},

		{"nothing, from this machine, where no access is configured", true, func(*http.Request) {}, "local"},
		{"nothing, by the host's IPv6 address", true, func(r *http.Request) { r.RemoteAddr, r.Host = "[::1]:99", "[::1]:8080" }, "local"},
		{"nothing, for localhost", true, func(r *http.Request) { r.Host = "LocalHost:8080" }, "local"},
		{"an unknown token, from this machine", true, func(r *http.Request) { r.Header.Set("Authorization", "Bearer none") }, "401"},
		{"nothing, from elsewhere", true, func(r *http.Request) { r.RemoteAddr = "192.0.2.7:99" }, "401"},
		{"nothing, for a foreign name that resolves to this machine", true, func(r *http.Request) { r.Host = "evil.example:8080" }, "401"},
		{"nothing, through a proxy on this machine", true, func(r *http.Request) { r.Header.Set("X-Forwarded-For", "192.0.2.7") }, "401"},
		{"nothing, from a broken address", true, func(r *http.Request) { r.RemoteAddr = "@" }, "401"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			var anonymous *rental.Principal
			if tc.anonymous {
				anonymous = &httpapi.Local
			}
			gate := httpapi.NewGate(holders{}, anonymous, slog.New(slog.DiscardHandler))
			r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080/api/v1/whoami", nil)
			r.RemoteAddr = "127.0.0.1:5000"
			tc.change(r)
			p, err := gate.Principal(r)
			got := p.Name
			if err != nil {
				got = map[bool]string{true: "401", false: err.Error()}[errors.Is(err, api.ErrUnauthenticated)]
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestALookUpThatFailsIsNotARefusedToken(t *testing.T) {
	var logged bytes.Buffer
	gate := httpapi.NewGate(holders{fail: errors.New("disk of /secret/path is gone")}, nil, slog.New(slog.NewTextHandler(&logged, nil)))
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Authorization", "Bearer hush-hush")
	_, err := gate.Principal(r)
	if !errors.Is(err, api.ErrUnavailable) || strings.Contains(err.Error(), "/secret/path") {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(logged.String(), "/secret/path") || strings.Contains(logged.String(), "hush-hush") {
		t.Errorf("log: %s", &logged)
	}
}

func TestAGuardLetsOnlyItsRolesThrough(t *testing.T) {
	gate := httpapi.NewGate(holders{}, nil, slog.New(slog.DiscardHandler))
	h := gate.Guard(rental.RoleAdmin, rental.RoleOperator)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "the series of all")
	}))
	for secret, status := range map[string]int{"": 401, "none": 401, "admin": 200, "operator": 200, "tenant": 403, "push": 403, "oncall": 403} {
		if got := call(h, "GET", "/prometheus/api/v1/query?query=up", secret, ""); got.Code != status {
			t.Errorf("as %q: status %d, want %d", secret, got.Code, status)
		}
	}
}

func TestAnotherSitesPageCannotAct(t *testing.T) {
	cases := []struct {
		name   string
		header map[string]string
		status int
	}{
		{"the portal's own page", map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://leasewatch.example"}, 200},
		{"no browser at all", nil, 200},
		{"another site", map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "http://evil.example"}, 403},
		{"another site in an old browser", map[string]string{"Origin": "http://evil.example"}, 403},
		{"a sibling site", map[string]string{"Sec-Fetch-Site": "same-site"}, 403},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			s := serve(t, nil)
			r := httptest.NewRequest(http.MethodPost, "http://leasewatch.example/api/v1/incidents/INC-acme/ack", strings.NewReader("{}"))
			r.AddCookie(&http.Cookie{Name: api.SessionCookie, Value: "oncall"})
			r.Header.Set("Content-Type", "application/json")
			for name, value := range tc.header {
				r.Header.Set(name, value)
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != tc.status || (len(s.backend.acked) == 1) != (tc.status == 200) {
				t.Errorf("status %d, want %d; acknowledged %v", w.Code, tc.status, s.backend.acked)
			}
		})
	}
}

func TestACallInProcessIsInTheNameOfWhoeverSentTheOuterRequest(t *testing.T) {
	cases := []struct {
		name   string
		change func(r *http.Request)
		want   string
	}{
		{"a person with a cookie", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: api.SessionCookie, Value: "finance"}) }, "a-finance"},
		{"nobody, from this machine", func(*http.Request) {}, "local"},
		{"nobody, from elsewhere", func(r *http.Request) { r.RemoteAddr = "192.0.2.7:99" }, "refused"},
		{"a foreign name that resolves to this machine", func(r *http.Request) { r.Host = "evil.example" }, "refused"},
		{"an unknown token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer none") }, "refused"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			gate := httpapi.NewGate(holders{}, &httpapi.Local, slog.New(slog.DiscardHandler))
			s := serve(t, &httpapi.Local)
			client := api.NewInProcess(s, api.Secret{})
			var got string
			portal := gate.Know(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				p, err := client.Whoami(r.Context())
				got = p.Name
				if errors.Is(err, api.ErrUnauthenticated) {
					got = "refused"
				}
				if p, err := client.As(api.NewSecret("oncall")).Whoami(r.Context()); err != nil || p.Name != "a-oncall" {
					t.Errorf("a call with a token of its own: got %v, %v", p, err)
				}
			}))
			r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080/fleet", nil)
			r.RemoteAddr = "127.0.0.1:5000"
			tc.change(r)
			portal.ServeHTTP(httptest.NewRecorder(), r)
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
