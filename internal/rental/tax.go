package rental

import (
	"fmt"
	"math/big"
)

// ItemTax is the item of lines that add tax.
const ItemTax = "tax"

// TaxLines returns the lines that the contract's tax adds to a bill's lines, credits and
// corrections with their sign: one for each line that it is rounded on, or one for all. Where the
// prices hold the tax it adds none, and contained is what of the sum it is.
func TaxLines(c Contract, period Span, lines []BillLine) (added []BillLine, contained *Amount, err error) {
	if c.Tax == nil || len(lines) == 0 {
		return nil, nil, nil
	}
	if *c.Tax.Included {
		sum, err := lineTotal(c.Currency, lines)
		if err != nil {
			return nil, nil, err
		}
		whole := new(big.Rat).Add(hundred, c.Tax.Percent.Rat())
		minor, err := roundToInt64(new(big.Rat).Mul(big.NewRat(sum.Minor, 1), new(big.Rat).Quo(c.Tax.Percent.Rat(), whole)), c.LineRounding)
		return nil, &Amount{Currency: c.Currency, Minor: minor}, err
	}
	groups := [][]BillLine{lines}
	if c.Tax.On == TaxOnLine {
		groups = nil
		for _, l := range lines {
			groups = append(groups, []BillLine{l})
		}
	}
	for _, group := range groups {
		line, err := taxLine(c, period, group)
		if err != nil {
			return nil, nil, err
		}
		added = append(added, line)
	}
	return added, nil, nil
}

func taxLine(c Contract, period Span, lines []BillLine) (BillLine, error) {
	sum, err := lineTotal(c.Currency, lines)
	if err != nil {
		return BillLine{}, err
	}
	minor, err := roundToInt64(new(big.Rat).Mul(big.NewRat(sum.Minor, 100), c.Tax.Percent.Rat()), c.LineRounding)
	if err != nil {
		return BillLine{}, fmt.Errorf("tax: %w", err)
	}
	line := BillLine{Item: ItemTax, Name: c.Tax.Name, Charged: period, Unit: "percent", Quantity: c.Tax.Percent.String(),
		Amount: Amount{Currency: c.Currency, Minor: minor}, Rounding: c.LineRounding}
	if len(lines) == 1 {
		line.Charged = lines[0].Charged
	}
	line.Note = fmt.Sprintf(pick(c.Language == "zh", "%s %% of %s = %s", "%[2]s 的 %[1]s %% = %[3]s"), c.Tax.Percent, sum, line.Amount)
	return line, nil
}
