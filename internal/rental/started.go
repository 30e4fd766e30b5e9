package rental

import "math/big"

// startedPieces charges every unit that a seat's time begins whole, once, at the moment at which
// its first charged time falls. A stop and a new start within it cost nothing more, but where
// hours are paid in advance: those are counted from each start.
func (in ChargeInput) startedPieces(cal almanac, cut []piece) []piece {
	var out []piece
	var unit Span
	var session Millis
	for _, p := range cut {
		for cursor := p.span.Start; cursor < p.span.End; {
			if !unit.Contains(cursor) || in.Contract.Plan.Mode == ModePrepaidHour && p.session != session {
				unit, session = in.Contract.Plan.unitAt(cal, p.session, cursor), p.session
				first := p
				first.span = Span{Start: cursor, End: cursor}
				first.due, first.time, first.quantity = cursor, new(big.Rat), big.NewRat(1, 1)
				first.price = in.Contract.Plan.priceAt(cursor)
				out = append(out, first)
			}
			end := min(unit.End, p.span.End)
			last := &out[len(out)-1]
			last.span.End = end
			last.time.Add(last.time, big.NewRat(int64(end-cursor), 1))
			cursor = end
		}
	}
	return out
}

// clipPieces keeps what lies in the period. A piece that the period cuts keeps its share, so
// that the parts of any split sum to the whole; one that is charged whole is in the period in
// which it falls due.
func clipPieces(pieces []piece, period Span) []piece {
	var out []piece
	for _, p := range pieces {
		if p.due != 0 {
			if period.Contains(p.due) {
				out = append(out, p)
			}
			continue
		}
		part := p.span.Clip(period)
		if part.Empty() {
			continue
		}
		if part != p.span {
			p = p.scaled(big.NewRat(part.Duration(), p.span.Duration()))
			p.span = part
		}
		out = append(out, p)
	}
	return out
}

// scaled returns the piece with a share of its quantity and of its time.
func (p piece) scaled(share *big.Rat) piece {
	p.quantity = new(big.Rat).Mul(p.quantity, share)
	if p.time != nil {
		p.time = new(big.Rat).Mul(p.time, share)
	}
	return p
}

// wholeMillis rounds a length of time half up to milliseconds.
func wholeMillis(ms *big.Rat) int64 {
	whole, err := RoundRat(ms, HalfUp)
	if err != nil || !whole.IsInt64() {
		return 0 // half up rounds everything, and no lease is 292 million years long
	}
	return whole.Int64()
}
