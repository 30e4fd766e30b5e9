package phrase

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
