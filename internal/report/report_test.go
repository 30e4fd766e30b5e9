package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/leasewatch/leasewatch/internal/proof"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/report"
)

var update = flag.Bool("update", false, "write the golden pages anew")

func at(text string) rental.Millis {
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

// june is a lease of two cards in June 2026, of which GPU-A was lost for 217 minutes on the 10th
// (C51: 43,200 min, 217 of them down, is under 99.5 %).
type june struct {
	judged rental.JudgeInput
	usage  []rental.UsageRecord
	downs  []rental.Downtime
	madeAt rental.Millis
	// creditCase is what people did with the month's credit.
	creditCase rental.CreditCase
}

const minute = 60_000

// metered are the three days of which there are records: enough to prove, and fast.
var metered = rental.Span{Start: at("2026-06-09T00:00:00Z"), End: at("2026-06-12T00:00:00Z")}

func newJune() june {
	yes := true
	period := rental.Span{Start: at("2026-06-01T00:00:00Z"), End: at("2026-07-01T00:00:00Z")}
	lost := rental.Span{Start: at("2026-06-10T03:00:00Z"), End: at("2026-06-10T06:37:00Z")}
	contract := rental.Contract{
		Name: "hourly", Provider: "north", Currency: "USD", TimeZone: "UTC", SKU: "h100",
		Plan:          rental.Plan{Mode: "hour", Unit: "gpu", Rounding: rental.Exact, Prices: []rental.PriceVersion{{Price: decimal("10")}}},
		BillWhileDown: &yes, BillWhileMaintenance: &yes, LineRounding: rental.HalfUp, DowntimeApproval: "automatic",
		Availability: &rental.Availability{
			TargetPercent: decimal("99.5"), Scope: rental.ScopeGPU, Period: "calendar_month", Denominator: "period", Outage: rental.OutageExact,
			Degraded: "up", Unknown: "excluded", ExcludedLeavesDenominator: &yes,
		},
		Credits: &rental.Credits{
			Tiers: []rental.CreditTier{{Under: decimal("99.5"), Percent: decimal("10")}, {Under: decimal("99"), Percent: decimal("25")}},
			Base:  rental.BaseGross, Scope: rental.UnitGPU, CapPercent: decimal("50"), ClaimDays: 30,
		},
	}
	j := june{madeAt: at("2026-07-05T09:00:00Z"), creditCase: rental.CreditCase{Lease: "L-1", Month: "2026-06"}}
	j.downs = []rental.Downtime{{
		ID: "auto-1", Lease: "L-1", UUIDs: []string{"GPU-A"}, Span: lost, Cause: rental.CauseProvider, Reason: "lost", ApprovedBy: "automatic",
		Witnesses: []string{`gpu_state{uuid="GPU-A",state="lost"} == 1`}, RecordedAt: lost.Start + 5000,
	}}
	j.judged = rental.JudgeInput{
		Facts: rental.Facts{
			Contract: contract, Lease: rental.Lease{ID: "L-1", Tenant: "acme", Contract: "hourly", Start: period.Start, End: rental.Forever,
				GPUs: []rental.GPURef{{UUID: "GPU-A"}, {UUID: "GPU-B"}}},
			Assignments: []rental.Assignment{
				{Lease: "L-1", UUID: "GPU-A", Host: "gpu-a1", Span: rental.Span{Start: period.Start, End: rental.Forever}, Reason: "start"},
				{Lease: "L-1", UUID: "GPU-B", Host: "gpu-a1", Span: rental.Span{Start: period.Start, End: rental.Forever}, Reason: "start"},
			},
			Downtimes:    j.downs,
			Maintenances: []rental.Maintenance{{ID: "M1", Hosts: []string{"gpu-a1", "others-host"}, Leases: []string{"L-2"}, Start: at("2026-06-20T00:00:00Z"), End: at("2026-06-20T01:00:00Z")}},
		},
		Timelines: map[string][]rental.Interval{
			"GPU-A": {
				{Span: rental.Span{Start: period.Start, End: lost.Start}, Class: rental.Up, Reason: "ok"},
				{Span: lost, Class: rental.Down, Reason: "lost"},
				{Span: rental.Span{Start: lost.End, End: period.End}, Class: rental.Up, Reason: "ok"},
			},
			"GPU-B": {{Span: period, Class: rental.Up, Reason: "ok"}},
		},
		Period: period,
	}
	for start := metered.Start; start < metered.End; start += 60 * minute {
		for _, uuid := range []string{"GPU-A", "GPU-B"} {
			r := rental.UsageRecord{Lease: "L-1", UUID: uuid, Span: rental.Span{Start: start, End: start + 60*minute}, Revision: 1,
				AllocatedMS: 60 * minute, MeasuredMS: 60 * minute, BusyMS: 30 * minute, UsedMicros: 27 * minute * 1000}
			if uuid == "GPU-A" {
				r.DownMS = lost.Clip(r.Span).Duration()
			}
			r.UpMS = r.AllocatedMS - r.DownMS
			j.usage = append(j.usage, r)
		}
	}
	return j
}

// chain seals June day by day, as the server does.
func (j june) chain(t testing.TB) []proof.Sealed {
	t.Helper()
	var out []proof.Sealed
	var last rental.Head
	for day := metered.Start; day < metered.End; day += 24 * 60 * minute {
		var in rental.Recorded
		span := rental.Span{Start: day, End: day + 24*60*minute}
		for _, r := range j.usage {
			if span.Contains(r.Span.Start) {
				in.Usage = append(in.Usage, r)
			}
		}
		for _, d := range j.downs {
			if span.Contains(d.Span.Start) {
				body, err := json.Marshal(d)
				if err != nil {
					t.Fatal(err)
				}
				in.Downtimes = append(in.Downtimes, body)
			}
		}
		records, err := proof.Records(in)
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := proof.Seal(last, "L-1", span.End+30*minute, records)
		if err != nil {
			t.Fatal(err)
		}
		out, last = append(out, sealed), sealed.Head
	}
	return out
}

// late is how long samples of a month are taken after its end.
const late = 26 * 60 * minute

// money is the month's credits and the lines of its bill.
func (j june) money(t testing.TB) ([]rental.Credit, []rental.BillLine) {
	t.Helper()
	month, err := rental.CreditForMonth(j.judged, j.madeAt)
	if err != nil {
		t.Fatal(err)
	}
	credit, err := month.Standing(j.judged.Contract, j.creditCase, j.madeAt, late)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := rental.Charge(rental.ChargeInput{Facts: j.judged.Facts, Period: j.judged.Period})
	if err != nil {
		t.Fatal(err)
	}
	if credit.Amount.Minor == 0 {
		return nil, lines
	}
	return []rental.Credit{credit}, lines
}

func (j june) document(t testing.TB) report.Document {
	t.Helper()
	verdict, err := rental.Judge(j.judged)
	if err != nil {
		t.Fatal(err)
	}
	credit, lines := j.money(t)
	cost := rental.Amount{Currency: "USD", Minor: 1_440_000}
	d, err := report.New(report.Input{
		Kind: report.KindMonth, Month: "2026-06", Program: "1.2.3", MadeAt: j.madeAt, Language: "en", TenantName: "Acme <b>Labs</b>", ProviderName: "North Compute",
		Judged: j.judged, Verdict: verdict, Chain: j.chain(t),
		Credits: credit, Late: late,
		Bill: &rental.Bill{Lease: "L-1", Currency: "USD", TimeZone: "UTC", Period: j.judged.Period, Total: cost, Lines: lines},
		GPUs: []rental.GPU{{UUID: "GPU-A", Serial: "1654001", SKU: "h100", Host: "gpu-a1", Slot: 0}, {UUID: "GPU-B", Serial: "1654002", SKU: "h800", Host: "gpu-a1", Slot: 1}},
		SKUs: []rental.SKU{{Name: "h100", Model: "H100 80GB HBM3"}, {Name: "h800", Model: "H800"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func newRing(t testing.TB) *proof.Ring {
	t.Helper()
	ring, err := proof.OpenRing(filepath.Join(t.TempDir(), "signing-keys.json"), 1)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func signed(t testing.TB, d report.Document, by report.Signer) []byte {
	t.Helper()
	file, err := report.Sign(d, by)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func verify(t testing.TB, file []byte, keys []proof.Key, own []proof.Sealed) report.Result {
	t.Helper()
	result, err := report.Verify(file, keys, own)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestAnHonestReportHolds(t *testing.T) {
	ring, d := newRing(t), newJune().document(t)
	if d.Verdict.Outcome != rental.Breached || d.Verdict.DownMS != 217*minute {
		t.Fatalf("found %s with %d ms down: %s", d.Verdict.Outcome, d.Verdict.DownMS, d.Verdict.Arithmetic)
	}
	result := verify(t, signed(t, d, ring), ring.Keys(), d.Chain)
	if len(result.Faults) != 0 || len(result.Notes) != 0 {
		t.Errorf("faults %v, notes %q", result.Faults, result.Notes)
	}
	alone := verify(t, signed(t, d, ring), nil, nil)
	if len(alone.Faults) != 0 || len(alone.Notes) != 2 {
		t.Errorf("faults %v, notes %q: expected notes on the key and the heads", alone.Faults, alone.Notes)
	}
	if len(d.Facts.Maintenances) != 1 || len(d.Facts.Maintenances[0].Hosts) != 1 || len(d.Facts.Maintenances[0].Leases) != 0 {
		t.Errorf("maintenance names others: %+v", d.Facts.Maintenances)
	}
}

// Whoever keeps the key can sign anything. Each case is a lie that was signed again.
func TestASignedLieIsFound(t *testing.T) {
	ring := newRing(t)
	honest := newJune()
	given := honest.chain(t)
	cases := map[string]struct {
		lie   func(j *june, d *report.Document)
		check string
	}{
		"a figure of the verdict":     {func(_ *june, d *report.Document) { d.Verdict.DownMS -= minute }, proof.CheckArithmetic},
		"the outcome":                 {func(_ *june, d *report.Document) { d.Verdict.Outcome = rental.Kept }, proof.CheckArithmetic},
		"use":                         {func(_ *june, d *report.Document) { d.Total.UsedMicros++ }, proof.CheckArithmetic},
		"the bill's total":            {func(_ *june, d *report.Document) { d.Bill.Total.Minor += 100 }, proof.CheckArithmetic},
		"a downtime that is left out": {func(_ *june, d *report.Document) { d.Facts.Downtimes = nil }, proof.CheckArithmetic},
		"a downtime's cause": {func(_ *june, d *report.Document) {
			d.Facts.Downtimes = []rental.Downtime{d.Facts.Downtimes[0]}
			d.Facts.Downtimes[0].Cause = rental.CauseTenant
		}, proof.CheckArithmetic},
		"records that are left out": {func(_ *june, d *report.Document) { d.Chain[1].Links = nil }, proof.CheckArithmetic},
		"heads that are cut off":    {func(_ *june, d *report.Document) { d.Chain = d.Chain[:2] }, proof.CheckHeads},
		"the amount of a credit":    {func(_ *june, d *report.Document) { d.Credits[0].Amount.Minor -= 10_000 }, proof.CheckArithmetic},
		"a credit that is left out": {func(_ *june, d *report.Document) { d.Credits = []rental.Credit{} }, proof.CheckArithmetic},
		"a credit that was refused by nobody": {func(_ *june, d *report.Document) {
			d.Credits[0].State = rental.CreditRefused
			d.Credits[0].Acts = []rental.Act{{Kind: rental.ActRefused, By: "fin", At: d.MadeAt, Note: "no"}}
		}, proof.CheckArithmetic},
		"the deadline of a claim":          {func(_ *june, d *report.Document) { d.Credits[0].ClaimUntil -= minute }, proof.CheckArithmetic},
		"the table of credits":             {func(_ *june, d *report.Document) { d.Contract.Credits.Tiers[0].Percent = decimal("5") }, proof.CheckArithmetic},
		"the price of the contract":        {func(_ *june, d *report.Document) { d.Contract.Plan.Prices[0].Price = decimal("9") }, proof.CheckArithmetic},
		"a line of the bill and its total": {func(_ *june, d *report.Document) { d.Bill.Lines[0].Amount.Minor += 100; d.Bill.Total.Minor += 100 }, proof.CheckArithmetic},
		"tax that the contract does not have": {func(_ *june, d *report.Document) {
			d.Bill.Lines = append(d.Bill.Lines, rental.BillLine{Item: rental.ItemTax, Quantity: "5", Amount: rental.Amount{Currency: "USD", Minor: 100}})
			d.Bill.Total.Minor += 100
		}, proof.CheckArithmetic},
		"time that was charged twice": {func(_ *june, d *report.Document) {
			more := d.Bill.Lines[0]
			more.UnitPrice = decimal("1")
			d.Bill.Lines = append(d.Bill.Lines, more)
			d.Bill.Total.Minor += more.Amount.Minor
		}, proof.CheckArithmetic},
		"timelines with a verdict that fits them": {func(j *june, d *report.Document) {
			j.judged.Timelines["GPU-A"] = j.judged.Timelines["GPU-B"]
			d.Facts.Timelines = j.judged.Timelines
			d.Verdict, _ = rental.Judge(j.judged)
		}, proof.CheckArithmetic},
		"all of it, sealed anew": {func(j *june, d *report.Document) {
			j.judged.Timelines["GPU-A"] = j.judged.Timelines["GPU-B"]
			j.judged.Downtimes, j.downs = nil, nil
			for i := range j.usage {
				j.usage[i].UpMS, j.usage[i].DownMS = j.usage[i].AllocatedMS, 0
			}
			*d = j.document(t)
		}, proof.CheckHeads},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			j := newJune()
			d := j.document(t)
			tc.lie(&j, &d)
			result := verify(t, signed(t, d, ring), ring.Keys(), given)
			if len(result.Faults) == 0 || result.Faults[0].Check != tc.check {
				t.Errorf("found %v, expected a fault of %s first", result.Faults, tc.check)
			}
		})
	}
}

func TestTheFirstRecordThatWasRewrittenAndSealedAnewIsNamed(t *testing.T) {
	ring, j := newRing(t), newJune()
	given := j.chain(t)
	for i, r := range j.usage {
		if r.DownMS > 0 {
			j.usage[i].UpMS, j.usage[i].DownMS = r.AllocatedMS, 0
		}
	}
	result := verify(t, signed(t, j.document(t), ring), ring.Keys(), given)
	if len(result.Faults) == 0 || result.Faults[0].Where != "usage of GPU-A, 2026-06-10T03:00:00Z to 2026-06-10T04:00:00Z" {
		t.Errorf("found %v", result.Faults)
	}
}

// Any byte of the file that is not white space between tokens, changed to another, is found.
func TestAnyChangedByteOfTheFileIsFound(t *testing.T) {
	ring, j := newRing(t), newJune()
	j.usage = j.usage[:2]
	whole, err := proof.Canonical(signed(t, j.document(t), ring))
	if err != nil {
		t.Fatal(err)
	}
	if before := verify(t, whole, ring.Keys(), nil); len(before.Faults) > 0 {
		t.Fatal(before.Faults)
	}
	rapid.Check(t, func(r *rapid.T) {
		changed := bytes.Clone(whole)
		i := rapid.IntRange(0, len(changed)-1).Draw(r, "at")
		changed[i] = rapid.Byte().Filter(func(b byte) bool { return b != whole[i] }).Draw(r, "byte")
		if again, err := proof.Canonical(changed); err == nil && bytes.Equal(again, whole) {
			return // white space, or another spelling of the same
		}
		result, err := report.Verify(changed, ring.Keys(), nil)
		if err == nil && len(result.Faults) == 0 && changedSigned(whole, changed) {
			t.Fatalf("byte %d passed: %q", i, changed[max(0, i-40):min(len(changed), i+40)])
		}
	})
}

// changedSigned tells whether a change is in what is signed or in what the signature is checked
// by; the moments of retired keys are neither.
func changedSigned(a, b []byte) bool {
	x, _, errX := report.Read(a)
	y, _, errY := report.Read(b)
	if errX != nil || errY != nil {
		return true
	}
	left, errX := proof.Canonical(x.Report)
	right, errY := proof.Canonical(y.Report)
	return errX != nil || errY != nil || !bytes.Equal(left, right) || !bytes.Equal(x.Signature.Value, y.Signature.Value)
}

func FuzzVerifyNeverPanics(f *testing.F) {
	ring, d := newRing(f), newJune().document(f)
	d.Chain = d.Chain[:1]
	d.Chain[0].Links = d.Chain[0].Links[:2]
	f.Add(signed(f, d, ring))
	f.Add([]byte(`{"report":{"format":"leasewatch-report/1","period":{"start":"2026-06-01T00:00:00Z","end":"open"}}}`))
	f.Fuzz(func(_ *testing.T, file []byte) {
		_, _ = report.Verify(file, nil, nil)
		_, _ = report.ReadHeads(file)
	})
}

func TestTheHeadsOfAnEarlierReportAndOfTheApiAreRead(t *testing.T) {
	ring, d := newRing(t), newJune().document(t)
	own, err := report.ReadHeads(signed(t, d, ring))
	if err != nil || len(own) != 3 || len(own[0].Links) != 48 {
		t.Errorf("%d heads (%v), expected 3 with their records", len(own), err)
	}
	bare, err := report.ReadHeads([]byte(`{"lease":"L-1","heads":[{"lease":"L-1","number":1}],"keys":[]}`))
	if err != nil || len(bare) != 1 || bare[0].Links != nil {
		t.Errorf("%+v (%v), expected one head without records", bare, err)
	}
	if _, err := report.ReadHeads([]byte(`{}`)); err == nil {
		t.Error("an object without heads was taken for heads")
	}
}

func TestThePageIsTheGoldenOneInBothLanguages(t *testing.T) {
	d := newJune().document(t)
	for _, lang := range []string{"en", "zh"} {
		var out bytes.Buffer
		if err := report.WriteHTML(&out, d, "0123456789abcdef", lang); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", "june."+lang+".html")
		if *update {
			if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(want, out.Bytes()) {
			t.Errorf("%s differs from what is written (%v): look at it, then run with -update", path, err)
		}
		page := out.String()
		for _, never := range []string{"<b>Labs", "<script", "http://", "https://", "[report.", "%!"} {
			if strings.Contains(strings.ReplaceAll(page, "http://www.w3.org/2000/svg", ""), never) {
				t.Errorf("%s holds %q", path, never)
			}
		}
	}
}

func TestTheCSVHoldsTheFiguresAndNoFormula(t *testing.T) {
	d := newJune().document(t)
	d.Facts.Downtimes[0].Reason = "lost\n=1+1"
	d.Use[0].UUID = "=cmd|' /C calc'!A0"
	var out bytes.Buffer
	if err := report.WriteCSV(&out, d, "en"); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, row := range rows {
		found[row[1]+"/"+row[2]] = row[5]
		for _, text := range row {
			if strings.HasPrefix(text, "=") {
				t.Errorf("a formula: %q", text)
			}
		}
	}
	for name, want := range map[string]string{
		"availability/verdict": "breached", "availability/low": "99.4976", "availability/down": "13020000", "downtime/auto-1": "13020000",
		"credit/claimable": "720.00", "cost/total": "14400.00", "hardware/GPU-B": "h800",
	} {
		if found[name] != want {
			t.Errorf("%s: found %q, expected %q", name, found[name], want)
		}
	}
}

func TestTwoSidesAreLinedUp(t *testing.T) {
	a, b := newJune(), newJune()
	b.judged.Lease.ID = "rented-7"
	for i := range b.judged.Assignments {
		b.judged.Assignments[i].Lease = "rented-7"
	}
	b.downs, b.usage = nil, nil
	line := b.judged.Timelines["GPU-A"]
	line[0].Span.End -= 2 * minute // the tenant saw the loss two minutes earlier
	line[1].Span.Start -= 2 * minute
	b.judged.Assignments[1].UUID = "GPU-C"
	c := report.Compare(a.document(t), b.document(t))
	want := rental.Span{Start: at("2026-06-10T02:58:00Z"), End: at("2026-06-10T03:00:00Z")}
	if len(c.Differences) != 1 || c.Differences[0].Span != want || c.Differences[0].UUID != "GPU-A" || c.Differences[0].A.Class != rental.Up || c.Differences[0].B.Class != rental.Down {
		t.Errorf("differences: %+v", c.Differences)
	}
	if c.DownA != 217*minute || c.DownB != 219*minute || len(c.OnlyA) != 1 || c.OnlyA[0] != "GPU-B" || len(c.OnlyB) != 1 || c.OnlyB[0] != "GPU-C" {
		t.Errorf("found %+v", c)
	}
	if same := report.Compare(a.document(t), a.document(t)); len(same.Differences) != 0 {
		t.Errorf("a report differs from itself: %+v", same.Differences)
	}
}

// BenchmarkVerifyAMonth checks the report of one month of two cards.
func BenchmarkVerifyAMonth(b *testing.B) {
	ring, d := newRing(b), newJune().document(b)
	file := signed(b, d, ring)
	for b.Loop() {
		if result := verify(b, file, ring.Keys(), d.Chain); len(result.Faults) > 0 {
			b.Fatal(result.Faults)
		}
	}
}
