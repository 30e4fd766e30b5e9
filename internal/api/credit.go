package api

import (
	"context"
	"net/http"
	"net/url"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// CreditFact is the credit of a lease's month with whose it is.
type CreditFact struct {
	rental.Credit
	Tenant   string `json:"tenant"`
	Provider string `json:"provider"`
	Month    string `json:"month"` // of the contract's zone
}

// CreditQuery chooses credits; its zero value is all that the caller may see.
type CreditQuery struct {
	Lease  string
	Tenant string
	Month  string // of each contract's zone: 2026-05
	State  string // one of rental.CreditStates
}

// ActOnCredit claims, approves or refuses a credit, with the reason.
type ActOnCredit struct {
	Reason string `json:"reason" maxLength:"2000" minLength:"1"`
}

// CreditPack is all that a claim rests on: what is owed, by which words of the contract, by what
// downtime, with what evidence, and until when.
type CreditPack struct {
	Credit CreditFact `json:"credit"`
	// Made is when the pack was made.
	Made         rental.Millis        `json:"made"`
	TimeZone     string               `json:"time_zone"`
	Contract     string               `json:"contract"`
	Availability *rental.Availability `json:"availability"`
	Credits      *rental.Credits      `json:"credits"`
	Verdict      rental.Verdict       `json:"verdict"`
	Downtimes    []rental.Downtime    `json:"downtimes"`
	Maintenances []rental.Maintenance `json:"maintenances"`
	Assignments  []rental.Assignment  `json:"assignments"`
}

// Credits returns the credits that the query chooses, by lease and month.
func (c *Client) Credits(ctx context.Context, q CreditQuery) ([]CreditFact, error) {
	v := url.Values{}
	set(v, "lease", q.Lease)
	set(v, "tenant", q.Tenant)
	set(v, "month", q.Month)
	set(v, "state", q.State)
	var out List[CreditFact]
	return out.Items, c.get(ctx, v, &out, "credits")
}

// Credit returns one credit by its id, such as L-1:2026-05.
func (c *Client) Credit(ctx context.Context, id string) (CreditFact, error) {
	var out CreditFact
	return out, c.get(ctx, nil, &out, "credits", id)
}

// ClaimCredit asks for a credit in the tenant's name.
func (c *Client) ClaimCredit(ctx context.Context, id string, in ActOnCredit) (CreditFact, error) {
	var out CreditFact
	return out, c.post(ctx, in, &out, "credits", id, "claim")
}

// ApproveCredit books a credit; ErrConflict where the caller entered its downtime or claimed it.
func (c *Client) ApproveCredit(ctx context.Context, id string, in ActOnCredit) (CreditFact, error) {
	var out CreditFact
	return out, c.post(ctx, in, &out, "credits", id, "approve")
}

// RefuseCredit says that a credit is not paid, and why.
func (c *Client) RefuseCredit(ctx context.Context, id string, in ActOnCredit) (CreditFact, error) {
	var out CreditFact
	return out, c.post(ctx, in, &out, "credits", id, "refuse")
}

// CreditPack returns what a claim rests on as the bytes of a format, json, html or zip, with
// sentences in lang, en or zh; in the contract's where it is empty.
func (c *Client) CreditPack(ctx context.Context, id, format, lang string) ([]byte, error) {
	v := url.Values{}
	set(v, "format", format)
	set(v, "lang", lang)
	return c.do(ctx, request{method: http.MethodGet, path: []string{"credits", id, "pack"}, query: v})
}
