package rental

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// forecastInput is a lease of one card in a month of 30 days that was down for the minutes at
// the end of what is known.
func forecastInput(t *testing.T, target string, downMinutes, days int64) JudgeInput {
	t.Helper()
	no := false
	start := millisOf("2026-06-01T00:00:00Z")
	now := start + Millis(days*24*3_600_000)
	bad := now - Millis(downMinutes*60_000)
	parsed, err := ParseDecimal(target)
	if err != nil {
		t.Fatal(err)
	}
	contract := judgedContract(parsed)
	contract.Availability.ExcludedLeavesDenominator = &no
	return JudgeInput{
		Facts: Facts{
			Contract:    contract,
			Lease:       Lease{ID: "L", Tenant: "acme", Start: start, End: Forever, GPUs: []GPURef{{UUID: "A"}}},
			Assignments: []Assignment{{Lease: "L", UUID: "A", Span: Span{Start: start, End: Forever}, Reason: "start"}},
		},
		Timelines: map[string][]Interval{"A": {{Span: Span{Start: start, End: bad}, Class: Up, Reason: "ok"}, {Span: Span{Start: bad, End: now}, Class: Down, Reason: "lost"}}},
		Period:    Span{Start: start, End: start + Millis(30*24*3_600_000)}, Now: now,
	}
}

func millisOf(text string) Millis {
	var m Millis
	if err := m.UnmarshalText([]byte(text)); err != nil {
		panic(err)
	}
	return m
}

func judgedContract(target Decimal) Contract {
	yes := true
	one, _ := ParseDecimal("1")
	return Contract{
		Name: "c", Provider: "north", Currency: "USD", TimeZone: "UTC",
		Plan:          Plan{Mode: "hour", Unit: "gpu", Rounding: Exact, Prices: []PriceVersion{{Price: one}}},
		BillWhileDown: &yes, BillWhileMaintenance: &yes, LineRounding: HalfUp, DowntimeApproval: "automatic",
		Availability: &Availability{
			TargetPercent: target, Scope: ScopeGPU, Period: "calendar_month", Denominator: "period", Outage: OutageExact,
			Degraded: "up", Unknown: "down", ExcludedLeavesDenominator: &yes,
		},
	}
}

func forecastFor(t *testing.T, in JudgeInput) *Forecast {
	t.Helper()
	v, err := Judge(in)
	if err != nil {
		t.Fatal(err)
	}
	f, err := ForecastOf(in, v)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// 12 minutes down in the last 72 h go on for 27 more days: 12 + 12 x 9 = 120 of 43,200 minutes.
// The budget of 43.2 minutes has 31.2 left, which last 7.8 days.
func TestAForecastGoesOnWithTheRateOfTheLastThreeDays(t *testing.T) {
	f := forecastFor(t, forecastInput(t, "99.9", 12, 3))
	if want := (Bound{Numerator: (43200 - 120) * 60_000, Denominator: 43200 * 60_000}); f.Low != want || f.High != want {
		t.Errorf("low %v, high %v; expected %v for both", f.Low, f.High, want)
	}
	if f.Outcome != Breached || f.LeftMS != 43_200*60-120*60_000 {
		t.Errorf("%s with %d ms left, expected breached and %d", f.Outcome, f.LeftMS, 43_200*60-120*60_000)
	}
	if want := millisOf("2026-06-11T19:12:00Z"); f.ExhaustedAt != want {
		t.Errorf("the budget is spent at %s, expected %s", f.ExhaustedAt, want)
	}
	const en = "at the rate of the last 72 h (down 12 min, unknown 0) the period ends at 99.7222 %, under 99.9; the budget is spent at 2026-06-11T19:12:00Z"
	if got := f.Explain("en"); got != en {
		t.Errorf("found\n%s\nexpected\n%s", got, en)
	}
	const zh = "按最近 72 小时的速度（停机 12 分钟，无数据 0），本期将止于 99.7222 %，低于 99.9；错误预算将于 2026-06-11T19:12:00Z 耗尽"
	if got := f.Explain("zh"); got != zh {
		t.Errorf("found\n%s\nexpected\n%s", got, zh)
	}
}

func TestAForecastWithoutBadTimeLastsToTheEnd(t *testing.T) {
	f := forecastFor(t, forecastInput(t, "99.9", 0, 5))
	if f.Outcome != Kept || f.ExhaustedAt != 0 || f.LeftMS != 43_200*60 {
		t.Errorf("found %+v, expected a kept month with its whole budget", f)
	}
}

func TestAnOverspentBudgetIsSpentAlready(t *testing.T) {
	in := forecastInput(t, "99.9", 60, 3)
	if f := forecastFor(t, in); f.ExhaustedAt != in.Now || f.LeftMS >= 0 {
		t.Errorf("found %+v, expected a budget spent at %s", f, in.Now)
	}
}

func TestAMonthThatHasEndedHasNoForecast(t *testing.T) {
	in := forecastInput(t, "99.9", 60, 30)
	in.Now = 0
	if f := forecastFor(t, in); f != nil {
		t.Errorf("found %+v, expected none", f)
	}
}

// More bad time in the window never makes the forecast better, and low is never over high.
func TestAForecastIsMonotoneInDowntime(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		days := rapid.Int64Range(1, 29).Draw(r, "days")
		less := rapid.Int64Range(0, days*1440).Draw(r, "less")
		more := rapid.Int64Range(less, days*1440).Draw(r, "more")
		a, b := forecastFor(t, forecastInput(t, "99.5", less, days)), forecastFor(t, forecastInput(t, "99.5", more, days))
		if b.Low.compare(a.Low) > 0 || b.LeftMS > a.LeftMS || b.Low.compare(b.High) > 0 || strings.Contains(b.Explain("en"), "%!") {
			t.Fatalf("%d min: %+v; %d min: %+v", less, a, more, b)
		}
	})
}
