package phrase

// Sentences of pages in chat. The slack room keeps this table.
const (
	SlackLine           Key = "slack.line"
	SlackLineResolved   Key = "slack.line_resolved"
	SlackLineUnknown    Key = "slack.line_unknown"
	SlackLineDrill      Key = "slack.line_drill"
	SlackAck            Key = "slack.ack"
	SlackRunbook        Key = "slack.runbook"
	SlackOpenIncident   Key = "slack.open_incident"
	SlackWho            Key = "slack.who"
	SlackLease          Key = "slack.lease"
	SlackNoLease        Key = "slack.no_lease"
	SlackSince          Key = "slack.since"
	SlackBudget         Key = "slack.budget"
	SlackBudgetOver     Key = "slack.budget_over"
	SlackStake          Key = "slack.stake"
	SlackCost           Key = "slack.cost"
	SlackDoFirst        Key = "slack.do_first"
	SlackSKU            Key = "slack.sku"
	SlackSerial         Key = "slack.serial"
	SlackSite           Key = "slack.site"
	SlackProvider       Key = "slack.provider"
	SlackAckedBy        Key = "slack.acked_by"
	SlackResolvedAfter  Key = "slack.resolved_after"
	SlackResolvedBy     Key = "slack.resolved_by"
	SlackUnknownAfter   Key = "slack.unknown_after"
	SlackRepeat         Key = "slack.repeat"
	SlackWorsened       Key = "slack.worsened"
	SlackReopened       Key = "slack.reopened"
	SlackDetails        Key = "slack.details"
	SlackNotAllowed     Key = "slack.not_allowed"
	SlackAckFailed      Key = "slack.ack_failed"
	SlackUnnamedSubject Key = "slack.unnamed"
	SlackSilenceHour    Key = "slack.silence_hour"
	SlackSilenceFour    Key = "slack.silence_four"
	SlackSilenceFixed   Key = "slack.silence_fixed"
	SlackEscalate       Key = "slack.escalate"
	SlackSilenced       Key = "slack.silenced"
	SlackSilencedFixed  Key = "slack.silenced_fixed"
	SlackHeard          Key = "slack.heard"
	SlackActFailed      Key = "slack.act_failed"
	SlackNoStep         Key = "slack.no_step"
	SlackSilenceOutside Key = "slack.silence_outside"
	SlackCall           Key = "slack.call"
	SlackCallBeside     Key = "slack.call_beside"
	SlackCallAgain      Key = "slack.call_again"
	SlackCallLast       Key = "slack.call_last"
)

var slackTexts = map[Key]sentence{
	SlackLine:           {"%[1]s %[2]s  %[3]s", "%[1]s %[2]s  %[3]s"},
	SlackLineResolved:   {"%[1]s %[2]s resolved  %[3]s", "%[1]s %[2]s（已恢复）  %[3]s"},
	SlackLineUnknown:    {"%[1]s %[2]s unknown  %[3]s", "%[1]s %[2]s（状态未知）  %[3]s"},
	SlackLineDrill:      {"%[1]s DRILL, nothing is broken. %[2]s  %[3]s", "%[1]s 演练，并无故障。%[2]s  %[3]s"},
	SlackAck:            {"Ack", "确认"},
	SlackRunbook:        {"Runbook", "处置手册"},
	SlackOpenIncident:   {"Incident", "事件详情"},
	SlackWho:            {"Lease %[1]s, tenant %[2]s", "租约 %[1]s，租户 %[2]s"},
	SlackLease:          {"Lease %s", "租约 %s"},
	SlackNoLease:        {"No lease affected", "不影响任何租约"},
	SlackSince:          {"since %s", "自 %s 起"},
	SlackBudget:         {"error budget left %s", "剩余错误预算 %s"},
	SlackBudgetOver:     {"error budget overdrawn by %s", "错误预算已超支 %s"},
	SlackStake:          {"at stake %s", "涉及赔付 %s"},
	SlackCost:           {"cost %s", "损失 %s"},
	SlackDoFirst:        {"First: %s", "首要操作：%s"},
	SlackSKU:            {"%s", "%s"},
	SlackSerial:         {"serial %s", "序列号 %s"},
	SlackSite:           {"site %s", "站点 %s"},
	SlackProvider:       {"provider %s", "服务商 %s"},
	SlackAckedBy:        {"acknowledged by %[1]s after %[2]s", "%[1]s 在 %[2]s后确认"},
	SlackResolvedAfter:  {"Resolved after %s, nobody had acknowledged", "历时 %s恢复，无人确认"},
	SlackResolvedBy:     {"Resolved after %[1]s, acknowledged by %[2]s", "历时 %[1]s恢复，由 %[2]s 确认"},
	SlackUnknownAfter:   {"The alert vanished while nobody watched, and no evidence tells whether it healed. Check by hand.", "告警在无人观测时消失，没有证据表明是否恢复。请人工检查。"},
	SlackRepeat:         {"May have been sent before: the connection broke while it was on its way.", "可能重复发送：发送途中连接中断。"},
	SlackWorsened:       {"Worse: %s", "情况加重：%s"},
	SlackReopened:       {"Fired again: %s", "再次触发：%s"},
	SlackDetails:        {"Details of %s", "%s 的详情"},
	SlackNotAllowed:     {"You are not on the list of people who may acknowledge. Ask an admin to add your Slack user id to slack.people.", "您不在可确认告警的人员名单中。请管理员把您的 Slack 用户 ID 加入 slack.people。"},
	SlackAckFailed:      {"The acknowledgement of %s could not be stored. Press Ack again; if it keeps failing, look into the server's log.", "%s 的确认未能保存。请再按一次“确认”；若仍失败，请查看服务器日志。"},
	SlackUnnamedSubject: {"a subject without a name", "未命名对象"},
	SlackSilenceHour:    {"Silence 1 h", "静默 1 小时"},
	SlackSilenceFour:    {"Silence 4 h", "静默 4 小时"},
	SlackSilenceFixed:   {"Silence until fixed", "静默至恢复"},
	SlackEscalate:       {"Escalate", "升级"},
	SlackSilenced:       {"silenced by %[1]s until %[2]s", "%[1]s 已静默至 %[2]s"},
	SlackSilencedFixed:  {"silenced by %s until fixed", "%s 已静默至恢复"},
	SlackHeard:          {"The silence is over, still firing: %s", "静默已结束，仍在触发：%s"},
	SlackActFailed:      {"Nothing was done to %s. Try again; if it keeps failing, look into the server's log.", "未对 %s 执行任何操作。请重试；若仍失败，请查看服务器日志。"},
	SlackNoStep:         {"%s was told on every way there is. Add one to paging.next or to the escalation, or call somebody.", "%s 已通过所有渠道通知。请在 paging.next 或升级策略中增加渠道，或直接联系相关人员。"},
	SlackCall:           {"Nobody has acknowledged this page for %s. The next on the ladder is called.", "此告警已 %s 无人确认，现呼叫升级链中的下一位。"},
	SlackCallBeside:     {"Called in beside %s, who has acknowledged.", "%s 已确认，现请求增援。"},
	SlackCallAgain:      {"Still nobody: this page has been open for %s and nobody has acknowledged it.", "仍无人确认：此告警已持续 %s。"},
	SlackCallLast:       {"LAST STEP. Nobody has acknowledged this page for %s, and nobody else will be called. Whoever reads this: take it.", "最后一步：此告警已 %s 无人确认，且不会再呼叫其他人。看到此消息者请立即接手。"},
	SlackSilenceOutside: {"The alerts of %s come from another Alertmanager. Silence them there.", "%s 的告警来自另一个 Alertmanager，请在那里静默。"},
}
