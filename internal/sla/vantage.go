package sla

import (
	"fmt"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// vantage is from where the run was seen.
func (r run) vantage() string { return r.states[0].Vantage }

// cause says who answers for the run, as far as what was told goes. What only a guest told has no
// cause until a person decides: the tenant is root there, and could make the driver say anything.
func (r run) cause() string {
	if r.vantage() == rental.VantageGuest {
		return rental.CauseUndetermined
	}
	return rental.CauseOfState(r.states[0].Reason)
}

// sample names the series that told of a state, and where it was taken if not on the host.
func sample(uuid string, iv rental.Interval) string {
	vantage := ""
	if iv.Vantage != "" {
		vantage = fmt.Sprintf(",vantage=%q", iv.Vantage)
	}
	return fmt.Sprintf("%s{uuid=%q,state=%q%s}", stateMetric, uuid, iv.Reason, vantage)
}
