package metering

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Unleased returns how cards were used in the time of the span in which no lease had them or a
// part of them, up to now: those that were in use, the longest first. It reads samples, so it
// reaches back as far as they are kept; time without samples counts in nobody's favour and shows
// as a lack of coverage.
func (s *Service) Unleased(ctx context.Context, cards []rental.GPU, span rental.Span) ([]rental.UnleasedUse, error) {
	span.End = min(span.End, rental.At(s.o.Now()))
	if span.Empty() {
		return nil, nil
	}
	assignments, err := s.ledger.AssignmentsAt(ctx, span)
	if err != nil {
		return nil, fmt.Errorf("metering: %w", err)
	}
	taken := map[string][]rental.Span{}
	for _, a := range assignments {
		taken[a.CardUUID()] = append(taken[a.CardUUID()], a.Span)
	}
	found := map[string]*rental.UnleasedUse{}
	for at := span.Start; at < span.End; {
		// As many hours at once as memory bears.
		hours := rental.Millis(min(24, max(1, cardHours/max(1, len(cards)))))
		chunk := rental.Span{Start: at, End: min(at+hours*hour, span.End)}
		if err := s.unleasedChunk(ctx, chunk, cards, taken, found); err != nil {
			return nil, fmt.Errorf("metering from %s to %s: %w", chunk.Start, chunk.End, err)
		}
		at = chunk.End
	}
	var out []rental.UnleasedUse
	for _, u := range found {
		if u.Use.BusyMS > 0 {
			out = append(out, *u)
		}
	}
	slices.SortFunc(out, func(a, b rental.UnleasedUse) int {
		return cmp.Or(-cmp.Compare(a.Use.BusyMS, b.Use.BusyMS), cmp.Compare(a.UUID, b.UUID))
	})
	return out, nil
}

func (s *Service) unleasedChunk(ctx context.Context, chunk rental.Span, cards []rental.GPU, taken map[string][]rental.Span, found map[string]*rental.UnleasedUse) error {
	var free []rental.Assignment // nobody's
	hosts := map[string]string{}
	for _, g := range cards {
		for _, part := range rental.SubtractSpans([]rental.Span{chunk}, taken[g.UUID]) {
			free = append(free, rental.Assignment{UUID: g.UUID, Span: part})
			hosts[g.UUID] = g.Host
		}
	}
	read, err := s.readings(ctx, chunk, free)
	if err != nil {
		return err
	}
	for _, a := range free {
		r := record(a, a.Span, nil, read.card(a.UUID))
		if found[a.UUID] == nil {
			found[a.UUID] = &rental.UnleasedUse{UUID: a.UUID, Host: hosts[a.UUID]}
		}
		found[a.UUID].Use.Add(r)
		found[a.UUID].EnergyMilliJoules += r.EnergyMilliJoules
	}
	return nil
}
