package phrase

import (
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Decision says where a downtime stands, and who put it there.
func (p Printer) Decision(d rental.Downtime) string {
	switch d.Status() {
	case rental.DowntimeDisputed:
		return p.Say(PortalDisputedBy, d.DisputedBy)
	case rental.DowntimeRejected:
		return p.Say(PortalRejectedBy, d.RejectedBy)
	case rental.DowntimeApproved:
		if d.ApprovedBy == rental.ApprovalAutomatic {
			return p.Say(PortalApprovedAuto)
		}
		return p.Say(PortalApprovedBy, d.ApprovedBy)
	}
	return p.Say(PortalNotApproved)
}

// CreditState says where a credit stands, and what holds it.
func (p Printer) CreditState(c rental.Credit) string {
	word := c.State
	for state, key := range map[string]Key{
		rental.CreditComputed: CreditStateComputed, rental.CreditClaimable: CreditStateClaimable, rental.CreditClaimed: CreditStateClaimed,
		rental.CreditBooked: CreditStateBooked, rental.CreditRefused: CreditStateRefused, rental.CreditLapsed: CreditStateLapsed,
	} {
		if c.State == state {
			word = p.Say(key)
		}
	}
	if c.Held {
		word += p.Say(CreditAnd) + p.Say(CreditHeld)
	}
	return word
}

// Act says what somebody did, in one line.
func (p Printer) Act(a rental.Act, zone *time.Location) string {
	kinds := map[string]Key{
		rental.ActRecorded: PortalActRecorded, rental.ActApproved: PortalActApproved, rental.ActRejected: PortalActRejected,
		rental.ActDisputed: PortalActDisputed, rental.ActDecided: PortalActDecided, rental.ActChanged: PortalActChanged,
		rental.ActWithdrawn: PortalActWithdrawn, rental.ActClaimed: PortalActClaimed, rental.ActRefused: PortalActRefused,
		rental.ActAnnounced: PortalActAnnounced, rental.ActCancelled: PortalActCancelled,
	}
	if a.Kind == rental.ActDelivered {
		return p.Say(PortalDeliveredTo, p.Time(a.At, zone), a.Tenant, a.Way, a.By, a.Note)
	}
	word := a.Kind
	if key, ok := kinds[a.Kind]; ok {
		word = p.Say(key)
	}
	return p.Say(PortalNoteOf, p.Time(a.At, zone), word, a.By, a.Note)
}
