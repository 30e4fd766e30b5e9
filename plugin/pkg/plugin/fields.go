package plugin

import (
	"fmt"
	"strconv"

	"github.com/grafana/grafana-plugin-sdk-go/data"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// text is a column of words under a title, which a panel's own settings may replace.
func text(name, title string, values []string) *data.Field {
	f := data.NewField(name, nil, values)
	f.Config = &data.FieldConfig{DisplayNameFromDS: title}
	return f
}

// number is a column of figures in a unit of Grafana's; nil is a figure that is not known.
func number(name, title, unit string, values []*float64) *data.Field {
	f := data.NewField(name, nil, values)
	f.Config = &data.FieldConfig{DisplayNameFromDS: title, Unit: unit}
	return f
}

// money gives a column the currency's unit and its digits; without a currency it stays bare,
// for rows of several.
func money(f *data.Field, c rental.Currency) *data.Field {
	f.Config.Unit = currencyUnit(c)
	if digits, err := c.MinorDigits(); err == nil {
		f.Config.SetDecimals(uint16(digits))
	}
	return f
}

// shown is the copy of a decimal amount that a frame carries; nothing reads it back.
func shown(decimal *string) (*float64, error) {
	if decimal == nil {
		return nil, nil
	}
	v, err := strconv.ParseFloat(*decimal, 64)
	if err != nil {
		return nil, fmt.Errorf("amount %q of the server is not a decimal: %w", *decimal, err)
	}
	return &v, nil
}

// currencyUnit is Grafana's financial unit: the code, then all digits in groups. Grafana's own
// units of currencies shorten 14342.40 to 14.34K, which is no figure to settle a bill by.
func currencyUnit(c rental.Currency) string {
	if c == "" {
		return ""
	}
	return "currency:financial:" + string(c) + " "
}
