package phrase

// Sentences of verdicts, on the command line and in reports.
const (
	SLALease        Key = "sla.lease"
	SLANoObjective  Key = "sla.no_objective"
	SLAOpen         Key = "sla.open"
	SLABounds       Key = "sla.bounds"
	SLABudget       Key = "sla.budget"
	SLABudgetOver   Key = "sla.budget_over"
	SLAForecast     Key = "sla.forecast"
	SLADown         Key = "sla.down"
	SLADownOpen     Key = "sla.down_open"
	SLAWaits        Key = "sla.waits"
	SLACredit       Key = "sla.credit"
	SLACreditMaybe  Key = "sla.credit_provisional"
	SLAHeadLease    Key = "sla.head.lease"
	SLAHeadTenant   Key = "sla.head.tenant"
	SLAHeadProvider Key = "sla.head.provider"
	SLAHeadVerdict  Key = "sla.head.verdict"
	SLAHeadLow      Key = "sla.head.low"
	SLAHeadHigh     Key = "sla.head.high"
	SLAHeadTarget   Key = "sla.head.target"
	SLAHeadHow      Key = "sla.head.how"
	SLANone         Key = "sla.none"
)

var slaTexts = map[Key]sentence{
	SLALease:        {"lease %[1]s of %[2]s, %[3]s to %[4]s: %[5]s", "租约 %[1]s（租户 %[2]s），%[3]s 至 %[4]s：%[5]s"},
	SLANoObjective:  {"the contract has no availability objective", "合同没有可用率目标"},
	SLAOpen:         {"the period has not ended: this is provisional", "本期尚未结束，结果为暂定"},
	SLABounds:       {"availability: low bound %[1]s %%, high bound %[2]s %%, target %[3]s %%", "可用率：最低 %[1]s %%，最高 %[2]s %%，目标 %[3]s %%"},
	SLABudget:       {"error budget: %[2]s left of %[1]s at the low bound", "错误预算：%[1]s，按最低值剩余 %[2]s"},
	SLABudgetOver:   {"error budget: %[1]s, overspent by %[2]s at the low bound", "错误预算：%[1]s，按最低值超出 %[2]s"},
	SLAForecast:     {"forecast: %s", "预测：%s"},
	SLADown:         {"down: %[1]s to %[2]s, %[3]s, cause: %[4]s, %[5]s", "停机：%[1]s 至 %[2]s，%[3]s，原因：%[4]s，%[5]s"},
	SLADownOpen:     {"down: since %[1]s, %[3]s, cause: %[4]s, %[5]s", "停机：自 %[1]s 起，%[3]s，原因：%[4]s，%[5]s"},
	SLAWaits:        {"%s (waits for approval)", "%s（待批准）"},
	SLACredit:       {"credit: %s", "赔付：%s"},
	SLACreditMaybe:  {"credit (provisional): %s", "赔付（暂定）：%s"},
	SLAHeadLease:    {"LEASE", "租约"},
	SLAHeadTenant:   {"TENANT", "租户"},
	SLAHeadProvider: {"PROVIDER", "服务商"},
	SLAHeadVerdict:  {"VERDICT", "判定"},
	SLAHeadLow:      {"LOW %", "最低 %"},
	SLAHeadHigh:     {"HIGH %", "最高 %"},
	SLAHeadTarget:   {"TARGET %", "目标 %"},
	SLAHeadHow:      {"ARITHMETIC", "计算"},
	SLANone:         {"no lease ran in the period", "本期没有运行过的租约"},
}
