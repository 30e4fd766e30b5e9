package server_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/server"
)

// TestErasingAPersonChangesNoByteOfABillOrAReport has people record, approve and close, erases one
// of them, and takes all documents and pages again.
func TestErasingAPersonChangesNoByteOfABillOrAReport(t *testing.T) {
	ctx := context.Background()
	now := time.Date(2026, 5, 20, 9, 0, 0, 0, time.UTC)
	offline, err := server.OpenOffline(ctx, server.OfflineOptions{StoragePath: t.TempDir(), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = offline.Close() }()
	local, err := offline.Client()
	if err != nil {
		t.Fatal(err)
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = local.Apply(ctx, []byte(pastWorld), false)
	check(err)
	as := func(name string, role rental.Role) *api.Client {
		t.Helper()
		person, err := local.AddPerson(ctx, api.NewPerson{Name: name})
		check(err)
		token, err := local.CreateToken(ctx, api.NewToken{Person: person.ID, Role: role})
		check(err)
		return local.As(api.NewSecret(token.Secret))
	}
	ada, bob := as("Ada Lovelace", rental.RoleAdmin), as("Bob Byte", rental.RoleFinance)
	if who, err := ada.Whoami(ctx); err != nil || who.Name != "Ada Lovelace (PER-1)" || who.Person != "PER-1" {
		t.Errorf("%+v, %v, expected the name and the id", who, err)
	}
	down, err := ada.RecordDowntime(ctx, api.RecordDowntime{Lease: "L-1", UUIDs: []string{"GPU-1"}, Start: moment("2026-05-03T00:00:00Z"), End: moment("2026-05-03T06:00:00Z"),
		Cause: rental.CauseProvider, Reason: "lost", Evidence: []rental.Evidence{{Kind: "text", Text: "console shot"}}, Note: "seen"})
	check(err)
	settled, err := bob.ApproveDowntime(ctx, down.ID, api.SettleDowntime{Reason: "agreed"})
	check(err)
	if settled.EnteredBy != "Ada Lovelace (PER-1)" || settled.ApprovedBy != "Bob Byte (PER-2)" {
		t.Errorf("entered by %q, approved by %q: expected names", settled.EnteredBy, settled.ApprovedBy)
	}
	now = now.AddDate(0, 0, 20)
	_, err = ada.CloseMonth(ctx, api.CloseMonth{Month: "2026-05"})
	check(err)

	documents := func() map[string][]byte {
		t.Helper()
		out := map[string][]byte{}
		for _, format := range []string{"json", "csv", "html", "table", "focus"} {
			text, err := local.BillAs(ctx, "L-1", api.Period{Month: "2026-05"}, format, "")
			check(err)
			out["bill as "+format] = text
		}
		invoice, err := local.InvoiceBytes(ctx, "INV-000001")
		check(err)
		out["invoice"] = invoice
		for _, format := range []string{"json", "csv", "html"} {
			text, err := local.Report(ctx, "L-1", api.ReportQuery{Period: api.Period{Month: "2026-05"}, Format: format})
			check(err)
			out["report as "+format] = text
		}
		return out
	}
	before := documents()
	if !bytes.Contains(before["invoice"], []byte(`"closed_by":"PER-1"`)) || !bytes.Contains(before["report as json"], []byte("PER-2")) {
		t.Error("the invoice and the report do not say by their ids who closed and approved")
	}
	erased, err := local.ErasePerson(ctx, "PER-1", api.ErasePerson{Why: "left, and asked for it"})
	check(err)
	if erased.Pending != nil || erased.Name != "" {
		t.Fatalf("%+v, expected it erased", erased)
	}
	after := documents()
	for name, text := range before {
		if !bytes.Equal(after[name], text) {
			t.Errorf("%s: found\n%s\nexpected, as before,\n%s", name, after[name], text)
		}
		if bytes.Contains(text, []byte("Lovelace")) || bytes.Contains(text, []byte("Byte")) {
			t.Errorf("%s holds a name", name)
		}
	}

	fact, err := local.DowntimeFact(ctx, down.ID)
	check(err)
	if fact.EnteredBy != "PER-1 (erased)" || fact.ApprovedBy != "Bob Byte (PER-2)" || fact.Acts[0].By != "PER-1 (erased)" {
		t.Errorf("entered by %q, approved by %q, acts %+v: expected the erased as such", fact.EnteredBy, fact.ApprovedBy, fact.Acts)
	}
	invoices, err := local.Invoices(ctx, "2026-05")
	if err != nil || len(invoices) != 1 || invoices[0].ClosedBy != "PER-1 (erased)" {
		t.Errorf("%+v, %v, expected it closed by the erased", invoices, err)
	}
	var told *api.Error
	if _, err := ada.Whoami(ctx); !errors.As(err, &told) || told.Status != http.StatusUnauthorized {
		t.Errorf("the token of the erased: %v, expected 401", err)
	}
	shown, err := local.Person(ctx, "PER-1")
	check(err)
	did := []string{}
	for _, e := range shown.History {
		did = append(did, e.Did+" by "+e.By)
	}
	if want := []string{"added by local", "erased by local"}; !reflect.DeepEqual(did, want) || len(shown.Tokens) != 0 {
		t.Errorf("%q with tokens %q, expected %q and none", did, shown.Tokens, want)
	}
	if text := strings.Join(did, ""); strings.Contains(text, "Lovelace") {
		t.Error("what was done holds the name")
	}
}
