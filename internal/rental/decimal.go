package rental

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"time"
)

var decimalForm = regexp.MustCompile(`^-?[0-9]{1,30}(\.[0-9]{1,30})?$`)

// Decimal is an exact decimal number as a person wrote it; the zero value is unset.
type Decimal struct{ text string }

// ParseDecimal reads digits with an optional fraction: no exponent, no grouping.
func ParseDecimal(s string) (Decimal, error) {
	if !decimalForm.MatchString(s) {
		return Decimal{}, fmt.Errorf("number %q: expected digits with an optional fraction, such as 2.49", s)
	}
	return Decimal{text: s}, nil
}

// IsSet tells whether the number was given.
func (d Decimal) IsSet() bool { return d.text != "" }

// Rat returns the exact value; 0 where it is unset.
func (d Decimal) Rat() *big.Rat {
	r, ok := new(big.Rat).SetString(d.text)
	if !ok {
		return new(big.Rat)
	}
	return r
}

// String returns the number as it was written.
func (d Decimal) String() string { return d.text }

// MarshalText writes the number as it was written.
func (d Decimal) MarshalText() ([]byte, error) { return []byte(d.text), nil }

// UnmarshalText reads what ParseDecimal reads; empty is unset.
func (d *Decimal) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*d = Decimal{}
		return nil
	}
	parsed, err := ParseDecimal(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// Duration is a length of time that is written as Go writes it ("60s", "48h").
type Duration time.Duration

// Milliseconds returns the length in milliseconds.
func (d Duration) Milliseconds() int64 { return time.Duration(d).Milliseconds() }

// MarshalText writes the length as Go does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads a length that is not negative; empty is 0.
func (d *Duration) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*d = 0
		return nil
	}
	parsed, err := time.ParseDuration(string(text))
	if err != nil || parsed < 0 {
		return fmt.Errorf("duration %q: expected a length that is not negative, such as 60s or 48h", text)
	}
	*d = Duration(parsed)
	return nil
}
