package server_test

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/server"
)

// TestASecondPersonApprovesWhatTheConfigurationNames goes the whole way with a running server:
// prices and a month's bills are entered by one person and take effect by another.
func TestASecondPersonApprovesWhatTheConfigurationNames(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx := t.Context()
	secrets := tokens(t, "data",
		api.NewToken{Name: "ada", Role: rental.RoleAdmin}, api.NewToken{Name: "bob", Role: rental.RoleFinance},
		api.NewToken{Name: "ci", Role: rental.RoleOperator, Service: true}, api.NewToken{Name: "ann", Role: rental.RoleOnCall})
	base := startServer(t, "access: {required: true}\napprovals: {for: [prices, month_close]}\n", "data")
	as := func(name string) *api.Client {
		t.Helper()
		client, err := api.New(base, api.NewSecret(secrets[name]), nil)
		if err != nil {
			t.Fatal(err)
		}
		return client
	}
	status := func(err error) int {
		var told *api.Error
		if !errors.As(err, &told) {
			t.Helper()
			t.Fatalf("%v, expected an answer of the server", err)
		}
		return told.Status
	}

	entered, err := as("ci").Apply(ctx, []byte(pastWorld), false)
	if err != nil || entered.Pending == nil {
		t.Fatalf("%+v, %v, expected the new contract to wait", entered, err)
	}
	if leases, err := as("ada").Leases(ctx, api.LeaseQuery{}); err != nil || len(leases) != 0 {
		t.Errorf("%v, %v, expected nothing recorded yet", leases, err)
	}
	waiting, err := as("bob").Pending(ctx, false)
	if err != nil || len(waiting) != 1 || waiting[0].EnteredBy != "ci" || len(waiting[0].Changes) != len(entered.Changes) {
		t.Fatalf("%+v, %v, expected the one change with its diff", waiting, err)
	}
	for name, want := range map[string]int{"bob": 1, "ann": 0} {
		if s, err := as(name).Status(ctx); err != nil || s.ChangesWaiting != want {
			t.Errorf("%s is told of %d changes, %v, expected %d", name, s.ChangesWaiting, err, want)
		}
	}
	if page := portalPage(t, base, secrets["bob"]); !strings.Contains(page, "Changes that wait for a second person: 1") {
		t.Error("the portal says nothing of the change that waits")
	}
	if _, err := as("ann").ApprovePending(ctx, waiting[0].ID, api.DecidePending{}); status(err) != http.StatusForbidden {
		t.Errorf("approved by who is on call: %v, expected 403", err)
	}
	if _, err := as("ci").ApprovePending(ctx, waiting[0].ID, api.DecidePending{}); status(err) != http.StatusConflict {
		t.Errorf("approved by a program: %v, expected 409", err)
	}
	if _, err := as("bob").ApprovePending(ctx, waiting[0].ID, api.DecidePending{Note: "as signed"}); err != nil {
		t.Fatal(err)
	}

	closing, err := as("bob").CloseMonth(ctx, api.CloseMonth{Month: "2026-05"})
	if err != nil || closing.Pending == nil || len(closing.Invoices) != 0 {
		t.Fatalf("%+v, %v, expected the closing to wait", closing, err)
	}
	if diff := closing.Pending.Changes[0].Diff; !strings.Contains(diff, "USD") {
		t.Errorf("the change says %q, expected what the bill comes to", diff)
	}
	if _, err := as("bob").ApprovePending(ctx, closing.Pending.ID, api.DecidePending{}); status(err) != http.StatusConflict {
		t.Errorf("approved by who entered it: %v, expected 409", err)
	}
	if _, err := as("ada").ApprovePending(ctx, closing.Pending.ID, api.DecidePending{}); err != nil {
		t.Fatal(err)
	}
	invoices, err := as("bob").Invoices(ctx, "2026-05")
	if err != nil || len(invoices) != 1 || invoices[0].ClosedBy != "bob" || invoices[0].ApprovedBy != "ada" {
		t.Fatalf("%+v, %v, expected it closed by bob and approved by ada", invoices, err)
	}
	frozen, err := as("bob").InvoiceBytes(ctx, invoices[0].Number)
	if err != nil || !bytes.Contains(frozen, []byte(`"closed_by":"bob","approved_by":"ada"`)) {
		t.Errorf("%s, %v, expected both names in the frozen bytes", frozen, err)
	}
	if again, err := as("bob").CloseMonth(ctx, api.CloseMonth{Month: "2026-05"}); err != nil || again.Pending != nil || len(again.Invoices) != 1 {
		t.Errorf("closed again: %+v, %v, expected what was closed", again, err)
	}
	history, err := as("bob").LeaseHistory(ctx, "L-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range history {
		if e.Kind == rental.KindContract && (e.By != "ci" || e.ApprovedBy != "bob") {
			t.Errorf("%+v, expected both names", e)
		}
	}
}

// portalPage reads the list of leases as the holder of a token.
func portalPage(t *testing.T, base, secret string) string {
	t.Helper()
	_, body := ask(t, http.MethodGet, base+"/leases?lang=en", secret, "")
	return body
}

func TestApprovalsThatMeanNothingAreRefused(t *testing.T) {
	for text, says := range map[string]string{
		"approvals: {for: [prices]}\n":                                   "leasewatch.yaml:1: approvals.for: found \"prices\", expected access.required: true beside it",
		"access: {required: true}\napprovals:\n  for: [prices, wages]\n": "leasewatch.yaml:3: approvals.for[1]: found \"wages\", expected one of prices, downtime, backdated, credits, month_close",
		"approvals: {mass_change_percent: 101}\n":                        "approvals.mass_change_percent: found \"101\", expected a whole number from 0 to 100",
		"approvals: {expire_after: 0s}\n":                                "approvals.expire_after: found \"0s\"",
	} {
		path := filepath.Join(t.TempDir(), "leasewatch.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := server.LoadConfig(path); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, expected %q", text, err, says)
		}
	}
}
