package phrase

// Sentences of bills and reports. The billing room keeps this table.
const (
	BillTitle     Key = "bill.title"
	BillItem      Key = "bill.item"
	BillQuantity  Key = "bill.quantity"
	BillUnitPrice Key = "bill.unit_price"
	BillAmount    Key = "bill.amount"
	BillTotal     Key = "bill.total"
)

var reportTexts = map[Key]sentence{
	BillTitle:     {"Bill of lease %[1]s, %[2]s", "租约 %[1]s 的账单，%[2]s"},
	BillItem:      {"Item", "项目"},
	BillQuantity:  {"Quantity", "数量"},
	BillUnitPrice: {"Unit price", "单价"},
	BillAmount:    {"Amount", "金额"},
	BillTotal:     {"Total", "合计"},
}
