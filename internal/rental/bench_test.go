package rental

import (
	"testing"
	"time"
)

// busyLease is a lease of eight cards for a month, each with a few outages.
func busyLease(b *testing.B) JudgeInput {
	c := withTiers(b, hourly(b, "10"))
	c.TimeZone = "Asia/Shanghai"
	c.Availability.Scope = ScopeGPU
	month, err := MonthSpan(c.TimeZone, 2026, time.May)
	if err != nil {
		b.Fatal(err)
	}
	in := JudgeInput{Facts: facts(c, month, 8), Period: month, Timelines: map[string][]Interval{}}
	for i := range 8 {
		in.Timelines[card(i)] = upDown(month.Start, "ok", time.Duration(i+1)*time.Hour, "lost", 5*time.Minute, "ok", 100*time.Hour,
			"unknown", 30*time.Minute, "ok", 600*time.Hour)
	}
	return in
}

func BenchmarkChargeOneMonthOfEightCards(b *testing.B) {
	in := busyLease(b)
	for b.Loop() {
		if _, err := Charge(ChargeInput{Facts: in.Facts, Period: in.Period}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkChargeOneCalendarMonthOfEightCards(b *testing.B) {
	in := busyLease(b)
	in.Contract.Plan.Mode = ModeMonth
	for b.Loop() {
		if _, err := Charge(ChargeInput{Facts: in.Facts, Period: in.Period}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJudgeOneMonthOfEightCards(b *testing.B) {
	in := busyLease(b)
	for b.Loop() {
		if _, err := Judge(in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCostOfEveryHourOfAMonth(b *testing.B) {
	in := busyLease(b)
	hours := Hours(in.Period)
	for b.Loop() {
		if _, err := ChargeSteps(in.Facts, hours); err != nil {
			b.Fatal(err)
		}
	}
}
