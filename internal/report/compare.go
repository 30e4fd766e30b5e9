package report

import (
	"cmp"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Difference is a stretch of a card's time of which two sides say something else.
type Difference struct {
	UUID string      `json:"uuid"`
	Span rental.Span `json:"span"`
	// A and B are what each side says: class and reason.
	A rental.Interval `json:"a"`
	B rental.Interval `json:"b"`
}

// Comparison is two sides' records of the same cards, lined up.
type Comparison struct {
	// Span is the time that both reports cover.
	Span rental.Span `json:"span"`
	// Cards are those that both know, OnlyA and OnlyB those that one knows, by uuid.
	Cards       []string     `json:"cards"`
	OnlyA       []string     `json:"only_a"`
	OnlyB       []string     `json:"only_b"`
	Differences []Difference `json:"differences"`
	// DownA and DownB are what each side counts as down in Span, over the cards that both know.
	DownA int64 `json:"down_a_ms"`
	DownB int64 `json:"down_b_ms"`
}

// Compare lines up the timelines of two reports, a provider's and a tenant's, card by card: the
// leases may have other names on either side. Time that one side was not told of is unknown there.
func Compare(a, b Document) Comparison {
	out := Comparison{
		Span:  a.Period.Clip(b.Period),
		Cards: []string{}, OnlyA: []string{}, OnlyB: []string{}, Differences: []Difference{},
	}
	mine, theirs := a.cards(), b.cards()
	for uuid := range mine {
		if _, both := theirs[uuid]; both {
			out.Cards = append(out.Cards, uuid)
		} else {
			out.OnlyA = append(out.OnlyA, uuid)
		}
	}
	for uuid := range theirs {
		if _, both := mine[uuid]; !both {
			out.OnlyB = append(out.OnlyB, uuid)
		}
	}
	for _, names := range [][]string{out.Cards, out.OnlyA, out.OnlyB} {
		slices.Sort(names)
	}
	for _, uuid := range out.Cards {
		for _, served := range common(mine[uuid], theirs[uuid], out.Span) {
			x := rental.Partition(served, a.Facts.Timelines[uuid])
			y := rental.Partition(served, b.Facts.Timelines[uuid])
			out.DownA += down(x)
			out.DownB += down(y)
			out.Differences = append(out.Differences, differences(uuid, x, y)...)
		}
	}
	slices.SortFunc(out.Differences, func(p, q Difference) int {
		return cmp.Or(cmp.Compare(p.Span.Start, q.Span.Start), cmp.Compare(p.UUID, q.UUID))
	})
	return out
}

// cards returns when each card served.
func (d Document) cards() map[string][]rental.Span {
	out := map[string][]rental.Span{}
	for _, a := range d.Facts.Assignments {
		if served := a.Span.Clip(d.Period); !served.Empty() && a.Lease == d.Lease.ID {
			out[a.UUID] = append(out[a.UUID], served)
		}
	}
	return out
}

// common returns the time that is in both lists and in the span.
func common(a, b []rental.Span, in rental.Span) []rental.Span {
	var out []rental.Span
	for _, s := range rental.ClipSpans(a, in) {
		out = append(out, rental.ClipSpans(b, s)...)
	}
	return out
}

func down(line []rental.Interval) int64 {
	var total int64
	for _, iv := range line {
		if iv.Class == rental.Down {
			total += iv.Span.Duration()
		}
	}
	return total
}

// differences walks two lines that partition the same time.
func differences(uuid string, x, y []rental.Interval) []Difference {
	var out []Difference
	for i, k := 0, 0; i < len(x) && k < len(y); {
		part := x[i].Span.Clip(y[k].Span)
		if !part.Empty() && x[i].Class != y[k].Class {
			n := len(out)
			if n > 0 && out[n-1].Span.End == part.Start && out[n-1].A.Class == x[i].Class && out[n-1].B.Class == y[k].Class {
				out[n-1].Span.End = part.End
			} else {
				out = append(out, Difference{UUID: uuid, Span: part, A: x[i], B: y[k]})
			}
		}
		if x[i].Span.End <= y[k].Span.End {
			i++
		} else {
			k++
		}
	}
	return out
}
