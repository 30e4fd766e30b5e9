package focus

import (
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// The values of ChargeCategory and ChargeFrequency that are written.
const (
	usage      = "Usage"
	purchase   = "Purchase"
	tax        = "Tax"
	credit     = "Credit"
	adjustment = "Adjustment"

	oneTime    = "One-Time"
	recurring  = "Recurring"
	usageBased = "Usage-Based"
)

// item is how FOCUS classes one of a bill's lines.
type item struct {
	category, frequency, pricing string
	service, subcategory, name   string
}

// kindOf classes a line; an item that is not known is other usage.
func kindOf(l rental.BillLine) item {
	gpus := item{category: usage, frequency: usageBased, pricing: "Standard", service: "Compute", subcategory: "Virtual Machines", name: "GPU rental"}
	switch l.Item {
	case rental.ItemGPUTime:
		return gpus
	case rental.ItemReservedUsed, rental.ItemReservedUnused:
		gpus.pricing = "Committed"
		return gpus
	case rental.ItemReservedUpfront, rental.ItemEarlyEnd:
		gpus.category, gpus.frequency = purchase, oneTime
		return gpus
	case rental.ItemReservedMonthly:
		gpus.category, gpus.frequency = purchase, recurring
		return gpus
	case rental.ItemTax:
		return item{category: tax, frequency: oneTime, service: "Other", subcategory: "Other (Other)", name: "Tax"}
	case "sla_credit":
		return item{category: credit, frequency: oneTime, service: "Compute", subcategory: "Virtual Machines", name: "SLA credit"}
	case "adjustment":
		return item{category: adjustment, frequency: oneTime, service: "Compute", subcategory: "Virtual Machines", name: "Adjustment"}
	}
	return itemOf(l)
}

// itemOf classes a line of one of the contract's own items. What is held in a quantity and can be
// measured is usage; what is paid by the month whatever is used of it is a recurring purchase.
func itemOf(l rental.BillLine) item {
	out := item{category: usage, frequency: usageBased, pricing: "Standard", name: l.Item, service: "Other", subcategory: "Other (Other)"}
	switch l.Item {
	case "storage":
		out.service, out.subcategory = "Storage", "Block Storage"
		return out
	case "backup":
		out.service, out.subcategory = "Storage", "Backup Storage"
		return out
	case "traffic":
		out.service, out.subcategory = "Networking", "Network Connectivity"
	case "ip":
		out.service, out.subcategory = "Networking", "Other (Networking)"
	case "support":
		out.service, out.subcategory = "Management and Governance", "Support"
	case "setup":
		out.service, out.subcategory = "Compute", "Virtual Machines"
		out.category, out.frequency = purchase, oneTime
	}
	if strings.HasSuffix(l.Unit, "-"+rental.ModeMonth) {
		out.category, out.frequency = purchase, recurring
	}
	return out
}

// reserved tells whether a line is time of a reservation, or what was paid for one.
func reserved(l rental.BillLine) (time, fee bool) {
	switch l.Item {
	case rental.ItemReservedUsed, rental.ItemReservedUnused:
		return true, false
	case rental.ItemReservedUpfront, rental.ItemReservedMonthly:
		return false, true
	}
	return false, false
}
