package phrase

import "github.com/leasewatch/leasewatch/internal/rental"

// Look is how a state appears everywhere: a glyph, a word and a kind (never colour alone).
type Look struct {
	Glyph string // ● ◐ ✕ ◇ ◻ ? ▢
	Word  string // "Up", "Down: GPU lost"
	Kind  string // up, degraded, down, maintenance, stopped, unknown or unmeasured: a style class
}

// The kinds of a look.
const (
	KindUp          = "up"
	KindDegraded    = "degraded"
	KindDown        = "down"
	KindMaintenance = "maintenance"
	KindStopped     = "stopped"
	KindUnknown     = "unknown"
	KindUnmeasured  = "unmeasured"
)

// Glyph returns the glyph of a kind; "?" for one that does not exist.
func Glyph(kind string) string {
	switch kind {
	case KindUp:
		return "●"
	case KindDegraded:
		return "◐"
	case KindDown:
		return "✕"
	case KindMaintenance:
		return "◇"
	case KindStopped:
		return "◻"
	case KindUnmeasured:
		return "▢"
	default:
		return "?"
	}
}

// State returns the look of a GPU's or a lease's state by its name, as series and the ledger
// name it (ok, lost, host_down, maintenance...). A name that is not known looks unknown and
// keeps its own word.
func (p Printer) State(name string) Look {
	known, ok := states()[name]
	if !ok {
		return Look{Glyph: Glyph(KindUnknown), Word: name, Kind: KindUnknown}
	}
	return Look{Glyph: Glyph(known.kind), Word: p.Say(known.key), Kind: known.kind}
}

type stateLook struct {
	kind string
	key  Key
}

func states() map[string]stateLook {
	return map[string]stateLook{
		"ok":                {KindUp, StateUp},
		"up":                {KindUp, StateUp},
		"degraded":          {KindDegraded, StateDegraded},
		"down":              {KindDown, StateDown},
		"lost":              {KindDown, StateLost},
		"reset_required":    {KindDown, StateResetRequired},
		"unresponsive":      {KindDown, StateUnresponsive},
		"driver_down":       {KindDown, StateDriverDown},
		"fabric_incomplete": {KindDown, StateFabricIncomplete},
		"host_down":         {KindDown, StateHostDown},
		"maintenance":       {KindMaintenance, StateMaintenance},
		"stopped":           {KindStopped, StateStopped},
		"excluded":          {KindMaintenance, StateExcluded},
		"unknown":           {KindUnknown, StateUnknown},
		"blind":             {KindUnknown, StateBlind},
		"mig_missing":       {KindUnknown, StateMIGMissing},
		"released":          {KindUnmeasured, StateReleased},
		"opaque":            {KindUnmeasured, StateOpaque},
	}
}

// Severity returns the word of a severity as line 1 of a message shows it: "PAGE".
func (p Printer) Severity(s rental.Severity) string {
	switch s {
	case rental.Page:
		return p.Say(SeverityPage)
	case rental.Ticket:
		return p.Say(SeverityTicket)
	case rental.Notice:
		return p.Say(SeverityNotice)
	default:
		return string(s)
	}
}

// Incident returns the look of an incident: down for an open page, degraded for what is
// less, up once it is resolved, unknown where evidence is missing.
func (p Printer) Incident(status rental.IncidentStatus, severity rental.Severity) Look {
	kind, key := KindDegraded, IncidentOpen
	switch status {
	case rental.IncidentResolved:
		kind, key = KindUp, IncidentResolved
	case rental.IncidentUnknown:
		kind, key = KindUnknown, IncidentUnknown
	case rental.IncidentAcked:
		key = IncidentAcked
		fallthrough
	default:
		if severity == rental.Page {
			kind = KindDown
		}
	}
	return Look{Glyph: Glyph(kind), Word: p.Say(key), Kind: kind}
}

// Outcome returns the look of a verdict.
func (p Printer) Outcome(o rental.Outcome) Look {
	switch o {
	case rental.Kept:
		return Look{Glyph: Glyph(KindUp), Word: p.Say(OutcomeKept), Kind: KindUp}
	case rental.Breached:
		return Look{Glyph: Glyph(KindDown), Word: p.Say(OutcomeBreached), Kind: KindDown}
	case rental.NotProven:
		return Look{Glyph: Glyph(KindUnknown), Word: p.Say(OutcomeNotProven), Kind: KindUnknown}
	case rental.Open:
		return Look{Glyph: Glyph(KindUnknown), Word: p.Say(OutcomeOpen), Kind: KindUnknown}
	default:
		return Look{Glyph: Glyph(KindUnmeasured), Word: p.Say(OutcomeNotMeasured), Kind: KindUnmeasured}
	}
}

// Cause returns the word for who or what was behind a downtime: provider, tenant or undetermined.
// A cause that is not known keeps its own word.
func (p Printer) Cause(name string) string {
	switch name {
	case rental.CauseProvider:
		return p.Say(PortalCauseProvider)
	case rental.CauseTenant:
		return p.Say(PortalCauseTenant)
	case rental.CauseUndetermined:
		return p.Say(PortalCauseUndetermined)
	}
	return name
}
