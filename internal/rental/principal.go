package rental

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
)

// Roles lists every role, for checks and tests.
var Roles = []Role{RoleAdmin, RoleOperator, RoleOnCall, RoleFinance, RoleTenant, RolePush}

// Principal is who asks: a token's holder, or the machine's own user.
type Principal struct {
	Name string `json:"name"`
	Role Role   `json:"role"`
	// Tenant is set where Role is tenant, and empty otherwise.
	Tenant string `json:"tenant,omitempty"`
	// Host is the one host that a push token may write for; empty for any, and for other roles.
	Host string `json:"host,omitempty"`
}
