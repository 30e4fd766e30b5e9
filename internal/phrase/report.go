package phrase

// Sentences of bills and reports. The billing room keeps this table.
const (
	BillTitle             Key = "bill.title"
	BillParties           Key = "bill.parties"
	BillItem              Key = "bill.item"
	BillCharged           Key = "bill.charged"
	BillSpan              Key = "bill.span"
	BillQuantity          Key = "bill.quantity"
	BillUnitPrice         Key = "bill.unit_price"
	BillAmount            Key = "bill.amount"
	BillTotal             Key = "bill.total"
	BillGPUTime           Key = "bill.gpu_time"
	BillCredit            Key = "bill.credit"
	BillNote              Key = "bill.note"
	BillProvisional       Key = "bill.provisional"
	BillOpenPeriod        Key = "bill.open_period"
	BillDowntimeWaits     Key = "bill.downtime_waits"
	BillCreditWaits       Key = "bill.credit_waits"
	BillCreditProvisional Key = "bill.credit_provisional"
)

var reportTexts = map[Key]sentence{
	BillTitle:             {"Bill of lease %[1]s, %[2]s", "租约 %[1]s 的账单，%[2]s"},
	BillParties:           {"Tenant %[1]s, provider %[2]s, contract %[3]s", "租户 %[1]s，服务商 %[2]s，合同 %[3]s"},
	BillItem:              {"Item", "项目"},
	BillCharged:           {"Charged", "计费时段"},
	BillSpan:              {"%[1]s to %[2]s", "%[1]s 至 %[2]s"},
	BillQuantity:          {"Quantity", "数量"},
	BillUnitPrice:         {"Unit price", "单价"},
	BillAmount:            {"Amount", "金额"},
	BillTotal:             {"Total", "合计"},
	BillGPUTime:           {"GPU time", "GPU 使用时间"},
	BillCredit:            {"SLA credit", "SLA 赔付"},
	BillNote:              {"%[1]s: %[2]s", "%[1]s：%[2]s"},
	BillProvisional:       {"Provisional: %s", "暂定：%s"},
	BillOpenPeriod:        {"the period has not ended; charged up to %s", "计费期尚未结束，费用计至 %s"},
	BillDowntimeWaits:     {"downtimes without approval: %d; they change nothing until approved", "待批准的停机：%d 项，批准前不影响金额"},
	BillCreditWaits:       {"a credit of %s is computed and not booked", "赔付 %s 已计算，尚未入账"},
	BillCreditProvisional: {"the credit of %s may still change", "赔付 %s 仍可能变动"},
}
