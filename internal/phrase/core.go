package phrase

// Words and sentences that every room uses.
const (
	DurationDays        Key = "duration.days"
	DurationHours       Key = "duration.hours"
	DurationMinutes     Key = "duration.minutes"
	DurationSeconds     Key = "duration.seconds"
	DurationUnderSecond Key = "duration.under_second"
	TimeOpen            Key = "time.open"
	NoDataWord          Key = "no_data"
	NotMeasuredWord     Key = "not_measured"
	AndMore             Key = "and_more"
	HeadlineMore        Key = "headline.more"

	StateUp               Key = "state.up"
	StateDegraded         Key = "state.degraded"
	StateDown             Key = "state.down"
	StateLost             Key = "state.lost"
	StateResetRequired    Key = "state.reset_required"
	StateUnresponsive     Key = "state.unresponsive"
	StateDriverDown       Key = "state.driver_down"
	StateFabricIncomplete Key = "state.fabric_incomplete"
	StateHostDown         Key = "state.host_down"
	StateMaintenance      Key = "state.maintenance"
	StateStopped          Key = "state.stopped"
	StateExcluded         Key = "state.excluded"
	StateUnknown          Key = "state.unknown"
	StateBlind            Key = "state.blind"
	StateMIGMissing       Key = "state.mig_missing"
	StateReleased         Key = "state.released"
	StateOpaque           Key = "state.opaque"

	SeverityPage   Key = "severity.page"
	SeverityTicket Key = "severity.ticket"
	SeverityNotice Key = "severity.notice"

	IncidentOpen     Key = "incident.open"
	IncidentAcked    Key = "incident.acked"
	IncidentResolved Key = "incident.resolved"
	IncidentUnknown  Key = "incident.unknown"

	OutcomeKept        Key = "outcome.kept"
	OutcomeBreached    Key = "outcome.breached"
	OutcomeNotProven   Key = "outcome.not_proven"
	OutcomeNotMeasured Key = "outcome.not_measured"
)

var coreTexts = map[Key]sentence{
	DurationDays:        {"%d d %d h %02d min", "%d 天 %d 小时 %02d 分"},
	DurationHours:       {"%d h %02d min %02d s", "%d 小时 %02d 分 %02d 秒"},
	DurationMinutes:     {"%d min %02d s", "%d 分 %02d 秒"},
	DurationSeconds:     {"%d s", "%d 秒"},
	DurationUnderSecond: {"under 1 s", "不到 1 秒"},
	TimeOpen:            {"open", "未结束"},
	NoDataWord:          {"no data", "无数据"},
	NotMeasuredWord:     {"not measured", "未测量"},
	HeadlineMore:        {"%[1]s and %[2]d more", "%[1]s，另有 %[2]d 条"},
	AndMore:             {"and %d more", "另有 %d 项"},

	StateUp:               {"Up", "正常"},
	StateDegraded:         {"Degraded", "降级"},
	StateDown:             {"Down", "停机"},
	StateLost:             {"Down: GPU lost", "停机：GPU 丢失"},
	StateResetRequired:    {"Down: reset required", "停机：需要重置"},
	StateUnresponsive:     {"Down: unresponsive", "停机：无响应"},
	StateDriverDown:       {"Down: driver down", "停机：驱动不可用"},
	StateFabricIncomplete: {"Down: fabric incomplete", "停机：互联未就绪"},
	StateHostDown:         {"Down: host down", "停机：主机宕机"},
	StateMaintenance:      {"Maintenance", "维护"},
	StateStopped:          {"Stopped by the tenant", "租户已停用"},
	StateExcluded:         {"Excluded", "不计入"},
	StateUnknown:          {"No data", "无数据"},
	StateBlind:            {"No data: Leasewatch was away", "无数据：Leasewatch 未运行"},
	StateMIGMissing:       {"MIG instance missing", "MIG 实例缺失"},
	StateReleased:         {"Not measured from here: released by policy", "此处未测量：按策略释放"},
	StateOpaque:           {"Not measured from here: no agent in the guest", "此处未测量：虚拟机内没有探针"},

	SeverityPage:   {"PAGE", "紧急"},
	SeverityTicket: {"TICKET", "工单"},
	SeverityNotice: {"NOTICE", "通知"},

	IncidentOpen:     {"Open", "未处理"},
	IncidentAcked:    {"Acknowledged", "已确认"},
	IncidentResolved: {"Resolved", "已恢复"},
	IncidentUnknown:  {"Unknown: no evidence that it healed", "未知：没有恢复的证据"},

	OutcomeKept:        {"Kept", "达标"},
	OutcomeBreached:    {"Breached", "未达标"},
	OutcomeNotProven:   {"Not proven", "无法证明"},
	OutcomeNotMeasured: {"Not measured", "未测量"},
}
