package metering

import (
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// cut splits a span at every UTC hour, at the contract's midnights (and so at its months) and
// where a price begins, so that no record ever lies on two sides of a border that money or a
// verdict depends on.
func cut(span rental.Span, contract rental.Contract) ([]rental.Span, error) {
	days, err := rental.Days(contract.TimeZone, span)
	if err != nil {
		return nil, err
	}
	borders := []rental.Millis{span.Start, span.End}
	for at := floorHour(span.Start) + hour; at < span.End; at += hour {
		borders = append(borders, at)
	}
	for _, d := range days {
		borders = append(borders, d.End)
	}
	for _, p := range contract.Plan.Prices {
		if span.Contains(p.From) {
			borders = append(borders, p.From)
		}
	}
	slices.Sort(borders)
	borders = slices.Compact(borders)
	pieces := make([]rental.Span, 0, len(borders))
	for i := 1; i < len(borders); i++ {
		pieces = append(pieces, rental.Span{Start: borders[i-1], End: borders[i]})
	}
	return pieces, nil
}
