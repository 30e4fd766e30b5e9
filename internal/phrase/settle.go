package phrase

// Words for what people do with downtimes and credits.
const (
	PortalApprovedBy   Key = "portal.approved_by"
	PortalRejectedBy   Key = "portal.rejected_by"
	PortalDisputedBy   Key = "portal.disputed_by"
	PortalNoteOf       Key = "portal.note_of"
	PortalActRecorded  Key = "portal.act_recorded"
	PortalActApproved  Key = "portal.act_approved"
	PortalActRejected  Key = "portal.act_rejected"
	PortalActDisputed  Key = "portal.act_disputed"
	PortalActDecided   Key = "portal.act_decided"
	PortalActChanged   Key = "portal.act_changed"
	PortalActWithdrawn Key = "portal.act_withdrawn"

	CreditStateComputed  Key = "credit.computed"
	CreditStateClaimable Key = "credit.claimable"
	CreditStateClaimed   Key = "credit.claimed"
	CreditStateBooked    Key = "credit.booked"
	CreditStateRefused   Key = "credit.refused"
	CreditStateLapsed    Key = "credit.lapsed"
	CreditHeld           Key = "credit.held"
	CreditUntil          Key = "credit.until"
	CreditAnd            Key = "credit.and"
	PortalActClaimed     Key = "portal.act_claimed"
	PortalActRefused     Key = "portal.act_refused"

	PackTitle        Key = "pack.title"
	PackParties      Key = "pack.parties"
	PackOwed         Key = "pack.owed"
	PackNoDeadline   Key = "pack.no_deadline"
	PackArithmetic   Key = "pack.arithmetic"
	PackClause       Key = "pack.clause"
	PackTarget       Key = "pack.target"
	PackTier         Key = "pack.tier"
	PackCap          Key = "pack.cap"
	PackVerdict      Key = "pack.verdict"
	PackDowntimes    Key = "pack.downtimes"
	PackNoDowntimes  Key = "pack.no_downtimes"
	PackMaintenances Key = "pack.maintenances"
	PackEvidence     Key = "pack.evidence"
	PackMade         Key = "pack.made"
)

var settleTexts = map[Key]sentence{
	PortalApprovedBy:   {"approved by %s", "已由 %s 批准"},
	PortalRejectedBy:   {"rejected by %s; changes no money", "已被 %s 驳回，不影响费用"},
	PortalDisputedBy:   {"disputed by %s; held until a person decides", "%s 有异议，裁定前暂不影响费用"},
	PortalNoteOf:       {"%[1]s %[2]s, %[3]s: %[4]s", "%[1]s %[2]s（%[3]s）：%[4]s"},
	PortalActRecorded:  {"entered", "录入"},
	PortalActApproved:  {"approved", "批准"},
	PortalActRejected:  {"rejected", "驳回"},
	PortalActDisputed:  {"disputed", "提出异议"},
	PortalActDecided:   {"decided", "裁定"},
	PortalActChanged:   {"samples changed", "数据更新"},
	PortalActWithdrawn: {"withdrawn", "撤回"},

	CreditStateComputed:  {"computed; the month is not final", "已计算，本月尚未定案"},
	CreditStateClaimable: {"may be claimed", "可申领"},
	CreditStateClaimed:   {"claimed; waits for approval", "已申领，待批准"},
	CreditStateBooked:    {"booked", "已入账"},
	CreditStateRefused:   {"refused", "已拒绝"},
	CreditStateLapsed:    {"not claimed in time", "逾期未申领"},
	CreditHeld:           {"held: downtime of the month is not decided", "暂缓：本月有停机尚未裁定"},
	CreditAnd:            {"; ", "；"},
	CreditUntil:          {"to be claimed until %s", "申领截止 %s"},
	PortalActClaimed:     {"claimed", "申领"},
	PortalActRefused:     {"refused", "拒绝"},

	PackTitle:        {"Credit claim for lease %[1]s, %[2]s", "租约 %[1]s 的赔付申领，%[2]s"},
	PackParties:      {"Tenant %[1]s, provider %[2]s, contract %[3]s", "租户 %[1]s，服务商 %[2]s，合同 %[3]s"},
	PackOwed:         {"Owed: %[1]s (%[2]s)", "应赔付：%[1]s（%[2]s）"},
	PackNoDeadline:   {"The contract names no date to claim it by.", "合同未约定申领截止日期。"},
	PackArithmetic:   {"How it is computed", "计算方法"},
	PackClause:       {"What the contract says", "合同条款"},
	PackTarget:       {"Availability of %[1]s %% a calendar month; scope %[2]s, denominator %[3]s, outage %[4]s, unknown time %[5]s.", "每个自然月可用率 %[1]s %%；范围 %[2]s，分母 %[3]s，停机计法 %[4]s，无数据时间 %[5]s。"},
	PackTier:         {"Under %[1]s %%: %[2]s %% of the %[3]s fee.", "低于 %[1]s %%：赔付 %[3]s 费用的 %[2]s %%。"},
	PackCap:          {"Unbilled time and credits together stay within %[1]s %% of the fee, for each %[2]s.", "未计费与赔付合计不超过费用的 %[1]s %%，按 %[2]s 计。"},
	PackVerdict:      {"The verdict", "判定"},
	PackDowntimes:    {"Downtime and its evidence", "停机及证据"},
	PackNoDowntimes:  {"No downtime is recorded: the time without data is judged as the contract says.", "没有停机记录：无数据的时间按合同规定判定。"},
	PackMaintenances: {"Announced maintenance", "已公告的维护"},
	PackEvidence:     {"Evidence", "证据"},
	PackMade:         {"Made at %s from the ledger. The file pack.json holds every figure; SHA256SUMS names the bytes of both.", "于 %s 由账本生成。pack.json 含全部数据，SHA256SUMS 为两份文件的校验值。"},
}
