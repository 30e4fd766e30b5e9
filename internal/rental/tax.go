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
		contained, err = containedTax(c, taxGroups(*c.Tax, lines))
		return nil, contained, err
	}
	for _, group := range taxGroups(*c.Tax, lines) {
		line, err := taxLine(c, period, group)
		if err != nil {
			return nil, nil, err
		}
		added = append(added, line)
	}
	return added, nil, nil
}

// taxGroups returns the lines whose tax is rounded together.
func taxGroups(t Tax, lines []BillLine) [][]BillLine {
	if t.On != TaxOnLine {
		return [][]BillLine{lines}
	}
	groups := make([][]BillLine, len(lines))
	for i, l := range lines {
		groups[i] = []BillLine{l}
	}
	return groups
}

// containedTax sums what of each group is tax, rounded once a group: percent / (100 + percent) of it.
func containedTax(c Contract, groups [][]BillLine) (*Amount, error) {
	share := new(big.Rat).Add(hundred, c.Tax.Percent.Rat())
	share.Quo(c.Tax.Percent.Rat(), share)
	parts := make([]Amount, len(groups))
	for i, group := range groups {
		sum, err := lineTotal(c.Currency, group)
		if err != nil {
			return nil, err
		}
		minor, err := roundToInt64(new(big.Rat).Mul(big.NewRat(sum.Minor, 1), share), c.LineRounding)
		if err != nil {
			return nil, fmt.Errorf("tax: %w", err)
		}
		parts[i] = Amount{Currency: c.Currency, Minor: minor}
	}
	whole, err := SumAmounts(c.Currency, parts...)
	return &whole, err
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
