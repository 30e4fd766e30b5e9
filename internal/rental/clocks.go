package rental

import (
	"cmp"
	"fmt"
	"slices"
)

// ClockRun is one clock of one incident or failure against its limit.
type ClockRun struct {
	Objective string `json:"objective"`
	// Incident is whose clock it is; of RTO and RPO it is the failure's, where one is named.
	Incident string   `json:"incident,omitempty"`
	Severity Severity `json:"severity,omitempty"`
	// Failure is the recovery's id, Backup what was restored or, until then, would be.
	Failure string `json:"failure,omitempty"`
	Backup  string `json:"backup,omitempty"`
	// Drill is measured and judged like any other, and is no part of the objective.
	Drill bool `json:"drill,omitempty"`

	// EvidenceAt, DetectedAt and ReportedAt are an incident's three starts; the contract chooses.
	EvidenceAt Millis `json:"evidence_at,omitempty"`
	DetectedAt Millis `json:"detected_at,omitempty"`
	ReportedAt Millis `json:"reported_at,omitempty"`
	// StartAt and StopAt are when the clock started and stopped: 0 where it did not.
	StartAt Millis `json:"start_at,omitempty"`
	StopAt  Millis `json:"stop_at,omitempty"`
	// DueAt is the last moment that keeps the limit.
	DueAt     Millis `json:"due_at,omitempty"`
	LimitMS   int64  `json:"limit_ms"`
	ElapsedMS int64  `json:"elapsed_ms"`
	// Hours is always or working: what LimitMS and ElapsedMS count.
	Hours   string  `json:"hours"`
	Outcome Outcome `json:"outcome"`
	// Healed tells that it was over before anybody had answered, within the limit: nothing is judged.
	Healed bool `json:"healed,omitempty"`
}

// ObjectiveVerdict is how an objective of incidents or failures stands over a period.
type ObjectiveVerdict struct {
	Objective string  `json:"objective"`
	Outcome   Outcome `json:"outcome"`
	// Target is the share that must keep the limit; 100 for RTO and RPO.
	Target Decimal `json:"target_percent"`
	// Counts of the clocks that are judged; drills are counted apart and are in none of the others.
	Kept      int `json:"kept"`
	Breached  int `json:"breached"`
	NotProven int `json:"not_proven"`
	Open      int `json:"open"`
	Drills    int `json:"drills"`
	// Low counts what is open or not proven as breached, High as kept.
	Low  Bound      `json:"low"`
	High Bound      `json:"high"`
	Runs []ClockRun `json:"runs"`
	// Arithmetic says the counts in words.
	Arithmetic string `json:"arithmetic"`
}

// ClocksInput is what JudgeClocks reads: all that is known of one lease.
type ClocksInput struct {
	Lease    Lease
	Contract Contract
	// Incidents are those that touch the lease, with their events.
	Incidents []Incident
	Failures  []WorkLoss
	Backups   []Backup
	Period    Span
	// Now is until when anything is known.
	Now      Millis
	Language string // of the arithmetic: "zh", else English
}

// JudgeClocks judges the contract's objectives of response, resolution, RTO and RPO over the
// incidents and failures whose clocks start in the period. It is pure, and a limit passes at
// exactly the limit (C55).
func JudgeClocks(in ClocksInput) ([]ObjectiveVerdict, error) {
	var out []ObjectiveVerdict
	for _, of := range []struct {
		objective string
		clocks    *Clocks
	}{{ObjectiveResponse, in.Contract.Response}, {ObjectiveResolution, in.Contract.Resolution}} {
		if of.clocks == nil {
			continue
		}
		v := ObjectiveVerdict{Objective: of.objective, Target: of.clocks.TargetPercent, Runs: []ClockRun{}}
		for _, i := range in.Incidents {
			run, ok, err := in.incidentRun(of.objective, *of.clocks, i)
			if err != nil {
				return nil, err
			}
			if ok && in.holds(run) {
				v.Runs = append(v.Runs, run)
			}
		}
		out = append(out, v.Counted(in.Language))
	}
	if r := in.Contract.Recovery; r != nil {
		for _, of := range []struct {
			objective string
			limit     Duration
		}{{ObjectiveRTO, r.RTO}, {ObjectiveRPO, r.RPO}} {
			if of.limit == 0 {
				continue
			}
			v := ObjectiveVerdict{Objective: of.objective, Target: wholeTarget, Runs: []ClockRun{}}
			for _, f := range in.Failures {
				if in.Period.Contains(f.FailedAt) {
					v.Runs = append(v.Runs, in.failureRun(of.objective, of.limit.Milliseconds(), f))
				}
			}
			out = append(out, v.Counted(in.Language))
		}
	}
	return out, nil
}

// wholeTarget is that of an objective which every case must keep.
var wholeTarget = Decimal{text: "100"}

// holds tells whether a run belongs to the period: by the start of its clock, or by the detection
// where the clock has not started.
func (in ClocksInput) holds(run ClockRun) bool {
	return in.Period.Contains(cmp.Or(run.StartAt, run.DetectedAt)) && in.Lease.Span().Contains(cmp.Or(run.StartAt, run.DetectedAt))
}

// incidentRun is one clock of an incident; false where the objective is not about it.
func (in ClocksInput) incidentRun(objective string, c Clocks, i Incident) (ClockRun, bool, error) {
	limit, limited := c.Limit(i.Severity)
	if !limited || !slices.Contains(i.Leases, in.Lease.ID) || !i.asksProvider() {
		return ClockRun{}, false, nil
	}
	run := ClockRun{Objective: objective, Incident: i.ID, Severity: i.Severity, Drill: i.Drill, Hours: limit.Hours, LimitMS: limit.Within.Milliseconds(),
		EvidenceAt: i.EvidenceAt, DetectedAt: i.DetectedAt, ReportedAt: i.Reported()}
	run.StartAt = map[string]Millis{StartsAtEvidence: run.EvidenceAt, StartsAtDetection: run.DetectedAt, StartsAtReport: run.ReportedAt}[c.Starts]
	over := i.Status == IncidentResolved
	switch {
	case objective == ObjectiveResponse:
		run.StopAt = i.Responded()
	case over && c.Ends == EndsVerified:
		run.StopAt = i.VerifiedAt
	case over:
		run.StopAt = i.ResolvedAt
	}
	if run.StartAt == 0 {
		// Nobody was told, so the clock never started; once it is over, nothing proves a limit.
		run.Outcome = Open
		if over || i.Status == IncidentUnknown {
			run.Outcome = NotProven
		}
		return run, true, nil
	}
	if run.StopAt != 0 {
		run.StopAt = max(run.StopAt, run.StartAt)
	}
	end := cmp.Or(run.StopAt, in.Now)
	answered := run.StopAt != 0
	if objective == ObjectiveResponse && !answered && over {
		end = max(i.ResolvedAt, run.StartAt)
	}
	if err := in.count(&run, end); err != nil {
		return run, false, err
	}
	run.Outcome = run.judge(answered, i)
	if objective == ObjectiveResponse && !answered && over && run.Outcome == Kept {
		run.Outcome, run.Healed = NotMeasured, true
	}
	return run, true, nil
}

// judge compares the elapsed time with the limit. A clock that was not stopped breaks its limit
// once it has passed it; one whose end nobody knows proves nothing before.
func (r ClockRun) judge(stopped bool, i Incident) Outcome {
	switch {
	case r.ElapsedMS <= r.LimitMS && stopped:
		return Kept
	case r.Objective == ObjectiveResponse && i.answerPending(r.DueAt):
		return NotProven // the answer that was noted late would keep it
	case r.ElapsedMS > r.LimitMS && (stopped || i.Status != IncidentUnknown):
		return Breached
	case i.Status == IncidentUnknown:
		return NotProven
	case i.Status == IncidentResolved && r.Objective == ObjectiveResponse:
		return Kept // the caller says that it healed
	}
	return Open
}

// count fills in how much of the limit's hours lie between the start and the end, and when the limit is up.
func (in ClocksInput) count(run *ClockRun, end Millis) error {
	span := Span{Start: run.StartAt, End: max(end, run.StartAt)}
	if run.Hours != HoursWorking {
		run.ElapsedMS, run.DueAt = span.Duration(), run.StartAt+Millis(run.LimitMS)
		return nil
	}
	if in.Contract.WorkTime == nil {
		return fmt.Errorf("contract %s: a limit counts working hours and the contract holds no calendar: record it anew with its calendar", in.Contract.Name)
	}
	worked, err := in.Contract.WorkTime.Working(span)
	if err != nil {
		return err
	}
	run.ElapsedMS = TotalMillis(worked)
	run.DueAt, err = in.Contract.WorkTime.After(run.StartAt, run.LimitMS)
	return err
}

// asksProvider tells whether an incident is one that the provider must answer: not one that asks the
// tenant alone, nor one about an objective's own clock.
func (i Incident) asksProvider() bool {
	return len(i.Alerts) == 0 || slices.ContainsFunc(i.Alerts, func(a Alert) bool {
		return a.Labels["audience"] != "tenant" && a.Labels["objective"] == ""
	})
}

// Counted counts the runs and says how the objective stands, with the arithmetic in a language.
func (v ObjectiveVerdict) Counted(lang string) ObjectiveVerdict {
	v.Kept, v.Breached, v.NotProven, v.Open, v.Drills, v.Runs = 0, 0, 0, 0, 0, slices.Clone(v.Runs)
	slices.SortStableFunc(v.Runs, func(a, b ClockRun) int {
		return cmp.Or(cmp.Compare(cmp.Or(a.StartAt, a.DetectedAt), cmp.Or(b.StartAt, b.DetectedAt)), cmp.Compare(a.Incident+a.Failure, b.Incident+b.Failure))
	})
	healed := 0
	for _, r := range v.Runs {
		switch {
		case r.Drill:
			v.Drills++
		case r.Healed:
			healed++
		case r.Outcome == Kept:
			v.Kept++
		case r.Outcome == Breached:
			v.Breached++
		case r.Outcome == Open:
			v.Open++
		default:
			v.NotProven++
		}
	}
	whole := int64(v.Kept + v.Breached + v.NotProven + v.Open)
	v.Low, v.High = Bound{int64(v.Kept), whole}, Bound{whole - int64(v.Breached), whole}
	switch {
	case whole == 0:
		v.Outcome = NotMeasured // no case, no proof: an untested promise is no kept one
	case v.High.Under(v.Target):
		v.Outcome = Breached
	case !v.Low.Under(v.Target):
		v.Outcome = Kept
	case v.NotProven == 0:
		v.Outcome = Open
	default:
		v.Outcome = NotProven
	}
	v.Arithmetic = v.explain(healed, lang == "zh")
	return v
}

func (v ObjectiveVerdict) explain(healed int, zh bool) string {
	incidents := v.Objective == ObjectiveResponse || v.Objective == ObjectiveResolution
	whole := v.Low.Denominator
	var text string
	switch {
	case whole == 0 && incidents:
		text = pick(zh, "no incident to judge in the period", "本期没有可判定的事件")
	case whole == 0:
		text = pick(zh, "no failure with a recovery in the period", "本期没有需要恢复的故障")
	default:
		text = fmt.Sprintf(pick(zh, "of %[1]d, %[2]d kept and %[3]d broke the limit", "共 %[1]d 起：%[2]d 起达标，%[3]d 起超限"), whole, v.Kept, v.Breached)
		if v.Open > 0 {
			text += fmt.Sprintf(pick(zh, ", %d not over", "，%d 起进行中"), v.Open)
		}
		if v.NotProven > 0 {
			text += fmt.Sprintf(pick(zh, ", %d not proven", "，%d 起无法证实"), v.NotProven)
		}
		share := v.Low.Percent(v.Target) + " %"
		if v.Low != v.High {
			share = v.Low.Percent(v.Target) + " – " + v.High.Percent(v.Target) + " %"
		}
		text += fmt.Sprintf(pick(zh, ": %s, target %s", "：%s，目标 %s"), share, v.Target)
	}
	if healed > 0 {
		text += fmt.Sprintf(pick(zh, "; %d was over within the limit before anybody answered", "；%d 起在限期内无人响应前已自行恢复"), healed)
	}
	if v.Drills > 0 {
		text += fmt.Sprintf(pick(zh, "; %d drill, kept out", "；演练 %d 次，不计入"), v.Drills)
	}
	return text
}
