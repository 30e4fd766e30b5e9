package phrase

// Sentences of the portal's pages on incidents. The portal's room keeps this table.
const (
	PortalDeliveryPost            Key = "portal.delivery_post"
	PortalDeliveryUpdate          Key = "portal.delivery_update"
	PortalDeliveryThread          Key = "portal.delivery_thread"
	PortalIncidentsHeading        Key = "portal.incidents_heading"
	PortalIncidentsAnswer         Key = "portal.incidents_answer"
	PortalIncidentsQuiet          Key = "portal.incidents_quiet"
	PortalIncidentsEmpty          Key = "portal.incidents_empty"
	PortalIncidentsEmptyWhy       Key = "portal.incidents_empty_why"
	PortalIncidentsFiltered       Key = "portal.incidents_filtered"
	PortalIncidentsMore           Key = "portal.incidents_more"
	PortalSeverity                Key = "portal.severity"
	PortalWhat                    Key = "portal.what"
	PortalWho                     Key = "portal.who"
	PortalOpened                  Key = "portal.opened"
	PortalDuration                Key = "portal.duration"
	PortalAckedBy                 Key = "portal.acked_by"
	PortalIncidentHeading         Key = "portal.incident_heading"
	PortalIncidentOpenAnswer      Key = "portal.incident_open_answer"
	PortalIncidentAckedAnswer     Key = "portal.incident_acked_answer"
	PortalIncidentAckedBySomebody Key = "portal.incident_acked_by_somebody"
	PortalIncidentResolvedAnswer  Key = "portal.incident_resolved_answer"
	PortalIncidentUnknownAnswer   Key = "portal.incident_unknown_answer"
	PortalAck                     Key = "portal.ack"
	PortalSilenceHour             Key = "portal.silence_hour"
	PortalSilenceFour             Key = "portal.silence_four"
	PortalSilenceFixed            Key = "portal.silence_fixed"
	PortalEscalate                Key = "portal.escalate"
	PortalNoteAdd                 Key = "portal.note_add"
	PortalOnCall                  Key = "portal.on_call"
	PortalOnCallTurn              Key = "portal.on_call_turn"
	PortalAckWhy                  Key = "portal.ack_why"
	PortalFirstDo                 Key = "portal.first_do"
	PortalRunbook                 Key = "portal.runbook"
	PortalAlerts                  Key = "portal.alerts"
	PortalAlertFiring             Key = "portal.alert_firing"
	PortalAlertEnded              Key = "portal.alert_ended"
	PortalTimeline                Key = "portal.timeline"
	PortalDeliveries              Key = "portal.deliveries"
	PortalRoute                   Key = "portal.route"
	PortalDelivered               Key = "portal.delivered"
	PortalUndelivered             Key = "portal.undelivered"
	PortalDeliveryWaits           Key = "portal.delivery_waits"
	PortalDeliveriesEmpty         Key = "portal.deliveries_empty"
	PortalAt                      Key = "portal.at"
	PortalEvent                   Key = "portal.event"
	PortalBy                      Key = "portal.by"
	PortalNote                    Key = "portal.note"
	PortalEventOpened             Key = "portal.event_opened"
	PortalEventWorsened           Key = "portal.event_worsened"
	PortalEventChanged            Key = "portal.event_changed"
	PortalEventAcked              Key = "portal.event_acked"
	PortalEventResolved           Key = "portal.event_resolved"
	PortalEventReopened           Key = "portal.event_reopened"
	PortalEventUnknown            Key = "portal.event_unknown"
	PortalEventNote               Key = "portal.event_note"
	PortalEventNotified           Key = "portal.event_notified"
	PortalEventUndelivered        Key = "portal.event_undelivered"
	PortalEventClimbed            Key = "portal.event_climbed"
	PortalEventRepeated           Key = "portal.event_repeated"
	PortalEventSilenced           Key = "portal.event_silenced"
	PortalEventHeard              Key = "portal.event_heard"
)

var incidentPageTexts = map[Key]sentence{
	PortalDeliveryPost:            {"Message", "消息"},
	PortalDeliveryUpdate:          {"Message updated", "更新消息"},
	PortalDeliveryThread:          {"Reply in the thread", "线程回复"},
	PortalIncidentsHeading:        {"What is broken, and who is on it?", "哪里出了问题，谁在处理？"},
	PortalIncidentsAnswer:         {"%[1]d open, %[2]d acknowledged, %[3]d unknown. The oldest open one has waited %[4]s.", "%[1]d 起未处理，%[2]d 起已确认，%[3]d 起未知。最早的未处理事件已等待 %[4]s。"},
	PortalIncidentsQuiet:          {"Nothing is open. %[1]d acknowledged, %[2]d unknown.", "没有未处理的事件。已确认 %[1]d 起，未知 %[2]d 起。"},
	PortalIncidentsEmpty:          {"No incident.", "没有事件。"},
	PortalIncidentsEmptyWhy:       {"An incident opens when an alert rule fires. The watchdog alert shows that rules are evaluated.", "告警规则触发后会产生事件。看门狗告警表明规则正在计算。"},
	PortalIncidentsFiltered:       {"No incident fits the filter.", "没有符合筛选条件的事件。"},
	PortalIncidentsMore:           {"Older ones are left out: choose a status or a shorter span.", "更早的事件未列出：请选择状态或缩短时间范围。"},
	PortalSeverity:                {"Severity", "级别"},
	PortalWhat:                    {"What", "内容"},
	PortalWho:                     {"Who suffers", "受影响方"},
	PortalOpened:                  {"Opened", "发生于"},
	PortalDuration:                {"Duration", "持续"},
	PortalAckedBy:                 {"Acknowledged by", "确认人"},
	PortalIncidentHeading:         {"What happened in %[1]s, and what is to be done?", "%[1]s 发生了什么，该怎么处理？"},
	PortalIncidentOpenAnswer:      {"%[1]s. Nobody has acknowledged it for %[2]s.", "%[1]s。已有 %[2]s 无人确认。"},
	PortalIncidentAckedAnswer:     {"%[1]s. Acknowledged by %[2]s after %[3]s.", "%[1]s。%[2]s 在 %[3]s 后确认。"},
	PortalIncidentAckedBySomebody: {"%[1]s. Acknowledged after %[2]s.", "%[1]s。%[2]s 后已确认。"},
	PortalIncidentResolvedAnswer:  {"%[1]s. Resolved after %[2]s.", "%[1]s。%[2]s 后恢复。"},
	PortalIncidentUnknownAnswer:   {"%[1]s. Its alert vanished while nobody was watching: whether it healed is not known.", "%[1]s。告警在无人监视期间消失：是否恢复未知。"},
	PortalAck:                     {"Acknowledge", "确认"},
	PortalSilenceHour:             {"Silence 1 h", "静默 1 小时"},
	PortalSilenceFour:             {"Silence 4 h", "静默 4 小时"},
	PortalSilenceFixed:            {"Silence until fixed", "静默至恢复"},
	PortalEscalate:                {"Escalate", "升级"},
	PortalNoteAdd:                 {"Add", "添加"},
	PortalOnCall:                  {"On call: %s", "值班：%s"},
	PortalOnCallTurn:              {"%[2]s (%[1]s) until %[3]s", "%[2]s（%[1]s），至 %[3]s"},
	PortalAckWhy:                  {"Says that you are on it, in your name. It stops the response clock.", "以您的名义表示正在处理，并停止响应计时。"},
	PortalFirstDo:                 {"Do first", "首先处理"},
	PortalRunbook:                 {"Runbook", "处置手册"},
	PortalAlerts:                  {"Alerts", "告警"},
	PortalAlertFiring:             {"firing since %s", "自 %s 起触发"},
	PortalAlertEnded:              {"ended %s", "%s 结束"},
	PortalTimeline:                {"Timeline", "时间线"},
	PortalDeliveries:              {"Who was told", "通知记录"},
	PortalRoute:                   {"Route", "渠道"},
	PortalDelivered:               {"Delivered", "送达"},
	PortalUndelivered:             {"not delivered: %s", "未送达：%s"},
	PortalDeliveryWaits:           {"waits", "等待发送"},
	PortalDeliveriesEmpty:         {"Nobody was told of this incident.", "尚未通知任何人。"},
	PortalAt:                      {"At", "时间"},
	PortalEvent:                   {"Event", "事件"},
	PortalBy:                      {"By", "操作人"},
	PortalNote:                    {"Note", "备注"},
	PortalEventOpened:             {"Opened", "产生"},
	PortalEventWorsened:           {"Worsened", "恶化"},
	PortalEventChanged:            {"Changed", "变化"},
	PortalEventAcked:              {"Acknowledged", "已确认"},
	PortalEventResolved:           {"Resolved", "已恢复"},
	PortalEventReopened:           {"Opened again", "再次发生"},
	PortalEventUnknown:            {"Unknown: no evidence", "未知：没有证据"},
	PortalEventNote:               {"Note", "备注"},
	PortalEventNotified:           {"Told", "已通知"},
	PortalEventUndelivered:        {"Not delivered", "未送达"},
	PortalEventClimbed:            {"Next way", "转下一渠道"},
	PortalEventRepeated:           {"Told again: nobody has it", "再次通知：无人确认"},
	PortalEventSilenced:           {"Silenced", "已静默"},
	PortalEventHeard:              {"Silence over", "静默结束"},
}
