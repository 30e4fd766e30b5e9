package portal

import "github.com/leasewatch/leasewatch/internal/phrase"

// clockRow is an objective that clocks measure, and below it each of its clocks.
type clockRow struct {
	Name, Case, Incident, Elapsed, Limit, How string
	Look                                      phrase.Look
	// Whole marks the objective's own row.
	Whole bool
}

// clockRows are the contract's objectives of response, resolution, RTO and RPO with their clocks.
func (d leaseData) clockRows() []clockRow {
	say := d.say
	var rows []clockRow
	for _, o := range d.sla.Objectives {
		rows = append(rows, clockRow{Name: say.Objective(o.Objective), Look: say.Outcome(o.Outcome), How: o.Counted(say.Lang()).Arithmetic, Whole: true})
		for _, r := range o.Runs {
			row := clockRow{Case: say.ClockCase(r), Elapsed: say.ClockElapsed(r), Limit: say.ClockLimit(r), Look: say.ClockOutcome(r), How: r.Backup}
			if r.Failure == "" {
				row.Incident = r.Incident
			}
			if r.EvidenceAt != 0 {
				row.How = say.ClockStarts(r, d.zone)
			}
			rows = append(rows, row)
		}
	}
	return rows
}
