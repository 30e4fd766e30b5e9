package phrase

// Sentences of the monthly report that a tenant is given. The report's room keeps this table.
const (
	ReportTitle        Key = "report.title"
	ReportTitleTrial   Key = "report.title_trial"
	ReportTitleSpan    Key = "report.title_span"
	ReportParties      Key = "report.parties"
	ReportPeriod       Key = "report.period"
	ReportOpen         Key = "report.open"
	ReportVerdicts     Key = "report.verdicts"
	ReportObjective    Key = "report.objective"
	ReportTarget       Key = "report.target"
	ReportBounds       Key = "report.bounds"
	ReportVerdict      Key = "report.verdict"
	ReportHow          Key = "report.how"
	ReportAvailability Key = "report.availability"
	ReportHardware     Key = "report.hardware"
	ReportMeasures     Key = "report.measures"
	ReportCoverage     Key = "report.coverage"
	ReportCoverageLow  Key = "report.coverage_low"
	ReportByGPU        Key = "report.by_gpu"
	ReportTimeline     Key = "report.timeline"
	ReportTimelineOf   Key = "report.timeline_of"
	ReportDowntime     Key = "report.downtime"
	ReportNoDowntime   Key = "report.no_downtime"
	ReportFrom         Key = "report.from"
	ReportTo           Key = "report.to"
	ReportSeconds      Key = "report.seconds"
	ReportGPU          Key = "report.gpu"
	ReportCause        Key = "report.cause"
	ReportWitness      Key = "report.witness"
	ReportStanding     Key = "report.standing"
	ReportIncident     Key = "report.incident"
	ReportApprovedAuto Key = "report.approved_automatic"
	ReportApprovedBy   Key = "report.approved_by"
	ReportRejectedBy   Key = "report.rejected_by"
	ReportDisputedBy   Key = "report.disputed_by"
	ReportWaiting      Key = "report.waiting"
	ReportWithdrawn    Key = "report.withdrawn"
	ReportCredits      Key = "report.credits"
	ReportNoCredits    Key = "report.no_credits"
	ReportAmount       Key = "report.amount"
	ReportPercent      Key = "report.percent"
	ReportState        Key = "report.state"
	ReportProvisional  Key = "report.provisional"
	ReportUse          Key = "report.use"
	ReportPaidTime     Key = "report.paid_time"
	ReportUtilisation  Key = "report.utilisation"
	ReportSeen         Key = "report.seen"
	ReportAll          Key = "report.all"
	ReportNoUse        Key = "report.no_use"
	ReportCost         Key = "report.cost"
	ReportNoBill       Key = "report.no_bill"
	ReportPromised     Key = "report.promised"
	ReportFound        Key = "report.found"
	ReportSerial       Key = "report.serial"
	ReportPlace        Key = "report.place"
	ReportServed       Key = "report.served"
	ReportAsPromised   Key = "report.as_promised"
	ReportOther        Key = "report.other_hardware"
	ReportNoPromise    Key = "report.no_promise"
	ReportProof        Key = "report.proof"
	ReportProofHead    Key = "report.proof_head"
	ReportProofNoHead  Key = "report.proof_no_head"
	ReportProofUnseal  Key = "report.proof_unsealed"
	ReportProofSigned  Key = "report.proof_signed"
	ReportProofCheck   Key = "report.proof_check"
	ReportMade         Key = "report.made"

	PortalReportAs   Key = "portal.report_as"
	PortalReportLang Key = "portal.report_lang"
	PortalHeads      Key = "portal.heads"
)

var leaseReportTexts = map[Key]sentence{
	ReportTitle:        {"Report on lease %[1]s, %[2]s", "租约 %[1]s 报告，%[2]s"},
	ReportTitleTrial:   {"Trial report on lease %[1]s, its first 168 hours", "租约 %[1]s 试用报告（最初 168 小时）"},
	ReportTitleSpan:    {"Report on lease %[1]s, %[2]s to %[3]s", "租约 %[1]s 报告，%[2]s 至 %[3]s"},
	ReportParties:      {"Tenant %[1]s, provider %[2]s, contract %[3]s", "租户 %[1]s，服务商 %[2]s，合同 %[3]s"},
	ReportPeriod:       {"%[1]s to %[2]s", "%[1]s 至 %[2]s"},
	ReportOpen:         {"The period has not ended, or late samples are still taken: figures are provisional.", "本期尚未结束或仍在接收迟到的采样，数据为暂定。"},
	ReportVerdicts:     {"Objectives", "服务目标"},
	ReportObjective:    {"Objective", "目标项"},
	ReportTarget:       {"Target", "目标值"},
	ReportBounds:       {"Low and high bound", "最低与最高值"},
	ReportVerdict:      {"Verdict", "判定"},
	ReportHow:          {"How it was worked out", "计算过程"},
	ReportAvailability: {"Availability", "可用率"},
	ReportHardware:     {"Hardware", "硬件"},
	ReportMeasures:     {"Response, resolution, RTO, RPO, network", "响应、解决、RTO、RPO、网络"},
	ReportCoverage:     {"Coverage: %s", "采样覆盖率：%s"},
	ReportCoverageLow:  {"%s, under 99.9 %%", "%s，低于 99.9 %%"},
	ReportByGPU:        {"Availability by GPU", "各 GPU 可用率"},
	ReportTimeline:     {"The period at a glance", "本期状态"},
	ReportTimelineOf:   {"State of each GPU of lease %[1]s, %[2]s to %[3]s", "租约 %[1]s 各 GPU 状态，%[2]s 至 %[3]s"},
	ReportDowntime:     {"Downtime", "停机"},
	ReportNoDowntime:   {"No downtime is recorded in the period.", "本期没有停机记录。"},
	ReportFrom:         {"From", "开始"},
	ReportTo:           {"To", "结束"},
	ReportSeconds:      {"Seconds", "秒"},
	ReportGPU:          {"GPU", "GPU"},
	ReportCause:        {"Reason and cause", "现象与责任方"},
	ReportWitness:      {"Witnesses", "证据"},
	ReportStanding:     {"Standing", "状态"},
	ReportIncident:     {"Incident %s", "事件 %s"},
	ReportApprovedAuto: {"approved by the contract's word", "按合同自动批准"},
	ReportApprovedBy:   {"approved by %s", "由 %s 批准"},
	ReportRejectedBy:   {"rejected by %s", "由 %s 驳回"},
	ReportDisputedBy:   {"disputed by %s, not decided", "%s 提出异议，尚未裁定"},
	ReportWaiting:      {"waits for approval", "待批准"},
	ReportWithdrawn:    {"withdrawn: later samples disproved it", "已撤回：后来的采样否定了它"},
	ReportCredits:      {"Credits", "赔付"},
	ReportNoCredits:    {"No credit is due for the period.", "本期没有应付赔付。"},
	ReportAmount:       {"Amount", "金额"},
	ReportPercent:      {"Percent", "比例"},
	ReportState:        {"State", "状态"},
	ReportProvisional:  {"%s (provisional)", "%s（暂定）"},
	ReportUse:          {"Use", "使用情况"},
	ReportPaidTime:     {"Paid GPU-hours", "计费 GPU 小时"},
	ReportUtilisation:  {"Utilisation", "利用率"},
	ReportSeen:         {"Coverage", "采样覆盖率"},
	ReportAll:          {"All GPUs", "全部 GPU"},
	ReportNoUse:        {"No use of the period was metered.", "本期没有计量到使用情况。"},
	ReportCost:         {"Cost", "费用"},
	ReportNoBill:       {"The bill is not part of this report.", "本报告不含账单。"},
	ReportPromised:     {"Promised", "合同硬件"},
	ReportFound:        {"Found", "实际硬件"},
	ReportSerial:       {"Serial", "序列号"},
	ReportPlace:        {"Host and slot", "主机与槽位"},
	ReportServed:       {"Served", "服务时段"},
	ReportAsPromised:   {"as promised", "与合同一致"},
	ReportOther:        {"other hardware than promised", "与合同不符"},
	ReportNoPromise:    {"the contract names no hardware", "合同未指定硬件"},
	ReportProof:        {"Proof", "证明"},
	ReportProofHead:    {"Records are sealed up to head %[1]d of %[2]s: SHA-256 %[3]s. Compare it with the head that you kept.", "记录已封存至 %[2]s 的第 %[1]d 个链头：SHA-256 %[3]s。请与您保存的链头比对。"},
	ReportProofNoHead:  {"No head closes the records yet.", "记录尚未封存。"},
	ReportProofUnseal:  {"No head closes %d of the records yet.", "有 %d 条记录尚未封存。"},
	ReportProofSigned:  {"The JSON of this report is signed with Ed25519, key %s.", "本报告的 JSON 由 Ed25519 密钥 %s 签名。"},
	ReportProofCheck:   {"Check it offline: leasewatch verify-report FILE --head HEADS", "离线核对：leasewatch verify-report FILE --head HEADS"},
	PortalReportAs:     {"Report as", "报告："},
	PortalReportLang:   {"en", "zh"},
	PortalHeads:        {"heads to keep", "留存链头"},
	ReportMade:         {"Made %[1]s by leasewatch %[2]s", "由 leasewatch %[2]s 于 %[1]s 生成"},
}
