package api

import "github.com/leasewatch/leasewatch/internal/rental"

// NewToken asks for a token.
type NewToken struct {
	Name   string      `json:"name" minLength:"1" maxLength:"200" doc:"Who holds the token; it names the token too."`
	Role   rental.Role `json:"role" enum:"admin,operator,oncall,finance,tenant,push"`
	Tenant string      `json:"tenant,omitempty" maxLength:"200" doc:"Mandatory for role tenant, forbidden for any other."`
}

// CreatedToken is a new token with its secret, which is shown this once and kept nowhere.
type CreatedToken struct {
	Token rental.Token `json:"token"`
	// Secret is the plain secret: print it once, keep it nowhere else.
	Secret string `json:"secret"`
}

// SessionCookie is the name of the cookie in which the portal keeps a person's token.
const SessionCookie = "leasewatch_session"
