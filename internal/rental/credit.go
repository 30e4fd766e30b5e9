package rental

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// CreditInput is what CreditFor reads.
type CreditInput struct {
	Facts
	Verdict Verdict
	// Gross are the lines of the period as if nothing were unbilled, Net those that are charged.
	Gross, Net []BillLine
	// Approved tells that all downtime of the verdict may change money.
	Approved bool
	// Language of the arithmetic: "zh", else English.
	Language string
}

// States of a Credit.
const (
	CreditComputed = "computed"
	CreditBooked   = "booked"
)

// CreditFor returns what the contract's table pays back for a breached objective: the percentage
// of the lowest tier that the availability is strictly under, of the base that the contract
// names, rounded once by the line's mode. Unbilled time and the credit together never exceed the
// cap, which is at most the fee, for the lease and for each card or instance that the contract
// credits by itself. Where unknown time is excluded, the tier is that of the high
// bound: what both bounds prove. No credit is an amount of 0.
func CreditFor(in CreditInput) (Credit, error) {
	c, currency := in.Contract.Credits, in.Contract.Currency
	out := Credit{
		Lease: in.Lease.ID, Period: in.Verdict.Period, State: CreditComputed, Provisional: in.Verdict.Open,
		Amount: Amount{Currency: currency}, Percent: Decimal{text: "0"},
	}
	if c == nil || in.Verdict.Outcome != Breached {
		return out, nil
	}
	// A fee for set-up or storage is not for time that a card could be down.
	in.Gross, in.Net = timeLines(in.Gross), timeLines(in.Net)
	fee, err := lineTotal(currency, in.Gross)
	if err != nil {
		return Credit{}, err
	}
	charged, err := lineTotal(currency, in.Net)
	if err != nil {
		return Credit{}, err
	}
	lines := in.Net
	if c.Base == BaseGross {
		lines = in.Gross
	}
	parts := in.parts(lines)
	exact, held := new(big.Rat), new(big.Rat)
	for _, p := range parts {
		share := new(big.Rat).Mul(p.percent.Rat(), big.NewRat(p.base, 100))
		exact.Add(exact, share)
		if most := big.NewRat(p.charged, 1); share.Cmp(most) > 0 {
			share = most
		}
		held.Add(held, share)
		if p.percent.Rat().Cmp(out.Percent.Rat()) > 0 {
			out.Percent = p.percent
		}
	}
	minor, err := roundToInt64(exact, in.Contract.LineRounding)
	if err != nil {
		return Credit{}, fmt.Errorf("credit of lease %s: %w", in.Lease.ID, err)
	}
	heldMinor, err := roundToInt64(held, in.Contract.LineRounding)
	if err != nil {
		return Credit{}, fmt.Errorf("credit of lease %s: %w", in.Lease.ID, err)
	}
	// The cap is at most the fee, so what is left of it is at most what is charged.
	limit := max(capOf(fee.Minor, c.CapPercent)-(fee.Minor-charged.Minor), 0)
	out.Amount.Minor = min(heldMinor, limit)
	out.Arithmetic = in.explain(parts, Amount{currency, minor}, out.Amount, Amount{currency, fee.Minor - charged.Minor},
		len(parts) > 1 && heldMinor <= limit)
	if in.Contract.AutoCredit && in.Approved {
		out.State = CreditBooked
	}
	return out, nil
}

// capOf returns the percentage of the fee in whole minor units, floored: a cap is not passed by a cent.
func capOf(minor int64, percent Decimal) int64 {
	r := new(big.Rat).Mul(percent.Rat(), big.NewRat(minor, 100))
	return new(big.Int).Quo(r.Num(), r.Denom()).Int64()
}

func lineTotal(c Currency, lines []BillLine) (Amount, error) {
	amounts := make([]Amount, len(lines))
	for i, l := range lines {
		amounts[i] = l.Amount
	}
	return SumAmounts(c, amounts...)
}

// ChargesTime tells whether a bill's item charges for the time of cards.
func ChargesTime(item string) bool {
	return slices.Contains([]string{ItemGPUTime, ItemReservedUsed, ItemReservedUnused}, item)
}

// timeLines keeps the lines that charge for the time of cards.
func timeLines(lines []BillLine) []BillLine {
	var out []BillLine
	for _, l := range lines {
		if ChargesTime(l.Item) {
			out = append(out, l)
		}
	}
	return out
}

// creditPart is a part of the fee (a card, an instance, the lease) and the percentage it gets. No
// part gets back more than was charged for it: its unbilled time is paid back already.
type creditPart struct {
	base, charged int64 // minor units
	percent       Decimal
}

// parts divides the base by the contract's credit scope, each part with its tier.
func (in CreditInput) parts(lines []BillLine) []creditPart {
	perCard, total := byCard(lines)
	charged, totalCharged := byCard(in.Net)
	if in.Contract.Credits.Scope == UnitLease {
		return []creditPart{{base: total, charged: totalCharged, percent: in.leaseTier()}}
	}
	groupOf := func(uuid string) string { return uuid }
	if in.Contract.Credits.Scope == UnitInstance {
		hosts := map[string]string{}
		for _, a := range in.cleanAssignments() {
			hosts[a.UUID] = a.Host
		}
		groupOf = func(uuid string) string { return hosts[uuid] }
	}
	groups := map[string]creditPart{}
	for uuid, minor := range perCard {
		g := groups[groupOf(uuid)]
		g.base += minor
		g.charged += charged[uuid]
		if percent := in.cardTier(uuid); percent.Rat().Cmp(g.percent.Rat()) > 0 {
			g.percent = percent
		}
		groups[groupOf(uuid)] = g
	}
	names := make([]string, 0, len(groups))
	for name := range groups {
		names = append(names, name)
	}
	slices.Sort(names)
	out := make([]creditPart, len(names))
	for i, name := range names {
		out[i] = groups[name]
	}
	return out
}

// byCard returns what lines ask for each card, and for all, in minor units.
func byCard(lines []BillLine) (perCard map[string]int64, total int64) {
	perCard = map[string]int64{}
	for _, l := range lines {
		total += l.Amount.Minor
		for uuid, minor := range l.PerGPU {
			perCard[uuid] += minor
		}
	}
	return perCard, total
}

// leaseTier returns the percentage that the lease as a whole gets: where every card is judged for
// itself, the highest that one of them proves. The worst card by what is known need not be that one.
func (in CreditInput) leaseTier() Decimal {
	percent := in.tier(in.Verdict)
	for _, card := range in.Verdict.PerGPU {
		if p := in.tier(card); p.Rat().Cmp(percent.Rat()) > 0 {
			percent = p
		}
	}
	return percent
}

// cardTier returns the percentage that a card's part of the fee gets: by its own verdict where
// every card is judged for itself, else by the lease's if the card was down at all.
func (in CreditInput) cardTier(uuid string) Decimal {
	for _, s := range in.seats() {
		for _, part := range s.parts {
			if part.UUID != uuid {
				continue
			}
			if v, ok := in.Verdict.PerGPU[s.name(0)]; ok {
				return in.tier(v)
			}
		}
	}
	if in.Verdict.DownByGPU[uuid] > 0 {
		return in.tier(in.Verdict)
	}
	return Decimal{}
}

// tier returns the percentage of the lowest tier that the verdict's share is strictly under.
func (in CreditInput) tier(v Verdict) Decimal {
	share := v.High
	if v.UnknownRule == string(Down) {
		share = v.Low.without(v.UnmeasuredMS)
	}
	var percent Decimal
	if v.Outcome != Breached {
		return percent
	}
	for _, t := range in.Contract.Credits.Tiers {
		if share.Under(t.Under) {
			percent = t.Percent
		}
	}
	return percent
}

func (in CreditInput) explain(parts []creditPart, computed, given, unbilled Amount, byPart bool) string {
	zh := in.Language == "zh"
	kind := pick(zh, "gross fee", "应计费用")
	if in.Contract.Credits.Base == BaseNet {
		kind = pick(zh, "net fee", "实计费用")
	}
	sums := map[string]int64{}
	var terms []string
	for _, t := range in.Contract.Credits.Tiers {
		for _, p := range parts {
			if p.percent == t.Percent {
				sums[t.Percent.String()] += p.base
			}
		}
		if base := sums[t.Percent.String()]; base != 0 {
			terms = append(terms, fmt.Sprintf(pick(zh, "%s %% of %s", "%[2]s 的 %[1]s %%"), t.Percent, Amount{in.Contract.Currency, base}))
		}
	}
	if len(terms) == 0 {
		return pick(zh, "no tier applies", "没有适用的赔付档位")
	}
	text := fmt.Sprintf(pick(zh, "%s (%s) = %s", "%s（%s）= %s"), strings.Join(terms, " + "), kind, computed)
	switch {
	case given.Minor == computed.Minor:
	case byPart:
		text += fmt.Sprintf(pick(zh, "; capped: no part gets back more than was charged for it, so %s", "；封顶：任何部分的赔付不超过其实计费用，故为 %s"), given)
	default:
		text += fmt.Sprintf(pick(zh, "; capped: unbilled %s and the credit together stay within %s %% of the fee, so %s",
			"；封顶：未计费 %s 与赔付合计不超过费用的 %s %%，故为 %s"), unbilled, in.Contract.Credits.CapPercent, given)
	}
	return text
}
