package billing_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/billing"
	"github.com/leasewatch/leasewatch/internal/rental"
)

var update = flag.Bool("update", false, "write the golden files anew")

// book is a ledger in memory: the facts of one lease.
type book struct {
	facts       rental.Facts
	records     []rental.UsageRecord
	credits     []rental.Credit
	adjustments []rental.Adjustment
	closed      []rental.ClosedMonth
	news        []news // what was recorded when; where it is nil, anything may have been
	tariffs     map[string]rental.EnergyTariff
	reckoned    int // how often credits were asked for
}

// news is a fact about time from start on that was recorded at a moment.
type news struct{ at, start rental.Millis }

var (
	_ billing.Ledger  = (*book)(nil)
	_ billing.Credits = (*book)(nil)
)

func (b *book) Lease(_ context.Context, id string) (rental.Lease, error) {
	if id != b.facts.Lease.ID {
		return rental.Lease{}, &rental.Error{Code: rental.CodeNotFound, Message: fmt.Sprintf("lease %q does not exist", id)}
	}
	return b.facts.Lease, nil
}
func (b *book) Contract(context.Context, string) (rental.Contract, error) {
	return b.facts.Contract, nil
}
func (b *book) Assignments(context.Context, string) ([]rental.Assignment, error) {
	return b.facts.Assignments, nil
}
func (b *book) Downtimes(context.Context, string, rental.Span) ([]rental.Downtime, error) {
	return b.facts.Downtimes, nil
}
func (b *book) Maintenances(context.Context, rental.Span) ([]rental.Maintenance, error) {
	return b.facts.Maintenances, nil
}
func (b *book) Consumptions(context.Context, string) ([]rental.Consumption, error) {
	return b.facts.Consumptions, nil
}
func (b *book) Adjustments(context.Context, string) ([]rental.Adjustment, error) {
	return b.adjustments, nil
}
func (b *book) ClosedMonths(context.Context, string) ([]rental.ClosedMonth, error) {
	return b.closed, nil
}
func (b *book) EnergyTariffs(context.Context) (map[string]rental.EnergyTariff, error) {
	return b.tariffs, nil
}
func (b *book) GPUs(context.Context) ([]rental.GPU, error) { return nil, nil }
func (b *book) UsageRecords(context.Context, string, rental.Span) ([]rental.UsageRecord, error) {
	return b.records, nil
}
func (b *book) UsageSums(_ context.Context, _ string, span rental.Span) ([]rental.UsageRecord, error) {
	var in []rental.UsageRecord
	for _, r := range b.records {
		if span.Contains(r.Span.Start) {
			in = append(in, r)
		}
	}
	return in, nil
}
func (b *book) LearntSince(_ context.Context, _ string, since, before rental.Millis) (bool, error) {
	if b.news == nil {
		return true, nil
	}
	for _, n := range b.news {
		if n.at >= since && n.start < before {
			return true, nil
		}
	}
	return false, nil
}
func (b *book) Credits(context.Context, string, rental.Span) ([]rental.Credit, error) {
	b.reckoned++
	return b.credits, nil
}

func moment(text string) rental.Millis {
	var m rental.Millis
	if err := m.UnmarshalText([]byte(text)); err != nil {
		panic(err)
	}
	return m
}

func decimal(text string) rental.Decimal {
	d, err := rental.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return d
}

// newBook is a lease of eight cards at 10 CNY a card-hour for all of May 2020.
func newBook() *book {
	yes := true
	b := &book{}
	b.facts.Contract = rental.Contract{
		Name: "earth", Provider: "north", Currency: "CNY", TimeZone: "UTC", Language: "en",
		Plan: rental.Plan{Mode: rental.ModeHour, Unit: rental.UnitGPU, Rounding: rental.Exact,
			Prices: []rental.PriceVersion{{Price: decimal("10")}}},
		BillWhileDown: &yes, BillWhileMaintenance: &yes, LineRounding: rental.HalfUp, DowntimeApproval: rental.ApprovalManual,
	}
	b.facts.Lease = rental.Lease{ID: "L-1", Tenant: "acme", Contract: "earth", Start: may().Start, End: may().End}
	for i := range 8 {
		uuid := fmt.Sprintf("GPU-%d", i)
		b.facts.Lease.GPUs = append(b.facts.Lease.GPUs, rental.GPURef{UUID: uuid})
		b.facts.Assignments = append(b.facts.Assignments, rental.Assignment{Lease: "L-1", UUID: uuid, Span: may(), Reason: "start"})
	}
	return b
}

func may() rental.Span {
	return rental.Span{Start: moment("2020-05-01T00:00:00Z"), End: moment("2020-06-01T00:00:00Z")}
}

func (b *book) service(now string) *billing.Service {
	return billing.New(b, billing.Options{Credits: b, Now: func() time.Time { return moment(now).Time() }})
}

func (b *book) bill(t *testing.T, now string, period rental.Span) rental.Bill {
	t.Helper()
	bill, err := b.service(now).Bill(t.Context(), "L-1", period)
	if err != nil {
		t.Fatal(err)
	}
	return bill
}

func TestAMonthThatHasEndedIsBilledWhole(t *testing.T) {
	bill := newBook().bill(t, "2020-07-01T00:00:00Z", may())
	if bill.Total.Decimal() != "59520.00" || bill.Lines[0].Quantity != "5952" || len(bill.Provisional) != 0 {
		t.Errorf("bill: %+v", bill)
	}
}

func TestAnOpenMonthIsBilledUpToNowAndMarkedProvisional(t *testing.T) {
	bill := newBook().bill(t, "2020-05-02T00:00:00Z", may())
	if bill.Total.Decimal() != "1920.00" || len(bill.Provisional) != 1 || !strings.Contains(bill.Provisional[0], "2020-05-02 00:00:00 UTC") {
		t.Errorf("bill: %+v", bill)
	}
	if early := newBook().bill(t, "2020-04-01T00:00:00Z", may()); early.Total.Minor != 0 || len(early.Lines) != 0 || len(early.Provisional) != 1 {
		t.Errorf("a month to come: %+v", early)
	}
}

func TestC70ABillOfAnOpenLeaseDoesNotGrowWhileItIsViewed(t *testing.T) {
	b := newBook()
	b.facts.Lease.End = rental.Forever
	for i := range b.facts.Assignments {
		b.facts.Assignments[i].Span.End = rental.Forever
	}
	first, second := b.bill(t, "2020-06-01T00:00:00Z", may()), b.bill(t, "2020-09-01T00:00:00Z", may())
	if first.Total.Decimal() != "59520.00" || first.Total != second.Total {
		t.Errorf("billed %s, later %s", first.Total, second.Total)
	}
}

func TestOnlyBookedCreditsAreLines(t *testing.T) {
	b := newBook()
	b.credits = []rental.Credit{
		{Lease: "L-1", Period: may(), Percent: decimal("10"), Amount: rental.Amount{Currency: "CNY", Minor: 595200}, State: rental.CreditBooked, Arithmetic: "10 % of 59,520.00 CNY"},
		{Lease: "L-1", Period: may(), Percent: decimal("1"), Amount: rental.Amount{Currency: "CNY", Minor: 100}, State: rental.CreditComputed},
	}
	b.facts.Contract.Credits = &rental.Credits{Base: rental.BaseGross, Scope: rental.UnitLease, CapPercent: decimal("100"),
		Tiers: []rental.CreditTier{{Under: decimal("99.5"), Percent: decimal("10")}}}
	b.facts.Contract.Availability = &rental.Availability{TargetPercent: decimal("99.5"), Scope: rental.ScopeAll, Period: rental.PeriodCalendarMonth,
		Denominator: rental.DenominatorPeriod, Outage: rental.OutageExact, Degraded: "up", Unknown: "down", ExcludedLeavesDenominator: new(bool)}
	bill := b.bill(t, "2020-07-01T00:00:00Z", may())
	if len(bill.Lines) != 2 || bill.Lines[1].Amount.Minor != -595200 || bill.Total.Decimal() != "53568.00" {
		t.Errorf("bill: %+v", bill)
	}
	if len(bill.Provisional) != 1 || !strings.Contains(bill.Provisional[0], "1.00 CNY") {
		t.Errorf("a computed credit is not told: %v", bill.Provisional)
	}
}

func TestErrorsKeepTheirKind(t *testing.T) {
	s := newBook().service("2020-07-01T00:00:00Z")
	if _, err := s.Bill(t.Context(), "L-9", may()); rental.CodeOf(err) != rental.CodeNotFound {
		t.Errorf("an unknown lease: %v", err)
	}
	if _, err := s.Bill(t.Context(), "L-1", rental.Span{Start: may().Start, End: rental.Forever}); rental.CodeOf(err) != rental.CodeInvalid {
		t.Errorf("a period without an end: %v", err)
	}
}

// held fills May 2020 with records that say how long a scheduler held each card, as the real
// cluster's month does in sum: 324,928 of 357,120 card-minutes.
func (b *book) held() {
	left := int64(324_928)
	for _, hour := range rental.Hours(may()) {
		for i := range 8 {
			minutes := min(left, 60)
			left -= minutes
			b.records = append(b.records, rental.UsageRecord{Lease: "L-1", UUID: fmt.Sprintf("GPU-%d", i), Span: hour,
				AllocatedMS: hour.Duration(), HeldKnownMS: hour.Duration(), HeldMS: minutes * 60_000})
		}
	}
}

func TestIdleCostByAllocationIsThatOfTheFreeMinutes(t *testing.T) {
	b := newBook()
	b.held()
	points, err := b.service("2020-07-01T00:00:00Z").CostPoints(t.Context(), "L-1", []rental.Span{may()})
	if err != nil {
		t.Fatal(err)
	}
	p := points[0]
	if p.Cost.Decimal() != "59520.00" || p.IdleCost == nil || p.IdleCost.Decimal() != "5365.33" || p.IdleBasis != billing.IdleByAllocation {
		t.Errorf("point: %+v", p)
	}
	if p.Use.HeldShare().RoundedPercent(2) != "90.99" || p.Use.HeldCoverage().RoundedPercent(0) != "100" || p.Use.Utilisation().Denominator != 0 {
		t.Errorf("use: %+v", p.Use)
	}
}

func TestStepsOfCostSumToTheWhole(t *testing.T) {
	b := newBook()
	b.held()
	b.facts.Contract.Plan.Prices = append(b.facts.Contract.Plan.Prices, rental.PriceVersion{From: moment("2020-05-15T10:30:00Z"), Price: decimal("12")})
	s := b.service("2020-07-01T00:00:00Z")
	whole, err := s.CostPoints(t.Context(), "L-1", []rental.Span{may()})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"hour", "day"} {
		steps, err := billing.Steps("Asia/Shanghai", may(), step)
		if err != nil {
			t.Fatal(err)
		}
		points, err := s.CostPoints(t.Context(), "L-1", steps)
		if err != nil {
			t.Fatal(err)
		}
		sum := rental.Money{Currency: "CNY"}
		var use rental.Use
		for _, p := range points {
			if sum, err = sum.Add(p.Exact); err != nil {
				t.Fatal(err)
			}
			use.Sum(p.Use)
		}
		if sum.Rat().Cmp(whole[0].Exact.Rat()) != 0 || use != whole[0].Use {
			t.Errorf("%s: the steps sum to %s, the whole is %s", step, sum.Rat().RatString(), whole[0].Exact.Rat().RatString())
		}
	}
	if _, err := billing.Steps("UTC", may(), "week"); rental.CodeOf(err) != rental.CodeInvalid {
		t.Errorf("an unknown step: %v", err)
	}
}

func TestIdleTimeIsPricedAsThatTimeWas(t *testing.T) {
	b := newBook()
	change := moment("2020-05-16T00:00:00Z")
	b.facts.Contract.Plan.Prices = append(b.facts.Contract.Plan.Prices, rental.PriceVersion{From: change, Price: decimal("20")})
	hour := rental.Span{Start: change, End: change + 3_600_000}
	for i := range 8 {
		b.records = append(b.records, rental.UsageRecord{Lease: "L-1", UUID: fmt.Sprintf("GPU-%d", i), Span: hour,
			AllocatedMS: hour.Duration(), MeasuredMS: hour.Duration()})
	}
	points, err := b.service("2020-07-01T00:00:00Z").CostPoints(t.Context(), "L-1", []rental.Span{may()})
	if err != nil {
		t.Fatal(err)
	}
	if got := points[0].IdleCost.Decimal(); got != "160.00" {
		t.Errorf("eight idle hours at 20 cost %s, want 160.00", got)
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; if the change is meant, run with -update\n%s", path, got)
	}
}

// longBill has two prices, a credit and reasons to be provisional.
func longBill(t *testing.T) rental.Bill {
	b := newBook()
	b.facts.Contract.TimeZone = "Asia/Shanghai"
	b.facts.Contract.Plan.Prices = append(b.facts.Contract.Plan.Prices, rental.PriceVersion{From: moment("2020-05-15T00:00:00+08:00"), Price: decimal("12.345")})
	bill := b.bill(t, "2020-05-20T10:20:30Z", may())
	bill.Lines = append(bill.Lines, rental.BillLine{Item: billing.ItemCredit, Charged: may(), Unit: "percent", Quantity: "10",
		Amount: rental.Amount{Currency: "CNY", Minor: -100}, Note: "10 % of 10.00 CNY (gross fee) = 1.00 CNY"})
	return bill
}

func TestWritersGiveTheSameBytes(t *testing.T) {
	bill := longBill(t)
	for name, write := range map[string]func(*bytes.Buffer) error{
		"bill.en.txt":  func(b *bytes.Buffer) error { return billing.WriteTable(b, bill, "en") },
		"bill.zh.txt":  func(b *bytes.Buffer) error { return billing.WriteTable(b, bill, "zh") },
		"bill.en.html": func(b *bytes.Buffer) error { return billing.WriteHTML(b, []rental.Bill{bill, bill}, "en") },
		"bill.zh.html": func(b *bytes.Buffer) error { return billing.WriteHTML(b, []rental.Bill{bill}, "zh") },
		"bill.json":    func(b *bytes.Buffer) error { return billing.WriteJSON(b, bill) },
		"bill.csv":     func(b *bytes.Buffer) error { return billing.WriteCSV(b, bill) },
	} {
		t.Run(name, func(t *testing.T) {
			var first, second bytes.Buffer
			if err := write(&first); err != nil {
				t.Fatal(err)
			}
			if err := write(&second); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(first.Bytes(), second.Bytes()) {
				t.Error("the same bill gave other bytes")
			}
			golden(t, name, first.Bytes())
		})
	}
}

func TestABillSurvivesItsJSON(t *testing.T) {
	bill := longBill(t)
	var text bytes.Buffer
	if err := billing.WriteJSON(&text, bill); err != nil {
		t.Fatal(err)
	}
	var back rental.Bill
	if err := json.Unmarshal(text.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, bill) {
		t.Errorf("read back %+v\nwrote %+v", back, bill)
	}
}

func TestNamesCannotRunAsFormulasOrBreakTheTable(t *testing.T) {
	bill := longBill(t)
	for _, hostile := range []string{"=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\tx", "\r\nx", "a\nb", "a\x1b[31mb", "a\u2028b"} {
		bill.Tenant = hostile
		var table, text, html bytes.Buffer
		bill.Contract = "<script>alert(1)</script>"
		if err := billing.WriteHTML(&html, []rental.Bill{bill}, "en"); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(html.String(), "<script") || strings.ContainsAny(html.String(), "\x1b\u2028") {
			t.Errorf("the page of %q runs what is data:\n%s", hostile, html.String())
		}
		if err := billing.WriteCSV(&text, bill); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&text).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if tenant := rows[1][1]; strings.ContainsRune("=+-@\t\r\n", rune(tenant[0])) {
			t.Errorf("CSV cell %q would run as a formula", tenant)
		}
		if rows[len(rows)-1][11] != "-1.00" {
			t.Errorf("the amount of a credit is %q, not a number", rows[len(rows)-1][11])
		}
		if err := billing.WriteTable(&table, bill, "en"); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(table.String(), "\x1b\r\u2028") || strings.Contains(table.String(), "a\nb") {
			t.Errorf("table holds raw control characters of %q", hostile)
		}
	}
}

func TestAdjustmentsAndTaxAreLinesOfTheBillOfTheirMonth(t *testing.T) {
	b := newBook()
	added := false
	b.facts.Contract.Tax = &rental.Tax{Name: "VAT", Percent: decimal("6"), Included: &added, On: rental.TaxOnSum}
	about := rental.Span{Start: moment("2020-04-01T00:00:00Z"), End: moment("2020-04-02T00:00:00Z")}
	b.adjustments = []rental.Adjustment{
		{ID: "ADJ-1", Lease: "L-1", Month: "2020-05", Start: about.Start, End: about.End, Amount: decimal("-24.00"), Currency: "CNY", Reason: "C37: the price was to be 11"},
		{ID: "ADJ-2", Lease: "L-1", Month: "2020-06", Start: about.Start, End: about.End, Amount: decimal("-1"), Currency: "CNY", Reason: "of the next month"},
	}
	bill := b.bill(t, "2020-07-01T00:00:00Z", may())
	if len(bill.Lines) != 3 || bill.Lines[1].Amount.Decimal() != "-24.00" || *bill.Lines[1].Corrects != about || bill.Lines[1].Note == "" {
		t.Fatalf("bill: %+v", bill)
	}
	// 6 % of 59,520 - 24.
	if bill.Lines[2].Item != rental.ItemTax || bill.Lines[2].Amount.Decimal() != "3569.76" || bill.Total.Decimal() != "63065.76" {
		t.Errorf("tax: %+v, total %s", bill.Lines[2], bill.Total)
	}
	added = true
	if bill := b.bill(t, "2020-07-01T00:00:00Z", may()); bill.Total.Decimal() != "59496.00" || bill.TaxContained == nil || bill.TaxContained.Decimal() != "3367.70" {
		t.Errorf("prices that hold the tax: %s, of which %v", bill.Total, bill.TaxContained)
	}
}

func TestABillSpeaksItsContractsLanguageThroughout(t *testing.T) {
	for language, heading := range map[string]string{"en": "Charged", "zh": "计费"} {
		bill := rental.Bill{Lease: "L", Currency: "CNY", TimeZone: "UTC", Language: language,
			Period: rental.Span{Start: 0, End: 3_600_000}, Total: rental.Amount{Currency: "CNY"}}
		var out strings.Builder
		if err := billing.WriteTable(&out, bill, ""); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), heading) {
			t.Errorf("%s: found no %q in\n%s", language, heading, &out)
		}
	}
}
