package phrase

import (
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Words for windows of maintenance.
const (
	PortalMaintenance         Key = "portal.maintenance"
	PortalMaintenanceEmpty    Key = "portal.maintenance_empty"
	PortalMaintenanceHosts    Key = "portal.maintenance_hosts"
	PortalMaintenanceStanding Key = "portal.maintenance_standing"
	PortalMaintenanceTold     Key = "portal.maintenance_told"

	MaintenanceAnnounced Key = "maintenance.announced"
	MaintenanceRunning   Key = "maintenance.running"
	MaintenanceOver      Key = "maintenance.over"
	MaintenanceCancelled Key = "maintenance.cancelled"

	MaintenanceCounts      Key = "maintenance.counts"
	MaintenanceLate        Key = "maintenance.late"
	MaintenanceUndelivered Key = "maintenance.undelivered"

	PortalActAnnounced Key = "portal.act_announced"
	PortalActCancelled Key = "portal.act_cancelled"
	PortalDeliveredTo  Key = "portal.delivered_to"
)

var maintenanceTexts = map[Key]sentence{
	PortalMaintenance:         {"Maintenance", "维护"},
	PortalMaintenanceEmpty:    {"No maintenance is announced for this period.", "本期没有已公告的维护。"},
	PortalMaintenanceHosts:    {"Hosts", "主机"},
	PortalMaintenanceStanding: {"Effect on availability", "对可用率的影响"},
	PortalMaintenanceTold:     {"Announced, delivered", "公告与送达"},

	MaintenanceAnnounced: {"announced", "已公告"},
	MaintenanceRunning:   {"running", "进行中"},
	MaintenanceOver:      {"over", "已结束"},
	MaintenanceCancelled: {"cancelled", "已取消"},

	MaintenanceCounts:      {"delivered %s, in time: excluded", "%s 送达，符合提前通知要求：不计入"},
	MaintenanceLate:        {"delivered %[1]s, with less notice than the %[2]s of the contract: not excluded", "%[1]s 送达，不足合同要求的提前 %[2]s：照常计入"},
	MaintenanceUndelivered: {"not delivered: not excluded", "未送达：照常计入"},

	PortalActAnnounced: {"announced", "公告"},
	PortalActCancelled: {"cancelled", "取消"},
	PortalDeliveredTo:  {"%[1]s delivered to %[2]s (%[3]s), %[4]s: %[5]s", "%[1]s 送达 %[2]s（%[3]s，%[4]s）：%[5]s"},
}

// Maintenance says where a window stands; another word as it is.
func (p Printer) Maintenance(state string) string {
	keys := map[string]Key{
		rental.MaintenanceAnnounced: MaintenanceAnnounced, rental.MaintenanceRunning: MaintenanceRunning,
		rental.MaintenanceOver: MaintenanceOver, rental.MaintenanceCancelled: MaintenanceCancelled,
	}
	if key, ok := keys[state]; ok {
		return p.Say(key)
	}
	return state
}

// MaintenanceStanding says whether a window excuses time of a lease, by when its tenant was told
// and the notice, in milliseconds, that its contract asks for.
func (p Printer) MaintenanceStanding(standing string, delivered rental.Millis, noticeMS int64, zone *time.Location) string {
	switch standing {
	case rental.MaintenanceCounts:
		return p.Say(MaintenanceCounts, p.Time(delivered, zone))
	case rental.MaintenanceLate:
		return p.Say(MaintenanceLate, p.Time(delivered, zone), p.Duration(noticeMS))
	}
	return p.Say(MaintenanceUndelivered)
}
