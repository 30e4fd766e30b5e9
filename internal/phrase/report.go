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
	BillNotBegun          Key = "bill.not_begun"
	BillLateSamples       Key = "bill.late_samples"
	BillDowntimeWaits     Key = "bill.downtime_waits"
	BillCreditWaits       Key = "bill.credit_waits"
	BillCreditProvisional Key = "bill.credit_provisional"
	BillReservedUsed      Key = "bill.reserved_used"
	BillReservedUnused    Key = "bill.reserved_unused"
	BillReservedUpfront   Key = "bill.reserved_upfront"
	BillEarlyEnd          Key = "bill.early_end"
	BillStorage           Key = "bill.storage"
	BillTraffic           Key = "bill.traffic"
	BillSupport           Key = "bill.support"
	BillBackup            Key = "bill.backup"
	BillIP                Key = "bill.ip"
	BillSetup             Key = "bill.setup"
	BillLicense           Key = "bill.license"
	BillOther             Key = "bill.other"
	BillTax               Key = "bill.tax"
	BillAdjustment        Key = "bill.adjustment"
	BillNamed             Key = "bill.named"
	BillCorrects          Key = "bill.corrects"
	BillTaxContained      Key = "bill.tax_contained"
	BillInvoice           Key = "bill.invoice"
	BillCorrectionNote    Key = "bill.correction_note"
	BillByGPU             Key = "bill.by_gpu"
	BillHow               Key = "bill.how"
	BillMonths            Key = "bill.months"
	BillReservedMonthly   Key = "bill.reserved_monthly"
	BillUse               Key = "bill.use"
	BillUseCell           Key = "bill.use_cell"
	BillUseNote           Key = "bill.use_note"
	BillUseNotMeasured    Key = "bill.use_not_measured"
	BillIdleNote          Key = "bill.idle_note"
	BillFreeNote          Key = "bill.free_note"
	BillUsefulHour        Key = "bill.useful_hour"
	BillWorkingNote       Key = "bill.working_note"
	BillDayNight          Key = "bill.day_night"
	BillEnergy            Key = "bill.energy"
	BillEnergyCost        Key = "bill.energy_cost"
	BillReservationNote   Key = "bill.reservation_note"
	BillOutlook           Key = "bill.outlook"
	BillBudget            Key = "bill.budget"
	BillMetered           Key = "bill.metered"
	BillQuota             Key = "bill.quota"
	BillReservationIdle   Key = "bill.reservation_idle"
)

// BillItem is what a bill calls one of its items, with the contract's own name for it where it
// has one. An item that is not known keeps its word.
func (p Printer) BillItem(item, name string) string {
	keys := map[string]Key{
		"gpu_time": BillGPUTime, "sla_credit": BillCredit, "reserved_used": BillReservedUsed, "reserved_unused": BillReservedUnused,
		"reserved_upfront": BillReservedUpfront, "reserved_monthly": BillReservedMonthly, "early_end": BillEarlyEnd, "storage": BillStorage, "traffic": BillTraffic,
		"support": BillSupport, "backup": BillBackup, "ip": BillIP, "setup": BillSetup, "license": BillLicense, "other": BillOther,
		"tax": BillTax, "adjustment": BillAdjustment,
	}
	word := item
	if key, ok := keys[item]; ok {
		word = p.Say(key)
	}
	if name == "" {
		return word
	}
	return p.Say(BillNamed, word, name)
}

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
	BillNotBegun:          {"the period has not begun; nothing is charged yet", "计费期尚未开始，尚无费用"},
	BillOpenPeriod:        {"the period has not ended; charged up to %s", "计费期尚未结束，费用计至 %s"},
	BillLateSamples:       {"samples of the period are taken until %s, and may still change downtime", "该计费期的采样接收至 %s，停机时间仍可能变化"},
	BillDowntimeWaits:     {"downtimes without approval: %d; they change nothing until approved", "待批准的停机：%d 项，批准前不影响金额"},
	BillCreditWaits:       {"a credit of %s is computed and not booked", "赔付 %s 已计算，尚未入账"},
	BillReservedUsed:      {"Reserved, used", "预留（已使用）"},
	BillReservedUnused:    {"Reserved, unused", "预留（未使用）"},
	BillReservedUpfront:   {"Reservation, upfront", "预留首付款"},
	BillReservedMonthly:   {"Reservation, monthly", "预留月费"},
	BillUse:               {"Use (measured)", "利用率（采样覆盖率）"},
	BillUseCell:           {"%[1]s %% (%[2]s %%)", "%[1]s %%（%[2]s %%）"},
	BillUseNote:           {"Use: %[1]s %% of the measured time; %[2]s %% of the time was measured", "利用率：已测量时间的 %[1]s %%；采样覆盖率 %[2]s %%"},
	BillUseNotMeasured:    {"Use: not measured", "利用率：未测量"},
	BillIdleNote:          {"Idle cost: %s, of the measured time without any use", "闲置成本：%s（已测量且无任何使用的时间）"},
	BillFreeNote:          {"Idle cost: %s, of the time in which the scheduler had no job on the GPU", "闲置成本：%s（调度器未分配作业的时间）"},
	BillWorkingNote:       {"Multiprocessors at work: %[1]s %% of the time in which that was measured; %[2]s %% of the time was", "多处理器（SM）工作时间：已测量时间的 %[1]s %%；采样覆盖率 %[2]s %%"},
	BillDayNight:          {"Use by day (%[3]s to %[4]s): %[1]s; by night: %[2]s", "白天（%[3]s 至 %[4]s）利用率：%[1]s；夜间：%[2]s"},
	BillEnergy:            {"Energy: %[1]s kWh, counted over %[2]s %% of the time", "耗电量：%[1]s kWh，计量覆盖 %[2]s %% 的时间"},
	BillEnergyCost:        {"Energy cost: %[1]s for %[2]s kWh; in no line of the bill", "电费：%[1]s（%[2]s kWh），不计入账单任何一项"},
	BillUsefulHour:        {"A fully used GPU-hour cost %s", "每个完全利用的 GPU 小时成本为 %s"},
	BillReservationNote:   {"Reservation: %[1]s of %[2]s GPU-hours used (%[3]s %%), each for %[4]s; it pays off above %[5]s %%", "预留：%[2]s GPU·小时中已使用 %[1]s（%[3]s %%），每小时实际成本 %[4]s；使用率高于 %[5]s %% 时划算"},
	BillOutlook:           {"Outlook: %[1]s so far, %[2]s by the end of the period if the lease goes on as it is; with tax, before credits", "预测：截至目前 %[1]s，若租约照此继续，期末为 %[2]s；含税，未扣赔付"},
	BillBudget:            {"Budget of the month: %[1]s; %[2]s %% spent, %[3]s %% by its end", "本月预算：%[1]s；已用 %[2]s %%，月底预计 %[3]s %%"},
	BillMetered:           {"%[1]s: %[2]s %[3]s used, about %[4]s %[3]s by the end of the period", "%[1]s：已用 %[2]s %[3]s，期末预计约 %[4]s %[3]s"},
	BillQuota:             {"%[1]s: %[2]s of %[3]s included %[4]s used (%[5]s %%), about %[6]s %[4]s by the end of the period (%[7]s %%)", "%[1]s：包含用量 %[3]s %[4]s 中已用 %[2]s（%[5]s %%），期末预计约 %[6]s %[4]s（%[7]s %%）"},
	BillReservationIdle:   {"Reservation: none of %[1]s GPU-hours used; it pays off above %[2]s %%", "预留：%[1]s GPU·小时均未使用；使用率高于 %[2]s %% 时划算"},
	BillEarlyEnd:          {"Early end", "提前终止费"},
	BillStorage:           {"Storage", "存储"},
	BillTraffic:           {"Traffic", "流量"},
	BillSupport:           {"Support", "技术支持"},
	BillBackup:            {"Backup", "备份"},
	BillIP:                {"IP address", "IP 地址"},
	BillSetup:             {"Set-up", "开通费"},
	BillLicense:           {"Licence", "许可"},
	BillOther:             {"Other", "其他"},
	BillTax:               {"Tax", "税"},
	BillAdjustment:        {"Adjustment", "调整"},
	BillNamed:             {"%[1]s: %[2]s", "%[1]s：%[2]s"},
	BillCorrects:          {"%[1]s (correction of %[2]s)", "%[1]s（更正 %[2]s）"},
	BillTaxContained:      {"of which tax", "其中税额"},
	BillByGPU:             {"Of which by GPU", "其中按 GPU 拆分"},
	BillHow:               {"How it was worked out", "计算过程"},
	BillMonths:            {"Bills", "账单"},
	BillCorrectionNote:    {"billed %[1]s, by what is known now %[2]s", "已计费 %[1]s，按现有事实应为 %[2]s"},
	BillInvoice:           {"Invoice %[1]s, closed %[2]s by %[3]s", "账单编号 %[1]s，由 %[3]s 于 %[2]s 关账"},
	BillCreditProvisional: {"the credit of %s may still change", "赔付 %s 仍可能变动"},
}
