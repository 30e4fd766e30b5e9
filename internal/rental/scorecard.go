package rental

import (
	"cmp"
	"slices"
)

// ScoreStale is how old, in milliseconds, the evidence of a figure may be before it warns: 30 days.
const ScoreStale = 30 * 24 * 3_600_000

// The figures of a scorecard, in its order. Those that nothing measures yet are on it as "not
// measured", so that a gap is never taken for a good mark.
const (
	ScoreAvailability = "availability"   // low and high bound over all leases
	ScoreKept         = "slas_kept"      // objectives kept, of those that were judged
	ScoreBreached     = "slas_breached"  // objectives breached
	ScoreNotProven    = "slas_unproven"  // objectives not proven: neither kept nor breached
	ScoreDowntimes    = "downtimes"      // downtimes that the provider caused, or whose cause nobody knows
	ScoreDowntime     = "downtime"       // their card-time
	ScoreRepair       = "repair_median"  // median length of those that ended
	ScoreRepairMax    = "repair_longest" // the longest
	ScoreUndecided    = "undecided"      // downtimes that wait for a decision or are disputed
	ScoreCredits      = "credits"        // what missed objectives pay back
	ScoreBooked       = "credits_booked" // what of it was booked
	ScoreAnswered     = "answered"       // incidents that a person answered
	ScoreResponse     = "response"       // median time from detection to the answer
	ScoreRecovery     = "recovery"       // RTO and RPO as realised
	ScoreHardware     = "hardware"       // cards that are what the contract promises
	ScoreReplaced     = "replaced"       // cards that were replaced
	ScorePerformance  = "performance"    // benchmarks against acceptance
	ScoreNetwork      = "network"        // bandwidth and latency against contract
	ScorePrices       = "price_changes"  // prices that began to hold
)

// Sources of a figure, and what its coverage is a share of.
const (
	SourceStates    = "states"
	SourceDowntimes = "downtimes"
	SourceContracts = "contracts"
	SourceIncidents = "incidents"
	SourceInventory = "inventory"

	CoverTime      = "time"
	CoverLeases    = "leases"
	CoverIncidents = "incidents"
	CoverCards     = "cards"
)

// ScoreFigure is one figure of a scorecard. Exactly one of its values is set where Measured.
type ScoreFigure struct {
	Name     string `json:"name"`
	Measured bool   `json:"measured"`
	// Share and High are shares of time: both bounds.
	Share *Bound `json:"share,omitempty"`
	High  *Bound `json:"high,omitempty"`
	// Count is a number of things, Of out of how many.
	Count *int64 `json:"count,omitempty"`
	Of    *int64 `json:"of,omitempty"`
	// MS is a length of time.
	MS *int64 `json:"ms,omitempty"`
	// Amounts is money by currency.
	Amounts []Amount `json:"amounts,omitempty"`
	// Source is what it was worked out from, At the moment of the newest evidence, Stale that this is
	// more than ScoreStale ago.
	Source string `json:"source,omitempty"`
	At     Millis `json:"at,omitempty"`
	Stale  bool   `json:"stale,omitempty"`
	// Coverage is how much of CoverageOf (time, leases, incidents, cards) it rests on.
	Coverage   *Bound `json:"coverage,omitempty"`
	CoverageOf string `json:"coverage_of,omitempty"`
}

// Scorecard is how a provider did in a period, by what was measured and recorded.
type Scorecard struct {
	Provider string `json:"provider"`
	// Tenant is whose leases alone were looked at; empty for all.
	Tenant  string        `json:"tenant,omitempty"`
	Period  Span          `json:"period"`
	MadeAt  Millis        `json:"made_at"`
	Leases  []string      `json:"leases"`
	Figures []ScoreFigure `json:"figures"`
}

// ScoredLease is one lease of a provider in the period, as it was judged.
type ScoredLease struct {
	Lease    Lease
	Contract Contract
	// Period is the lease's own: a month begins with the contract's zone.
	Period      Span
	Verdict     *Verdict // nil without an objective
	Downtimes   []Downtime
	Credits     []Credit
	Assignments []Assignment
}

// ScoreInput is what a scorecard is made of. Incidents are those of the provider that were opened
// in the period; drills are sorted out here.
type ScoreInput struct {
	Provider, Tenant string
	Period           Span
	MadeAt           Millis
	Leases           []ScoredLease
	Incidents        []Incident
	// Hardware is what the inventory knows each card as, by uuid.
	Hardware map[string]string
}

// ScorecardOf works a scorecard out. It is pure, and says "not measured" of everything that nothing
// told of: an objective that is not proven is never counted as kept.
func ScorecardOf(in ScoreInput) Scorecard {
	out := Scorecard{Provider: in.Provider, Tenant: in.Tenant, Period: in.Period, MadeAt: in.MadeAt, Leases: []string{}}
	for _, l := range in.Leases {
		out.Leases = append(out.Leases, l.Lease.ID)
	}
	slices.Sort(out.Leases)
	out.Figures = slices.Concat(in.availability(), in.downtime(), in.credits(), in.response(),
		[]ScoreFigure{{Name: ScoreRecovery}}, in.hardware(), []ScoreFigure{{Name: ScorePerformance}, {Name: ScoreNetwork}}, in.prices())
	for i, f := range out.Figures {
		out.Figures[i].Stale = f.Measured && int64(in.MadeAt-f.At) > ScoreStale
	}
	return out
}

// known is up to when the period was looked at.
func (in ScoreInput) known() Millis { return min(in.Period.End, in.MadeAt) }

func (in ScoreInput) availability() []ScoreFigure {
	var low, high, coverage Bound
	add := func(to *Bound, b Bound) {
		to.Numerator, to.Denominator = to.Numerator+b.Numerator, to.Denominator+b.Denominator
	}
	counts := map[Outcome]int64{}
	var judged int64
	for _, l := range in.Leases {
		if l.Verdict == nil {
			continue
		}
		judged++
		counts[l.Verdict.Outcome]++
		if l.Verdict.Outcome != NotMeasured {
			add(&low, l.Verdict.Low)
			add(&high, l.Verdict.High)
			add(&coverage, l.Verdict.Coverage)
		}
	}
	share := ScoreFigure{Name: ScoreAvailability}
	if low.Denominator > 0 && coverage.Numerator > 0 {
		share = ScoreFigure{Name: ScoreAvailability, Measured: true, Share: &low, High: &high, Source: SourceStates, At: in.known(), Coverage: &coverage, CoverageOf: CoverTime}
	}
	out := []ScoreFigure{share}
	told := counts[Kept] + counts[Breached] + counts[NotProven]
	for _, one := range []struct {
		name string
		is   Outcome
	}{{ScoreKept, Kept}, {ScoreBreached, Breached}, {ScoreNotProven, NotProven}} {
		f := ScoreFigure{Name: one.name}
		if told > 0 {
			n, of := counts[one.is], judged
			f = ScoreFigure{Name: one.name, Measured: true, Count: &n, Of: &of, Source: SourceStates, At: in.known(),
				Coverage: &Bound{Numerator: told, Denominator: int64(len(in.Leases))}, CoverageOf: CoverLeases}
		}
		out = append(out, f)
	}
	return out
}

// watched tells how many leases anything was measured of.
func (in ScoreInput) watched() int64 {
	var n int64
	for _, l := range in.Leases {
		if l.Verdict != nil && l.Verdict.Outcome != NotMeasured && l.Verdict.Coverage.Numerator > 0 || len(l.Downtimes) > 0 {
			n++
		}
	}
	return n
}

func (in ScoreInput) downtime() []ScoreFigure {
	var count, undecided, cards int64
	var lengths []int64
	for _, l := range in.Leases {
		for _, d := range l.Downtimes {
			part := d.Span.Clip(Span{Start: l.Period.Start, End: min(l.Period.End, in.MadeAt)})
			if d.Cause == CauseTenant || d.RejectedBy != "" || part.Empty() {
				continue
			}
			count++
			cards += part.Duration() * int64(len(d.UUIDs))
			if d.Undecided() {
				undecided++
			}
			if d.Span.End != Forever {
				lengths = append(lengths, d.Span.Duration())
			}
		}
	}
	names := []string{ScoreDowntimes, ScoreDowntime, ScoreRepair, ScoreRepairMax, ScoreUndecided}
	watched := in.watched()
	out := make([]ScoreFigure, len(names))
	for i, name := range names {
		out[i] = ScoreFigure{Name: name}
		if watched == 0 {
			continue
		}
		f := ScoreFigure{Name: name, Measured: true, Source: SourceDowntimes, At: in.known(),
			Coverage: &Bound{Numerator: watched, Denominator: int64(len(in.Leases))}, CoverageOf: CoverLeases}
		switch name {
		case ScoreDowntimes:
			f.Count = &count
		case ScoreDowntime:
			f.MS = &cards
		case ScoreUndecided:
			f.Count = &undecided
		default:
			if len(lengths) == 0 {
				continue // nothing broke, or all of it is still broken: there is no time to repair
			}
			length := median(lengths)
			if name == ScoreRepairMax {
				length = slices.Max(lengths)
			}
			f.MS = &length
			f.Coverage, f.CoverageOf = nil, ""
		}
		out[i] = f
	}
	return out
}

// median returns the middle value, of an even number the lower of the two.
func median(values []int64) int64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}

func (in ScoreInput) credits() []ScoreFigure {
	var computed, booked []Amount
	var with int64
	for _, l := range in.Leases {
		if l.Contract.Credits == nil {
			continue
		}
		with++
		computed, booked = append(computed, Amount{Currency: l.Contract.Currency}), append(booked, Amount{Currency: l.Contract.Currency})
		for _, c := range l.Credits {
			computed = append(computed, c.Amount)
			if c.State == CreditBooked {
				booked = append(booked, c.Amount)
			}
		}
	}
	figure := func(name string, amounts []Amount) ScoreFigure {
		sums, err := Subtotals(amounts)
		if with == 0 || err != nil {
			return ScoreFigure{Name: name}
		}
		return ScoreFigure{Name: name, Measured: true, Amounts: sums, Source: SourceContracts, At: in.known(),
			Coverage: &Bound{Numerator: with, Denominator: int64(len(in.Leases))}, CoverageOf: CoverLeases}
	}
	return []ScoreFigure{figure(ScoreCredits, computed), figure(ScoreBooked, booked)}
}

func (in ScoreInput) response() []ScoreFigure {
	var all, answered int64
	var newest Millis
	var times []int64
	for _, i := range in.Incidents {
		if i.Drill || i.Severity != Page || i.Provider != in.Provider || !in.Period.Contains(i.OpenedAt) ||
			in.Tenant != "" && !slices.Contains(i.Tenants, in.Tenant) {
			continue
		}
		all++
		newest = max(newest, i.OpenedAt)
		if i.AckedAt != 0 {
			answered++
			times = append(times, int64(i.AckedAt-cmp.Or(i.DetectedAt, i.OpenedAt)))
		}
	}
	out := []ScoreFigure{{Name: ScoreAnswered}, {Name: ScoreResponse}}
	if all == 0 {
		return out
	}
	out[0] = ScoreFigure{Name: ScoreAnswered, Measured: true, Count: &answered, Of: &all, Source: SourceIncidents, At: newest}
	if answered > 0 {
		ms := median(times)
		out[1] = ScoreFigure{Name: ScoreResponse, Measured: true, MS: &ms, Source: SourceIncidents, At: newest,
			Coverage: &Bound{Numerator: answered, Denominator: all}, CoverageOf: CoverIncidents}
	}
	return out
}

func (in ScoreInput) hardware() []ScoreFigure {
	var promised, known, same, replaced, served int64
	for _, l := range in.Leases {
		seen := map[string]bool{}
		for _, a := range l.Assignments {
			if !a.Span.Overlaps(l.Period) || seen[a.UUID] {
				continue
			}
			seen[a.UUID] = true
			served++
			if a.Reason == ReasonRMA && l.Period.Contains(a.Span.Start) {
				replaced++
			}
			if l.Contract.SKU == "" {
				continue
			}
			promised++
			if found := in.Hardware[a.CardUUID()]; found != "" {
				known++
				if found == l.Contract.SKU {
					same++
				}
			}
		}
	}
	out := []ScoreFigure{{Name: ScoreHardware}, {Name: ScoreReplaced}}
	if known > 0 {
		out[0] = ScoreFigure{Name: ScoreHardware, Measured: true, Count: &same, Of: &known, Source: SourceInventory, At: in.known(),
			Coverage: &Bound{Numerator: known, Denominator: promised}, CoverageOf: CoverCards}
	}
	if served > 0 {
		out[1] = ScoreFigure{Name: ScoreReplaced, Measured: true, Count: &replaced, Of: &served, Source: SourceInventory, At: in.known()}
	}
	return out
}

func (in ScoreInput) prices() []ScoreFigure {
	contracts := map[string]Contract{}
	for _, l := range in.Leases {
		contracts[l.Lease.Contract] = l.Contract
	}
	if len(contracts) == 0 {
		return []ScoreFigure{{Name: ScorePrices}}
	}
	var changes int64
	for _, c := range contracts {
		for i, p := range c.Plan.Prices {
			if i > 0 && in.Period.Contains(p.From) {
				changes++
			}
		}
	}
	return []ScoreFigure{{Name: ScorePrices, Measured: true, Count: &changes, Source: SourceContracts, At: in.known()}}
}
