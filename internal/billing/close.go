package billing

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// Closer freezes a bill.
type Closer interface {
	CloseMonth(ctx context.Context, by, lease string, span rental.Span, write func(rental.Invoice) ([]byte, error)) (rental.ClosedMonth, error)
}

// Close freezes the lease's bill of a month in the name of a person, and returns it as it is
// frozen; where it was closed before it returns that one. What was open then (downtime without
// approval, a credit that is not booked) is in waiting: it becomes a correction once it is known.
func (s *Service) Close(ctx context.Context, to Closer, by, lease string, month rental.Span) (closed rental.ClosedMonth, bill rental.Bill, waiting []string, err error) {
	if bill, err = s.Bill(ctx, lease, month); err != nil {
		return closed, bill, nil, err
	}
	waiting, bill.Provisional = bill.Provisional, nil
	closed, err = to.CloseMonth(ctx, by, lease, month, func(mark rental.Invoice) ([]byte, error) {
		bill.Invoice = &mark
		return Frozen(bill)
	})
	if err != nil {
		return closed, bill, nil, err
	}
	bill, err = thaw(closed)
	return closed, bill, waiting, err
}

// Frozen returns the bytes of a bill that is closed: one line of JSON, as the API sends it.
func Frozen(bill rental.Bill) ([]byte, error) {
	var out bytes.Buffer
	if err := json.NewEncoder(&out).Encode(bill); err != nil {
		return nil, fmt.Errorf("bill of lease %s: %w", bill.Lease, err)
	}
	return out.Bytes(), nil
}

func thaw(closed rental.ClosedMonth) (rental.Bill, error) {
	var bill rental.Bill
	if err := json.Unmarshal(closed.Bill, &bill); err != nil {
		return bill, fmt.Errorf("invoice %s: %w", closed.Number, err)
	}
	return bill, nil
}

// correctionLines returns what the lease's closed periods would cost by what is known now, less
// what was billed for them. They belong to the first period that is not closed: the next month,
// or, where the lease has ended, any later one until it is closed with them. Of a closed period
// that nothing was recorded about since its last reckoning the frozen bill stands unread.
func (s *Service) correctionLines(ctx context.Context, f rental.Facts, period rental.Span, closed []rental.ClosedMonth) ([]rental.BillLine, error) {
	if len(closed) == 0 || !wholeMonth(f.Contract.TimeZone, period) {
		return nil, nil
	}
	last := closed[len(closed)-1].Span.End
	if period.Start < last || f.Lease.Span().Overlaps(rental.Span{Start: last, End: period.Start}) {
		return nil, nil
	}
	doubtful, err := s.doubtful(ctx, f, closed)
	if err != nil || len(doubtful) == 0 {
		return nil, err
	}
	frozen := make([]rental.Bill, len(closed))
	for i, c := range closed {
		if frozen[i], err = thaw(c); err != nil {
			return nil, err
		}
	}
	var out []rental.BillLine
	for _, i := range doubtful {
		c := closed[i]
		now, err := s.chargeLines(ctx, f, c.Span)
		if err != nil {
			return nil, err
		}
		out = append(out, correct(f.Contract, c.Span, billedFor(frozen, i), now)...)
	}
	return out, nil
}

// settling is how long before a close a fact may have been recorded and still be taken for a later
// one: clocks are set back, and a close does not hold the ledger while its bill is reckoned.
const settling = rental.Millis(time.Hour / time.Millisecond)

// doubtful returns which closed periods may cost something else by now. Each was right when it was
// closed, and again when a later month was closed with its corrections; what was recorded since
// then decides. While samples of a period may still come, its credit is not taken for settled.
func (s *Service) doubtful(ctx context.Context, f rental.Facts, closed []rental.ClosedMonth) ([]int, error) {
	right := make([]rental.Millis, len(closed))
	reach := map[rental.Millis]rental.Millis{} // by when periods were right: the end of the last of them
	for i, c := range closed {
		right[i] = c.ClosedAt
		for _, later := range closed[i+1:] {
			if wholeMonth(f.Contract.TimeZone, later.Span) {
				right[i] = max(right[i], later.ClosedAt)
			}
		}
		reach[right[i]] = max(reach[right[i]], c.Span.End)
	}
	// One question for all periods that were right at one moment; each by itself only where it says yes.
	news := make(map[rental.Millis]bool, len(reach))
	for at, end := range reach {
		learnt, err := s.ledger.LearntSince(ctx, f.Lease.ID, at-settling, end)
		if err != nil {
			return nil, err
		}
		news[at] = learnt
	}
	var out []int
	for i, c := range closed {
		open := f.Contract.DowntimePays() && right[i] < c.Span.End+rental.Millis(s.late.Milliseconds())
		if !open && news[right[i]] {
			learnt, err := s.ledger.LearntSince(ctx, f.Lease.ID, right[i]-settling, c.Span.End)
			if err != nil {
				return nil, err
			}
			open = learnt
		}
		if open {
			out = append(out, i)
		}
	}
	return out, nil
}

func wholeMonth(zone string, period rental.Span) bool {
	month, err := rental.MonthOf(zone, period.Start)
	if err != nil {
		return false
	}
	span, err := month.Span(zone)
	return err == nil && span == period
}

// billedFor returns what the closed bills charged for the i-th period: its own lines, and later
// corrections of it. Tax is reckoned on corrections anew, and what a person booked stands.
func billedFor(frozen []rental.Bill, i int) []rental.BillLine {
	var out []rental.BillLine
	for k, bill := range frozen {
		for _, l := range bill.Lines {
			switch {
			case l.Item == rental.ItemTax || l.Item == ItemAdjustment:
			case k == i && l.Corrects == nil, l.Corrects != nil && *l.Corrects == frozen[i].Period:
				out = append(out, l)
			}
		}
	}
	return out
}

// lineKey tells lines of one item and unit price apart from others.
type lineKey struct {
	item, name, price, list, unit, rate string
	on                                  rental.Millis
}

func keyOf(l rental.BillLine) lineKey {
	k := lineKey{item: l.Item, name: l.Name, list: l.ListPrice.String(), unit: l.Unit}
	if l.UnitPrice.IsSet() {
		k.price = l.UnitPrice.Rat().RatString()
	}
	if l.Converted != nil {
		k.rate, k.on = l.Converted.Rate.String(), l.Converted.On
	}
	return k
}

// correct returns one line for each item and unit price whose quantity or amount is another now.
func correct(c rental.Contract, about rental.Span, was, now []rental.BillLine) []rental.BillLine {
	var order []lineKey
	sums := map[lineKey]*[2]lineSum{}
	for side, lines := range [][]rental.BillLine{was, now} {
		for _, l := range lines {
			k := keyOf(l)
			if sums[k] == nil {
				sums[k] = &[2]lineSum{}
				order = append(order, k)
			}
			sums[k][side].add(l)
		}
	}
	var out []rental.BillLine
	for _, k := range order {
		if line, differs := sums[k][0].correction(c, about, &sums[k][1]); differs {
			out = append(out, line)
		}
	}
	slices.SortStableFunc(out, func(a, b rental.BillLine) int { return int(a.Charged.Start - b.Charged.Start) })
	return out
}

// lineSum gathers the lines of one key.
type lineSum struct {
	line   rental.BillLine // the last one, for what they share
	amount int64
	ms     int64
	exact  big.Rat
	cards  map[string]int64
	parts  map[string]*big.Rat
}

func (s *lineSum) add(l rental.BillLine) {
	span := l.Charged
	if s.line.Item != "" {
		span = rental.Span{Start: min(s.line.Charged.Start, span.Start), End: max(s.line.Charged.End, span.End)}
	}
	s.line, s.line.Charged = l, span
	s.amount += l.Amount.Minor
	s.ms += l.QuantityMS
	if q, ok := new(big.Rat).SetString(l.Quantity); ok {
		s.exact.Add(&s.exact, q)
	}
	if s.cards == nil {
		s.cards, s.parts = map[string]int64{}, map[string]*big.Rat{}
	}
	for uuid, minor := range l.PerGPU {
		s.cards[uuid] += minor
	}
	for uuid, text := range l.Quantities {
		if q, ok := new(big.Rat).SetString(text); ok {
			s.parts[uuid] = new(big.Rat).Add(orZero(s.parts[uuid]), q)
		}
	}
}

func orZero(r *big.Rat) *big.Rat {
	if r == nil {
		return new(big.Rat)
	}
	return r
}

func (s *lineSum) correction(c rental.Contract, about rental.Span, now *lineSum) (rental.BillLine, bool) {
	difference := new(big.Rat).Sub(&now.exact, &s.exact)
	priced := s.line.UnitPrice.IsSet() || now.line.UnitPrice.IsSet()
	if now.amount == s.amount && (difference.Sign() == 0 || !priced) {
		return rental.BillLine{}, false
	}
	line := now.line
	if line.Item == "" {
		line = s.line
	}
	line.Corrects, line.PerGPU, line.Quantities = &about, nil, nil
	line.Amount.Minor, line.QuantityMS = now.amount-s.amount, now.ms-s.ms
	if priced {
		line.Quantity = difference.RatString()
	}
	for _, side := range []map[string]int64{s.cards, now.cards} {
		for uuid := range side {
			if part := now.cards[uuid] - s.cards[uuid]; part != 0 {
				if line.PerGPU == nil {
					line.PerGPU, line.Quantities = map[string]int64{}, map[string]string{}
				}
				line.PerGPU[uuid] = part
				line.Quantities[uuid] = new(big.Rat).Sub(orZero(now.parts[uuid]), orZero(s.parts[uuid])).RatString()
			}
		}
	}
	p := phrase.For(c.Language)
	line.Note = p.Say(phrase.BillCorrectionNote, rental.Amount{Currency: line.Amount.Currency, Minor: s.amount}.String(),
		rental.Amount{Currency: line.Amount.Currency, Minor: now.amount}.String())
	return line, true
}
