package httpapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/api"
)

func TestACreditIsActedOnInTheNameAndForTheSideOfWhoAsks(t *testing.T) {
	s := serve(t, nil)
	for _, tc := range []struct{ role, act, asked string }{
		{"tenant", "claim", "claimed L-acme:2026-04 by acme-bot for the tenant: x"},
		{"operator", "claim", "claimed L-acme:2026-04 by a-operator for the provider: x"},
		{"finance", "approve", "approved L-acme:2026-04 by a-finance for the provider: x"},
		{"admin", "refuse", "refused L-acme:2026-04 by a-admin for the provider: x"},
	} {
		s.backend.asked = nil
		got := call(s, "POST", api.Root+"/credits/L-acme:2026-04/"+tc.act, tc.role, `{"reason":"x"}`)
		if got.Code != http.StatusOK || !slices.Contains(s.backend.asked, tc.asked) {
			t.Errorf("%s as %s: %d %s, asked %q", tc.act, tc.role, got.Code, got.Body, s.backend.asked)
		}
	}
}

func TestAPackComesInItsFormatAndAnothersCreditsDoNot(t *testing.T) {
	s := serve(t, nil)
	for format, media := range map[string]string{"json": "application/json", "html": "text/html; charset=utf-8", "zip": "application/zip"} {
		got := call(s, "GET", api.Root+"/credits/L-acme:2026-04/pack?lang=zh&format="+format, "tenant", "")
		if got.Code != http.StatusOK || got.Header().Get("Content-Type") != media || got.Body.String() != "pack" {
			t.Errorf("%s: %d %s %s", format, got.Code, got.Header(), got.Body)
		}
	}
	s.backend.asked = nil
	for _, path := range []string{"/credits/nonsense", "/credits/L-globex:2026-04", "/credits?lease=L-globex", "/credits/L-acme:May"} {
		if got := call(s, "GET", api.Root+path, "tenant", ""); got.Code != http.StatusNotFound || len(s.backend.asked) > 0 {
			t.Errorf("%s: %d %s, asked %v", path, got.Code, got.Body, s.backend.asked)
		}
	}
	var list api.List[api.CreditFact]
	decode(t, call(s, "GET", api.Root+"/credits?state=claimable&month=2026-04", "tenant", ""), &list)
	if len(list.Items) != 1 || list.Items[0].ID != "L-acme:2026-04" {
		t.Errorf("got %+v", list.Items)
	}
	if got := call(s, "GET", api.Root+"/credits?tenant=globex", "tenant", ""); strings.TrimSpace(got.Body.String()) != `{"items":[]}` {
		t.Errorf("another tenant: %s", got.Body)
	}
}
