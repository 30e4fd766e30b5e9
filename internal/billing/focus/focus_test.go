package focus_test

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"flag"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/leasewatch/leasewatch/internal/billing/focus"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/testenv"
)

var update = flag.Bool("update", false, "write the golden files anew")

func dec(s string) rental.Decimal {
	d, err := rental.ParseDecimal(s)
	if err != nil {
		panic(err)
	}
	return d
}

func at(s string) rental.Millis {
	var m rental.Millis
	if err := m.UnmarshalText([]byte(s)); err != nil {
		panic(err)
	}
	return m
}

func may() rental.Span {
	return rental.Span{Start: at("2026-04-30T16:00:00Z"), End: at("2026-05-31T16:00:00Z")}
}

// everything is a bill with a line of every sort: cards, a reservation used and unused, fees,
// storage, traffic, a credit, a correction, an adjustment, tax, all priced in another currency.
func everything(t testing.TB, change func(*rental.Facts)) focus.Bill {
	t.Helper()
	no := false
	c := rental.Contract{
		Name: "north-reserved", Provider: "north", Currency: "CNY", PricedIn: "USD", TimeZone: "Asia/Shanghai", SKU: "h100-sxm",
		Rates: []rental.Rate{{From: at("2026-01-01T00:00:00Z"), Rate: dec("7.1037"), Source: "SAFE"}},
		Plan: rental.Plan{Mode: rental.ModeHour, Unit: rental.UnitGPU, Rounding: rental.Exact, Prices: []rental.PriceVersion{{Price: dec("2.49")}},
			Reserved: &rental.Reservation{Cards: 3, Price: dec("1.5"), Upfront: dec("500")}},
		Items: []rental.Item{
			{Name: "scratch", Kind: "storage", Charge: rental.ChargeMonth, Unit: "GB", Quantity: dec("100"), Prices: []rental.ItemPrice{{Price: dec("0.1"), Stopped: dec("0.2")}}},
			{Name: "=egress()", Kind: "traffic", Charge: rental.ChargeMetered, Unit: "GB", Prices: []rental.ItemPrice{{Price: dec("0.05")}}},
			{Name: "support", Kind: "support", Charge: rental.ChargeMonth, Unit: "lease", Quantity: dec("1"), Included: true},
		},
		Tax:           &rental.Tax{Name: "VAT", Percent: dec("6"), Included: &no, On: rental.TaxOnSum},
		BillWhileDown: &no, BillWhileMaintenance: &no, LineRounding: rental.HalfUp, DowntimeApproval: rental.ApprovalManual,
	}
	f := rental.Facts{Contract: c, Lease: rental.Lease{ID: "L-1", Tenant: "acme", Contract: c.Name, Start: at("2026-05-02T00:07:00Z"), End: rental.Forever}}
	for i := range 5 {
		uuid := fmt.Sprintf("GPU-%d", i)
		f.Lease.GPUs = append(f.Lease.GPUs, rental.GPURef{UUID: uuid})
		f.Assignments = append(f.Assignments, rental.Assignment{Lease: "L-1", UUID: uuid, Span: f.Lease.Span()})
	}
	f.Lease.Stops = []rental.Span{{Start: at("2026-05-10T00:00:00Z"), End: at("2026-05-10T05:13:07Z")}}
	f.Consumptions = []rental.Consumption{{ID: "c", Lease: "L-1", Item: "=egress()", Start: at("2026-05-03T00:00:00Z"), End: at("2026-05-04T00:00:00Z"), Quantity: dec("12.5"), Unit: "GiB"}}
	if change != nil {
		change(&f)
	}
	lines, err := rental.Charge(rental.ChargeInput{Facts: f, Period: may()})
	if err != nil {
		t.Fatal(err)
	}
	april := rental.Span{Start: at("2026-03-31T16:00:00Z"), End: may().Start}
	corrected := lines[0]
	corrected.Corrects, corrected.Charged, corrected.Quantity, corrected.Amount.Minor = &april, april, "-4", -7074
	corrected.PerGPU, corrected.Quantities = map[string]int64{"GPU-0": -7074}, map[string]string{"GPU-0": "-4"}
	lines = append(lines,
		rental.BillLine{Item: "sla_credit", Charged: may(), Unit: "percent", Quantity: "10", Amount: rental.Amount{Currency: "CNY", Minor: -12345}, Note: "10 % of the fee"},
		corrected,
		rental.BillLine{Item: "adjustment", Name: "ADJ-1", Charged: april, Corrects: &april, Amount: rental.Amount{Currency: "CNY", Minor: -2400}, Note: "goodwill\nof April"},
	)
	added, _, err := rental.TaxLines(f.Contract, may(), lines)
	if err != nil {
		t.Fatal(err)
	}
	bill := rental.Bill{Lease: "L-1", Tenant: "acme", Provider: "north", Contract: c.Name, Currency: "CNY", TimeZone: c.TimeZone, Period: may(),
		Lines: append(lines, added...), Invoice: &rental.Invoice{Number: "INV-000007", ClosedAt: may().End, ClosedBy: "fin"}}
	amounts := make([]rental.Amount, len(bill.Lines))
	for i, l := range bill.Lines {
		amounts[i] = l.Amount
	}
	if bill.Total, err = rental.SumAmounts("CNY", amounts...); err != nil {
		t.Fatal(err)
	}
	return focus.Bill{Bill: bill, Contract: f.Contract, TenantName: "Acme", ProviderName: "North Compute", Span: f.Lease.Span(),
		Regions: map[string]string{"GPU-0": "oslo"}, Names: map[string]string{"GPU-0": "gpu-a1 slot 0"}}
}

func written(t testing.TB, version string, bills ...focus.Bill) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := focus.Write(&out, version, bills); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func faults(t testing.TB, version string, file []byte) (int, []focus.Fault) {
	t.Helper()
	var found []focus.Fault
	rows, err := focus.Validate(bytes.NewReader(file), version, func(f focus.Fault) { found = append(found, f) })
	if err != nil {
		t.Fatal(err)
	}
	return rows, found
}

// byColumn reads a file as maps.
func byColumn(t testing.TB, file []byte) []map[string]string {
	t.Helper()
	records, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, record := range records[1:] {
		row := map[string]string{}
		for i, name := range records[0] {
			row[name] = record[i]
		}
		out = append(out, row)
	}
	return out
}

func TestWhatIsWrittenIsValidAndSumsToTheBill(t *testing.T) {
	bill := everything(t, nil)
	for _, version := range []string{focus.Version10, focus.Version12} {
		file := written(t, version, bill)
		rows, found := faults(t, version, file)
		for _, f := range found {
			t.Errorf("FOCUS %s: %v", version, f)
		}
		sum := new(big.Rat)
		parsed := byColumn(t, file)
		for _, row := range parsed {
			billed, ok := new(big.Rat).SetString(row["BilledCost"])
			if !ok {
				t.Fatalf("BilledCost %q", row["BilledCost"])
			}
			sum.Add(sum, billed)
		}
		if rows != len(parsed) || sum.FloatString(2) != bill.Total.Decimal() {
			t.Errorf("FOCUS %s: %d rows sum to %s, the bill is %s", version, rows, sum.FloatString(2), bill.Total)
		}
		path := filepath.Join("testdata", "everything-"+version+".csv")
		if *update {
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(path); err != nil || !bytes.Equal(want, file) {
			t.Errorf("%s differs (%v); if the change is meant, run with -update", path, err)
		}
	}
}

func TestReservedTimeIsUsedAndUnusedAndCorrectionsAreOnlyOfClosedPeriods(t *testing.T) {
	seen := map[string]int{}
	for _, row := range byColumn(t, written(t, focus.Version12, everything(t, nil))) {
		seen[row["ChargeCategory"]]++
		seen["commitment "+row["CommitmentDiscountStatus"]]++
		switch {
		case row["CommitmentDiscountStatus"] == "Used":
			if row["ContractedUnitPrice"] != "17.688213" || row["ListUnitPrice"] != "17.688213" || row["PricingCurrencyListUnitPrice"] != "2.49" {
				t.Errorf("used: %v", row)
			}
		case row["CommitmentDiscountStatus"] == "Unused":
			if row["ConsumedQuantity"] != "" || row["ResourceType"] != "Reservation" {
				t.Errorf("unused: %v", row)
			}
		}
		if row["PricingCurrency"] == "" || strings.Contains(row["SkuPriceId"], "north-reserved") || row["ResourceName"] != "" && row["ResourceName"] == row["ResourceId"] {
			t.Errorf("row: %v", row)
		}
		if closed := row["ChargePeriodEnd"] <= row["BillingPeriodStart"]; closed != (row["ChargeClass"] == "Correction") {
			t.Errorf("class %q of a charge up to %s in the period from %s", row["ChargeClass"], row["ChargePeriodEnd"], row["BillingPeriodStart"])
		}
		if strings.HasPrefix(row["ServiceName"], "=") || strings.Contains(row["ChargeDescription"], "\n") || row["InvoiceId"] != "INV-000007" {
			t.Errorf("row: %v", row)
		}
	}
	for _, want := range []string{"Usage", "Purchase", "Tax", "Credit", "Adjustment", "commitment Used", "commitment Unused", "commitment "} {
		if seen[want] == 0 {
			t.Errorf("no row of %s: %v", want, seen)
		}
	}
}

// TestWhatIsPrepaidIsBorneByTheTimeThatItPaysFor bills a lease of three months that paid upfront
// and pays a monthly fee: what the rows cost in effect sums to what was paid, and no payment has a
// cost of its own.
func TestWhatIsPrepaidIsBorneByTheTimeThatItPaysFor(t *testing.T) {
	bill := everything(t, func(f *rental.Facts) {
		f.Contract.PricedIn, f.Contract.Rates, f.Contract.Items, f.Contract.Tax = "", nil, nil, nil
		f.Contract.Plan.Reserved.Monthly = dec("100")
		f.Lease.End = at("2026-07-20T00:00:00Z")
		for i := range f.Assignments {
			f.Assignments[i].Span = f.Lease.Span()
		}
	})
	f := rental.Facts{Contract: bill.Contract, Lease: rental.Lease{ID: "L-1", Tenant: "acme", Start: bill.Span.Start, End: bill.Span.End}}
	for i := range 2 { // fewer than are reserved: some of it is unused
		uuid := fmt.Sprintf("GPU-%d", i)
		f.Lease.GPUs = append(f.Lease.GPUs, rental.GPURef{UUID: uuid})
		f.Assignments = append(f.Assignments, rental.Assignment{Lease: "L-1", UUID: uuid, Span: f.Lease.Span()})
	}
	var bills []focus.Bill
	for _, text := range []string{"2026-05", "2026-06", "2026-07"} {
		month, err := rental.ParseMonth(text)
		if err != nil {
			t.Fatal(err)
		}
		one := bill
		if one.Period, err = month.Span(bill.TimeZone); err != nil {
			t.Fatal(err)
		}
		if one.Lines, err = rental.Charge(rental.ChargeInput{Facts: f, Period: one.Period}); err != nil {
			t.Fatal(err)
		}
		one.Invoice = &rental.Invoice{Number: "INV-" + text}
		bills = append(bills, one)
	}
	file := written(t, focus.Version12, bills...)
	if _, found := faults(t, focus.Version12, file); len(found) > 0 {
		t.Error(found[0])
	}
	billed, effective, months := new(big.Rat), new(big.Rat), map[string]bool{}
	for _, row := range byColumn(t, file) {
		b, _ := new(big.Rat).SetString(row["BilledCost"])
		e, _ := new(big.Rat).SetString(row["EffectiveCost"])
		billed.Add(billed, b)
		effective.Add(effective, e)
		if row["ChargeCategory"] == "Purchase" && (e.Sign() != 0 || row["CommitmentDiscountId"] != "L-1/reserved" || row["CommitmentDiscountStatus"] != "") {
			t.Errorf("a payment: %v", row)
		}
		if row["CommitmentDiscountStatus"] != "" && e.Cmp(b) > 0 {
			months[row["BillingPeriodStart"]] = true
		}
		if row["ChargeFrequency"] == "One-Time" && row["CommitmentDiscountQuantity"] != "5687.65" { // 3 cards from 2 May 00:07 to 20 July
			t.Errorf("what the upfront payment buys: %s", row["CommitmentDiscountQuantity"])
		}
	}
	if billed.Cmp(effective) != 0 || len(months) != 3 {
		t.Errorf("billed %s, in effect %s, prepaid cost in %d months", billed.FloatString(2), effective.FloatString(2), len(months))
	}
}

func TestAnInvoiceIsOfOneAccountAndACommitmentOfOneUnit(t *testing.T) {
	first, second := everything(t, nil), everything(t, nil)
	second.Tenant = "other"
	_, found := faults(t, focus.Version12, written(t, focus.Version12, first, second))
	if len(found) == 0 || found[0].Column != "BillingAccountId" {
		t.Errorf("an invoice of two accounts: %v", found)
	}
	second = everything(t, nil)
	second.Contract.Plan.Mode = rental.ModeDay
	_, found = faults(t, focus.Version12, written(t, focus.Version12, first, second))
	if len(found) == 0 || found[0].Column != "CommitmentDiscountUnit" {
		t.Errorf("a commitment of two units: %v", found)
	}
}

func TestAnyBillIsValid(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		bill := everything(t, func(f *rental.Facts) {
			f.Contract.Plan.Prices[0].Price = dec(rapid.StringMatching(`[0-9]{1,4}(\.[0-9]{1,9})?`).Draw(rt, "price"))
			f.Contract.Rates[0].Rate = dec(rapid.StringMatching(`[1-9][0-9]{0,2}(\.[0-9]{1,6})?`).Draw(rt, "rate"))
			if rapid.Bool().Draw(rt, "another mode") {
				f.Contract.Plan.Reserved = nil
				f.Contract.Plan.Mode = rapid.SampledFrom([]string{rental.ModeSecond, rental.ModeMinute, rental.ModeDay, rental.ModeWeek, rental.ModeMonth, rental.ModeAnniversary}).Draw(rt, "mode")
			}
			if rapid.Bool().Draw(rt, "one currency") {
				f.Contract.PricedIn, f.Contract.Rates = "", nil
			}
			f.Lease.Start += rental.Millis(rapid.Int64Range(0, 20*24*3_600_000).Draw(rt, "start"))
			// A few days have lines of every sort too, and take less to price.
			f.Lease.End = f.Lease.Start + rental.Millis(rapid.Int64Range(1, 3*24*3_600_000).Draw(rt, "length"))
			for i := range f.Assignments {
				f.Assignments[i].Span = f.Lease.Span()
			}
			f.Lease.Stops, f.Consumptions = nil, nil
		})
		for _, version := range []string{focus.Version10, focus.Version12} {
			if _, found := faults(t, version, written(t, version, bill)); len(found) > 0 {
				rt.Fatalf("FOCUS %s: %v", version, found[0])
			}
		}
	})
}

func TestTheFaultySampleFailsRowByRow(t *testing.T) {
	file, err := os.Open(testenv.Data(t, "focus_1.0_sample_1000.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines, kinds := map[int]bool{}, map[string]int{}
	rows, err := focus.Validate(unpacked, focus.Version10, func(f focus.Fault) {
		lines[f.Line] = true
		kinds[f.Column+" "+strings.SplitN(f.Expected, " ", 2)[0]]++
	})
	if err != nil {
		t.Fatal(err)
	}
	if rows != 1000 || len(lines) != rows+1 {
		t.Errorf("%d rows, faults on %d lines, expected each row and the header", rows, len(lines))
	}
	for kind, least := range map[string]int{
		"ChargePeriodStart a":                1000, // times without T and Z
		"\"Id\" a":                           1,    // a column that is none
		"AvailabilityZone an":                1,    // "NULL" for nothing
		"ContractedCost ContractedUnitPrice": 1,    // a price x a quantity that is not the cost
	} {
		if kinds[kind] < least {
			t.Errorf("%d faults of %q, expected at least %d of %v", kinds[kind], kind, least, kinds)
		}
	}
}

func TestAPriceThatFollowsAMarketIsDynamicAndWhatIsReservedStaysCommitted(t *testing.T) {
	bill := everything(t, func(f *rental.Facts) { f.Contract.Plan.Market = true })
	bill.Contract.Plan.Market = true
	file := written(t, focus.Version12, bill)
	if _, found := faults(t, focus.Version12, file); len(found) > 0 {
		t.Error(found)
	}
	seen := map[string]int{}
	for _, row := range byColumn(t, file) {
		if row["ChargeClass"] == "" && row["ResourceType"] == "GPU" && row["ChargeCategory"] == "Usage" {
			seen[row["CommitmentDiscountStatus"]+" "+row["PricingCategory"]]++
		}
	}
	if seen[" Dynamic"] == 0 || seen["Used Committed"] == 0 || seen[" Standard"] != 0 {
		t.Errorf("found %v", seen)
	}
}

func TestEveryRuleFindsItsFault(t *testing.T) {
	good := byColumn(t, written(t, focus.Version12, everything(t, nil)))
	header, err := csv.NewReader(bytes.NewReader(written(t, focus.Version12, everything(t, nil)))).Read()
	if err != nil {
		t.Fatal(err)
	}
	pick := func(where string, is string) map[string]string {
		for _, row := range good {
			if row[where] == is {
				copied := map[string]string{}
				for k, v := range row {
					copied[k] = v
				}
				return copied
			}
		}
		t.Fatalf("no row with %s %q", where, is)
		return nil
	}
	for _, tc := range []struct {
		name, where, is string
		set             map[string]string
		column          string
	}{
		{"no value", "ChargeCategory", "Usage", map[string]string{"BilledCost": ""}, "BilledCost"},
		{"NULL as text", "ChargeCategory", "Usage", map[string]string{"InvoiceId": "NULL"}, "InvoiceId"},
		{"no number", "ChargeCategory", "Usage", map[string]string{"BilledCost": "1,5"}, "BilledCost"},
		{"no zone", "ChargeCategory", "Usage", map[string]string{"ChargePeriodStart": "2026-05-01T00:00:00"}, "ChargePeriodStart"},
		{"no such day", "ChargeCategory", "Usage", map[string]string{"ChargePeriodStart": "2026-02-30T00:00:00Z"}, "ChargePeriodStart"},
		{"no such category", "ChargeCategory", "Usage", map[string]string{"ChargeCategory": "usage"}, "ChargeCategory"},
		{"no such class", "ChargeCategory", "Usage", map[string]string{"ChargeClass": "Corrected"}, "ChargeClass"},
		{"no such currency", "ChargeCategory", "Usage", map[string]string{"BillingCurrency": "RMB"}, "BillingCurrency"},
		{"tags that are none", "ChargeCategory", "Usage", map[string]string{"Tags": "a=b"}, "Tags"},
		{"tags within tags", "ChargeCategory", "Usage", map[string]string{"Tags": `{"a":{"b":1}}`}, "Tags"},
		{"a period without time", "ChargeCategory", "Usage", map[string]string{"ChargePeriodStart": "2026-06-01T00:00:00Z", "ChargePeriodEnd": "2026-06-01T00:00:00Z"}, "ChargePeriodEnd"},
		{"a list cost that is not the product", "ChargeCategory", "Usage", map[string]string{"ListCost": "1.00"}, "ListCost"},
		{"a contracted cost that is not the product", "ChargeCategory", "Usage", map[string]string{"ContractedCost": "1.00"}, "ContractedCost"},
		{"usage without a quantity", "ChargeCategory", "Usage", map[string]string{"PricingQuantity": "", "PricingUnit": ""}, "PricingQuantity"},
		{"a quantity without a unit", "ChargeCategory", "Usage", map[string]string{"PricingUnit": ""}, "PricingUnit"},
		{"tax with a quantity", "ChargeCategory", "Tax", map[string]string{"PricingQuantity": "1", "PricingUnit": "x"}, "PricingQuantity"},
		{"a status without a commitment", "CommitmentDiscountStatus", "", map[string]string{"CommitmentDiscountStatus": "Used"}, "CommitmentDiscountStatus"},
		{"a commitment without a status", "CommitmentDiscountStatus", "Used", map[string]string{"CommitmentDiscountStatus": ""}, "CommitmentDiscountStatus"},
		{"an unused commitment that was consumed", "CommitmentDiscountStatus", "Unused", map[string]string{"ConsumedQuantity": "1", "ConsumedUnit": "x"}, "ConsumedQuantity"},
		{"usage without a price", "ChargeCategory", "Usage", map[string]string{"ListUnitPrice": ""}, "ListUnitPrice"},
		{"usage without a price in its currency", "ChargeCategory", "Usage", map[string]string{"PricingCurrencyContractedUnitPrice": ""}, "PricingCurrencyContractedUnitPrice"},
		{"usage without a SKU", "ChargeCategory", "Usage", map[string]string{"SkuPriceId": "", "SkuPriceDetails": ""}, "SkuPriceId"},
		{"tax with a SKU", "ChargeCategory", "Tax", map[string]string{"SkuId": "x"}, "SkuId"},
		{"a price under zero", "ChargeCategory", "Usage", map[string]string{"PricingCurrencyListUnitPrice": "-1"}, "PricingCurrencyListUnitPrice"},
		{"no pricing currency", "ChargeCategory", "Credit", map[string]string{"PricingCurrency": ""}, "PricingCurrency"},
		{"a purchase that is based on usage", "ChargeCategory", "Purchase", map[string]string{"ChargeFrequency": "Usage-Based"}, "ChargeFrequency"},
		{"a credit that costs something else", "ChargeCategory", "Credit", map[string]string{"EffectiveCost": "1"}, "EffectiveCost"},
		{"usage that consumed nothing", "ChargeCategory", "Usage", map[string]string{"ConsumedQuantity": "", "ConsumedUnit": ""}, "ConsumedQuantity"},
		{"a purchase that consumed", "ChargeCategory", "Purchase", map[string]string{"ConsumedQuantity": "1", "ConsumedUnit": "Hours"}, "ConsumedQuantity"},
		{"a commitment that costs twice", "ChargeFrequency", "One-Time", map[string]string{"EffectiveCost": "5"}, "EffectiveCost"},
		{"a committed purchase of a commitment", "ChargeFrequency", "One-Time", map[string]string{"PricingCategory": "Committed"}, "PricingCategory"},
		{"a commitment without a quantity", "CommitmentDiscountStatus", "Used", map[string]string{"CommitmentDiscountQuantity": "0"}, "CommitmentDiscountQuantity"},
		{"a commitment without a unit", "CommitmentDiscountStatus", "Used", map[string]string{"CommitmentDiscountUnit": ""}, "CommitmentDiscountUnit"},
		{"a meter without a SKU", "ChargeCategory", "Credit", map[string]string{"SkuMeter": "x"}, "SkuMeter"},
		{"a region without an id", "ChargeCategory", "Credit", map[string]string{"RegionName": "Oslo"}, "RegionName"},
		{"a property of a price of its own name", "SkuPriceDetails", `{"GpuCount":1,"InstanceSeries":"h100-sxm"}`, map[string]string{"SkuPriceDetails": `{"Gpus":1}`}, "SkuPriceDetails"},
		{"a number of GPUs in words", "SkuPriceDetails", `{"GpuCount":1,"InstanceSeries":"h100-sxm"}`, map[string]string{"SkuPriceDetails": `{"GpuCount":"one"}`}, "SkuPriceDetails"},
		{"details without a price", "ChargeCategory", "Credit", map[string]string{"SkuPriceDetails": `{"GpuCount":1}`}, "SkuPriceDetails"},
		{"a reservation of capacity without an id", "ChargeCategory", "Credit", map[string]string{"CapacityReservationStatus": "Used"}, "CapacityReservationStatus"},
		{"a subcategory of another category", "ServiceCategory", "Storage", map[string]string{"ServiceSubcategory": "Virtual Machines"}, "ServiceSubcategory"},
		{"a sub-account without a type", "ChargeCategory", "Usage", map[string]string{"SubAccountType": ""}, "SubAccountType"},
		{"a key twice", "ChargeCategory", "Usage", map[string]string{"Tags": `{"a":1,"a":2}`}, "Tags"},
		{"blanks for nothing", "ChargeCategory", "Usage", map[string]string{"RegionId": "  "}, "RegionId"},
		{"a resource without a type", "ResourceType", "GPU", map[string]string{"ResourceType": ""}, "ResourceType"},
	} {
		row := pick(tc.where, tc.is)
		for k, v := range tc.set {
			row[k] = v
		}
		var file bytes.Buffer
		out := csv.NewWriter(&file)
		cells := make([]string, len(header))
		for i, name := range header {
			cells[i] = row[name]
		}
		if err := out.WriteAll([][]string{header, cells}); err != nil {
			t.Fatal(err)
		}
		_, found := faults(t, focus.Version12, file.Bytes())
		if len(found) == 0 || found[0].Column != tc.column || found[0].Line != 2 || found[0].Found == "" || found[0].Expected == "" {
			t.Errorf("%s: %v, expected a fault of %s", tc.name, found, tc.column)
		}
	}
}

func TestAHeaderIsCheckedAgainstItsVersion(t *testing.T) {
	_, found := faults(t, focus.Version10, written(t, focus.Version12, everything(t, nil)))
	names := map[string]bool{}
	for _, f := range found {
		names[f.Column] = f.Line == 1
	}
	if !names[`"InvoiceId"`] || !names[`"SubAccountType"`] || names[`"BilledCost"`] {
		t.Errorf("faults of a 1.2 file as 1.0: %v", found)
	}
	_, found = faults(t, focus.Version12, []byte("BilledCost,x_mine,BilledCost\n1,2,3\n1,2\n"))
	if len(found) < 20 {
		t.Errorf("a header without mandatory columns: %v", found)
	}
	if _, err := focus.Validate(strings.NewReader("a\n"), "2.0", func(focus.Fault) {}); err == nil {
		t.Error("FOCUS 2.0 is known")
	}
	if _, err := focus.Validate(strings.NewReader(""), focus.Version12, func(focus.Fault) {}); err == nil {
		t.Error("an empty file is read")
	}
}

func FuzzValidate(f *testing.F) {
	f.Add(string(written(f, focus.Version12, everything(f, nil))))
	f.Add("BilledCost,ListCost,ListUnitPrice,PricingQuantity\n1,1e9,-0.5,\"2\"\n")
	f.Add("\ufeffTags\n{\"a\":[1]}\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, version := range []string{focus.Version10, focus.Version12} {
			_, _ = focus.Validate(strings.NewReader(text), version, func(fault focus.Fault) {
				if fault.Line < 1 || fault.Expected == "" || strings.ContainsAny(fault.Error(), "\x1b\r") {
					t.Errorf("fault %+v", fault)
				}
			})
		}
	})
}
