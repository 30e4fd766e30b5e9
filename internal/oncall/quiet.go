package oncall

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// QuietHours are hours in which new messages of some severities wait for the morning. A page
// never waits.
type QuietHours struct {
	Name string `yaml:"-"`
	// Zone is the IANA zone of From and To.
	Zone string `yaml:"zone"`
	// From and To are wall clocks as HH:MM; To is on the next day where it is not after From.
	From string `yaml:"from"`
	To   string `yaml:"to"`
	// Days are those on which the hours begin, in English ("saturday"); every day where empty.
	Days []string `yaml:"days"`
	// Severities are ticket, notice or both.
	Severities []string `yaml:"severities"`
}

// Validate returns what is wrong with the hours by themselves.
func (q *QuietHours) Validate() []rental.FieldError {
	var faults []rental.FieldError
	bad := func(path, found, expected string) {
		faults = append(faults, rental.FieldError{Path: path, Found: fmt.Sprintf("%q", found), Expected: expected})
	}
	if _, err := rental.LoadZone(q.Zone); err != nil {
		bad("zone", q.Zone, "an IANA zone such as Europe/Oslo")
	}
	from, errFrom := parseClock(q.From)
	to, errTo := parseClock(q.To)
	switch {
	case errFrom != nil:
		bad("from", q.From, "a time of the day such as \"22:00\"")
	case errTo != nil:
		bad("to", q.To, "a time of the day such as \"07:00\"")
	case from == to:
		bad("to", q.To, "another time than from: what is never told is not quiet but lost")
	}
	for i, day := range q.Days {
		if _, known := weekday(day); !known {
			bad(fmt.Sprintf("days[%d]", i), day, "monday, tuesday, wednesday, thursday, friday, saturday or sunday")
		}
	}
	if len(q.Severities) == 0 {
		bad("severities", "", "ticket, notice or both")
	}
	for i, severity := range q.Severities {
		switch rental.Severity(severity) {
		case rental.Ticket, rental.Notice:
		case rental.Page:
			bad(fmt.Sprintf("severities[%d]", i), severity, "ticket or notice: a page wakes at any hour; where it should not, it is no page")
		default:
			bad(fmt.Sprintf("severities[%d]", i), severity, "ticket or notice")
		}
	}
	return faults
}

func weekday(name string) (time.Weekday, bool) {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if strings.ToLower(day.String()) == name {
			return day, true
		}
	}
	return 0, false
}

// until returns when the quiet hours that the moment lies in end; 0 where it lies in none.
func (q *QuietHours) until(at rental.Millis) rental.Millis {
	zone, err := rental.LoadZone(q.Zone)
	if err != nil {
		return 0 // Validate refuses it
	}
	from, _ := parseClock(q.From)
	to, _ := parseClock(q.To)
	nights := 0
	if to.hour*60+to.minute <= from.hour*60+from.minute {
		nights = 1
	}
	year, month, day := at.Time().In(zone).Date()
	for _, begun := range []int{day - 1, day} {
		start := rental.Instant(zone, year, month, begun, from.hour, from.minute, 0)
		if !q.on(start.In(zone).Weekday()) {
			continue
		}
		end := rental.Instant(zone, year, month, begun+nights, to.hour, to.minute, 0)
		if rental.At(start) <= at && at < rental.At(end) {
			return rental.At(end)
		}
	}
	return 0
}

func (q *QuietHours) on(day time.Weekday) bool {
	return len(q.Days) == 0 || slices.Contains(q.Days, strings.ToLower(day.String()))
}
