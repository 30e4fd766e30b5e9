package sla_test

import (
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestLiveFiguresSpeakOfTheMonthSoFar(t *testing.T) {
	w := newWorld(t, contract(), "10:35:00")
	w.outage()
	w.derive(t)
	lives, err := w.sla.Live(t.Context())
	if err != nil || len(lives) != 1 {
		t.Fatalf("live: %+v, %v", lives, err)
	}
	l := lives[0]
	if l.BudgetMS != 18_000 || l.BudgetLeftMS != 18_000-300_000 || l.BudgetLeft >= 0 {
		t.Errorf("budget %d ms, left %d ms, %f", l.BudgetMS, l.BudgetLeftMS, l.BudgetLeft)
	}
	if l.Burn["5m"] < 199 || l.Burn["5m"] > 201 {
		t.Errorf("burn over 5 min = %f, want 200: all of it down", l.Burn["5m"])
	}
	if len(l.Cards) != 1 || l.Cards[0].State != "lost" || l.Cards[0].Class != rental.Down || l.Cards[0].Since != at("10:30:00") {
		t.Errorf("cards: %+v", l.Cards)
	}
}

func TestAShortBlipBurnsNothingButCounts(t *testing.T) {
	w := newWorld(t, contract(), "10:32:00")
	w.samples.tell("GPU-A", "ok", between("10:00:00", "10:30:00"))
	w.samples.tell("GPU-A", "lost", between("10:30:00", "10:30:45"))
	w.samples.tell("GPU-A", "ok", between("10:30:45", "10:32:00"))
	w.derive(t)
	lives, err := w.sla.Live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if burn, known := lives[0].Burn["5m"]; !known || burn != 0 || lives[0].Verdict.DownMS != 45_000 {
		t.Errorf("burn %f (known %v), down %d ms", burn, known, lives[0].Verdict.DownMS)
	}
}

func TestAnOpenMonthIsJudgedWithItsForecast(t *testing.T) {
	w := newWorld(t, contract(), "10:35:00")
	w.outage()
	w.derive(t)
	judged, err := w.sla.Judged(t.Context(), "L-1", may(t))
	if err != nil {
		t.Fatal(err)
	}
	if judged.Verdict.DownMS != 300_000 || judged.Forecast == nil || judged.Forecast.DownMS != 300_000 || judged.Forecast.Outcome != rental.Breached {
		t.Errorf("down %d ms, forecast %+v: expected 300,000 ms in both, and a breach", judged.Verdict.DownMS, judged.Forecast)
	}
}
