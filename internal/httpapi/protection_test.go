package httpapi_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/httpapi"
	"github.com/leasewatch/leasewatch/internal/rental"
)

var (
	_ httpapi.IncidentClocks = (*backend)(nil)
	_ httpapi.Protection     = (*backend)(nil)
)

// copies are one backup of each tenant.
func copies() []rental.Backup {
	return []rental.Backup{{ID: "L-acme:work:1", Lease: "L-acme", Set: "work", DataAt: 1}, {ID: "L-globex:work:1", Lease: "L-globex", Set: "work", Place: "globex", DataAt: 2}}
}

func losses() []rental.WorkLoss {
	return []rental.WorkLoss{{ID: "REC-acme", Lease: "L-acme", State: rental.FailureOpen}, {ID: "REC-globex", Lease: "L-globex", State: rental.FailureOpen}}
}

func (b *backend) Backups(_ context.Context, q api.BackupQuery) ([]rental.Backup, error) {
	return slices.DeleteFunc(copies(), func(c rental.Backup) bool { return q.Lease != "" && c.Lease != q.Lease }), b.ask("backups lease=%s verified=%t limit=%d", q.Lease, q.Verified, q.Limit)
}

func (b *backend) Backup(_ context.Context, id string) (rental.Backup, error) {
	for _, c := range copies() {
		if c.ID == id {
			return c, b.fail
		}
	}
	if b.fail != nil {
		return rental.Backup{}, b.fail
	}
	return copies()[0], nil // any other name is acme's
}

func (b *backend) ReportBackup(_ context.Context, by rental.Principal, in api.ReportBackup) (rental.Backup, error) {
	return rental.Backup{Lease: in.Lease}, b.ask("report backup of %s by %s", in.Lease, by.Name)
}

func (b *backend) CheckBackup(_ context.Context, by rental.Principal, id string, in api.CheckBackup) (rental.Backup, error) {
	return rental.Backup{ID: id}, b.ask("check %s by %s: %s", id, by.Name, in.Outcome)
}

func (b *backend) Failures(_ context.Context, q api.FailureQuery) ([]rental.WorkLoss, error) {
	return losses(), b.ask("failures lease=%s state=%s", q.Lease, q.State)
}

func (b *backend) Failure(_ context.Context, id string) (rental.WorkLoss, error) {
	if id == "REC-globex" {
		return losses()[1], b.fail
	}
	return losses()[0], b.fail
}

func (b *backend) OpenFailure(_ context.Context, by rental.Principal, in api.OpenFailure) (rental.WorkLoss, error) {
	return rental.WorkLoss{Lease: in.Lease}, b.ask("failure of %s by %s drill=%t", in.Lease, by.Name, in.Drill)
}

func (b *backend) RestoreFailure(_ context.Context, by rental.Principal, id string, in api.RestoreFailure) (rental.WorkLoss, error) {
	return rental.WorkLoss{ID: id}, b.ask("restore %s by %s from %s", id, by.Name, in.Backup)
}

func (b *backend) SettleFailure(_ context.Context, by rental.Principal, id string, in api.SettleFailure) (rental.WorkLoss, error) {
	return rental.WorkLoss{ID: id}, b.ask("%s %s by %s", in.Outcome, id, by.Name)
}

func (b *backend) ReportIncident(_ context.Context, by rental.Principal, id, note string) (rental.Incident, error) {
	return b.said("report", by, id, note)
}

func (b *backend) VerifyIncident(_ context.Context, by rental.Principal, id, note string) (rental.Incident, error) {
	return b.said("verify", by, id, note)
}

func (b *backend) NoteAnswer(_ context.Context, by rental.Principal, id string, in api.NoteAnswer) (rental.Incident, error) {
	return b.said("answered "+in.At.String(), by, id, in.Note)
}

func (b *backend) ApproveAnswer(_ context.Context, by rental.Principal, id string) (rental.Incident, error) {
	return b.said("approve", by, id, "")
}

func (b *backend) said(what string, by rental.Principal, id, note string) (rental.Incident, error) {
	for _, i := range incidents() {
		if i.ID == id {
			i.ReportedBy, i.Answers = "globex's man", []rental.LateAnswer{{By: "globex's man"}}
			return i, b.ask("%s %s by %s: %s", what, id, by.Name, note)
		}
	}
	return rental.Incident{ID: id, Tenants: []string{"acme"}}, b.ask("%s %s by %s: %s", what, id, by.Name, note)
}

func TestWhatIsToldOfBackupsAndLossesIsToldOfOnesOwn(t *testing.T) {
	s := serve(t, nil)
	for _, tc := range []struct{ method, path, body string }{
		{"GET", "/backups?lease=L-globex", ""},
		{"GET", "/failures?lease=L-globex", ""},
		{"GET", "/failures/REC-globex", ""},
		{"POST", "/backups", strings.Replace(bodies["report-backup"], "L-acme", "L-globex", 1)},
		{"POST", "/backups/L-globex:work:1/check", bodies["check-backup"]},
		{"POST", "/failures", strings.Replace(bodies["open-failure"], "L-acme", "L-globex", 1)},
		{"POST", "/failures/REC-globex/restore", bodies["restore-failure"]},
		{"POST", "/failures/REC-globex/settle", bodies["settle-failure"]},
	} {
		s.backend.asked = nil
		if got := call(s, tc.method, api.Root+tc.path, "tenant", tc.body); got.Code != http.StatusNotFound || len(s.backend.asked) > 0 {
			t.Errorf("%s %s: %d %s, asked %q", tc.method, tc.path, got.Code, got.Body, s.backend.asked)
		}
	}
	for _, path := range []string{"/backups", "/failures"} {
		got := call(s, "GET", api.Root+path, "tenant", "")
		if got.Code != http.StatusOK || strings.Contains(got.Body.String(), "globex") || !strings.Contains(got.Body.String(), "L-acme") {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
	}
	s.backend.asked = nil
	if got := call(s, "POST", api.Root+"/backups", "tenant", bodies["report-backup"]); got.Code != http.StatusOK || !slices.Contains(s.backend.asked, "report backup of L-acme by acme-bot") {
		t.Errorf("its own: %d %s, asked %q", got.Code, got.Body, s.backend.asked)
	}
	for path, body := range map[string]string{"/backups/L-acme:work:1/check": `{"outcome":"maybe","note":"x"}`, "/failures/REC-acme/settle": `{"outcome":"restored","note":"x"}`, "/backups": `{"lease":"L-acme","set":"../etc","data_at":"2026-05-01T02:00:00Z","finished_at":"2026-05-01T02:20:00Z"}`} {
		if got := call(s, "POST", api.Root+path, "admin", body); got.Code != http.StatusUnprocessableEntity {
			t.Errorf("%s %s: %d %s", path, body, got.Code, got.Body)
		}
	}
}

func TestATenantIsNotToldWhoSaidWhatOfAnIncident(t *testing.T) {
	s := serve(t, nil)
	var own string
	for _, i := range incidents() {
		if slices.Contains(i.Tenants, "acme") {
			own = i.ID
		}
	}
	got := call(s, "POST", api.Root+"/incidents/"+own+"/report", "tenant", bodies["report-incident"])
	if got.Code != http.StatusOK || strings.Contains(got.Body.String(), "globex's man") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if staff := call(s, "POST", api.Root+"/incidents/"+own+"/report", "oncall", bodies["report-incident"]); !strings.Contains(staff.Body.String(), "globex's man") {
		t.Errorf("staff: %d %s", staff.Code, staff.Body)
	}
	if got := call(s, "POST", api.Root+"/incidents/"+own+"/answer", "tenant", bodies["note-answer"]); got.Code != http.StatusForbidden {
		t.Errorf("a tenant answered for the provider: %d", got.Code)
	}
}
