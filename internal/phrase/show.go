package phrase

import (
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// thinSpace groups digits of an amount; it never breaks a line.
const thinSpace = "\u202f"

// Duration returns a length in milliseconds as "2 h 04 min 10 s". Units above the largest
// that is not 0 are left out; from a day on seconds are left out; under a second it is
// "under 1 s", and 0 or less is "0 s". Parts of a second are dropped.
func (p Printer) Duration(ms int64) string {
	switch {
	case ms <= 0:
		return p.Say(DurationSeconds, 0)
	case ms < 1000:
		return p.Say(DurationUnderSecond)
	}
	seconds := ms / 1000
	days, hours, minutes := seconds/86400, seconds/3600%24, seconds/60%60
	switch {
	case days > 0:
		return p.Say(DurationDays, days, hours, minutes)
	case hours > 0:
		return p.Say(DurationHours, hours, minutes, seconds%60)
	case minutes > 0:
		return p.Say(DurationMinutes, minutes, seconds%60)
	default:
		return p.Say(DurationSeconds, seconds)
	}
}

// Time returns a moment in the zone with the zone's abbreviation: "2026-05-01 03:04:05 CEST".
// Forever is said as "open". A nil zone is UTC.
func (p Printer) Time(m rental.Millis, zone *time.Location) string {
	if m == rental.Forever {
		return p.Say(TimeOpen)
	}
	if zone == nil {
		zone = time.UTC
	}
	return m.Time().In(zone).Format("2006-01-02 15:04:05 MST")
}

// Money returns an amount with its currency, minor unit and grouping: "USD 59 520.00",
// negative ones with a minus sign before the figure. The digits are rental's own.
func (p Printer) Money(a rental.Amount) string {
	digits := minorDigits(a.Currency)
	minor := new(big.Int).SetInt64(a.Minor)
	sign := ""
	if minor.Sign() < 0 {
		sign = "\u2212"
		minor.Neg(minor)
	}
	text := atLeast(minor.String(), digits+1)
	whole, fraction := text[:len(text)-digits], text[len(text)-digits:]
	if fraction != "" {
		fraction = "." + fraction
	}
	return string(a.Currency) + "\u00a0" + sign + group(whole) + fraction
}

// Count returns a whole number with its thousands grouped.
func (p Printer) Count(n int64) string {
	if n < 0 {
		return "\u2212" + group(strings.TrimPrefix(strconv.FormatInt(n, 10), "-"))
	}
	return group(strconv.FormatInt(n, 10))
}

// atLeast fills up with zeros on the left.
func atLeast(digits string, width int) string {
	return strings.Repeat("0", max(0, width-len(digits))) + digits
}

// minorDigits returns how many digits of a currency are minor units; 2 for one that does not exist.
func minorDigits(c rental.Currency) int {
	digits, err := c.MinorDigits()
	if err != nil {
		return 2
	}
	return digits
}

func group(digits string) string {
	var b strings.Builder
	for i, r := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteString(thinSpace)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// FlooredPercent returns numerator/denominator in percent with the decimals, floored, so
// that it is never rounded up into a pass: availability is shown so. A denominator of 0 or
// less is "no data".
func (p Printer) FlooredPercent(numerator, denominator int64, decimals int) string {
	return p.percent(numerator, denominator, decimals, 0)
}

// RoundedPercent returns numerator/denominator in percent with the decimals, half rounded
// up: every percentage that is no availability. A denominator of 0 or less is "no data".
func (p Printer) RoundedPercent(numerator, denominator int64, decimals int) string {
	return p.percent(numerator, denominator, decimals, 1)
}

// percent computes floor((2 n 100 10^d / m + half) / 2) in integers, so no digit is invented.
func (p Printer) percent(numerator, denominator int64, decimals, half int) string {
	if denominator <= 0 {
		return p.Say(NoDataWord)
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)+2), nil)
	n := new(big.Int).Mul(big.NewInt(numerator), scale)
	n.Mul(n, big.NewInt(2)).Add(n, new(big.Int).Mul(big.NewInt(int64(half)), big.NewInt(denominator)))
	n.Div(n, new(big.Int).Mul(big.NewInt(2), big.NewInt(denominator)))
	return fixed(n, decimals) + "\u00a0%"
}

// fixed writes n / 10^decimals.
func fixed(n *big.Int, decimals int) string {
	sign := ""
	if n.Sign() < 0 {
		sign = "\u2212"
		n = new(big.Int).Neg(n)
	}
	text := atLeast(n.String(), decimals+1)
	if decimals == 0 {
		return sign + text
	}
	return sign + text[:len(text)-decimals] + "." + text[len(text)-decimals:]
}

// Conflict returns the words for a kind of rental.InventoryConflict; a kind that is not known
// keeps its own.
func (p Printer) Conflict(kind string) string {
	key := Key("portal.conflict." + kind)
	if _, known := portalTexts[key]; !known {
		return kind
	}
	return p.Say(key)
}
