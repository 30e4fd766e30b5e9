package phrase

// Sentences of pages in chat. The slack room keeps this table.
const (
	SlackAck            Key = "slack.ack"
	SlackRunbook        Key = "slack.runbook"
	SlackOpenIncident   Key = "slack.open_incident"
	SlackWho            Key = "slack.who"
	SlackNoLease        Key = "slack.no_lease"
	SlackSince          Key = "slack.since"
	SlackBudget         Key = "slack.budget"
	SlackStake          Key = "slack.stake"
	SlackDoFirst        Key = "slack.do_first"
	SlackFiring         Key = "slack.firing"
	SlackValue          Key = "slack.value"
	SlackThreshold      Key = "slack.threshold"
	SlackAckedBy        Key = "slack.acked_by"
	SlackResolvedAfter  Key = "slack.resolved_after"
	SlackResolvedBy     Key = "slack.resolved_by"
	SlackUnknownAfter   Key = "slack.unknown_after"
	SlackDrill          Key = "slack.drill"
	SlackRepeat         Key = "slack.repeat"
	SlackWorsened       Key = "slack.worsened"
	SlackReopened       Key = "slack.reopened"
	SlackNotAllowed     Key = "slack.not_allowed"
	SlackAckFailed      Key = "slack.ack_failed"
	SlackIncidentGone   Key = "slack.incident_gone"
	SlackUnnamedSubject Key = "slack.unnamed"
)

var slackTexts = map[Key]sentence{
	SlackAck:            {"Ack", "确认"},
	SlackRunbook:        {"Runbook", "处置手册"},
	SlackOpenIncident:   {"Incident", "事件详情"},
	SlackWho:            {"Lease %[1]s, tenant %[2]s", "租约 %[1]s，租户 %[2]s"},
	SlackNoLease:        {"No lease affected", "不影响任何租约"},
	SlackSince:          {"since %s", "自 %s 起"},
	SlackBudget:         {"error budget left %s", "剩余错误预算 %s"},
	SlackStake:          {"at stake %s", "涉及金额 %s"},
	SlackDoFirst:        {"First: %s", "先做：%s"},
	SlackFiring:         {"%[1]d of %[2]d alerts firing", "%[2]d 条告警中 %[1]d 条仍在触发"},
	SlackValue:          {"value %[1]s, threshold %[2]s", "当前值 %[1]s，阈值 %[2]s"},
	SlackThreshold:      {"threshold %s", "阈值 %s"},
	SlackAckedBy:        {"Acknowledged by %[1]s after %[2]s", "%[1]s 在 %[2]s 后确认"},
	SlackResolvedAfter:  {"Resolved after %s", "历时 %s 后恢复"},
	SlackResolvedBy:     {"Resolved after %[1]s, acknowledged by %[2]s", "历时 %[1]s 后恢复，由 %[2]s 确认"},
	SlackUnknownAfter:   {"The alert vanished while nobody watched; there is no evidence that it healed. Check by hand.", "告警在无人观测时消失，没有恢复的证据。请人工检查。"},
	SlackDrill:          {"Drill: nothing is broken", "演练：并无故障"},
	SlackRepeat:         {"May have been sent before: the connection broke while it was on its way", "可能重复发送：发送途中连接中断"},
	SlackWorsened:       {"Worse: %s", "情况加重：%s"},
	SlackReopened:       {"Fired again: %s", "再次触发：%s"},
	SlackNotAllowed:     {"You are not on the list of people who may acknowledge. Ask an admin to add your Slack user id to slack.people.", "您不在可确认告警的人员名单中。请管理员把您的 Slack 用户 ID 加入 slack.people。"},
	SlackAckFailed:      {"The acknowledgement of %s could not be stored. Press Ack again; if it keeps failing, check the server's log.", "%s 的确认未能保存。请再按一次“确认”；若仍失败，请查看服务器日志。"},
	SlackIncidentGone:   {"There is no incident %s any more.", "事件 %s 已不存在。"},
	SlackUnnamedSubject: {"a subject without a name", "未命名对象"},
}
