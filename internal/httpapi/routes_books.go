package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// addBooks adds the bills of several leases and the closing of months.
func (r *routes) addBooks() error {
	if err := r.addPrices(); err != nil {
		return err
	}
	type billsQuery struct {
		PeriodQuery
		AsOfQuery

		Lease    string `maxLength:"200" query:"lease"`
		Tenant   string `maxLength:"200" query:"tenant"`
		Provider string `maxLength:"200" query:"provider"`

		FormatQuery
	}
	schema := huma.SchemaFromType(r.huma.OpenAPI().Components.Schemas, typeOf[api.Bills]())
	if err := operation(r, "list-bills", "Make the bills of a tenant, a provider or all leases",
		func(ctx context.Context, v view, in *billsQuery) (*huma.StreamResponse, error) {
			p, err := in.period(rental.At(v.deps.Now()))
			if err != nil {
				return nil, err
			}
			bills, err := v.bills(ctx, api.BillQuery{Lease: in.Lease, Tenant: in.Tenant, Provider: in.Provider, Period: p, Lang: in.sentences()})
			if err != nil {
				return nil, err
			}
			if in.Format == "json" {
				text, err := jsonLine(bills)
				return stream("application/json", text), err
			}
			// Of a file that leaves leases out nobody would know it: it is not written.
			if len(bills.Failures) > 0 {
				return nil, api.Errorf(http.StatusConflict, "bill of lease %s: %s", bills.Failures[0].Name, bills.Failures[0].Reason)
			}
			media, text, err := render(ctx, v.deps.Renderer, bills.Bills, in.FormatQuery)
			return stream(media, text), err
		},
		func(op *huma.Operation) { op.Responses = textOrJSON("The bills.", schema) }); err != nil {
		return err
	}
	if err := operation(r, "simulate-prices", "Price a lease under every contract that is recorded",
		func(ctx context.Context, v view, in *LeasePeriod) (*body[api.List[rental.Quote]], error) {
			p, err := in.period(rental.At(v.deps.Now()))
			if err != nil {
				return nil, err
			}
			if err := v.lease(ctx, in.ID); err != nil {
				return nil, err
			}
			return items(v.deps.Books.Simulate(ctx, in.ID, p))
		}); err != nil {
		return err
	}
	if err := operation(r, "close-month", "Close the bills of a month: they are frozen and numbered",
		func(ctx context.Context, v view, in *body[api.CloseMonth]) (*body[api.Closing], error) {
			c, err := v.deps.Books.CloseMonth(ctx, v.who, in.Body)
			c.Invoices, c.Subtotals = orEmpty(c.Invoices), orEmpty(c.Subtotals)
			return answer(c, err)
		}); err != nil {
		return err
	}
	type invoicesQuery struct {
		Month string `doc:"Only those of this month; of all where it is not given." pattern:"^[0-9]{4}-(0[1-9]|1[0-2])$" patternDescription:"a month such as 2026-05" query:"month"`
	}
	if err := operation(r, "list-invoices", "List closed bills",
		func(ctx context.Context, v view, in *invoicesQuery) (*body[api.List[api.InvoiceSummary]], error) {
			return items(v.invoices(ctx, in.Month))
		}); err != nil {
		return err
	}
	return operation(r, "get-invoice", "Return a closed bill as the bytes that were frozen",
		func(ctx context.Context, v view, in *struct {
			ID string `doc:"The invoice's number, such as INV-000042." maxLength:"200" path:"id"`
		}) (*huma.StreamResponse, error) {
			text, err := v.invoice(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			return stream("application/json", text), nil
		},
		func(op *huma.Operation) {
			op.Responses = textOrJSON("The bill.", huma.SchemaFromType(r.huma.OpenAPI().Components.Schemas, typeOf[rental.Bill]()))
		})
}

func stream(media string, text []byte) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", media)
		if media == htmlPage { // the page brings its style along, and nothing else
			ctx.SetHeader("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		}
		ctx.SetStatus(http.StatusOK)
		_, _ = ctx.BodyWriter().Write(text) // the caller is gone: nobody is left to tell
	}}
}

func textOrJSON(what string, schema *huma.Schema) map[string]*huma.Response {
	return map[string]*huma.Response{"200": {
		Description: what,
		Content: map[string]*huma.MediaType{
			"application/json": {Schema: schema},
			"text/csv":         {Schema: &huma.Schema{Type: huma.TypeString}},
			"text/html":        {Schema: &huma.Schema{Type: huma.TypeString}},
			"text/plain":       {Schema: &huma.Schema{Type: huma.TypeString}},
		},
	}}
}

func render(ctx context.Context, renderer BillRenderer, bills []rental.Bill, q FormatQuery) (media string, text []byte, err error) {
	var out bytes.Buffer
	if err := renderer.RenderBills(ctx, &out, bills, q.Format, q.Lang); err != nil {
		return "", nil, fmt.Errorf("bills as %s: %w", q.Format, err)
	}
	switch q.Format {
	case "table":
		media = "text/plain; charset=utf-8"
	case "html":
		media = htmlPage
	default:
		media = "text/csv; charset=utf-8"
	}
	return media, out.Bytes(), nil
}

const htmlPage = "text/html; charset=utf-8"

func (v view) bills(ctx context.Context, q api.BillQuery) (api.Bills, error) {
	if only := v.tenantOnly(); only != "" {
		if q.Tenant != "" && q.Tenant != only {
			return api.Bills{Bills: []rental.Bill{}, Subtotals: []api.Money{}}, nil
		}
		q.Tenant = only
	}
	if q.Lease != "" {
		if err := v.lease(ctx, q.Lease); err != nil {
			return api.Bills{}, err
		}
	}
	bills, err := v.deps.Books.Bills(ctx, q)
	if err != nil {
		return api.Bills{}, err
	}
	for _, b := range bills.Bills {
		if !v.own(b.Tenant) {
			return api.Bills{}, fmt.Errorf("bill of lease %s reached tenant %s", b.Lease, v.who.Tenant)
		}
	}
	bills.Bills, bills.Subtotals = orEmpty(bills.Bills), orEmpty(bills.Subtotals)
	return bills, nil
}

func (v view) invoices(ctx context.Context, month string) ([]api.InvoiceSummary, error) {
	all, err := v.deps.Books.Invoices(ctx, month)
	var own []api.InvoiceSummary
	for _, i := range all {
		if v.own(i.Tenant) {
			own = append(own, i)
		}
	}
	return own, err
}

func (v view) invoice(ctx context.Context, number string) ([]byte, error) {
	tenant, text, err := v.deps.Books.Invoice(ctx, number)
	if rental.CodeOf(err) == rental.CodeNotFound || err == nil && !v.own(tenant) {
		return nil, api.NotFound("invoice", number)
	}
	return text, err
}
