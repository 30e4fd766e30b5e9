package server

import (
	"math"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// verdictOf is a verdict over days at a target.
func verdictOf(t *testing.T, days int, target string) rental.Verdict {
	t.Helper()
	percent, err := rental.ParseDecimal(target)
	if err != nil {
		t.Fatal(err)
	}
	return rental.Verdict{Target: percent, Period: rental.Span{End: rental.Millis(days) * rental.Millis((24 * time.Hour).Milliseconds())}}
}

// The figures are those of ALERTING.md 5.1 and 5.3.
func TestBurnThresholdsComeFromTheContractsOwnMonth(t *testing.T) {
	for name, c := range map[string]struct {
		days   int
		target string
		want   map[string]float64
	}{
		"thirty days":       {30, "99.5", map[string]float64{"1h": 14.4, "6h": 6, "1d": 3, "3d": 1}},
		"thirty-one days":   {31, "99.9", map[string]float64{"1h": 14.88, "6h": 6.2, "1d": 3.1, "3d": 1.0333}},
		"twenty-eight days": {28, "99", map[string]float64{"1h": 13.44, "6h": 5.6, "1d": 2.8, "3d": 0.9333}},
		"a threshold no outage could reach is left out": {30, "93", map[string]float64{"6h": 6, "1d": 3, "3d": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			got := burnThresholds(verdictOf(t, c.days, c.target))
			if len(got) != len(c.want) {
				t.Errorf("thresholds %v, expected %v", got, c.want)
			}
			for window, want := range c.want {
				if math.Abs(got[window]-want) > 0.0001 {
					t.Errorf("threshold over %s is %v, expected %v", window, got[window], want)
				}
			}
		})
	}
}

func TestWhatIsNotSeenIsNoFigureOfBudget(t *testing.T) {
	for name, c := range map[string]struct {
		coverage rental.Bound
		blind    bool
	}{
		"nothing was due":    {rental.Bound{}, true},
		"all was seen":       {rental.Bound{Numerator: 100, Denominator: 100}, false},
		"99 % was seen":      {rental.Bound{Numerator: 99, Denominator: 100}, false},
		"less than that was": {rental.Bound{Numerator: 989, Denominator: 1000}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := blind(rental.Verdict{Coverage: c.coverage}); got != c.blind {
				t.Errorf("blind = %v, expected %v", got, c.blind)
			}
		})
	}
}
