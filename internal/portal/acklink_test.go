package portal_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/api"
)

func TestALinkAsksBeforeItAcknowledgesAndNeedsNoSignIn(t *testing.T) {
	d := &demo{whoErr: api.ErrUnauthenticated}
	h := handler(t, d)
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		for range 3 { // programs that look at mail open links, as often as they like
			r := httptest.NewRequest(method, "/ack/good", nil)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != http.StatusOK || w.Header().Get("Referrer-Policy") != "no-referrer" {
				t.Errorf("%s: status %d, referrer policy %q", method, w.Code, w.Header().Get("Referrer-Policy"))
			}
		}
	}
	if len(d.acts) != 0 {
		t.Fatalf("a look did %q", d.acts)
	}
	page := get(h, "/ack/good", "en").Body.String()
	for _, want := range []string{"Acknowledge INC-7?", `<form class="ack" method="post"><button>Acknowledge as Wang Li</button>`, "&lt;script&gt;"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing in\n%s", want, page)
		}
	}
	if zh := text(get(h, "/ack/good", "zh")); !strings.Contains(zh, "确认 INC-7？") || !strings.Contains(zh, "以 Wang Li 的名义确认") {
		t.Errorf("in Chinese:\n%s", zh)
	}
	r := httptest.NewRequest(http.MethodPost, "/ack/good", nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if len(d.acts) != 1 || d.acts[0] != "ack INC-7 by Wang Li" || !strings.Contains(text(w), "INC-7 is acknowledged by Wang Li.") {
		t.Errorf("done %q, answered\n%s", d.acts, text(w))
	}
	cross := httptest.NewRequest(http.MethodPost, "/ack/good", nil)
	cross.Header.Set("Sec-Fetch-Site", "cross-site")
	w = httptest.NewRecorder()
	h.ServeHTTP(w, cross)
	if w.Code != http.StatusForbidden || len(d.acts) != 1 {
		t.Errorf("another site's form: status %d, done %q", w.Code, d.acts)
	}
}

func TestALinkThatDoesNothingSaysWhyAndHasNoForm(t *testing.T) {
	h := handler(t, &demo{whoErr: api.ErrUnauthenticated})
	for link, want := range map[string]struct {
		code int
		text string
	}{
		"taken":  {http.StatusOK, "has been acknowledged by Kari already"},
		"used":   {http.StatusGone, "This link was used before"},
		"over":   {http.StatusGone, "INC-7 is over"},
		"old":    {http.StatusGone, "This link has expired"},
		"x":      {http.StatusNotFound, "This is no link of this server"},
		"broken": {http.StatusServiceUnavailable, "could not be stored"},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(method, "/ack/"+link, nil))
			if w.Code != want.code || !strings.Contains(text(w), want.text) || strings.Contains(w.Body.String(), "<form class") {
				t.Errorf("%s %s: status %d, expected %d with %q and no form:\n%s", method, link, w.Code, want.code, want.text, text(w))
			}
		}
	}
}
