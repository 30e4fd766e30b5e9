package api

import (
	"context"
	"net/http"
	"net/url"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// BillQuery chooses bills; without lease, tenant and provider it is all that the caller may see.
type BillQuery struct {
	Lease    string
	Tenant   string
	Provider string
	// Period is each contract's own month, or a span; the zero value is the present month.
	Period Period
	// Lang is the language of its sentences, en or zh; the contract's where it is empty. Only what
	// BillsAs writes for people has another.
	Lang string
}

// Bills are the bills of several leases.
type Bills struct {
	Bills []rental.Bill `json:"bills"`
	// Subtotals are one for each currency; currencies are never added.
	Subtotals []Money `json:"subtotals"`
	// Failures are leases whose bill could not be made, by id.
	Failures []Failure `json:"failures,omitempty"`
}

// CloseMonth asks to freeze the bills of a month, of the contract's time zone each.
type CloseMonth struct {
	Month    string `json:"month" pattern:"^[0-9]{4}-(0[1-9]|1[0-2])$" patternDescription:"a month such as 2026-05"`
	Lease    string `json:"lease,omitempty" maxLength:"200"`
	Tenant   string `json:"tenant,omitempty" maxLength:"200"`
	Provider string `json:"provider,omitempty" maxLength:"200"`
	DryRun   bool   `json:"dry_run,omitempty"`
}

// Closing is what closing a month did, or would do.
type Closing struct {
	Month     string           `json:"month"`
	DryRun    bool             `json:"dry_run"`
	Invoices  []InvoiceSummary `json:"invoices"`
	Subtotals []Money          `json:"subtotals"`
	// Failures are leases that stay open, by id, with the reason.
	Failures []Failure `json:"failures,omitempty"`
	// Pending is set where the closing waits for a second person: nothing is closed yet.
	Pending *rental.Pending `json:"pending,omitempty"`
}

// InvoiceSummary is a closed bill without its lines. Of a dry run it has no number and no hash.
type InvoiceSummary struct {
	Number   string        `json:"number"`
	Lease    string        `json:"lease"`
	Tenant   string        `json:"tenant"`
	Provider string        `json:"provider"`
	Period   rental.Span   `json:"period"`
	Total    Money         `json:"total"`
	ClosedAt rental.Millis `json:"closed_at,omitempty"`
	ClosedBy string        `json:"closed_by,omitempty"`
	// ApprovedBy is the second person, where one was needed.
	ApprovedBy string `json:"approved_by,omitempty"`
	// Hash is the SHA-256 of the bill's bytes, in hex.
	Hash string `json:"hash,omitempty"`
	// Waiting says what was not decided when it was closed; it becomes a correction.
	Waiting []string `json:"waiting,omitempty"`
}

// Bills returns the bills that the query chooses.
func (c *Client) Bills(ctx context.Context, q BillQuery) (Bills, error) {
	var out Bills
	return out, c.get(ctx, q.values(), &out, "bills")
}

// BillsAs returns the bills as the bytes of a format, as BillAs does.
func (c *Client) BillsAs(ctx context.Context, q BillQuery, format, lang string) ([]byte, error) {
	v := q.values()
	v.Set("format", format)
	set(v, "lang", lang)
	return c.do(ctx, request{method: http.MethodGet, path: []string{"bills"}, query: v})
}

// Simulate prices a lease under every contract that is recorded.
func (c *Client) Simulate(ctx context.Context, lease string, p Period) ([]rental.Quote, error) {
	var out List[rental.Quote]
	return out.Items, c.get(ctx, p.values(), &out, "leases", lease, "prices")
}

// CloseMonth freezes bills in the caller's name.
func (c *Client) CloseMonth(ctx context.Context, in CloseMonth) (Closing, error) {
	var out Closing
	return out, c.post(ctx, in, &out, "invoices")
}

// Invoices returns the closed bills of a month of their contracts; of all months where it is empty.
func (c *Client) Invoices(ctx context.Context, month string) ([]InvoiceSummary, error) {
	v := url.Values{}
	set(v, "month", month)
	var out List[InvoiceSummary]
	return out.Items, c.get(ctx, v, &out, "invoices")
}

// InvoiceBytes returns a closed bill as the bytes that were frozen.
func (c *Client) InvoiceBytes(ctx context.Context, number string) ([]byte, error) {
	return c.do(ctx, request{method: http.MethodGet, path: []string{"invoices", number}})
}

func (q BillQuery) values() url.Values {
	v := q.Period.values()
	set(v, "lease", q.Lease)
	set(v, "tenant", q.Tenant)
	set(v, "provider", q.Provider)
	return v
}
