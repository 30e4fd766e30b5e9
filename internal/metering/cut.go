package metering

import (
	"fmt"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// cutter splits time within a chunk at every UTC hour, at a contract's midnights (and so at its
// months), where its day and night begin and where a price begins, so that no record ever lies on
// two sides of a border that money, a verdict or a figure of use depends on.
type cutter struct {
	place   *time.Location
	borders []rental.Millis // in order
}

func cutterOf(chunk rental.Span, contract rental.Contract) (cutter, error) {
	place, err := rental.LoadZone(contract.TimeZone)
	if err != nil {
		return cutter{}, fmt.Errorf("contract %q: %w", contract.Name, err)
	}
	days, err := rental.Days(contract.TimeZone, chunk)
	if err != nil {
		return cutter{}, fmt.Errorf("contract %q: %w", contract.Name, err)
	}
	c := cutter{place: place, borders: rental.Twilights(place, chunk)}
	for at := floorHour(chunk.Start) + hour; at < chunk.End; at += hour {
		c.borders = append(c.borders, at)
	}
	for _, d := range days {
		c.borders = append(c.borders, d.End)
	}
	for _, p := range contract.Plan.Prices {
		if chunk.Contains(p.From) {
			c.borders = append(c.borders, p.From)
		}
	}
	slices.Sort(c.borders)
	c.borders = slices.Compact(c.borders)
	return c, nil
}

// cut splits a span, which lies in the chunk and is not empty.
func (c cutter) cut(span rental.Span) []rental.Span {
	var pieces []rental.Span
	first, _ := slices.BinarySearch(c.borders, span.Start+1)
	for _, at := range c.borders[first:] {
		if at >= span.End {
			break
		}
		pieces = append(pieces, rental.Span{Start: span.Start, End: at})
		span.Start = at
	}
	return append(pieces, span)
}

// splitNight notes what of a record, which lies on one side of the border, was at night.
func (c cutter) splitNight(r *rental.UsageRecord) {
	r.SplitMS = r.AllocatedMS
	if rental.Night(r.Span.Start, c.place) {
		r.NightMS, r.NightMeasuredMS, r.NightUsedMicros = r.AllocatedMS, r.MeasuredMS, r.UsedMicros
	}
}
