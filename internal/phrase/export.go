package phrase

// Sentences of a link to acknowledge.
const (
	AckLink        Key = "ack.link"
	AckAsk         Key = "portal.acklink_ask"
	AckWhy         Key = "portal.acklink_why"
	AckButton      Key = "portal.acklink_button"
	AckDone        Key = "portal.acklink_done"
	AckTaken       Key = "portal.acklink_taken"
	AckOver        Key = "portal.acklink_over"
	AckUsed        Key = "portal.acklink_used"
	AckExpired     Key = "portal.acklink_expired"
	AckForged      Key = "portal.acklink_forged"
	AckUnavailable Key = "portal.acklink_unavailable"
)

var ackTexts = map[Key]sentence{
	AckLink:        {"Acknowledge: %s", "确认：%s"},
	AckAsk:         {"Acknowledge %s?", "确认 %s？"},
	AckWhy:         {"It says that %s is on it, stops the ladder and the response clock, and works once.", "表示 %s 正在处理，停止升级链和响应计时；此链接仅可使用一次。"},
	AckButton:      {"Acknowledge as %s", "以 %s 的名义确认"},
	AckDone:        {"%[1]s is acknowledged by %[2]s.", "%[1]s 已由 %[2]s 确认。"},
	AckTaken:       {"%[1]s has been acknowledged by %[2]s already.", "%[1]s 已由 %[2]s 确认，无需重复。"},
	AckOver:        {"%s is over. There is nothing to acknowledge.", "%s 已结束，无需确认。"},
	AckUsed:        {"This link was used before, or the incident was opened anew since. Use the newest message.", "此链接已被使用，或事件此后再次发生。请使用最新消息中的链接。"},
	AckExpired:     {"This link has expired. Use the newest message, or sign in.", "此链接已过期。请使用最新消息中的链接，或登录后操作。"},
	AckForged:      {"This is no link of this server. Take it whole from the message, or sign in.", "此链接不属于本服务器。请完整复制消息中的链接，或登录后操作。"},
	AckUnavailable: {"The acknowledgement could not be stored. Try again, or call somebody.", "确认未能保存。请重试，或联系同事。"},
}

// Sentences of an incident's export in Markdown.
const (
	ExportHeading    Key = "export.heading"
	ExportState      Key = "export.state"
	ExportDrill      Key = "export.drill"
	ExportEvidence   Key = "export.evidence"
	ExportDetected   Key = "export.detected"
	ExportOpened     Key = "export.opened"
	ExportResolved   Key = "export.resolved"
	ExportAcked      Key = "export.acked"
	ExportSubject    Key = "export.subject"
	ExportLeases     Key = "export.leases"
	ExportAlerts     Key = "export.alerts"
	ExportTimeline   Key = "export.timeline"
	ExportDeliveries Key = "export.deliveries"
)

var exportTexts = map[Key]sentence{
	ExportHeading:    {"# %[1]s: %[2]s", "# %[1]s：%[2]s"},
	ExportState:      {"- Severity %[1]s, %[2]s", "- 级别 %[1]s，%[2]s"},
	ExportDrill:      {"- A drill: nothing was broken", "- 演练：并无故障"},
	ExportEvidence:   {"- First evidence %s", "- 首个证据 %s"},
	ExportDetected:   {"- First alert %s", "- 首次告警 %s"},
	ExportOpened:     {"- Opened %s", "- 产生 %s"},
	ExportResolved:   {"- Resolved %s", "- 恢复 %s"},
	ExportAcked:      {"- Acknowledged %[1]s by %[2]s, after %[3]s", "- %[1]s 由 %[2]s 确认，历时 %[3]s"},
	ExportSubject:    {"- Subject %[1]s, provider %[2]s", "- 对象 %[1]s，服务商 %[2]s"},
	ExportLeases:     {"- Leases %[1]s, tenants %[2]s", "- 租约 %[1]s，租户 %[2]s"},
	ExportAlerts:     {"\n## Alerts\n\n| what | reading | from | to |\n|---|---|---|---|", "\n## 告警\n\n| 内容 | 读数 | 开始 | 结束 |\n|---|---|---|---|"},
	ExportTimeline:   {"\n## Timeline\n\n| at | event | by | note |\n|---|---|---|---|", "\n## 时间线\n\n| 时间 | 事件 | 人员 | 备注 |\n|---|---|---|---|"},
	ExportDeliveries: {"\n## Messages\n\n| asked for | way | sent | tries | error |\n|---|---|---|---|---|", "\n## 消息\n\n| 提出 | 渠道 | 送达 | 次数 | 错误 |\n|---|---|---|---|---|"},
}

// events names the kinds of a timeline's entries.
var events = map[string]Key{
	"opened": PortalEventOpened, "worsened": PortalEventWorsened, "changed": PortalEventChanged, "acked": PortalEventAcked,
	"resolved": PortalEventResolved, "reopened": PortalEventReopened, "unknown": PortalEventUnknown, "note": PortalEventNote,
	"notified": PortalEventNotified, "undelivered": PortalEventUndelivered, "climbed": PortalEventClimbed,
	"repeated": PortalEventRepeated, "silenced": PortalEventSilenced, "heard": PortalEventHeard,
}

// Event names a kind of a timeline's entries; the kind itself where it is not known.
func (p Printer) Event(kind string) string {
	if key, known := events[kind]; known {
		return p.Say(key)
	}
	return kind
}
