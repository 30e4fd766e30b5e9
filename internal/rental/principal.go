package rental

import "slices"

// Role says what a principal may do; every use of it denies by default.
type Role string

// The roles. Only RoleTenant is bound to a tenant.
const (
	RoleAdmin    Role = "admin"    // everything, tokens too
	RoleOperator Role = "operator" // fleet, inventory, leases, incidents; no tokens
	RoleOnCall   Role = "oncall"   // fleet, incidents and their acknowledgement
	RoleFinance  Role = "finance"  // leases, bills, verdicts
	RoleTenant   Role = "tenant"   // its own leases only
	RolePush     Role = "push"     // writes samples and alerts, reads nothing
	RoleEnroll   Role = "enroll"   // becomes, once, a push token of a guest of its lease; nothing else
	// RoleScheduler tells which GPUs a scheduler gave to which lease, and reads nothing.
	RoleScheduler Role = "scheduler"
)

// Roles lists every role, for checks and tests.
var Roles = []Role{RoleAdmin, RoleOperator, RoleOnCall, RoleFinance, RoleTenant, RolePush, RoleEnroll, RoleScheduler}

// Principal is who asks: a token's holder, or the machine's own user.
type Principal struct {
	Name string `json:"name"`
	Role Role   `json:"role"`
	// Tenant is set where Role is tenant, and empty otherwise.
	Tenant string `json:"tenant,omitempty"`
	// Host is the one host that a push token may write for; empty for any, and for other roles.
	Host string `json:"host,omitempty"`
	// Lease is the lease that an enrolment token, and the push token of a guest that it became, are
	// bound to; empty for all others.
	Lease string `json:"lease,omitempty"`
	// Service tells that a program holds the token: it may enter changes, and never decides on one.
	Service bool `json:"service,omitempty"`
	// Person is the id of the person who holds the token; Name is the same. Empty for a program, for
	// the machine's own user and for tokens of older versions, whose names are recorded as they are.
	Person string `json:"person,omitempty"`
}

// ForPeople tells whether a person may hold such a token: the others lie on machines.
func (p Principal) ForPeople() bool {
	return !p.Service && !slices.Contains([]Role{RolePush, RoleEnroll, RoleScheduler}, p.Role)
}

// Coherent tells whether what a principal is bound to fits its role: a tenant's token names its
// tenant, an enrolment its lease, a guest's push token both lease and host, and no other any of them.
func (p Principal) Coherent() bool {
	switch p.Role {
	case RoleTenant:
		return p.Tenant != "" && p.Host == "" && p.Lease == ""
	case RoleEnroll:
		return p.Lease != "" && p.Host == "" && p.Tenant == ""
	case RolePush:
		return p.Tenant == "" && (p.Lease == "" || p.Host != "")
	default:
		return slices.Contains(Roles, p.Role) && p.Tenant == "" && p.Host == "" && p.Lease == ""
	}
}
