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
}
