package report_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/leasewatch/leasewatch/internal/proof"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestAChangedCreditIsNamedWithWhatItShouldBe(t *testing.T) {
	ring, d := newRing(t), newJune().document(t)
	d.Credits[0].Amount.Minor = 62_000
	result := verify(t, signed(t, d, ring), ring.Keys(), nil)
	if len(result.Faults) != 1 || result.Faults[0].Where != "credit L-1:2026-06" ||
		!strings.Contains(result.Faults[0].Found, "720.00 USD (10 % of 7,200.00 USD (gross fee) = 720.00 USD), the report says 620.00 USD") {
		t.Errorf("found %v", result.Faults)
	}
}

// settledJune is June whose credit was claimed and approved; the acts are in the chain.
func settledJune(t *testing.T) june {
	t.Helper()
	j := newJune()
	amount := rental.Amount{Currency: "USD", Minor: 72_000}
	j.creditCase.Acts = []rental.Act{
		{Kind: rental.ActClaimed, By: "tess", At: at("2026-07-03T09:00:00Z"), Note: "missed"},
		{Kind: rental.ActApproved, By: "fin", At: at("2026-07-03T10:00:00Z"), Note: "so it was", Amount: &amount},
	}
	return j
}

func TestWhatPeopleDidWithACreditIsHeldAgainstItsRecord(t *testing.T) {
	ring, j := newRing(t), settledJune(t)
	d := j.document(t)
	body, err := json.Marshal(j.creditCase)
	if err != nil {
		t.Fatal(err)
	}
	if d.Unsealed, err = proof.Records(rental.Recorded{Credits: []json.RawMessage{body}}); err != nil {
		t.Fatal(err)
	}
	line := rental.BillLine{Item: "sla_credit", Charged: d.Period, Amount: rental.Amount{Currency: "USD", Minor: -72_000}}
	d.Bill.Lines = append(d.Bill.Lines, line)
	d.Bill.Total.Minor -= 72_000
	if d.Credits[0].State != rental.CreditBooked {
		t.Fatalf("the credit is %s, expected booked", d.Credits[0].State)
	}
	if result := verify(t, signed(t, d, ring), ring.Keys(), d.Chain); len(result.Faults) != 0 {
		t.Fatalf("an honest report: %v", result.Faults)
	}
	other := d
	other.Credits = slices.Clone(d.Credits)
	other.Credits[0].Acts = slices.Clone(d.Credits[0].Acts)
	other.Credits[0].Acts[1].By = "bob"
	if result := verify(t, signed(t, other, ring), ring.Keys(), d.Chain); len(result.Faults) != 1 || result.Faults[0].Where != "credit L-1:2026-06" {
		t.Errorf("an approval by another: %v", result.Faults)
	}
	other = d
	other.Unsealed = nil
	if result := verify(t, signed(t, other, ring), ring.Keys(), d.Chain); len(result.Faults) != 1 || !strings.Contains(result.Faults[0].Found, "no record") {
		t.Errorf("acts without a record: %v", result.Faults)
	}
	other = d
	other.Bill = &rental.Bill{}
	*other.Bill = *d.Bill
	other.Bill.Lines, other.Bill.Total = d.Bill.Lines[:1], rental.Amount{Currency: "USD", Minor: 1_440_000}
	if result := verify(t, signed(t, other, ring), ring.Keys(), d.Chain); len(result.Faults) != 1 || result.Faults[0].Where != "bill" {
		t.Errorf("a booked credit that is not paid: %v", result.Faults)
	}
}

// Whoever changes one byte of one record, and signs the report again, is found: by the hash of
// that record, which is named.
func TestAnySingleChangedByteOfARecordIsFound(t *testing.T) {
	d := newJune().document(t)
	rapid.Check(t, func(r *rapid.T) {
		chain := slices.Clone(d.Chain)
		h := rapid.IntRange(0, len(chain)-1).Draw(r, "head")
		links := slices.Clone(chain[h].Links)
		i := rapid.IntRange(0, len(links)-1).Draw(r, "record")
		text := slices.Clone(links[i].Record)
		at := rapid.IntRange(0, len(text)-1).Draw(r, "byte")
		text[at] = rapid.Byte().Filter(func(b byte) bool { return b != text[at] }).Draw(r, "to")
		if again, err := proof.Canonical(text); err == nil && string(again) == string(links[i].Record) {
			return
		}
		links[i].Record = text
		chain[h].Links = links
		f := proof.Check(d.Lease.ID, chain)
		if f == nil {
			t.Fatalf("record %d of head %d with byte %d changed passed: %s", i, h+1, at, text)
		}
		if json.Valid(text) && f.Where != proof.Name(text) && !strings.HasPrefix(f.Where, "head ") {
			t.Errorf("%s was named, expected %s", f.Where, proof.Name(text))
		}
	})
}
