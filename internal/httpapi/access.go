package httpapi

import (
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Access is one row of the table of who may call what.
type Access struct {
	// ID is the operation's id in the OpenAPI document.
	ID, Method, Path string
	// Roles are those that may call it; no other may.
	Roles []rental.Role
	// Why is the reason, for the documentation.
	Why string
}

var (
	everyone = rental.Roles
	readers  = []rental.Role{rental.RoleAdmin, rental.RoleOperator, rental.RoleOnCall, rental.RoleFinance, rental.RoleTenant}
	staff    = []rental.Role{rental.RoleAdmin, rental.RoleOperator, rental.RoleOnCall, rental.RoleFinance}
	watchers = []rental.Role{rental.RoleAdmin, rental.RoleOperator, rental.RoleOnCall, rental.RoleTenant}
	onCall   = []rental.Role{rental.RoleAdmin, rental.RoleOperator, rental.RoleOnCall}
	// A scheduler's own token, which may lie on its nodes, can do nothing else.
	schedulers = []rental.Role{rental.RoleAdmin, rental.RoleOperator, rental.RoleScheduler}
	keepers    = []rental.Role{rental.RoleAdmin, rental.RoleOperator}
	finance    = []rental.Role{rental.RoleAdmin, rental.RoleFinance}
	admins     = []rental.Role{rental.RoleAdmin}
	guests     = []rental.Role{rental.RoleEnroll}
)

// accessTable is the whole of who may call what. An operation that is not in it cannot be
// registered, and a role that is not in its row is refused.
var accessTable = []Access{
	{"whoami", "GET", "/whoami", everyone, "whoever holds a token may ask whose it is"},
	{"status", "GET", "/status", readers, "a tenant is told the version and whether anybody is paged, nothing of other hosts"},

	{"list-leases", "GET", "/leases", readers, "a tenant's own"},
	{"get-lease", "GET", "/leases/{id}", readers, "a tenant's own"},
	{"lease-history", "GET", "/leases/{id}/history", readers, "a tenant's own, without who of the provider recorded it and why"},
	{"end-lease", "POST", "/leases/{id}/end", keepers, "ends what is earned"},
	{"get-bill", "GET", "/leases/{id}/bill", readers, "a tenant's own; who is on call is told the money at stake"},
	{"simulate-prices", "GET", "/leases/{id}/prices", staff, "tells others' prices"},
	{"simulate-profile", "POST", "/prices/simulate", staff, "tells others' prices"},
	{"own-or-rent", "POST", "/leases/{id}/own-or-rent", readers, "reckons with a tenant's own bill"},
	{"list-bills", "GET", "/bills", readers, "a tenant's own"},
	{"close-month", "POST", "/invoices", finance, "freezes what is owed, in a person's name"},
	{"list-invoices", "GET", "/invoices", readers, "a tenant's own"},
	{"get-invoice", "GET", "/invoices/{id}", readers, "a tenant's own"},
	{"get-usage", "GET", "/leases/{id}/usage", readers, "a tenant's own"},
	{"get-sla", "GET", "/leases/{id}/sla", readers, "a tenant's own"},
	{"list-sla", "GET", "/sla", readers, "a tenant's own"},
	{"get-scorecard", "GET", "/providers/{name}/scorecard", readers, "by a tenant's own leases"},
	{"list-downtimes", "GET", "/downtimes", readers, "those of a tenant's own leases"},
	{"get-downtime-fact", "GET", "/downtimes/{id}", readers, "one of a tenant's own leases"},
	{"record-downtime", "POST", "/downtimes", reporters, "it waits for somebody else's approval; a tenant's own leases"},
	{"dispute-downtime", "POST", "/downtimes/{id}/dispute", readers, "either side may; a tenant one of its own leases"},
	{"approve-downtime", "POST", "/downtimes/{id}/approve", deciders, "changes what is owed, in a person's name"},
	{"reject-downtime", "POST", "/downtimes/{id}/reject", deciders, "changes what is owed, in a person's name"},
	{"decide-downtime", "POST", "/downtimes/{id}/decide", deciders, "ends a dispute, in a person's name"},
	{"get-report", "GET", "/leases/{id}/report", readers, "a tenant's own"},
	{"get-heads", "GET", "/leases/{id}/heads", readers, "a tenant's own: it keeps them as proof"},
	{"list-signing-keys", "GET", "/signing-keys", readers, "public keys: whoever is given a report checks its signature"},
	{"list-credits", "GET", "/credits", readers, "those of a tenant's own leases"},
	{"get-credit", "GET", "/credits/{id}", readers, "one of a tenant's own leases"},
	{"get-credit-pack", "GET", "/credits/{id}/pack", readers, "one of a tenant's own leases"},
	{"claim-credit", "POST", "/credits/{id}/claim", claimers, "a tenant's own, or what staff write down that a tenant asked for"},
	{"approve-credit", "POST", "/credits/{id}/approve", finance, "books money, in a person's name"},
	{"refuse-credit", "POST", "/credits/{id}/refuse", finance, "keeps money, in a person's name"},
	{"list-maintenances", "GET", "/maintenances", readers, "those that touch a tenant's own leases, with its own delivery alone; a person of the tenant who reads one is told of it"},
	{"get-maintenance", "GET", "/maintenances/{id}", readers, "as in the list"},
	{"announce-maintenance", "POST", "/maintenances", keepers, "takes time out of what was promised, once it is delivered"},
	{"deliver-maintenance", "POST", "/maintenances/{id}/deliver", keepers, "says that a tenant was told"},
	{"cancel-maintenance", "POST", "/maintenances/{id}/cancel", keepers, "ends it"},
	{"get-downtime", "GET", "/leases/{id}/downtime", readers, "a tenant's own"},
	{"get-states", "GET", "/leases/{id}/states", readers, "a tenant's own"},
	{"cost-vs-utilisation", "GET", "/cost-vs-utilisation", readers, "a tenant's own leases"},

	{"get-fleet", "GET", "/fleet", watchers, "a tenant sees the GPUs of its leases"},
	{"list-incidents", "GET", "/incidents", watchers, "a tenant sees what touched its leases, without what touched others"},
	{"get-incident", "GET", "/incidents/{id}", watchers, "as in the list"},
	{"ack-incident", "POST", "/incidents/{id}/ack", onCall, "an acknowledgement stops the response clock: a person of the provider gives it"},
	{"silence-incident", "POST", "/incidents/{id}/silence", onCall, "mutes, and acknowledges in a person's name"},
	{"escalate-incident", "POST", "/incidents/{id}/escalate", onCall, "calls people"},
	{"note-incident", "POST", "/incidents/{id}/note", onCall, "in a person's name"},
	{"export-incident", "GET", "/incidents/{id}/export", onCall, "holds every note, which may name others"},
	{"get-oncall", "GET", "/oncall", onCall, "names colleagues and how they are reached"},

	{"report-incident", "POST", "/incidents/{id}/report", watchers, "either side may tell of it; a tenant of what touches its leases. It never stops a clock"},
	{"verify-incident", "POST", "/incidents/{id}/verify", watchers, "either side may say that it works again"},
	{"note-answer", "POST", "/incidents/{id}/answer", onCall, "a person of the provider, no program; it counts once another approves it"},
	{"approve-answer", "POST", "/incidents/{id}/answer/approve", onCall, "by another person than who noted it, and by no program"},
	{"list-backups", "GET", "/backups", readers, "those of a tenant's own leases"},
	{"report-backup", "POST", "/backups", reporters, "either side may have made it; a tenant's own leases"},
	{"check-backup", "POST", "/backups/{id}/check", reporters, "either side may check it; a tenant's own leases"},
	{"list-failures", "GET", "/failures", readers, "those of a tenant's own leases"},
	{"get-failure", "GET", "/failures/{id}", readers, "one of a tenant's own leases"},
	{"open-failure", "POST", "/failures", reporters, "either side may tell of it; a tenant's own leases"},
	{"restore-failure", "POST", "/failures/{id}/restore", reporters, "either side may restore; a tenant's own leases"},
	{"settle-failure", "POST", "/failures/{id}/settle", reporters, "either side may verify; what is told late by another person"},

	{"apply", "POST", "/apply", keepers, "writes contracts, leases and inventory"},
	{"list-pending", "GET", "/pending", deciders, "tells others' prices"},
	{"get-pending", "GET", "/pending/{id}", deciders, "as in the list"},
	{"approve-pending", "POST", "/pending/{id}/approve", deciders, "by another person than who entered it, and by no program"},
	{"reject-pending", "POST", "/pending/{id}/reject", deciders, "by a person, who entered it too"},

	{"list-proposals", "GET", "/inventory/proposals", keepers, "names every host"},
	{"list-inventory-conflicts", "GET", "/inventory/conflicts", onCall, "names hosts and leases of others"},
	{"idle-use", "GET", "/use/idle", readers, "a tenant's own leases"},
	{"unleased-use", "GET", "/use/unleased", onCall, "names others' machines"},
	{"swap-gpu", "POST", "/leases/{id}/swap", keepers, "says which GPU serves a lease"},
	{"set-gpu-life", "POST", "/gpus/{id}/life", keepers, "writes the inventory"},
	{"gpu-history", "GET", "/gpus/{id}/history", onCall, "names others' machines"},
	{"list-rmas", "GET", "/rmas", onCall, "names others' machines"},
	{"get-rma", "GET", "/rmas/{id}", onCall, "names others' machines"},
	{"get-rma-bundle", "GET", "/rmas/{id}/bundle", onCall, "names others' machines, and who leased them where that is asked for"},
	{"open-rma", "POST", "/rmas", keepers, "writes the inventory"},
	{"replace-rma", "POST", "/rmas/{id}/replace", keepers, "writes the inventory"},
	{"close-rma", "POST", "/rmas/{id}/close", keepers, "writes the inventory"},
	{"tell-assignments", "POST", "/assignments", schedulers, "says which GPUs serve which lease, and so what it pays"},
	{"adopt", "POST", "/inventory/adopt", keepers, "writes the inventory"},
	{"list-providers", "GET", "/providers", staff, "names others"},
	{"list-tenants", "GET", "/tenants", staff, "names others"},
	{"list-sites", "GET", "/sites", onCall, "names others' places"},
	{"list-hosts", "GET", "/hosts", onCall, "names others' machines"},
	{"list-gpus", "GET", "/gpus", onCall, "names others' machines"},
	{"list-mig-instances", "GET", "/mig-instances", onCall, "names others' machines"},
	{"list-skus", "GET", "/skus", staff, "belongs to the inventory"},
	{"list-contracts", "GET", "/contracts", staff, "tells others' prices"},

	{"list-tokens", "GET", "/tokens", admins, "names every holder"},
	{"create-token", "POST", "/tokens", admins, "gives access"},
	{"revoke-token", "DELETE", "/tokens/{name}", admins, "takes access"},
	{"list-people", "GET", "/people", admins, "names and addresses of people"},
	{"get-person", "GET", "/people/{id}", admins, "names and addresses of people"},
	{"add-person", "POST", "/people", admins, "whoever has an id may be given access"},
	{"change-person", "POST", "/people/{id}/change", admins, "says who did what"},
	{"erase-person", "POST", "/people/{id}/erase", admins, "cannot be undone, and takes access; by two people where the policy says so"},
	{"list-holds", "GET", "/holds", finance, "names tenants in a dispute"},
	{"place-hold", "POST", "/holds", finance, "keeps what would be deleted"},
	{"release-hold", "POST", "/holds/{id}/release", finance, "by another person than who placed it, and by no program"},
	{"get-retention", "GET", "/retention", finance, "counts everybody's data"},
	{"enroll", "POST", "/enroll", guests, "a guest becomes one that may push, once"},
}

// AccessTable returns a copy of the table, for the documentation and for tests.
func AccessTable() []Access { return slices.Clone(accessTable) }

// accessOf returns the row of an operation.
func accessOf(id string) (Access, bool) {
	i := slices.IndexFunc(accessTable, func(a Access) bool { return a.ID == id })
	if i < 0 {
		return Access{}, false
	}
	return accessTable[i], true
}
