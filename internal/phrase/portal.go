package phrase

// Sentences of the portal's pages. The portal's room keeps this table.
const (
	PortalFleet       Key = "portal.fleet"
	PortalLeases      Key = "portal.leases"
	PortalIncidents   Key = "portal.incidents"
	PortalTenant      Key = "portal.tenant"
	PortalProvider    Key = "portal.provider"
	PortalLease       Key = "portal.lease"
	PortalHost        Key = "portal.host"
	PortalGPU         Key = "portal.gpu"
	PortalState       Key = "portal.state"
	PortalSince       Key = "portal.since"
	PortalUtilisation Key = "portal.utilisation"
	PortalCoverage    Key = "portal.coverage"
	PortalSeen        Key = "portal.seen"
	PortalTemperature Key = "portal.temperature"
	PortalPower       Key = "portal.power"
	PortalMemory      Key = "portal.memory"
	PortalCost        Key = "portal.cost"
	PortalIdleCost    Key = "portal.idle_cost"
	PortalDowntime    Key = "portal.downtime"
	PortalCredits     Key = "portal.credits"
	PortalAvailable   Key = "portal.availability"
	PortalBudget      Key = "portal.error_budget"
	PortalProvisional Key = "portal.provisional"
)

var portalTexts = map[Key]sentence{
	PortalFleet:       {"Fleet", "集群"},
	PortalLeases:      {"Leases", "租约"},
	PortalIncidents:   {"Incidents", "事件"},
	PortalTenant:      {"Tenant", "租户"},
	PortalProvider:    {"Provider", "服务商"},
	PortalLease:       {"Lease", "租约"},
	PortalHost:        {"Host", "主机"},
	PortalGPU:         {"GPU", "GPU"},
	PortalState:       {"State", "状态"},
	PortalSince:       {"Since", "开始于"},
	PortalUtilisation: {"Utilisation", "利用率"},
	PortalCoverage:    {"Coverage", "采样覆盖率"},
	PortalSeen:        {"%[1]s, %[2]s seen", "%[1]s，采样覆盖率 %[2]s"},
	PortalTemperature: {"Temperature, °C", "温度，°C"},
	PortalPower:       {"Power, W", "功率，W"},
	PortalMemory:      {"Memory, GiB", "显存，GiB"},
	PortalCost:        {"Cost", "费用"},
	PortalIdleCost:    {"Idle cost", "闲置成本"},
	PortalDowntime:    {"Downtime", "停机"},
	PortalCredits:     {"Credits", "赔付"},
	PortalAvailable:   {"Availability", "可用率"},
	PortalBudget:      {"Error budget left", "剩余错误预算"},
	PortalProvisional: {"Provisional", "暂定"},
}
