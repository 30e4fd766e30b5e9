package phrase

import (
	"cmp"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Sentences of the objectives that clocks measure: response, resolution, RTO, RPO.
const (
	ObjectiveResponse   Key = "objective.response"
	ObjectiveResolution Key = "objective.resolution"
	ObjectiveRTO        Key = "objective.rto"
	ObjectiveRPO        Key = "objective.rpo"

	ObjectiveLine     Key = "objective.line"
	ObjectiveRun      Key = "objective.run"
	ObjectiveRunDrill Key = "objective.run_drill"
	ObjectiveHealed   Key = "objective.healed"
	ObjectiveWorking  Key = "objective.working"
	ObjectiveStarts   Key = "objective.starts"
	ObjectiveNoStart  Key = "objective.no_start"
	ObjectiveLost     Key = "objective.lost"

	OutcomeOpen Key = "outcome.open"

	ReportClocks    Key = "report.clocks"
	ReportNoClocks  Key = "report.no_clocks"
	ReportCase      Key = "report.case"
	ReportElapsed   Key = "report.elapsed"
	ReportLimit     Key = "report.limit"
	ReportNotAgreed Key = "report.not_agreed"
	ReportNetwork   Key = "report.network"
	PortalClocks    Key = "portal.clocks"
	PortalObjective Key = "portal.objective"
	PortalElapsed   Key = "portal.elapsed"
	PortalLimit     Key = "portal.limit"
)

var clockTexts = map[Key]sentence{
	ObjectiveResponse:   {"Response", "响应时间"},
	ObjectiveResolution: {"Resolution", "解决时间"},
	ObjectiveRTO:        {"RTO (time to restore)", "RTO（恢复时间）"},
	ObjectiveRPO:        {"RPO (work lost)", "RPO（数据损失）"},

	ObjectiveLine:     {"%[1]s: %[2]s; %[3]s", "%[1]s：%[2]s；%[3]s"},
	ObjectiveRun:      {"%[1]s: %[2]s of %[3]s, %[4]s", "%[1]s：%[2]s / 限期 %[3]s，%[4]s"},
	ObjectiveRunDrill: {"%s (drill, kept out)", "%s（演练，不计入）"},
	ObjectiveHealed:   {"over before anybody answered", "无人响应前已恢复"},
	ObjectiveWorking:  {"%s of working hours", "%s（工作时间）"},
	ObjectiveStarts:   {"evidence %[1]s, detection %[2]s, report %[3]s", "证据 %[1]s，检测 %[2]s，报告 %[3]s"},
	ObjectiveNoStart:  {"not reported", "未报告"},
	ObjectiveLost:     {"no verified backup", "没有已验证的备份"},

	OutcomeOpen: {"Open", "进行中"},

	ReportClocks:    {"Response, resolution and recovery", "响应、解决与恢复"},
	ReportNoClocks:  {"The contract has no objective of response, resolution or recovery.", "合同没有响应、解决或恢复目标。"},
	ReportCase:      {"Case", "事项"},
	ReportElapsed:   {"Elapsed", "用时"},
	ReportLimit:     {"Limit", "限期"},
	ReportNotAgreed: {"not agreed", "未约定"},
	ReportNetwork:   {"Network", "网络"},
	PortalClocks:    {"Response and recovery", "响应与恢复"},
	PortalObjective: {"Objective", "目标项"},
	PortalElapsed:   {"Elapsed", "用时"},
	PortalLimit:     {"Limit", "限期"},
}

// Objective names an objective that clocks measure; another word as it is.
func (p Printer) Objective(name string) string {
	keys := map[string]Key{
		rental.ObjectiveResponse: ObjectiveResponse, rental.ObjectiveResolution: ObjectiveResolution,
		rental.ObjectiveRTO: ObjectiveRTO, rental.ObjectiveRPO: ObjectiveRPO,
	}
	if key, ok := keys[name]; ok {
		return p.Say(key)
	}
	return name
}

// ClockCase names what a clock ran for: the incident, the failure, or both.
func (p Printer) ClockCase(r rental.ClockRun) string {
	name := cmp.Or(r.Failure, r.Incident)
	if r.Failure != "" && r.Incident != "" {
		name += " (" + r.Incident + ")"
	}
	if r.Drill {
		return p.Say(ObjectiveRunDrill, name)
	}
	return name
}

// ClockOutcome says how a clock's limit stands.
func (p Printer) ClockOutcome(r rental.ClockRun) Look {
	look := p.Outcome(r.Outcome)
	if r.Healed {
		look.Word = p.Say(ObjectiveHealed)
	}
	return look
}

// ClockElapsed says how much of its hours a clock has counted, to the millisecond where it has any.
func (p Printer) ClockElapsed(r rental.ClockRun) string {
	if r.Objective == rental.ObjectiveRPO && r.StartAt == 0 {
		return p.Say(ObjectiveLost)
	}
	if r.StartAt == 0 {
		return p.Say(ObjectiveNoStart)
	}
	return p.hours(r.ElapsedMS, r.Hours)
}

// ClockLimit says what a clock must not pass.
func (p Printer) ClockLimit(r rental.ClockRun) string { return p.hours(r.LimitMS, r.Hours) }

func (p Printer) hours(ms int64, hours string) string {
	// A millisecond decides, so it is shown.
	text := (time.Duration(ms) * time.Millisecond).String()
	if hours == rental.HoursWorking {
		return p.Say(ObjectiveWorking, text)
	}
	return text
}

// ClockStarts says the three moments from which an incident's clock may run.
func (p Printer) ClockStarts(r rental.ClockRun, zone *time.Location) string {
	at := func(m rental.Millis) string {
		if m == 0 {
			return p.Say(ObjectiveNoStart)
		}
		return p.Time(m, zone)
	}
	return p.Say(ObjectiveStarts, at(r.EvidenceAt), at(r.DetectedAt), at(r.ReportedAt))
}
