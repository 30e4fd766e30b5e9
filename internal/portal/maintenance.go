package portal

import (
	"strings"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

type maintenanceSection struct {
	Error string
	Rows  []maintenanceRow
}

type maintenanceRow struct {
	ID, State, Hosts, Standing string
	From, To                   moment
	Acts                       []string
}

// maintenanceSection shows the windows of the month and those that come, with when each was
// delivered to the lease's tenant and whether its time is excluded.
func (d leaseData) maintenanceSection() maintenanceSection {
	s := maintenanceSection{Error: d.sectionError(d.windowErr)}
	if s.Error != "" {
		return s
	}
	month := d.monthSpan()
	for _, m := range d.windows {
		coming := m.State == rental.MaintenanceAnnounced || m.State == rental.MaintenanceRunning
		if !coming && !month.Overlaps(rental.Span{Start: m.Start, End: m.End}) {
			continue
		}
		row := maintenanceRow{ID: m.ID, State: d.say.Maintenance(m.State), Hosts: strings.Join(m.Hosts, " "), From: at(d.say, m.Start, d.zone), To: at(d.say, m.End, d.zone)}
		for _, t := range m.Touches {
			if t.Lease == d.detail.Lease.ID {
				row.Standing = d.say.MaintenanceStanding(t.Standing, t.Delivered, t.NoticeMS, d.zone)
			}
		}
		if m.State == rental.MaintenanceCancelled {
			row.Standing = ""
		}
		for _, a := range m.Acts {
			if a.Tenant == "" || a.Tenant == d.detail.Lease.Tenant {
				row.Acts = append(row.Acts, d.say.Act(a, d.zone))
			}
		}
		if len(m.Acts) == 0 {
			row.Acts = []string{d.say.Time(m.Announced, d.zone) + " " + d.say.Say(phrase.PortalActAnnounced)}
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

// monthSpan is the month that the page shows.
func (d leaseData) monthSpan() rental.Span {
	month, err := rental.ParseMonth(d.month)
	if err != nil {
		return rental.Span{}
	}
	span, err := month.Span(d.zone.String())
	if err != nil {
		return rental.Span{}
	}
	return span
}
