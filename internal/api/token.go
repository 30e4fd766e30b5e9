package api

import "github.com/leasewatch/leasewatch/internal/rental"

// NewToken asks for a token.
type NewToken struct {
	Name   string      `doc:"Who holds the token; it names the token too."        json:"name"             maxLength:"200" minLength:"1"`
	Role   rental.Role `enum:"admin,operator,oncall,finance,tenant,push"          json:"role"`
	Tenant string      `doc:"Mandatory for role tenant, forbidden for any other." json:"tenant,omitempty" maxLength:"200"`
	Host   string      `doc:"For role push: the one host it may write for; empty for any." json:"host,omitempty" maxLength:"253"`
}

// CreatedToken is a new token with its secret, which is shown this once and kept nowhere.
type CreatedToken struct {
	Token rental.Token `json:"token"`
	// Secret is the plain secret: print it once, keep it nowhere else.
	Secret string `json:"secret"`
}

// SessionCookie is the name of the cookie in which the portal keeps a person's token.
const SessionCookie = "leasewatch_session"
