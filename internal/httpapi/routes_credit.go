package httpapi

import (
	"context"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// claimers may ask for a credit: the tenant, or staff who write down that it did.
var claimers = []rental.Role{rental.RoleAdmin, rental.RoleOperator, rental.RoleFinance, rental.RoleTenant}

// Credits keeps the credits of leases as cases.
type Credits interface {
	// Credits returns those that the query chooses, by lease and month.
	Credits(ctx context.Context, q api.CreditQuery) ([]api.CreditFact, error)
	// ActOnCredit claims, approves or refuses; who and when are filled in.
	ActOnCredit(ctx context.Context, by rental.Principal, id string, act rental.Act) (api.CreditFact, error)
	// Credit returns one; rental.CodeNotFound where there is none.
	Credit(ctx context.Context, id string) (api.CreditFact, error)
	// CreditPack writes what a claim rests on as json, html or zip.
	CreditPack(ctx context.Context, id, format, lang string) ([]byte, error)
}

// CreditPath is the path of one credit.
type CreditPath struct {
	ID string `doc:"Lease and month, such as L-1:2026-05." maxLength:"220" path:"id"`
}

func (r *routes) addCredits() error {
	type query struct {
		Lease  string `maxLength:"200" query:"lease"`
		Tenant string `maxLength:"200" query:"tenant"`
		Month  string `doc:"Only those of this month of each contract; of all where it is not given." pattern:"^[0-9]{4}-(0[1-9]|1[0-2])$" patternDescription:"a month such as 2026-05" query:"month"`
		State  string `enum:"computed,claimable,claimed,booked,refused,lapsed" query:"state"`
	}
	if err := operation(r, "list-credits", "List credits with where each stands",
		func(ctx context.Context, v view, in *query) (*body[api.List[api.CreditFact]], error) {
			return items(v.credits(ctx, api.CreditQuery{Lease: in.Lease, Tenant: in.Tenant, Month: in.Month, State: in.State}))
		}); err != nil {
		return err
	}
	if err := operation(r, "get-credit", "Show one credit with its arithmetic and what people did with it",
		func(ctx context.Context, v view, in *CreditPath) (*body[api.CreditFact], error) {
			return answer(v.credit(ctx, in.ID))
		}); err != nil {
		return err
	}
	for id, kind := range map[string]string{"claim-credit": rental.ActClaimed, "approve-credit": rental.ActApproved, "refuse-credit": rental.ActRefused} {
		if err := creditAct(r, id, kind); err != nil {
			return err
		}
	}
	type pack struct {
		CreditPath

		Format string `default:"json" enum:"json,html,zip" query:"format"`
		Lang   string `doc:"Language of the page; the contract's where it is not given." enum:"en,zh" query:"lang"`
	}
	media := map[string]string{"json": "application/json", "html": htmlPage, "zip": "application/zip"}
	return operation(r, "get-credit-pack", "Return all that a claim rests on",
		func(ctx context.Context, v view, in *pack) (*huma.StreamResponse, error) {
			if _, err := v.credit(ctx, in.ID); err != nil {
				return nil, err
			}
			text, err := v.deps.Credits.CreditPack(ctx, in.ID, in.Format, in.Lang)
			return stream(media[in.Format], text), err
		},
		func(op *huma.Operation) {
			op.Responses = textOrJSON("The pack.", huma.SchemaFromType(r.huma.OpenAPI().Components.Schemas, typeOf[api.CreditPack]()))
			op.Responses["200"].Content["application/zip"] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
		})
}

// creditAct adds one act upon a credit that the caller may see.
func creditAct(r *routes, id, kind string) error {
	summary := map[string]string{
		rental.ActClaimed:  "Claim a credit for the tenant",
		rental.ActApproved: "Approve a credit: it becomes a line of the bill",
		rental.ActRefused:  "Refuse a credit, with the reason",
	}[kind]
	type input struct {
		CreditPath

		Body api.ActOnCredit
	}
	return operation(r, id, summary, func(ctx context.Context, v view, in *input) (*body[api.CreditFact], error) {
		if _, err := v.credit(ctx, in.ID); err != nil {
			return nil, err
		}
		return answer(v.deps.Credits.ActOnCredit(ctx, v.who, in.ID, rental.Act{Kind: kind, Side: rental.SideOf(v.who), Note: in.Body.Reason}))
	})
}

func (v view) credits(ctx context.Context, q api.CreditQuery) ([]api.CreditFact, error) {
	if only := v.tenantOnly(); only != "" {
		if q.Tenant != "" && q.Tenant != only {
			return nil, nil
		}
		q.Tenant = only
	}
	if q.Lease != "" {
		if err := v.lease(ctx, q.Lease); err != nil {
			return nil, err
		}
	}
	found, err := v.deps.Credits.Credits(ctx, q)
	return slices.DeleteFunc(slices.Clone(found), func(c api.CreditFact) bool { return !v.own(c.Tenant) }), err
}

func (v view) credit(ctx context.Context, id string) (api.CreditFact, error) {
	lease, _, err := rental.ParseCreditID(id)
	if err != nil {
		return api.CreditFact{}, api.NotFound("credit", id)
	}
	// Whose lease it is comes first: what is computed of another's is nobody's business.
	if v.lease(ctx, lease) != nil {
		return api.CreditFact{}, api.NotFound("credit", id)
	}
	c, err := v.deps.Credits.Credit(ctx, id)
	if rental.CodeOf(err) == rental.CodeNotFound || err == nil && !v.own(c.Tenant) {
		return api.CreditFact{}, api.NotFound("credit", id)
	}
	return c, err
}
