package portal_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func post(h http.Handler, target string, form url.Values, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "http://leasewatch.example"+target, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestWhoIsNotSignedInIsLedToTheSignInAndBack(t *testing.T) {
	d := newDemo()
	d.whoErr = api.ErrUnauthenticated
	got := get(handler(t, d), "/leases/acme-train?month=2026-05", "en")
	if got.Code != http.StatusSeeOther || got.Header().Get("Location") != "/login?next=%2Fleases%2Facme-train%3Fmonth%3D2026-05" {
		t.Errorf("status %d to %q", got.Code, got.Header().Get("Location"))
	}
}

func TestALinkInAChatLeadsToThePageThoughTheCookieIsStrict(t *testing.T) {
	d := newDemo()
	d.whoErr = api.ErrUnauthenticated
	r := httptest.NewRequest(http.MethodGet, "/incidents/INC-42", nil)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	w := httptest.NewRecorder()
	handler(t, d).ServeHTTP(w, r)
	if w.Code != 200 || !strings.Contains(w.Body.String(), `content="0;url=/incidents/INC-42"`) {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

func TestAGoodTokenBecomesACookieThatNoScriptReads(t *testing.T) {
	h := handler(t, newDemo())
	got := post(h, "/login", url.Values{"token": {" good "}, "next": {"/leases"}}, nil)
	if got.Code != http.StatusSeeOther || got.Header().Get("Location") != "/leases" {
		t.Fatalf("status %d to %q", got.Code, got.Header().Get("Location"))
	}
	cookie := got.Result().Cookies()[0]
	if cookie.Name != api.SessionCookie || cookie.Value != "good" || !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Secure {
		t.Errorf("cookie: %+v", cookie)
	}
	behindTLS := post(h, "/login", url.Values{"token": {"good"}}, func(r *http.Request) {
		r.Header.Set("X-Forwarded-Proto", "https")
	})
	if !behindTLS.Result().Cookies()[0].Secure {
		t.Error("behind TLS the cookie is not marked secure")
	}
}

func TestABadTokenIsRefusedInWords(t *testing.T) {
	for _, token := range []string{"", "bad"} {
		got := post(handler(t, newDemo()), "/login", url.Values{"token": {token}}, nil)
		if got.Code != http.StatusUnauthorized || !strings.Contains(text(got), "This token is not known, or it was revoked.") || len(got.Result().Cookies()) > 0 {
			t.Errorf("token %q: status %d, %s", token, got.Code, text(got))
		}
		if token != "" && strings.Contains(got.Body.String(), token+`"`) {
			t.Error("the page repeats the token")
		}
	}
}

func TestTheSignInLeadsNowhereElse(t *testing.T) {
	for _, next := range []string{"https://evil.example/", "//evil.example", `/\evil.example`, "evil", "javascript:alert(1)", "/ok\nx", ""} {
		got := post(handler(t, newDemo()), "/login", url.Values{"token": {"good"}, "next": {next}}, nil)
		if to := got.Header().Get("Location"); to != "/" {
			t.Errorf("next %q leads to %q", next, to)
		}
	}
}

func TestSigningOutTakesTheCookie(t *testing.T) {
	got := post(handler(t, newDemo()), "/logout", nil, nil)
	if c := got.Result().Cookies()[0]; c.MaxAge >= 0 || c.Value != "" {
		t.Errorf("cookie: %+v", c)
	}
}

func TestAnAcknowledgementNeedsAPageOfOurs(t *testing.T) {
	d := newDemo()
	h := handler(t, d)
	if got := post(h, "/incidents/INC-42/ack", nil, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }); got.Code != 403 || len(d.acked) > 0 {
		t.Errorf("another site: status %d, acknowledged %v", got.Code, d.acked)
	}
	got := post(h, "/incidents/INC-42/ack", nil, nil)
	if got.Code != http.StatusSeeOther || got.Header().Get("Location") != "/incidents/INC-42" || len(d.acked) != 1 {
		t.Errorf("status %d to %q, acknowledged %v", got.Code, got.Header().Get("Location"), d.acked)
	}
}

func TestOnlyWhoMayAcknowledgeIsOfferedTo(t *testing.T) {
	for _, role := range rental.Roles {
		d := newDemo()
		d.who.Role = role
		offered := strings.Contains(get(handler(t, d), "/incidents/INC-42", "en").Body.String(), `action="/incidents/INC-42/ack"`)
		if want := role == rental.RoleAdmin || role == rental.RoleOperator || role == rental.RoleOnCall; offered != want {
			t.Errorf("role %s: offered %t, want %t", role, offered, want)
		}
	}
}

func TestAFormThatIsTooLongIsRefused(t *testing.T) {
	got := post(handler(t, newDemo()), "/login", url.Values{"token": {strings.Repeat("x", 20<<10)}}, nil)
	if got.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("status %d", got.Code)
	}
}
