package httpapi

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// LeasePath is the path of one lease.
type LeasePath struct {
	ID string `doc:"The lease's id." maxLength:"200" path:"id"`
}

// LeasePeriod is one lease over a period.
type LeasePeriod struct {
	LeasePath
	PeriodQuery
}

// KnownPeriod is one lease over a period, by what was known at a moment.
type KnownPeriod struct {
	LeasePeriod
	AsOfQuery
}

func (r *routes) addServer() error {
	if err := operation(r, "whoami", "Tell who the caller is taken for",
		func(ctx context.Context, v view, _ *struct{}) (*body[rental.Principal], error) {
			who := v.who
			if who.Person == "" {
				return answer(who, nil)
			}
			names, err := v.deps.People.Names(ctx, v.tenantOnly())
			who.Name = names.Of(who.Person)
			return answer(who, err)
		}); err != nil {
		return err
	}
	if err := operation(r, "status", "Tell how the server itself is",
		func(ctx context.Context, v view, _ *struct{}) (*body[api.Status], error) {
			return answer(v.status(ctx))
		}); err != nil {
		return err
	}
	return operation(r, "get-fleet", "Show every host and GPU as it is now",
		func(ctx context.Context, v view, _ *struct{}) (*body[api.Fleet], error) { return answer(v.fleet(ctx)) })
}

func (r *routes) addLeases() error {
	type query struct {
		Tenant   string `maxLength:"200"                              query:"tenant"`
		Provider string `maxLength:"200"                              query:"provider"`
		At       string `doc:"Only leases that exist at this moment." format:"date-time" query:"at"`

		AsOfQuery
	}
	if err := operation(r, "list-leases", "List leases with the figures of their month so far",
		func(ctx context.Context, v view, in *query) (*body[api.List[api.LeaseSummary]], error) {
			q := api.LeaseQuery{Tenant: in.Tenant, Provider: in.Provider}
			if in.At != "" {
				if err := q.At.UnmarshalText([]byte(in.At)); err != nil {
					return nil, invalid("query.at", err.Error(), in.At)
				}
			}
			return items(v.leases(ctx, q))
		}); err != nil {
		return err
	}
	type known struct {
		LeasePath
		AsOfQuery
	}
	if err := operation(r, "get-lease", "Show one lease with all that decides its bill and its verdict",
		func(ctx context.Context, v view, in *known) (*body[api.LeaseDetail], error) {
			return answer(v.leaseDetail(ctx, in.ID))
		}); err != nil {
		return err
	}
	if err := operation(r, "lease-history", "List all that was recorded of a lease: when, by whom, why, and what it changed",
		func(ctx context.Context, v view, in *known) (*body[api.List[rental.HistoryEntry]], error) {
			return items(v.history(ctx, in.ID))
		}); err != nil {
		return err
	}
	type end struct {
		LeasePath

		Body api.EndLease
	}
	return operation(r, "end-lease", "End a lease",
		func(ctx context.Context, v view, in *end) (*body[api.EndedLease], error) {
			if err := v.lease(ctx, in.ID); err != nil {
				return nil, err
			}
			if in.Body.At == rental.Forever {
				return nil, invalid("body.at", "an end is a moment, not \"open\"", "open")
			}
			return answer(v.deps.Ender.EndLease(ctx, v.who, in.ID, in.Body.At))
		})
}

// addBill adds the bill, which is JSON or what a person or a spreadsheet reads.
func (r *routes) addBill() error {
	type query struct {
		KnownPeriod

		FormatQuery
	}
	schema := huma.SchemaFromType(r.huma.OpenAPI().Components.Schemas, typeOf[rental.Bill]())
	return operation(r, "get-bill", "Make the bill of a lease",
		func(ctx context.Context, v view, in *query) (*huma.StreamResponse, error) {
			p, err := in.period(rental.At(v.deps.Now()))
			if err != nil {
				return nil, err
			}
			bill, err := v.bill(ctx, in.ID, p, in.sentences())
			if err != nil {
				return nil, err
			}
			if in.Format == "json" {
				text, err := jsonLine(bill)
				return stream("application/json", text), err
			}
			media, text, err := render(ctx, v.deps.Renderer, []rental.Bill{bill}, in.FormatQuery)
			return stream(media, text), err
		},
		func(op *huma.Operation) { op.Responses = textOrJSON("The bill.", schema) })
}

func jsonLine(v any) ([]byte, error) {
	var out bytes.Buffer
	err := json.NewEncoder(&out).Encode(v)
	return out.Bytes(), err
}

func (r *routes) addUse() error {
	type usageQuery struct {
		LeasePeriod

		Step string `default:"hour" doc:"A day is one of the contract's time zone." enum:"hour,day" query:"step"`
	}
	if err := operation(r, "get-usage", "Show a lease's cost beside its use, over time",
		func(ctx context.Context, v view, in *usageQuery) (*body[api.Usage], error) {
			p, err := in.period(rental.At(v.deps.Now()))
			if err != nil {
				return nil, err
			}
			u, err := v.usage(ctx, in.ID, p, in.Step)
			u.Points = orEmpty(u.Points)
			return answer(u, err)
		}); err != nil {
		return err
	}
	type costQuery struct {
		SpanQuery

		Group string `default:"lease" enum:"lease" query:"group"`
	}
	return operation(r, "cost-vs-utilisation", "Compare leases: cost against use",
		func(ctx context.Context, v view, in *costQuery) (*body[api.CostTable], error) {
			span, err := in.span(rental.At(v.deps.Now()))
			if err != nil {
				return nil, err
			}
			t, err := v.costTable(ctx, span)
			t.Rows = orEmpty(t.Rows)
			return answer(t, err)
		})
}

// leaseRead adds an operation that reads one lease over a period.
func leaseRead[T any](r *routes, id, summary string, read func(view, context.Context, string, api.Period) (T, error)) error {
	return operation(r, id, summary, func(ctx context.Context, v view, in *KnownPeriod) (*body[T], error) {
		p, err := in.period(rental.At(v.deps.Now()))
		if err != nil {
			return nil, err
		}
		return answer(read(v, ctx, in.ID, p))
	})
}

func orEmpty[T any](values []T) []T {
	if values == nil {
		return []T{}
	}
	return values
}
