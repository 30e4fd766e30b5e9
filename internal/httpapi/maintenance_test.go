package httpapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/api"
)

func TestATenantIsToldOfItsOwnWindowsByReadingThem(t *testing.T) {
	const read = `delivered M-both by acme-bot for the tenant to "acme" by "read": read by the tenant`
	for _, path := range []string{"/maintenances", "/maintenances/M-both", "/maintenances?lease=L-acme"} {
		s := serve(t, nil)
		got := call(s, "GET", api.Root+path, "tenant", "")
		if got.Code != http.StatusOK || strings.Contains(got.Body.String(), "globex") || !strings.Contains(got.Body.String(), `"way":"read"`) {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
		if n := len(slices.DeleteFunc(s.backend.asked, func(a string) bool { return a != read })); n != 1 {
			t.Errorf("%s: %d deliveries, expected one, of the window that comes", path, n)
		}
	}
	s := serve(t, nil)
	for _, path := range []string{"/maintenances/M-globex", "/maintenances/M-9", "/maintenances?lease=L-globex"} {
		if got := call(s, "GET", api.Root+path, "tenant", ""); got.Code != http.StatusNotFound || len(s.backend.asked) > 0 {
			t.Errorf("%s: %d %s, asked %v", path, got.Code, got.Body, s.backend.asked)
		}
	}
	if got := call(s, "GET", api.Root+"/maintenances?tenant=globex", "tenant", ""); strings.TrimSpace(got.Body.String()) != `{"items":[]}` || len(s.backend.asked) > 0 {
		t.Errorf("another tenant: %s", got.Body)
	}
	s.backend.stuck = true
	if got := call(s, "GET", api.Root+"/maintenances/M-both", "tenant", ""); got.Code != http.StatusOK || strings.Contains(got.Body.String(), `"way"`) || !strings.Contains(s.logged.String(), "could not be marked") {
		t.Errorf("where nothing can be written: %d %s, logged %s", got.Code, got.Body, s.logged)
	}
}

func TestStaffReadsWithoutTellingAnybody(t *testing.T) {
	s := serve(t, nil)
	var list api.List[api.MaintenanceFact]
	decode(t, call(s, "GET", api.Root+"/maintenances?host=shared-host&state=announced&tenant=acme", "oncall", ""), &list)
	if len(list.Items) != 3 || len(list.Items[0].Touches) != 2 || !slices.Equal(s.backend.asked, []string{"maintenances lease= tenant=acme host=shared-host state=announced"}) {
		t.Errorf("found %+v, asked %q", list.Items, s.backend.asked)
	}
}

func TestMaintenanceIsAnnouncedDeliveredAndCancelledInTheNameOfWhoAsks(t *testing.T) {
	for _, tc := range []struct {
		path, body, asked string
		code              int
	}{
		{"", `{"id":"M-1","hosts":["h"],"start":"2026-06-01T00:00:00Z","end":"2026-06-01T01:00:00Z","reason":"fans"}`, "announce M-1 by a-operator: fans", http.StatusCreated},
		{"/M-both/deliver", `{"tenant":"acme","way":"mail","note":"ticket 7"}`, `delivered M-both by a-operator for the provider to "acme" by "mail": ticket 7`, http.StatusOK},
		{"/M-both/cancel", `{"reason":"no parts"}`, `cancelled M-both by a-operator for the provider to "" by "": no parts`, http.StatusOK},
	} {
		s := serve(t, nil)
		got := call(s, "POST", api.Root+"/maintenances"+tc.path, "operator", tc.body)
		if got.Code != tc.code || !slices.Contains(s.backend.asked, tc.asked) {
			t.Errorf("%q: %d %s, asked %q", tc.path, got.Code, got.Body, s.backend.asked)
		}
		for _, role := range []string{"tenant", "finance", "oncall"} {
			if got := call(s, "POST", api.Root+"/maintenances"+tc.path, role, tc.body); got.Code != http.StatusForbidden {
				t.Errorf("%q as %s: %d", tc.path, role, got.Code)
			}
		}
	}
	s := serve(t, nil)
	for _, id := range []string{"a/b", "", "../x", "-"} {
		if got := call(s, "POST", api.Root+"/maintenances", "operator", `{"id":"`+id+`","hosts":["h"],"start":"2026-06-01T00:00:00Z","end":"2026-06-01T01:00:00Z","reason":"fans"}`); got.Code != http.StatusUnprocessableEntity {
			t.Errorf("the name %q: %d %s", id, got.Code, got.Body)
		}
	}
}
