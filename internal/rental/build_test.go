package rental

import (
	"fmt"
	"testing"
	"time"
)

func dec(t testing.TB, text string) Decimal {
	t.Helper()
	d, err := ParseDecimal(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func ms(t testing.TB, text string) Millis {
	t.Helper()
	var m Millis
	if err := m.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return m
}

func span(t testing.TB, from, to string) Span {
	t.Helper()
	return Span{Start: ms(t, from), End: ms(t, to)}
}

func yes() *bool { b := true; return &b }
func no() *bool  { b := false; return &b }

// hourly is a whole contract: price per GPU-hour, exact, UTC, billed while down and maintained.
func hourly(_ testing.TB, price string) Contract {
	return Contract{
		Name: "hourly", Provider: "north", Currency: "CNY", TimeZone: "UTC",
		Plan:          Plan{Mode: ModeHour, Unit: UnitGPU, Rounding: Exact, Prices: []PriceVersion{{Price: Decimal{text: price}}}},
		BillWhileDown: yes(), BillWhileMaintenance: yes(), LineRounding: HalfUp, DowntimeApproval: ApprovalAutomatic,
	}
}

// withTarget adds an availability objective: exact, over the lease, unknown as down.
func withTarget(t testing.TB, c Contract, target string) Contract {
	c.Availability = &Availability{
		TargetPercent: dec(t, target), Scope: ScopeAll, Period: PeriodCalendarMonth, Denominator: DenominatorLease,
		Outage: OutageExact, Degraded: string(Up), Unknown: string(Down), ExcludedLeavesDenominator: yes(),
	}
	return c
}

// facts is a lease of n cards named A, B, C... over the span.
func facts(c Contract, when Span, cards int) Facts {
	f := Facts{Contract: c, Lease: Lease{ID: "L", Tenant: "acme", Contract: c.Name, Start: when.Start, End: when.End}}
	for i := range cards {
		uuid := card(i)
		f.Lease.GPUs = append(f.Lease.GPUs, GPURef{UUID: uuid})
		f.Assignments = append(f.Assignments, Assignment{Lease: "L", UUID: uuid, Span: when, Reason: "start", Host: fmt.Sprintf("host-%d", i/8)})
	}
	return f
}

func card(i int) string { return string(rune('A' + i)) }

func charge(t testing.TB, f Facts, period Span) []BillLine {
	t.Helper()
	lines, err := Charge(ChargeInput{Facts: f, Period: period})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func amounts(lines []BillLine) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.Amount.Decimal()
	}
	return out
}

func total(t testing.TB, c Currency, lines []BillLine) string {
	t.Helper()
	sum, err := lineTotal(c, lines)
	if err != nil {
		t.Fatal(err)
	}
	return sum.Decimal()
}

func upDown(from Millis, parts ...any) []Interval {
	var out []Interval
	for i := 0; i < len(parts); i += 2 {
		state, length := parts[i].(string), parts[i+1].(time.Duration)
		end := from + Millis(length.Milliseconds())
		out = append(out, Interval{Span: Span{Start: from, End: end}, Class: ClassOfState(state), Reason: state})
		from = end
	}
	return out
}

func judge(t testing.TB, in JudgeInput) Verdict {
	t.Helper()
	v, err := Judge(in)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
