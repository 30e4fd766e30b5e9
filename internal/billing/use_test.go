package billing_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/billing"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// spent is a record of a card that was busy for a part of an hour, at full use.
func spent(uuid string, start rental.Millis, busy, measured int64) rental.UsageRecord {
	const hour = 3_600_000
	return rental.UsageRecord{Lease: "L-1", UUID: uuid, Span: rental.Span{Start: start, End: start + hour},
		AllocatedMS: hour, MeasuredMS: measured, BusyMS: busy, UsedMicros: busy * 1000}
}

func TestC34ABillShowsUseWithItsCoverageAndWhatStandingIdleCost(t *testing.T) {
	b := newBook()
	end := may().Start + 10*3_600_000
	b.facts.Lease.End = end
	for i := range b.facts.Assignments {
		b.facts.Assignments[i].Span.End = end
		for h := range 10 {
			var busy int64
			if i < 4 {
				busy = 3_600_000
			}
			b.records = append(b.records, spent(fmt.Sprintf("GPU-%d", i), may().Start+rental.Millis(h)*3_600_000, busy, 3_600_000))
		}
	}
	bill := b.bill(t, late, may())
	u := bill.Use
	if u == nil || u.UtilisationPercent != "50.00" || u.CoveragePercent != "100.00" || u.IdleCost.Decimal() != "400.00" || u.UsefulHour.Decimal() != "20.00" {
		t.Fatalf("use: %+v", u)
	}
	if bill.Total.Decimal() != "800.00" || bill.Lines[0].Use.UtilisationPercent != "50.00" {
		t.Errorf("the bill: %s, its line: %+v", bill.Total, bill.Lines[0].Use)
	}
	for lang, want := range map[string][]string{
		"en": {"50.00 % (100.00 %)", "Use: 50.00 % of the measured time; 100.00 % of the time was measured", "Idle cost: 400.00 CNY", "A fully used GPU-hour cost 20.00 CNY"},
		"zh": {"50.00 %（100.00 %）", "闲置成本：400.00 CNY", "每个完全利用的 GPU 小时成本为 20.00 CNY"},
	} {
		var table, page bytes.Buffer
		if err := billing.WriteTable(&table, bill, lang); err != nil {
			t.Fatal(err)
		}
		if err := billing.WriteHTML(&page, []rental.Bill{bill}, lang); err != nil {
			t.Fatal(err)
		}
		for _, text := range want {
			if !strings.Contains(table.String(), text) || !strings.Contains(page.String(), text) {
				t.Errorf("%s: %q is not in\n%s\nor not in the page", lang, text, table.String())
			}
		}
	}
	before := bill.Total
	b.records = nil
	if bill := b.bill(t, late, may()); bill.Total != before || bill.Use.UtilisationPercent != "" || bill.Use.UsefulHour != nil || bill.Use.IdleCost != nil {
		t.Errorf("without records: %s, %+v", bill.Total, bill.Use)
	}
}

func TestLinesOfTwoPricesShowTheUseOfTheirOwnTime(t *testing.T) {
	b := newBook()
	middle := moment("2020-05-16T00:00:00Z")
	b.facts.Contract.Plan.Prices = append(b.facts.Contract.Plan.Prices, rental.PriceVersion{From: middle, Price: decimal("12")})
	for h := range rental.Millis(744) {
		start := may().Start + h*3_600_000
		var busy int64
		if start >= middle {
			busy = 3_600_000
		}
		for i := range 8 {
			b.records = append(b.records, spent(fmt.Sprintf("GPU-%d", i), start, busy, 1_800_000+busy/2))
		}
	}
	bill := b.bill(t, late, may())
	if len(bill.Lines) != 2 || bill.Lines[0].Use.UtilisationPercent != "0.00" || bill.Lines[0].Use.CoveragePercent != "50.00" ||
		bill.Lines[1].Use.UtilisationPercent != "100.00" || bill.Lines[1].Use.CoveragePercent != "100.00" {
		t.Fatalf("lines: %+v and %+v", bill.Lines[0].Use, bill.Lines[1].Use)
	}
	// Half of the first half was measured, and idle: 8 x 360 h x 10 / 2.
	if bill.Use.IdleCost.Decimal() != "14400.00" || bill.Lines[1].Use.IdleCost.Minor != 0 {
		t.Errorf("idle: %s and %s", bill.Use.IdleCost, bill.Lines[1].Use.IdleCost)
	}
}

func TestABillSaysWhetherItsReservationPaidOff(t *testing.T) {
	b := newBook()
	b.facts.Contract.Plan.Reserved = &rental.Reservation{Cards: 8, Price: decimal("6")}
	b.facts.Lease.Stops = []rental.Span{{Start: may().Start, End: may().Start + 372*3_600_000}}
	bill := b.bill(t, late, may())
	var table bytes.Buffer
	if err := billing.WriteTable(&table, bill, "en"); err != nil {
		t.Fatal(err)
	}
	if want := "Reservation: 2,976 of 5,952 GPU-hours used (50 %), each for 12.00 CNY; it pays off above 60 %"; !strings.Contains(table.String(), want) {
		t.Errorf("%q is not in\n%s", want, table.String())
	}
}
