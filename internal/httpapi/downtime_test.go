package httpapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/api"
)

func TestADowntimeIsActedOnInTheNameAndForTheSideOfWhoAsks(t *testing.T) {
	s := serve(t, nil)
	for _, tc := range []struct{ role, path, body, asked string }{
		{"finance", "/downtimes/DT-acme/approve", `{"reason":"seen","cause":"provider"}`, "approved DT-acme by a-finance for the provider: provider seen"},
		{"operator", "/downtimes/DT-acme/reject", `{"reason":"wrong"}`, "rejected DT-acme by a-operator for the provider:  wrong"},
		{"tenant", "/downtimes/DT-acme/dispute", `{"note":"no"}`, "disputed DT-acme by acme-bot for the tenant:  no"},
		{"oncall", "/downtimes/DT-acme/dispute", `{"note":"yes"}`, "disputed DT-acme by a-oncall for the provider:  yes"},
		{"oncall", "/downtimes/DT-acme/dispute", `{"note":"they said no","side":"tenant"}`, "disputed DT-acme by a-oncall for the tenant:  they said no"},
		{"admin", "/downtimes/DT-acme/decide", `{"outcome":"rejected","reason":"log"}`, "decided DT-acme by a-admin for the provider: rejected log"},
	} {
		s.backend.asked = nil
		if got := call(s, "POST", api.Root+tc.path, tc.role, tc.body); got.Code != http.StatusOK || !slices.Contains(s.backend.asked, tc.asked) {
			t.Errorf("%s as %s: %d %s, asked %q, expected %q", tc.path, tc.role, got.Code, got.Body, s.backend.asked, tc.asked)
		}
	}
}

func TestAnActThatIsNotWholeReachesNobody(t *testing.T) {
	s := serve(t, nil)
	for name, tc := range map[string]struct{ role, path, body, says string }{
		"a tenant who speaks for the provider": {"tenant", "/downtimes/DT-acme/dispute", `{"note":"it was me","side":"provider"}`, "a tenant speaks for itself"},
		"a rejection with a cause":             {"admin", "/downtimes/DT-acme/reject", `{"reason":"x","cause":"tenant"}`, "has no cause"},
		"an approval without a reason":         {"admin", "/downtimes/DT-acme/approve", `{}`, "reason"},
		"a dispute without a note":             {"tenant", "/downtimes/DT-acme/dispute", `{"note":""}`, "note"},
		"a record without evidence":            {"admin", "/downtimes", `{"lease":"L-acme","start":"2026-05-01T00:00:00Z","end":"2026-05-01T01:00:00Z","cause":"provider","reason":"x","evidence":[]}`, "evidence"},
		"a state that does not exist":          {"admin", "/downtimes?state=lost", "", "state"},
	} {
		s.backend.asked = nil
		method := "POST"
		if tc.body == "" {
			method = "GET"
		}
		got := call(s, method, api.Root+tc.path, tc.role, tc.body)
		if got.Code != http.StatusUnprocessableEntity || !strings.Contains(got.Body.String(), tc.says) || len(s.backend.asked) > 0 {
			t.Errorf("%s: %d %s, asked %v", name, got.Code, got.Body, s.backend.asked)
		}
	}
}

func TestATenantRecordsAndListsDowntimeOfItsOwnLeasesAlone(t *testing.T) {
	s := serve(t, nil)
	others := strings.Replace(bodies["record-downtime"], "L-acme", "L-globex", 1)
	if got := call(s, "POST", api.Root+"/downtimes", "tenant", others); got.Code != http.StatusNotFound || len(s.backend.asked) > 0 {
		t.Errorf("another's lease: %d %s, asked %v", got.Code, got.Body, s.backend.asked)
	}
	if got := call(s, "GET", api.Root+"/downtimes?lease=L-globex", "tenant", ""); got.Code != http.StatusNotFound {
		t.Errorf("another's lease: %d %s", got.Code, got.Body)
	}
	if got := call(s, "GET", api.Root+"/downtimes?tenant=globex", "tenant", ""); strings.TrimSpace(got.Body.String()) != `{"items":[]}` || len(s.backend.asked) > 0 {
		t.Errorf("another tenant: %s, asked %v", got.Body, s.backend.asked)
	}
	var list api.List[api.DowntimeFact]
	decode(t, call(s, "GET", api.Root+"/downtimes?state=waiting", "tenant", ""), &list)
	if len(list.Items) != 1 || list.Items[0].ID != "DT-acme" || list.Items[0].State != "waiting" {
		t.Errorf("got %+v", list.Items)
	}
}
