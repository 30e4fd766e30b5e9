package rental

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// makeLines sums pieces into bill lines and rounds each once.
func makeLines(in ChargeInput, pieces []piece) ([]BillLine, error) {
	type key struct {
		month       Month
		item, name  string
		price, list string
		unit        string
		rate        *Rate
	}
	groups := map[key][]piece{}
	var order []key
	for _, p := range pieces {
		k := key{month: p.month, item: p.item, name: p.name, price: p.price.Rat().RatString(), list: p.list.text, unit: p.unit, rate: p.rate}
		if _, seen := groups[k]; !seen {
			order = append(order, k)
		}
		groups[k] = append(groups[k], p)
	}
	lines := make([]BillLine, 0, len(order))
	for _, k := range order {
		line, err := makeLine(in, groups[k])
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	// Months in order, in each the cards before what else the contract charges.
	month := func(l BillLine) Millis { return l.Charged.Start }
	if cal, err := newAlmanac(in.Contract.TimeZone, in.Lease.Start); err == nil {
		month = func(l BillLine) Millis {
			_, m := cal.month(l.Charged.Start)
			return m.span.Start
		}
	}
	slices.SortStableFunc(lines, func(a, b BillLine) int {
		return cmp.Or(cmp.Compare(month(a), month(b)), cmp.Compare(in.rank(a), in.rank(b)), cmp.Compare(a.Charged.Start, b.Charged.Start))
	})
	return lines, nil
}

// rank orders the lines of a month: time first, the contract's items as it lists them.
func (in ChargeInput) rank(l BillLine) int {
	ranks := []string{ItemGPUTime, ItemReservedUpfront, ItemReservedMonthly, ItemReservedUsed, ItemReservedUnused, ItemEarlyEnd}
	if i := slices.Index(ranks, l.Item); i >= 0 && l.Name == "" {
		return i
	}
	return len(ranks) + slices.IndexFunc(in.Contract.Items, func(i Item) bool { return i.Name == l.Name })
}

func makeLine(in ChargeInput, pieces []piece) (BillLine, error) {
	line := BillLine{
		Item: pieces[0].item, Name: pieces[0].name, UnitPrice: pieces[0].price, ListPrice: pieces[0].list, Unit: pieces[0].unit,
		Charged: pieces[0].span, Converted: in.conversion(pieces[0]), Rounding: in.Contract.LineRounding,
	}
	quantity, shared := new(big.Rat), new(big.Rat)
	cards := map[string]*big.Rat{}
	for _, p := range pieces {
		quantity.Add(quantity, p.quantity)
		switch {
		case p.uuid == "":
		case p.time == nil:
			line.QuantityMS += p.span.Duration()
		default:
			shared.Add(shared, p.time)
		}
		line.Charged = Span{Start: min(line.Charged.Start, p.span.Start), End: max(line.Charged.End, p.span.End)}
		if p.uuid == "" {
			continue
		}
		if cards[p.uuid] == nil {
			cards[p.uuid] = new(big.Rat)
		}
		cards[p.uuid].Add(cards[p.uuid], p.quantity)
	}
	line.Quantity = quantity.RatString()
	line.QuantityMS += wholeMillis(shared)
	amount, err := NewMoney(in.Contract.Currency, line.exact()).Round(in.Contract.LineRounding)
	if err != nil {
		return BillLine{}, fmt.Errorf("lease %s: %w", in.Lease.ID, err)
	}
	line.Amount = amount
	line.PerGPU = splitOver(amount.Minor, cards)
	for uuid, part := range cards {
		if line.Quantities == nil {
			line.Quantities = make(map[string]string, len(cards))
		}
		line.Quantities[uuid] = part.RatString()
	}
	line.Note = line.Explain(in.Contract.Language)
	return line, nil
}

// splitOver divides minor units over the cards by their quantities, in order of uuid.
func splitOver(minor int64, cards map[string]*big.Rat) map[string]int64 {
	uuids := make([]string, 0, len(cards))
	for uuid := range cards {
		uuids = append(uuids, uuid)
	}
	slices.Sort(uuids)
	shares := make([]*big.Rat, len(uuids))
	for i, uuid := range uuids {
		shares[i] = cards[uuid]
	}
	out := make(map[string]int64, len(uuids))
	for i, part := range SplitLargestRemainder(minor, shares) {
		out[uuids[i]] = part
	}
	return out
}

// Explain says the line's arithmetic in words, in English or Chinese ("zh").
func (l BillLine) Explain(lang string) string {
	quantity, ok := new(big.Rat).SetString(l.Quantity)
	if !ok || !l.UnitPrice.IsSet() || l.Corrects != nil {
		return l.Note
	}
	zh := lang == "zh"
	currency := l.Amount.Currency
	if l.Converted != nil {
		currency = l.Converted.From
	}
	note := fmt.Sprintf(pick(zh, "%s %s x %s %s", "%s %s × %s %s"), readable(quantity), l.UnitName(lang), l.UnitPrice, currency)
	if c := l.Converted; c != nil {
		note += fmt.Sprintf(pick(zh, " x %s %s/%s of %s", " × %s %s/%s（%s 汇率）"), c.Rate, l.Amount.Currency, c.From, c.On)
	}
	note += " = "
	if shown, whole := terminating(l.exact()); !whole || shown != trimZeros(l.Amount.Decimal()) {
		note += fmt.Sprintf(pick(zh, "%s, rounded %s once to ", "%s，一次性舍入（%s）为 "), GroupDigits(shown), roundingWord(l.Rounding, lang))
	}
	note += l.Amount.String()
	if len(l.PerGPU) == 0 {
		return note
	}
	minutes := GroupDigits(minutesOf(l.QuantityMS))
	if zh {
		return note + fmt.Sprintf("；%d 张卡，计费 %s 卡分钟", len(l.PerGPU), minutes)
	}
	return note + fmt.Sprintf("; %d %s, %s card-minutes charged", len(l.PerGPU), plural(len(l.PerGPU), "card", "cards"), minutes)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func roundingWord(mode Rounding, lang string) string {
	words := map[Rounding][2]string{
		HalfUp: {"half up", "四舍五入"}, HalfEven: {"half to even", "四舍六入五成双"},
		RoundUp: {"up", "向上"}, RoundOff: {"down", "向下"},
	}
	if lang == "zh" {
		return words[mode][1]
	}
	return words[mode][0]
}

// UnitName names the line's unit for people, in English or Chinese ("zh"): "GPU-hours".
func (l BillLine) UnitName(lang string) string {
	what, mode, timed := strings.Cut(l.Unit, "-")
	if !timed {
		return l.Unit
	}
	things := map[string][2]string{UnitGPU: {"GPU", "卡"}, UnitSlice: {"card", "卡"}, UnitInstance: {"instance", "实例"}, UnitHost: {"host", "主机"}, "commitment": {"commitment", "预留承诺"}, UnitLease: {"lease", "租约"}}
	modes := map[string]string{ModeSecond: "秒", ModeMinute: "分钟", ModeHour: "小时", ModeDay: "天", ModeWeek: "周", ModeMonth: "月"}
	thing, known := things[what]
	if !known {
		thing = [2]string{what, what}
	}
	if lang == "zh" {
		return thing[1] + "·" + modes[mode]
	}
	return thing[0] + "-" + mode + "s"
}

// QuantityDecimal writes the quantity as a plain decimal of up to digits places, rounded half up;
// the exact figure is Quantity.
func (l BillLine) QuantityDecimal(digits int) string {
	quantity, ok := new(big.Rat).SetString(l.Quantity)
	if !ok {
		return l.Quantity
	}
	return trimZeros(quantity.FloatString(digits))
}

// readable writes an exact quantity: as a decimal where it ends within six digits, else as a
// fraction, so that nothing is lost.
func readable(r *big.Rat) string {
	if text := trimZeros(r.FloatString(6)); exactly(text, r) {
		return GroupDigits(text)
	}
	return r.RatString()
}

// terminating writes a value with up to eight digits and tells whether that is all of it; where
// it is not, the digits end in an ellipsis.
func terminating(r *big.Rat) (string, bool) {
	text := trimZeros(r.FloatString(8))
	if exactly(text, r) {
		return text, true
	}
	scaled := new(big.Rat).Mul(r, new(big.Rat).SetInt(pow10(6)))
	floor := new(big.Int).Quo(scaled.Num(), scaled.Denom())
	return new(big.Rat).SetFrac(floor, pow10(6)).FloatString(6) + "…", false
}

func exactly(text string, r *big.Rat) bool {
	v, ok := new(big.Rat).SetString(text)
	return ok && v.Cmp(r) == 0
}

func trimZeros(text string) string {
	if !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// minutesOf writes milliseconds as minutes, exactly where they end, else as a fraction of a minute to three digits.
func minutesOf(ms int64) string {
	return trimZeros(big.NewRat(ms, 60_000).FloatString(3))
}
