package portal

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

const noBreak = "\u00a0"

// moment is a time as a page shows it: in a zone with its abbreviation, UTC on hover.
type moment struct{ Text, ISO, UTC string }

// at returns a moment in the zone; nil is UTC. An unset one has no text.
func at(say phrase.Printer, m rental.Millis, zone *time.Location) moment {
	switch m {
	case 0:
		return moment{}
	case rental.Forever:
		return moment{Text: say.Time(m, zone)}
	}
	return moment{
		Text: say.Time(m, zone),
		ISO:  m.Time().Format(time.RFC3339Nano),
		UTC:  m.Time().Format("2006-01-02 15:04:05.999 UTC"),
	}
}

// zoneOf returns a contract's zone; UTC where it is not known, which the abbreviation shows.
func zoneOf(name string) *time.Location {
	zone, err := rental.LoadZone(name)
	if err != nil {
		return time.UTC
	}
	return zone
}

// percent returns a ratio in percent with one decimal, rounded: "72.6 %"; one that nobody
// measured is "not measured".
func percent(say phrase.Printer, ratio *float64) string {
	if ratio == nil || math.IsNaN(*ratio) || math.IsInf(*ratio, 0) {
		return say.Say(phrase.NotMeasuredWord)
	}
	return strconv.FormatFloat(*ratio*100, 'f', 1, 64) + noBreak + "%"
}

// seen returns a coverage in percent: whole, but never rounded up to all of it.
func seen(say phrase.Printer, ratio *float64) string {
	if ratio == nil || math.IsNaN(*ratio) || math.IsInf(*ratio, 0) {
		return say.Say(phrase.NoDataWord)
	}
	whole := math.Round(*ratio * 100)
	if whole >= 100 && *ratio < 1 {
		return strconv.FormatFloat(math.Min(math.Floor(*ratio*1000)/10, 99.9), 'f', 1, 64) + noBreak + "%"
	}
	return strconv.FormatFloat(whole, 'f', 0, 64) + noBreak + "%"
}

// use returns a utilisation beside its coverage: "72.6 %, 98 % seen".
func use(say phrase.Printer, utilisation, coverage *float64) string {
	if utilisation == nil {
		return say.Say(phrase.NotMeasuredWord)
	}
	return say.Say(phrase.PortalSeen, percent(say, utilisation), seen(say, coverage))
}

// reading returns a number with its decimals in a unit that the head of the table names.
func reading(say phrase.Printer, value *float64, unit float64, decimals int) string {
	if value == nil || math.IsNaN(*value) {
		return say.Say(phrase.NoDataWord)
	}
	return strconv.FormatFloat(*value/unit, 'f', decimals, 64)
}

// bounds returns an availability with both its bounds where they differ.
func bounds(say phrase.Printer, low, high *api.Share) string {
	switch {
	case low == nil || low.Denominator <= 0:
		return say.Say(phrase.NoDataWord)
	case high == nil || high.Percent == low.Percent:
		return low.Percent
	}
	return say.Say(phrase.PortalLowToHigh, low.Percent, high.Percent)
}

// decimalMoney returns a decimal copy of an amount with its currency.
func decimalMoney(say phrase.Printer, currency rental.Currency, decimal *string) string {
	if decimal == nil {
		return say.Say(phrase.NoDataWord)
	}
	return string(currency) + noBreak + strings.ReplaceAll(rental.GroupDigits(*decimal), ",", "\u202f")
}

// height returns a decimal copy as the height of a bar; nothing is ever reckoned with it.
func height(decimal *string) float64 {
	if decimal == nil {
		return 0
	}
	value, err := strconv.ParseFloat(*decimal, 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) || value < 0 {
		return 0
	}
	return value
}

// kindRank orders kinds by how bad they are.
func kindRank(kind string) int {
	switch kind {
	case phrase.KindDown:
		return 0
	case phrase.KindUnknown:
		return 1
	case phrase.KindDegraded:
		return 2
	case phrase.KindMaintenance:
		return 3
	case phrase.KindStopped:
		return 4
	case phrase.KindUnmeasured:
		return 5
	default:
		return 6
	}
}
