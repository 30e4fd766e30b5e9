package portal_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestThePageOfIncidentsSaysWhoIsOnCallToThoseWhoMayAct(t *testing.T) {
	d := &demo{who: rental.Principal{Name: "ada", Role: rental.RoleOnCall}}
	for lang, want := range map[string]string{"en": "On call: Wang Li (primary) until 2026-05-21 17:30:12", "zh": "值班：Wang Li（primary），至 2026-05-21 17:30:12"} {
		if page := text(get(handler(t, d), "/incidents", lang)); !strings.Contains(page, want) {
			t.Errorf("%s: %q is missing in\n%s", lang, want, page)
		}
	}
	d.who = rental.Principal{Name: "t", Role: rental.RoleTenant, Tenant: "acme"}
	if page := text(get(handler(t, d), "/incidents", "en")); strings.Contains(page, "Wang Li") {
		t.Error("a tenant is told who is on call")
	}
	d.who, d.offDuty = rental.Principal{Name: "ada", Role: rental.RoleOnCall}, true
	if page := text(get(handler(t, d), "/incidents", "en")); strings.Contains(page, "On call:") {
		t.Error("without a schedule somebody is named")
	}
}

func TestWhoMayActSilencesEscalatesAndNotesOnTheIncidentsPage(t *testing.T) {
	d := &demo{who: rental.Principal{Name: "ada", Role: rental.RoleOnCall}, incident: []rental.Incident{
		{ID: "INC-7", Status: rental.IncidentOpen, Severity: rental.Page, Title: "GPU lost"},
		{ID: "INC-8", Status: rental.IncidentResolved, Severity: rental.Page, Title: "GPU lost"},
	}}
	h := handler(t, d)
	post := func(path string, form url.Values) int {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	page := get(h, "/incidents/INC-7", "en").Body.String()
	for _, action := range []string{"silence", "escalate", "note"} {
		if !strings.Contains(page, `action="/incidents/INC-7/`+action+`"`) {
			t.Errorf("the page of an open incident has no form to %s", action)
		}
	}
	over := get(h, "/incidents/INC-8", "en").Body.String()
	if strings.Contains(over, "/silence") || strings.Contains(over, "/escalate") || !strings.Contains(over, "/note") {
		t.Error("the page of an incident that is over: expected a form for a note and no other")
	}
	for _, c := range []struct {
		path string
		form url.Values
		code int
	}{
		{"/incidents/INC-7/silence", url.Values{"for": {"240"}}, http.StatusSeeOther},
		{"/incidents/INC-7/silence", url.Values{"for": {"fixed"}}, http.StatusSeeOther},
		{"/incidents/INC-7/silence", url.Values{"for": {"a while"}}, http.StatusUnprocessableEntity},
		{"/incidents/INC-7/escalate", nil, http.StatusSeeOther},
		{"/incidents/INC-7/note", url.Values{"note": {" fan ordered "}}, http.StatusSeeOther},
	} {
		if code := post(c.path, c.form); code != c.code {
			t.Errorf("%s %v: status %d, want %d", c.path, c.form, code, c.code)
		}
	}
	want := []string{"silence INC-7 240 false", "silence INC-7 0 true", "escalate INC-7", "note INC-7: fan ordered"}
	if !slices.Equal(d.acts, want) {
		t.Errorf("done %q, want %q", d.acts, want)
	}
	d.who = rental.Principal{Name: "t", Role: rental.RoleTenant, Tenant: "acme"}
	if strings.Contains(get(h, "/incidents/INC-7", "en").Body.String(), `class="acts"`) {
		t.Error("a tenant is shown forms to act")
	}
}
