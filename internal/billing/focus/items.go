package focus

import "github.com/leasewatch/leasewatch/internal/rental"

// item is how FOCUS classes one of a bill's items.
type item struct {
	category, frequency, pricing string
	service, subcategory, name   string
}

// kindOf classes an item; one that is not known is other usage.
func kindOf(name string) item {
	usage := item{category: "Usage", frequency: "Usage-Based", pricing: "Standard", service: "Compute", subcategory: "Virtual Machines", name: "GPU rental"}
	fee := item{category: "Purchase", frequency: "One-Time", pricing: "Standard", service: "Compute", subcategory: "Virtual Machines", name: "GPU rental"}
	switch name {
	case rental.ItemGPUTime:
		return usage
	case rental.ItemReservedUsed, rental.ItemReservedUnused:
		usage.pricing = "Committed"
		return usage
	case rental.ItemReservedUpfront, rental.ItemEarlyEnd, "setup":
		return fee
	case rental.ItemTax:
		return item{category: "Tax", service: "Other", subcategory: "Other (Other)", name: "Tax"}
	case "sla_credit":
		return item{category: "Credit", service: "Compute", subcategory: "Virtual Machines", name: "SLA credit"}
	case "adjustment":
		return item{category: "Adjustment", service: "Compute", subcategory: "Virtual Machines", name: "Adjustment"}
	case "storage", "backup":
		usage.service, usage.subcategory, usage.name = "Storage", "Block Storage", name
	case "traffic", "ip":
		usage.service, usage.subcategory, usage.name = "Networking", "Other (Networking)", name
	default:
		usage.service, usage.subcategory, usage.name = "Other", "Other (Other)", name
	}
	return usage
}
