package phrase

// Sentences of the portal's pages, but for those on incidents. The portal's room keeps this table.
const (
	PortalFleet                Key = "portal.fleet"
	PortalLeases               Key = "portal.leases"
	PortalIncidents            Key = "portal.incidents"
	PortalTenant               Key = "portal.tenant"
	PortalProvider             Key = "portal.provider"
	PortalLease                Key = "portal.lease"
	PortalHost                 Key = "portal.host"
	PortalGPU                  Key = "portal.gpu"
	PortalState                Key = "portal.state"
	PortalSince                Key = "portal.since"
	PortalUtilisation          Key = "portal.utilisation"
	PortalCoverage             Key = "portal.coverage"
	PortalSeen                 Key = "portal.seen"
	PortalTemperature          Key = "portal.temperature"
	PortalPower                Key = "portal.power"
	PortalMemory               Key = "portal.memory"
	PortalCost                 Key = "portal.cost"
	PortalIdleCost             Key = "portal.idle_cost"
	PortalDowntime             Key = "portal.downtime"
	PortalCredits              Key = "portal.credits"
	PortalAvailable            Key = "portal.availability"
	PortalBudget               Key = "portal.error_budget"
	PortalProvisional          Key = "portal.provisional"
	PortalSignIn               Key = "portal.sign_in"
	PortalSignOut              Key = "portal.sign_out"
	PortalSignInHeading        Key = "portal.sign_in_heading"
	PortalSignInAnswer         Key = "portal.sign_in_answer"
	PortalToken                Key = "portal.token"
	PortalTokenRefused         Key = "portal.token_refused"
	PortalSignedInAs           Key = "portal.signed_in_as"
	PortalOtherLanguage        Key = "portal.other_language"
	PortalSkipToContent        Key = "portal.skip_to_content"
	PortalNobodyPaged          Key = "portal.nobody_paged"
	PortalNobodyPagedWhy       Key = "portal.nobody_paged_why"
	PortalOutboxWaits          Key = "portal.outbox_waits"
	PortalStoreSick            Key = "portal.store_sick"
	PortalStoreFull            Key = "portal.store_full"
	PortalStoreReadOnly        Key = "portal.store_read_only"
	PortalRulesFail            Key = "portal.rules_fail"
	PortalTargetsFail          Key = "portal.targets_fail"
	PortalChangesWait          Key = "portal.changes_wait"
	PortalStatusFails          Key = "portal.status_fails"
	PortalAsOf                 Key = "portal.as_of"
	PortalVersion              Key = "portal.version"
	PortalWrongNow             Key = "portal.wrong_now"
	PortalReason               Key = "portal.reason"
	PortalSlot                 Key = "portal.slot"
	PortalSerial               Key = "portal.serial"
	PortalModel                Key = "portal.model"
	PortalSite                 Key = "portal.site"
	PortalAge                  Key = "portal.age"
	PortalAgo                  Key = "portal.ago"
	PortalNever                Key = "portal.never"
	PortalFromGuest            Key = "portal.from_guest"
	PortalNotLeased            Key = "portal.not_leased"
	PortalInParts              Key = "portal.in_parts"
	PortalConflicts            Key = "portal.conflicts"
	PortalConflictsHow         Key = "portal.conflicts_how"
	PortalConflictTwoLeases    Key = "portal.conflict.two_leases"
	PortalConflictTwoPlaces    Key = "portal.conflict.two_places"
	PortalConflictElsewhere    Key = "portal.conflict.elsewhere"
	PortalConflictDark         Key = "portal.conflict.lease_dark"
	PortalConflictMIGMissing   Key = "portal.conflict.mig_missing"
	PortalConflictOutsideLease Key = "portal.conflict.outside_lease"
	PortalConflictOverNumber   Key = "portal.conflict.over_number"
	PortalConflictUnleased     Key = "portal.conflict.use_without_lease"
	PortalConflictClock        Key = "portal.conflict.clock"
	PortalNotAdopted           Key = "portal.not_adopted"
	PortalUse                  Key = "portal.use"
	PortalFleetHeading         Key = "portal.fleet_heading"
	PortalFleetWell            Key = "portal.fleet_well"
	PortalFleetRest            Key = "portal.fleet_rest"
	PortalShow                 Key = "portal.show"
	PortalFleetTrouble         Key = "portal.fleet_trouble"
	PortalFleetEmpty           Key = "portal.fleet_empty"
	PortalFleetEmptyWhy        Key = "portal.fleet_empty_why"
	PortalFleetFiltered        Key = "portal.fleet_filtered"
	PortalFleetTenantEmpty     Key = "portal.fleet_tenant_empty"
	PortalFilterAny            Key = "portal.filter_any"
	PortalFilter               Key = "portal.filter"
	PortalFilterClear          Key = "portal.filter_clear"
	PortalStateTrouble         Key = "portal.state_trouble"
	PortalLeasesHeading        Key = "portal.leases_heading"
	PortalLeasesAnswer         Key = "portal.leases_answer"
	PortalLeasesEmpty          Key = "portal.leases_empty"
	PortalLeasesEmptyWhy       Key = "portal.leases_empty_why"
	PortalLeasesFiltered       Key = "portal.leases_filtered"
	PortalLeasesTenantEmpty    Key = "portal.leases_tenant_empty"
	PortalHardware             Key = "portal.hardware"
	PortalGPUsOfSKU            Key = "portal.gp_us_of_sku"
	PortalCostMonth            Key = "portal.cost_month"
	PortalTarget               Key = "portal.target"
	PortalVerdict              Key = "portal.verdict"
	PortalAvailabilityPercent  Key = "portal.availability_percent"
	PortalLowToHigh            Key = "portal.low_to_high"
	PortalLowToHighWhy         Key = "portal.low_to_high_why"
	PortalLeaseRunning         Key = "portal.lease_running"
	PortalLeaseStopped         Key = "portal.lease_stopped"
	PortalLeaseEnded           Key = "portal.lease_ended"
	PortalLeasePlanned         Key = "portal.lease_planned"
	PortalNoObjective          Key = "portal.no_objective"
	PortalLeaseHeading         Key = "portal.lease_heading"
	PortalLeaseAnswer          Key = "portal.lease_answer"
	PortalLeaseAnswerNoBill    Key = "portal.lease_answer_no_bill"
	PortalLeaseOf              Key = "portal.lease_of"
	PortalMonth                Key = "portal.month"
	PortalMonthBefore          Key = "portal.month_before"
	PortalMonthAfter           Key = "portal.month_after"
	PortalFigures              Key = "portal.figures"
	PortalFigure               Key = "portal.figure"
	PortalValue                Key = "portal.value"
	PortalHow                  Key = "portal.how"
	PortalIdleByUse            Key = "portal.idle_by_use"
	PortalIdleByAllocation     Key = "portal.idle_by_allocation"
	PortalIdleUnknown          Key = "portal.idle_unknown"
	PortalUtilisationHow       Key = "portal.utilisation_how"
	PortalHeldHow              Key = "portal.held_how"
	PortalHeld                 Key = "portal.held"
	PortalBudgetHow            Key = "portal.budget_how"
	PortalBudgetOver           Key = "portal.budget_over"
	PortalCoverageFlag         Key = "portal.coverage_flag"
	PortalChartTitle           Key = "portal.chart_title"
	PortalChartCost            Key = "portal.chart_cost"
	PortalChartUse             Key = "portal.chart_use"
	PortalChartCoverage        Key = "portal.chart_coverage"
	PortalChartUsed            Key = "portal.chart_used"
	PortalChartIdle            Key = "portal.chart_idle"
	PortalChartUnsplit         Key = "portal.chart_unsplit"
	PortalChartTip             Key = "portal.chart_tip"
	PortalChartTable           Key = "portal.chart_table"
	PortalStripTitle           Key = "portal.strip_title"
	PortalStripTip             Key = "portal.strip_tip"
	PortalStateCheck           Key = "portal.state_check"
	PortalStateCheckPart       Key = "portal.state_check_part"
	PortalDay                  Key = "portal.day"
	PortalUsageEmpty           Key = "portal.usage_empty"
	PortalStatesEmpty          Key = "portal.states_empty"
	PortalBillHeading          Key = "portal.bill_heading"
	PortalBillNotSeen          Key = "portal.bill_not_seen"
	PortalBillEmpty            Key = "portal.bill_empty"
	PortalBillAs               Key = "portal.bill_as"
	PortalProvisionalWhy       Key = "portal.provisional_why"
	PortalDowntimeHeading      Key = "portal.downtime_heading"
	PortalDowntimeEmpty        Key = "portal.downtime_empty"
	PortalFrom                 Key = "portal.from"
	PortalTo                   Key = "portal.to"
	PortalLasted               Key = "portal.lasted"
	PortalCause                Key = "portal.cause"
	PortalCauseProvider        Key = "portal.cause_provider"
	PortalCauseTenant          Key = "portal.cause_tenant"
	PortalCauseUndetermined    Key = "portal.cause_undetermined"
	PortalWitnesses            Key = "portal.witnesses"
	PortalIncident             Key = "portal.incident"
	PortalApproved             Key = "portal.approved"
	PortalApprovedAuto         Key = "portal.approved_auto"
	PortalNotApproved          Key = "portal.not_approved"
	PortalCreditsEmpty         Key = "portal.credits_empty"
	PortalAssignments          Key = "portal.assignments"
	PortalAssignedFor          Key = "portal.assigned_for"
	PortalAssignStart          Key = "portal.assign_start"
	PortalNotFound             Key = "portal.not_found"
	PortalForbidden            Key = "portal.forbidden"
	PortalFailed               Key = "portal.failed"
	PortalErrorHeading         Key = "portal.error_heading"
	PortalBack                 Key = "portal.back"
	PortalRunbookMissing       Key = "portal.runbook_missing"
)

var portalTexts = map[Key]sentence{
	PortalFleet:                {"Fleet", "集群"},
	PortalLeases:               {"Leases", "租约"},
	PortalIncidents:            {"Incidents", "事件"},
	PortalTenant:               {"Tenant", "租户"},
	PortalProvider:             {"Provider", "服务商"},
	PortalLease:                {"Lease", "租约"},
	PortalHost:                 {"Host", "主机"},
	PortalGPU:                  {"GPU", "GPU"},
	PortalState:                {"State", "状态"},
	PortalSince:                {"Since", "开始于"},
	PortalUtilisation:          {"Utilisation", "利用率"},
	PortalCoverage:             {"Coverage", "采样覆盖率"},
	PortalSeen:                 {"%[1]s, %[2]s seen", "%[1]s，采样覆盖率 %[2]s"},
	PortalTemperature:          {"Temperature, °C", "温度，°C"},
	PortalPower:                {"Power, W", "功率，W"},
	PortalMemory:               {"Memory, GiB", "显存，GiB"},
	PortalCost:                 {"Cost", "费用"},
	PortalIdleCost:             {"Idle cost", "闲置成本"},
	PortalDowntime:             {"Downtime", "停机"},
	PortalCredits:              {"Credits", "赔付"},
	PortalAvailable:            {"Availability", "可用率"},
	PortalBudget:               {"Error budget left", "剩余错误预算"},
	PortalProvisional:          {"Provisional", "暂定"},
	PortalSignIn:               {"Sign in", "登录"},
	PortalSignOut:              {"Sign out", "退出登录"},
	PortalSignInHeading:        {"Who are you?", "您是谁？"},
	PortalSignInAnswer:         {"Paste the token that an admin made for you with \"leasewatch token create\".", "请粘贴管理员用 “leasewatch token create” 为您创建的令牌。"},
	PortalToken:                {"Token", "令牌"},
	PortalTokenRefused:         {"This token is not known, or it was revoked. Ask an admin for a new one.", "该令牌不存在或已被撤销，请向管理员申请新的令牌。"},
	PortalSignedInAs:           {"Signed in as %[1]s (%[2]s)", "已登录：%[1]s（%[2]s）"},
	PortalOtherLanguage:        {"中文", "English"},
	PortalSkipToContent:        {"Skip to the content", "跳到正文"},
	PortalNobodyPaged:          {"Nobody is paged: %s.", "当前不会呼叫任何人：%s。"},
	PortalNobodyPagedWhy:       {"no Slack token is configured", "未配置 Slack 令牌"},
	PortalOutboxWaits:          {"Messages that wait to be delivered: %[1]d, the oldest for %[2]s. Last error: %[3]s", "%[1]d 条消息待送达，最早的已等待 %[2]s。最近的错误：%[3]s"},
	PortalStoreSick:            {"Samples cannot be stored since %[1]s, and nothing below is newer. Last error: %[2]s", "自 %[1]s 起样本无法写入，以下内容均早于此时。最近的错误：%[2]s"},
	PortalStoreFull:            {"Samples cannot be stored since %s, and nothing below is newer: no space is left in the data directory.", "自 %s 起样本无法写入，以下内容均早于此时：数据目录空间已满。"},
	PortalStoreReadOnly:        {"Samples cannot be stored since %s, and nothing below is newer: the data directory cannot be written.", "自 %s 起样本无法写入，以下内容均早于此时：数据目录不可写。"},
	PortalRulesFail:            {"Groups of rules that fail to evaluate: %[1]d. The first: %[2]s", "%[1]d 组规则计算失败，首组为 %[2]s"},
	PortalChangesWait:          {"Changes that wait for a second person: %[1]d. See them with: leasewatch pending list", "等待第二人批准的变更：%[1]d。查看：leasewatch pending list"},
	PortalTargetsFail:          {"Exporters that cannot be read: %[1]d. The first: %[2]s", "%[1]d 个采集端无法读取，首个为 %[2]s"},
	PortalStatusFails:          {"The server cannot tell how it is. What is below may be incomplete.", "服务器无法报告自身状态，以下内容可能不完整。"},
	PortalAsOf:                 {"As of %s", "数据截至 %s"},
	PortalVersion:              {"Leasewatch %s", "Leasewatch %s"},
	PortalWrongNow:             {"Wrong now", "当前异常"},
	PortalReason:               {"Reason", "原因"},
	PortalSlot:                 {"Slot", "插槽"},
	PortalSerial:               {"serial %s", "序列号 %s"},
	PortalModel:                {"Model", "型号"},
	PortalSite:                 {"Site", "机房"},
	PortalAge:                  {"Sample age", "样本时间"},
	PortalAgo:                  {"%s ago", "%s前"},
	PortalNever:                {"never", "从未"},
	PortalFromGuest:            {"seen from the guest", "客户机内采集"},
	PortalNotLeased:            {"not leased", "未出租"},
	PortalInParts:              {"by MIG instance", "按 MIG 实例出租"},
	PortalConflicts:            {"Records and reports disagree", "登记与上报不一致"},
	PortalConflictsHow:         {"Only a person can put these right; leasewatch inventory conflicts says what to do.", "需要人工处理；leasewatch inventory conflicts 给出处理办法。"},
	PortalConflictTwoLeases:    {"two leases claim it", "两个租约同时占用"},
	PortalConflictTwoPlaces:    {"reported in two places", "在两处上报"},
	PortalConflictElsewhere:    {"reports from another place than is recorded", "上报位置与登记不符"},
	PortalConflictDark:         {"leased, and nobody reports it", "已出租但无人上报"},
	PortalConflictMIGMissing:   {"leased MIG instance is gone from its card", "已出租的 MIG 实例已不在卡上"},
	PortalConflictOutsideLease: {"assigned outside its lease", "分配超出租约期限"},
	PortalConflictOverNumber:   {"more GPUs than the lease was sold", "GPU 数量超出租约"},
	PortalConflictUnleased:     {"in use without a lease", "无租约使用"},
	PortalConflictClock:        {"the clock of the host is wrong", "主机时钟不准"},
	PortalNotAdopted:           {"not in the inventory", "未登记"},
	PortalUse:                  {"Use, %", "使用率，%"},
	PortalFleetHeading:         {"Which GPUs need somebody?", "哪些 GPU 需要处理？"},
	PortalFleetWell:            {"None of %[1]d GPUs on %[2]d hosts. %[3]d are leased.", "%[2]d 台主机上的 %[1]d 块 GPU 都不需要处理，其中 %[3]d 块已出租。"},
	PortalFleetTrouble:         {"%[1]d of %[2]d GPUs: %[3]d down, %[4]d degraded, %[5]d without data.", "%[2]d 块 GPU 中有 %[1]d 块：停机 %[3]d，降级 %[4]d，无数据 %[5]d。"},
	PortalFleetRest:            {"In maintenance, stopped or not measured: %d.", "维护、停用或未测量：%d。"},
	PortalShow:                 {"Show", "查看"},
	PortalFleetEmpty:           {"No host reports yet.", "尚无主机上报。"},
	PortalFleetEmptyWhy:        {"Run leasewatch-exporter on a GPU host and name it under scrape_configs, or let it push. The host appears here within one scrape interval.", "请在 GPU 主机上运行 leasewatch-exporter，并在 scrape_configs 中登记，或使用推送方式；主机会在一个采集周期内出现在这里。"},
	PortalFleetFiltered:        {"No GPU fits the filter.", "没有符合筛选条件的 GPU。"},
	PortalFleetTenantEmpty:     {"None of your leases has a GPU now.", "您的租约目前没有 GPU。"},
	PortalFilterAny:            {"any", "不限"},
	PortalFilter:               {"Show", "筛选"},
	PortalFilterClear:          {"Show all", "显示全部"},
	PortalStateTrouble:         {"not up", "非正常"},
	PortalLeasesHeading:        {"What does each lease cost, and does it get what was promised?", "每份租约花费多少，是否达到承诺？"},
	PortalLeasesAnswer:         {"%[1]d running on %[2]d GPUs: %[3]d breached, %[4]d not proven, %[5]d with a GPU down now.", "%[1]d 份运行中，共 %[2]d 块 GPU：%[3]d 份未达标，%[4]d 份无法证明，%[5]d 份当前有 GPU 停机。"},
	PortalLeasesEmpty:          {"No lease yet.", "尚无租约。"},
	PortalLeasesEmptyWhy:       {"Record contracts and leases with \"leasewatch lease apply -f FILE\". They appear here at once.", "请用 “leasewatch lease apply -f FILE” 录入合同和租约，录入后立即显示。"},
	PortalLeasesFiltered:       {"No lease fits the filter.", "没有符合筛选条件的租约。"},
	PortalLeasesTenantEmpty:    {"You have no lease.", "您没有租约。"},
	PortalHardware:             {"Hardware", "硬件"},
	PortalGPUsOfSKU:            {"%[1]d × %[2]s", "%[1]d × %[2]s"},
	PortalCostMonth:            {"Cost, month so far", "本月至今费用"},
	PortalTarget:               {"Target, %", "目标，%"},
	PortalVerdict:              {"Verdict", "判定"},
	PortalAvailabilityPercent:  {"Availability, %", "可用率，%"},
	PortalLowToHigh:            {"%[1]s to %[2]s", "%[1]s 至 %[2]s"},
	PortalLowToHighWhy:         {"Low bound with unknown time as down, high bound with it as up", "下限把无数据时间计为停机，上限计为可用"},
	PortalLeaseRunning:         {"Running", "运行中"},
	PortalLeaseStopped:         {"Stopped", "已停用"},
	PortalLeaseEnded:           {"Ended", "已结束"},
	PortalLeasePlanned:         {"Planned", "未开始"},
	PortalNoObjective:          {"no objective", "无可用率目标"},
	PortalLeaseHeading:         {"What did lease %[1]s cost in %[2]s, and how well was it used?", "租约 %[1]s 在 %[2]s 花费多少，使用得如何？"},
	PortalLeaseAnswer:          {"%[1]s; utilisation %[2]s; idle cost %[3]s; availability %[4]s.", "费用 %[1]s；利用率 %[2]s；闲置成本 %[3]s；可用率 %[4]s。"},
	PortalLeaseAnswerNoBill:    {"Utilisation %[1]s; availability %[2]s. Your role does not see bills.", "利用率 %[1]s；可用率 %[2]s。您的角色无权查看账单。"},
	PortalLeaseOf:              {"%[1]s, from %[2]s, contract %[3]s, %[4]s", "%[1]s，服务商 %[2]s，合同 %[3]s，%[4]s"},
	PortalMonth:                {"Month", "月份"},
	PortalMonthBefore:          {"Month before", "上个月"},
	PortalMonthAfter:           {"Month after", "下个月"},
	PortalFigures:              {"The month in figures", "本月数据"},
	PortalFigure:               {"Figure", "项目"},
	PortalValue:                {"Value", "数值"},
	PortalHow:                  {"How it was found", "计算方式"},
	PortalIdleByUse:            {"cost of the time without use", "没有使用的时间的费用"},
	PortalIdleByAllocation:     {"cost of the time that no job held, by allocation", "按分配计算：没有作业占用的时间的费用"},
	PortalIdleUnknown:          {"use was not measured", "未测量使用情况"},
	PortalUtilisationHow:       {"used time / measured time", "使用时间 / 已测量时间"},
	PortalHeldHow:              {"time held by a job / time that a scheduler told", "作业占用时间 / 调度器已知时间"},
	PortalHeld:                 {"Held by jobs", "作业占用"},
	PortalBudgetHow:            {"%[1]s allowed in the period, low bound", "本期允许 %[1]s，按下限计算"},
	PortalBudgetOver:           {"overspent by %s", "已超支 %s"},
	PortalCoverageFlag:         {"Under %s of the time was witnessed.", "有见证的时间不足 %s。"},
	PortalChartTitle:           {"Cost beside utilisation of lease %[1]s in %[2]s, day by day", "租约 %[1]s 在 %[2]s 每天的费用与利用率"},
	PortalChartCost:            {"Cost a day, %s", "每日费用，%s"},
	PortalChartUse:             {"Utilisation, %", "利用率，%"},
	PortalChartCoverage:        {"Seen", "覆盖"},
	PortalChartUsed:            {"used", "已使用"},
	PortalChartIdle:            {"idle", "闲置"},
	PortalChartUnsplit:         {"not measured", "未测量"},
	PortalChartTip:             {"%[1]s: cost %[2]s, idle %[3]s, utilisation %[4]s, coverage %[5]s", "%[1]s：费用 %[2]s，闲置 %[3]s，利用率 %[4]s，采样覆盖率 %[5]s"},
	PortalChartTable:           {"The same as a table", "以表格显示"},
	PortalStripTitle:           {"State of each GPU of lease %[1]s in %[2]s", "租约 %[1]s 在 %[2]s 各 GPU 的状态"},
	PortalStateCheck:           {"%[1]s: the exporter itself counted otherwise for %[2]s: %[3]s", "%[1]s：采集代理自身的计时与此相差 %[2]s：%[3]s"},
	PortalStateCheckPart:       {"%[1]s %[2]s, seen %[3]s", "%[1]s 计 %[2]s，所见 %[3]s"},
	PortalStripTip:             {"%[1]s from %[2]s to %[3]s (%[4]s)", "%[1]s：%[2]s 至 %[3]s（%[4]s）"},
	PortalDay:                  {"Day", "日期"},
	PortalUsageEmpty:           {"No usage is recorded for this period yet. Usage is metered once an hour.", "本期尚无用量记录。用量每小时计量一次。"},
	PortalStatesEmpty:          {"No GPU served this lease in this period.", "本期没有 GPU 服务于该租约。"},
	PortalBillHeading:          {"Bill", "账单"},
	PortalBillNotSeen:          {"Your role does not see bills.", "您的角色无权查看账单。"},
	PortalBillEmpty:            {"Nothing is charged in this period.", "本期没有费用。"},
	PortalBillAs:               {"Download as", "下载为"},
	PortalProvisionalWhy:       {"This bill may still change: %s", "该账单仍可能变化：%s"},
	PortalDowntimeHeading:      {"Downtime", "停机"},
	PortalDowntimeEmpty:        {"No downtime is recorded in this period.", "本期没有停机记录。"},
	PortalFrom:                 {"From", "开始"},
	PortalTo:                   {"To", "结束"},
	PortalLasted:               {"Lasted", "时长"},
	PortalCause:                {"Cause", "责任方"},
	PortalCauseProvider:        {"provider", "服务商"},
	PortalCauseTenant:          {"tenant", "租户"},
	PortalCauseUndetermined:    {"undetermined", "未定"},
	PortalWitnesses:            {"Witnesses", "见证"},
	PortalIncident:             {"Incident", "事件"},
	PortalApproved:             {"Decision", "处理"},
	PortalApprovedAuto:         {"approved by the contract, automatically", "合同约定自动批准"},
	PortalNotApproved:          {"waits for approval; changes no money", "待批准，不影响费用"},
	PortalCreditsEmpty:         {"No credit is due in this period.", "本期没有应付赔付。"},
	PortalAssignments:          {"GPUs that served", "服务过的 GPU"},
	PortalAssignedFor:          {"Assigned for", "分配原因"},
	PortalAssignStart:          {"start", "开始"},
	PortalNotFound:             {"This does not exist, or not for you.", "该内容不存在，或您无权查看。"},
	PortalForbidden:            {"Your role may not see this.", "您的角色无权查看此内容。"},
	PortalFailed:               {"The server could not answer: %s", "服务器无法响应：%s"},
	PortalErrorHeading:         {"What went wrong?", "出了什么问题？"},
	PortalBack:                 {"Back to the fleet", "返回集群"},
	PortalRunbookMissing:       {"There is no runbook of this name.", "没有该名称的处置手册。"},
}
