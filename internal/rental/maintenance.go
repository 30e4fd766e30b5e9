package rental

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Maintenance is an announced window on a host's or a lease's GPUs.
type Maintenance struct {
	ID        string   `json:"id" yaml:"-"`
	Hosts     []string `json:"hosts,omitempty" yaml:"hosts"`
	Leases    []string `json:"leases,omitempty" yaml:"leases"`
	Start     Millis   `json:"start" yaml:"start"`
	End       Millis   `json:"end" yaml:"end"`
	Announced Millis   `json:"announced" yaml:"announced"` // when the notice was delivered, or an announcement recorded
	// Recipients are the tenants whose leases it touched when it was announced.
	Recipients []string `json:"recipients,omitempty" yaml:"-"`
	// Acts are its announcement, each delivery of it to a tenant, and its cancellation, each at the
	// moment at which it was recorded. A window that a file recorded has no announcement among
	// them: it counts as delivered to all at Announced.
	Acts []Act `json:"acts,omitempty" yaml:"-"`
}

// Kinds of an Act upon a maintenance.
const (
	ActAnnounced = "announced"
	ActDelivered = "delivered" // a tenant was told
	ActCancelled = "cancelled" // it ends then, or never begins
)

// WayRead is the Way of a delivery that a tenant's person made by reading it here.
const WayRead = "read"

// Standings of a maintenance before one lease, by what was delivered to its tenant.
const (
	MaintenanceCounts      = "counts"      // told with the contract's notice: its time is excluded
	MaintenanceUndelivered = "undelivered" // its tenant was not told: it excuses nothing
	MaintenanceLate        = "late"        // told with less notice than the contract asks: it excuses nothing
)

// States of a maintenance.
const (
	MaintenanceAnnounced = "announced"
	MaintenanceRunning   = "running"
	MaintenanceOver      = "over"
	MaintenanceCancelled = "cancelled" // before it began
)

// MaintenanceStates lists every state, for checks.
var MaintenanceStates = []string{MaintenanceAnnounced, MaintenanceRunning, MaintenanceOver, MaintenanceCancelled}

// Window is the time that it takes: up to its end, or to its cancellation; empty where that was
// before it began.
func (m Maintenance) Window() Span {
	w := Span{Start: m.Start, End: m.End}
	if a, ok := m.last(ActCancelled); ok {
		w.End = max(w.Start, min(w.End, a.At))
	}
	return w
}

func (m Maintenance) last(kind string) (Act, bool) {
	for _, a := range slices.Backward(m.Acts) {
		if a.Kind == kind {
			return a, true
		}
	}
	return Act{}, false
}

// State is where it stands at a moment: one of MaintenanceStates.
func (m Maintenance) State(now Millis) string {
	switch w := m.Window(); {
	case w.Empty():
		return MaintenanceCancelled
	case now < w.Start:
		return MaintenanceAnnounced
	case now < w.End:
		return MaintenanceRunning
	}
	return MaintenanceOver
}

// Delivered returns the first moment at which a tenant was told; 0 where it never was.
func (m Maintenance) Delivered(tenant string) Millis {
	if _, told := m.last(ActAnnounced); !told {
		return m.Announced
	}
	for _, a := range m.Acts {
		if a.Kind == ActDelivered && a.Tenant == tenant {
			return a.At
		}
	}
	return 0
}

// Standing says whether it excuses time of a tenant's lease under the notice that the contract
// asks: one of the standings. To be told with exactly the notice is enough (C54).
func (m Maintenance) Standing(tenant string, notice Duration) string {
	switch told := m.Delivered(tenant); {
	case told == 0:
		return MaintenanceUndelivered
	case told+Millis(notice.Milliseconds()) > m.Start:
		return MaintenanceLate
	}
	return MaintenanceCounts
}

// For cuts it down to what concerns one tenant: its leases, its hosts, and what was delivered to it.
func (m Maintenance) For(tenant string, lease, host func(string) bool) Maintenance {
	keep := func(list []string, own func(string) bool) []string {
		return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !own(s) })
	}
	m.Leases, m.Hosts = keep(m.Leases, lease), keep(m.Hosts, host)
	m.Recipients = keep(m.Recipients, func(t string) bool { return t == tenant })
	m.Acts = slices.DeleteFunc(slices.Clone(m.Acts), func(a Act) bool { return a.Tenant != "" && a.Tenant != tenant })
	return m
}

// Announce returns the window as it is announced to tenants by an act: from the moment of the act
// on, and of none who is not told by a delivery. Errors are CodeInvalid, and CodeRefused for a
// window that has begun.
func (m Maintenance) Announce(a Act, recipients []string) (Maintenance, error) {
	what := fmt.Sprintf("maintenance %q", m.ID)
	a.Kind = ActAnnounced
	if err := a.check(what); err != nil {
		return m, err
	}
	m.Announced, m.Recipients, m.Acts = a.At, slices.Clone(recipients), []Act{a}
	if m.Start != 0 && m.Start <= a.At {
		return m, refusedf("%s: start: found %s, expected a time after %s: what has begun can no longer be announced, it is downtime", what, m.Start, a.At)
	}
	return m, invalidOf(what, m.Validate())
}

// Do returns the window after an act of ActDelivered or ActCancelled; touched are the tenants whose
// leases it touches. Errors are CodeInvalid, and CodeRefused for what comes too late: a delivery
// after the start is kept and excuses nothing, one after the end is none.
func (m Maintenance) Do(a Act, touched []string) (Maintenance, error) {
	what := fmt.Sprintf("maintenance %q", m.ID)
	if err := a.check(what); err != nil {
		return m, err
	}
	if old, ok := m.last(ActCancelled); ok {
		return m, refusedf("%s: it was cancelled at %s: expected one that stands", what, old.At)
	}
	if a.At >= m.End {
		return m, refusedf("%s: it ended at %s: expected to act before", what, m.End)
	}
	switch a.Kind {
	case ActCancelled:
	case ActDelivered:
		if _, told := m.last(ActAnnounced); !told {
			return m, refusedf("%s: it was recorded from a file, which says that all were told at %s: expected one that was announced", what, m.Announced)
		}
		var f faults
		f.required("way", a.Way, "how the tenant was told, such as mail")
		f.check(slices.Contains(touched, a.Tenant), "tenant", orNothing(a.Tenant), "a tenant whose lease it touches: "+cmp.Or(strings.Join(touched, ", "), "there is none"))
		if err := invalidOf(what, f.list); err != nil {
			return m, err
		}
		if !slices.Contains(m.Recipients, a.Tenant) {
			m.Recipients = append(slices.Clone(m.Recipients), a.Tenant)
		}
	default:
		return m, &Error{Code: CodeInvalid, Message: fmt.Sprintf("%s: found the act %q, expected %s or %s", what, a.Kind, ActDelivered, ActCancelled)}
	}
	m.Acts = append(slices.Clone(m.Acts), a)
	return m, nil
}

// lateEntry is how long after its announcement a file may record a window: what is older than a
// round of review could be made up after the fact.
const lateEntry = 3_600_000

// Backdates says why recording the window from a file at a moment tells of the past; "" where it
// does not. old is the window as it was, nil where there was none.
func (m Maintenance) Backdates(old *Maintenance, now Millis) string {
	began := m.Start
	if old != nil {
		began = min(began, old.Start)
	}
	switch {
	case began <= now:
		return fmt.Sprintf("start: found %s, expected a time after now (%s): what has begun can no longer be announced or changed", began, now)
	case m.Announced < now-lateEntry && (old == nil || old.Announced != m.Announced):
		return fmt.Sprintf("announced: found %s, expected no more than an hour before now (%s)", m.Announced, now)
	case m.Announced > now:
		return fmt.Sprintf("announced: found %s, expected no time after now (%s): a notice counts once it is delivered", m.Announced, now)
	}
	return ""
}

// SameWindow tells whether both are about the same time of the same hosts and leases.
func (m Maintenance) SameWindow(o Maintenance) bool {
	return m.Start == o.Start && m.End == o.End && m.Announced == o.Announced && slices.Equal(m.Hosts, o.Hosts) && slices.Equal(m.Leases, o.Leases)
}

// Validate returns what is wrong with the window; nothing where it is whole.
func (m Maintenance) Validate() []FieldError {
	var f faults
	f.check(len(m.Hosts)+len(m.Leases) > 0, "hosts", "nothing", "the hosts or the leases that the window touches")
	f.check(m.Start != 0, "start", "nothing", "a time with an offset")
	f.check(m.End > m.Start, "end", m.End.String(), "a time after the start "+m.Start.String())
	f.check(m.End != Forever, "end", "open", "a time: a window without an end excuses nothing")
	f.check(m.Announced != 0, "announced", "nothing", "the time at which the notice was delivered")
	f.check(m.Announced <= m.Start, "announced", m.Announced.String(), "a time not after the start: what is announced later is downtime")
	return f.list
}
