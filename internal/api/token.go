package api

import "github.com/leasewatch/leasewatch/internal/rental"

// NewToken asks for a token.
type NewToken struct {
	Name   string      `doc:"The program that holds the token; it names the token too. Left out for a person's." json:"name,omitempty" maxLength:"200"`
	Person string      `doc:"The id of the person who holds the token, such as PER-1: it is named after it, and what is done with it is recorded under it." json:"person,omitempty" maxLength:"200"`
	Role   rental.Role `enum:"admin,operator,oncall,finance,tenant,push,enroll,scheduler"   json:"role"`
	Tenant string      `doc:"Mandatory for role tenant, forbidden for any other." json:"tenant,omitempty" maxLength:"200"`
	Host   string      `doc:"For role push: the one host it may write for; empty for any." json:"host,omitempty" maxLength:"253"`
	Lease  string      `doc:"Mandatory for role enroll, forbidden for any other: the lease whose guest it becomes." json:"lease,omitempty" maxLength:"200"`
	// Service says that a program holds it: it enters changes and decides on none.
	Service bool `doc:"A program holds it: it may enter changes, and decides on none." json:"service,omitempty"`
	// ValidForSeconds is how long an enrolment may wait for its use.
	ValidForSeconds int64 `doc:"For role enroll: how long it can be used; 86400, a day, where absent." json:"valid_for_seconds,omitempty" minimum:"60" maximum:"2592000"`
}

// Enroll is what a guest sends, with its enrolment token, to become one that may push.
type Enroll struct {
	Host string `doc:"The name that the guest's samples carry in the label host." json:"host" maxLength:"253" minLength:"1"`
	// Hash is told in the secret's place: the secret itself never leaves the guest.
	Hash string `doc:"The SHA-256 of the push token that the guest made for itself, as hexadecimal digits." json:"hash" maxLength:"64" minLength:"64" pattern:"^[0-9a-f]{64}$"`
}

// Enrolled is what a guest became.
type Enrolled struct {
	Name  string `json:"name"`
	Lease string `json:"lease"`
	Host  string `json:"host"`
	// WritePath is where it pushes to, below the server's address.
	WritePath string `json:"write_path"`
}

// WritePath is the path of the remote-write receiver.
const WritePath = "/prometheus/api/v1/write"

// CreatedToken is a new token with its secret, which is shown this once and kept nowhere.
type CreatedToken struct {
	Token rental.Token `json:"token"`
	// Secret is the plain secret: print it once, keep it nowhere else.
	Secret string `json:"secret"`
}

// SessionCookie is the name of the cookie in which the portal keeps a person's token.
const SessionCookie = "leasewatch_session"
