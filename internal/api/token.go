package api

import "github.com/leasewatch/leasewatch/internal/rental"

// Token is what may be told of a token: never its secret.
type Token struct {
	ID        string        `json:"id"`
	Name      string        `json:"name"`
	Role      rental.Role   `json:"role"`
	Tenant    string        `json:"tenant,omitempty"`
	CreatedAt rental.Millis `json:"created_at"`
	RevokedAt rental.Millis `json:"revoked_at,omitempty"`
}

// NewToken asks for a token.
type NewToken struct {
	Name   string      `json:"name" minLength:"1" maxLength:"200" doc:"Who holds the token."`
	Role   rental.Role `json:"role" enum:"admin,operator,oncall,finance,tenant,push"`
	Tenant string      `json:"tenant,omitempty" maxLength:"200" doc:"Mandatory for role tenant, forbidden for any other."`
}

// CreatedToken is a new token with its secret, which is shown this once and kept nowhere.
type CreatedToken struct {
	Token Token `json:"token"`
	// Secret is the plain secret: print it once, keep it nowhere else.
	Secret string `json:"secret"`
}
