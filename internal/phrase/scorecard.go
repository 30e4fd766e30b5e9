package phrase

import (
	"strconv"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Sentences of a provider's scorecard.
const (
	ScoreTitle     Key = "score.title"
	ScoreAnswer    Key = "score.answer"
	ScoreHeading   Key = "score.heading"
	ScoreTenant    Key = "score.tenant"
	ScoreHeadName  Key = "score.head.figure"
	ScoreHeadValue Key = "score.head.value"
	ScoreHeadFrom  Key = "score.head.source"
	ScoreHeadCover Key = "score.head.coverage"
	ScoreHeadAt    Key = "score.head.at"
	ScoreStale     Key = "score.stale"
	ScoreOf        Key = "score.of"
	ScoreNote      Key = "score.note"
	ScoreLink      Key = "portal.scorecard"
)

var scoreTexts = map[Key]sentence{
	ScoreTitle:     {"Scorecard of %[1]s", "%[1]s 的记分卡"},
	ScoreAnswer:    {"%[1]s, %[2]s to %[3]s: %[5]d of %[6]d figures are measured (leases looked at: %[4]d)", "%[1]s，%[2]s 至 %[3]s：%[6]d 项中有 %[5]d 项已测量（依据租约 %[4]d 份）"},
	ScoreHeading:   {"How did %[1]s do in %[2]s?", "%[1]s 在 %[2]s 表现如何？"},
	ScoreTenant:    {"by the leases of %[1]s alone", "仅依据 %[1]s 的租约"},
	ScoreHeadName:  {"Figure", "指标"},
	ScoreHeadValue: {"Value", "数值"},
	ScoreHeadFrom:  {"Source", "来源"},
	ScoreHeadCover: {"Coverage", "覆盖"},
	ScoreHeadAt:    {"Evidence up to", "证据截至"},
	ScoreStale:     {"%[1]s (older than 30 days)", "%[1]s（超过 30 天）"},
	ScoreOf:        {"%[1]s of %[2]s", "%[2]s 中的 %[1]s"},
	ScoreNote:      {"Not measured is no good mark: nothing told of it. Not proven is never counted as kept.", "未测量不是好评：没有任何数据说明它。未能证明的从不计为达标。"},
	ScoreLink:      {"Scorecard", "记分卡"},

	"score.name." + rental.ScoreAvailability: {"availability, low to high bound", "可用率（最低至最高）"},
	"score.name." + rental.ScoreKept:         {"objectives kept", "达标的目标"},
	"score.name." + rental.ScoreBreached:     {"objectives breached", "未达标的目标"},
	"score.name." + rental.ScoreNotProven:    {"objectives not proven", "未能证明的目标"},
	"score.name." + rental.ScoreDowntimes:    {"downtimes not of the tenant's making", "非租户造成的停机次数"},
	"score.name." + rental.ScoreDowntime:     {"their time, summed over GPUs", "其时长（各 GPU 合计）"},
	"score.name." + rental.ScoreRepair:       {"time to repair, median", "修复时间（中位数）"},
	"score.name." + rental.ScoreRepairMax:    {"time to repair, longest", "修复时间（最长）"},
	"score.name." + rental.ScoreUndecided:    {"downtimes that wait for a decision", "待裁定的停机"},
	"score.name." + rental.ScoreCredits:      {"credits for missed objectives", "未达标的赔付"},
	"score.name." + rental.ScoreBooked:       {"of these, booked", "其中已入账"},
	"score.name." + rental.ScoreAnswered:     {"pages that a person answered", "有人响应的呼叫"},
	"score.name." + rental.ScoreResponse:     {"time to the answer, median", "响应时间（中位数）"},
	"score.name." + rental.ScoreRecovery:     {"recovery of work (RTO, RPO)", "恢复（RTO、RPO）"},
	"score.name." + rental.ScoreHardware:     {"GPUs that are what was promised", "与承诺相符的 GPU"},
	"score.name." + rental.ScoreReplaced:     {"GPUs replaced", "更换的 GPU"},
	"score.name." + rental.ScorePerformance:  {"performance against acceptance", "相对验收的性能"},
	"score.name." + rental.ScoreNetwork:      {"network against the contract", "相对合同的网络"},
	"score.name." + rental.ScorePrices:       {"price changes", "价格变动"},

	"score.source." + rental.SourceStates:    {"states of GPUs", "GPU 状态"},
	"score.source." + rental.SourceDowntimes: {"recorded downtime", "停机记录"},
	"score.source." + rental.SourceContracts: {"contracts", "合同"},
	"score.source." + rental.SourceIncidents: {"incidents", "事件"},
	"score.source." + rental.SourceInventory: {"inventory", "资产清单"},

	"score.cover." + rental.CoverTime:      {"%[1]s %% of the time", "时间的 %[1]s %%"},
	"score.cover." + rental.CoverLeases:    {"%[1]s of %[2]s leases", "%[2]s 份租约中的 %[1]s 份"},
	"score.cover." + rental.CoverIncidents: {"%[1]s of %[2]s incidents", "%[2]s 个事件中的 %[1]s 个"},
	"score.cover." + rental.CoverCards:     {"%[1]s of %[2]s GPUs", "%[2]s 个 GPU 中的 %[1]s 个"},
}

// ScoreName is what a figure of a scorecard is called.
func (p Printer) ScoreName(f rental.ScoreFigure) string { return p.Say(Key("score.name." + f.Name)) }

// ScoreSource is what a figure was worked out from; empty where it was not.
func (p Printer) ScoreSource(f rental.ScoreFigure) string {
	if !f.Measured {
		return ""
	}
	return p.Say(Key("score.source." + f.Source))
}

// ScoreValue writes a figure's value; shares of time are floored.
func (p Printer) ScoreValue(f rental.ScoreFigure) string {
	switch {
	case !f.Measured:
		return p.Say(NotMeasuredWord)
	case f.Share != nil && f.High != nil:
		return f.Share.Percent(rental.Decimal{}) + " % – " + f.High.Percent(rental.Decimal{}) + " %"
	case f.Count != nil && f.Of != nil:
		return p.Say(ScoreOf, number(*f.Count), number(*f.Of))
	case f.Count != nil:
		return number(*f.Count)
	case f.MS != nil:
		return p.Duration(*f.MS)
	}
	texts := make([]string, len(f.Amounts))
	for i, a := range f.Amounts {
		texts[i] = p.Money(a)
	}
	return strings.Join(texts, ", ")
}

func number(n int64) string { return rental.GroupDigits(strconv.FormatInt(n, 10)) }

// ScoreCoverage says how much a figure rests on; empty where that is no share of anything.
func (p Printer) ScoreCoverage(f rental.ScoreFigure) string {
	switch {
	case !f.Measured || f.Coverage == nil:
		return ""
	case f.CoverageOf == rental.CoverTime:
		return p.Say(Key("score.cover."+f.CoverageOf), f.Coverage.Percent(rental.Decimal{}))
	}
	return p.Say(Key("score.cover."+f.CoverageOf), number(f.Coverage.Numerator), number(f.Coverage.Denominator))
}
