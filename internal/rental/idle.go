package rental

import "time"

// UnleasedUse is how a card was used while nobody leased it; its allocated time is the time in
// which it was free.
type UnleasedUse struct {
	UUID string `json:"uuid"`
	Host string `json:"host"`
	Use  Use    `json:"use"`
	// EnergyMilliJoules is what it drew then, over resets of its counter.
	EnergyMilliJoules int64 `json:"energy_mj"`
}

// The hours of a day in the contract's zone that count as day; the rest is night.
const (
	DayBegins = 8
	DayEnds   = 20
)

// DayNight is a use split by the hour in which its records begin, in the contract's zone. A record
// lies within one hour of UTC; where a zone is half an hour off, its half counts with its start.
type DayNight struct {
	Day   Use `json:"day"`
	Night Use `json:"night"`
}

// Night tells whether a moment lies in the night of a place.
func Night(at Millis, place *time.Location) bool {
	hour := at.Time().In(place).Hour()
	return hour < DayBegins || hour >= DayEnds
}

// DayNight returns what of the time was by day and what at night; false where that is not known of
// all of it, or where there was none. Of the two only the allocated, the measured and the used time are kept.
func (u Use) DayNight() (DayNight, bool) {
	night := Use{AllocatedMS: u.NightMS, MeasuredMS: u.NightMeasuredMS, UsedMicros: u.NightUsedMicros}
	day := Use{AllocatedMS: u.AllocatedMS - u.NightMS, MeasuredMS: u.MeasuredMS - u.NightMeasuredMS, UsedMicros: u.UsedMicros - u.NightUsedMicros}
	return DayNight{Day: day, Night: night}, u.AllocatedMS > 0 && u.SplitMS == u.AllocatedMS
}

// Twilights returns the moments within a span at which day or night begins in a place, in order.
// The span must have an end.
func Twilights(place *time.Location, span Span) []Millis {
	var out []Millis
	if span.End == Forever {
		return nil
	}
	for _, day := range cutDays(place, span) {
		year, month, date := day.Start.Time().In(place).Date()
		for _, hour := range []int{DayBegins, DayEnds} {
			if at := At(Instant(place, year, month, date, hour, 0, 0)); day.Contains(at) {
				out = append(out, at)
			}
		}
	}
	return out
}

// SplitDayNight sums records by day and night.
func SplitDayNight(zone string, records []UsageRecord) (DayNight, error) {
	var d DayNight
	place, err := LoadZone(zone)
	if err != nil {
		return d, err
	}
	for _, r := range records {
		if Night(r.Span.Start, place) {
			d.Night.Add(r)
		} else {
			d.Day.Add(r)
		}
	}
	return d, nil
}
