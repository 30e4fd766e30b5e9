package billing_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
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

func TestABillShowsWorkEnergyWithItsCostAndDayAndNightEachWithItsCoverage(t *testing.T) {
	b := newBook()
	end := may().Start + 24*3_600_000
	b.facts.Lease.End = end
	b.tariffs = map[string]rental.EnergyTariff{"gpu-a": {Currency: "CNY", Prices: []rental.PriceVersion{
		{Price: decimal("0.50")}, {From: may().Start + 12*3_600_000, Price: decimal("0.60")}}}}
	for i := range b.facts.Assignments {
		b.facts.Assignments[i].Span.End = end
		if i < 4 {
			b.facts.Assignments[i].Host = "gpu-a" // the others stand where energy has no price
		}
		for h := range 24 {
			r := spent(fmt.Sprintf("GPU-%d", i), may().Start+rental.Millis(h)*3_600_000, 1_800_000, 3_600_000)
			r.WorkingKnownMS, r.WorkingMicros = 1_800_000, 450_000_000 // a quarter of the card, seen half of the time
			r.EnergyMilliJoules, r.EnergyKnownMS = 1_800_000_000, 3_600_000
			if r.SplitMS = r.AllocatedMS; h < 8 || h >= 20 {
				r.NightMS, r.NightMeasuredMS, r.NightUsedMicros = r.AllocatedMS, r.MeasuredMS, r.UsedMicros
			} else {
				r.BusyMS, r.UsedMicros = 0, 0
			}
			b.records = append(b.records, r)
		}
	}
	bill := b.bill(t, late, may())
	u := bill.Use
	if u.WorkingPercent != "25.00" || u.WorkingCoveragePercent != "50.00" || u.EnergyKWh != "96" || u.EnergyCoveragePercent != "100.00" {
		t.Fatalf("work and energy: %+v", u)
	}
	if u.Day.UtilisationPercent != "0.00" || u.Night.UtilisationPercent != "50.00" || u.Night.CoveragePercent != "100.00" || u.Night.AllocatedMS != 12*8*3_600_000 {
		t.Errorf("day %+v, night %+v", u.Day, u.Night)
	}
	// 4 cards x 12 h x 0.5 kWh at 0.50, and as many at 0.60.
	if len(u.EnergyCosts) != 1 || u.EnergyCosts[0].Amount.String() != "26.40 CNY" || u.EnergyCosts[0].KWh != "48" {
		t.Errorf("energy costs %+v", u.EnergyCosts)
	}
	b.facts.Contract.Energy = &rental.EnergyTariff{Currency: "USD", Prices: []rental.PriceVersion{{Price: decimal("0.10")}}}
	own := b.bill(t, late, may())
	if len(own.Use.EnergyCosts) != 1 || own.Use.EnergyCosts[0].Amount.String() != "9.60 USD" || own.Use.EnergyCosts[0].KWh != "96" {
		t.Errorf("by the contract's own tariff: %+v", own.Use.EnergyCosts)
	}
	if own.Total != bill.Total || bill.Total.Decimal() != "1920.00" {
		t.Errorf("totals %s and %s: energy changes no amount", bill.Total, own.Total)
	}
	for lang, want := range map[string][]string{
		"en": {"Multiprocessors at work: 25.00 % of the time in which that was measured; 50.00 % of the time was",
			"Use by day (08:00 to 20:00): 0.00 % (100.00 %); by night: 50.00 % (100.00 %)",
			"Energy: 96 kWh, counted over 100.00 % of the time", "Energy cost: 26.40 CNY for 48 kWh; in no line of the bill"},
		"zh": {"多处理器（SM）工作时间：已测量时间的 25.00 %；采样覆盖率 50.00 %", "白天（08:00 至 20:00）利用率：0.00 %（100.00 %）；夜间：50.00 %（100.00 %）",
			"耗电量：96 kWh，计量覆盖 100.00 % 的时间", "电费：26.40 CNY（48 kWh），不计入账单任何一项"},
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
	var rows bytes.Buffer
	if err := billing.WriteCSV(&rows, bill); err != nil {
		t.Fatal(err)
	}
	head, row, _ := strings.Cut(rows.String(), "\r\n")
	for column, want := range map[string]string{"working_percent": "25.00", "working_coverage_percent": "50.00", "energy_kwh": "96", "energy_coverage_percent": "100.00",
		"idle_cost": "1440.00", "useful_hour_cost": "40.00", "day_utilisation_percent": "0.00", "night_utilisation_percent": "50.00"} {
		if got := column + "=" + csvCell(t, head, row, column); got != column+"="+want {
			t.Errorf("CSV: found %s, want %s", got, want)
		}
	}
}

func csvCell(t *testing.T, head, row, column string) string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(head + "\r\n" + row)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.Index(rows[0], column)
	if i < 0 {
		return "no such column"
	}
	return rows[1][i]
}
