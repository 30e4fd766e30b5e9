package httpapi

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// addProof adds what a tenant keeps: reports, heads and keys.
func (r *routes) addProof() error {
	type query struct {
		LeasePeriod

		Trial  bool   `doc:"Report on the lease's first 168 hours instead of a period." query:"trial"`
		Format string `default:"json" doc:"json is signed and checked by leasewatch verify-report." enum:"json,html,csv" query:"format"`
		Lang   string `doc:"Language of html and csv; the contract's where it is not given." enum:"en,zh" query:"lang"`
	}
	if err := operation(r, "get-report", "Report on a lease: verdict, downtime, credits, use, cost, hardware and proof",
		func(ctx context.Context, v view, in *query) (*huma.StreamResponse, error) {
			p, err := in.period(rental.At(v.deps.Now()))
			if err != nil {
				return nil, err
			}
			if in.Trial && !p.IsZero() {
				return nil, invalid("query.trial", "a trial and a period: give one of them", true)
			}
			if err := v.lease(ctx, in.ID); err != nil {
				return nil, err
			}
			text, err := v.deps.Proofs.Report(ctx, in.ID, api.ReportQuery{Period: p, Trial: in.Trial, Format: in.Format, Lang: in.Lang})
			if err != nil {
				return nil, err
			}
			media := map[string]string{"html": htmlPage, "csv": "text/csv; charset=utf-8", "json": "application/json"}[in.Format]
			return stream(media, text), nil
		},
		func(op *huma.Operation) {
			op.Responses = textOrJSON("The report; its content is described in docs/proof.md.", &huma.Schema{Type: huma.TypeObject})
		}); err != nil {
		return err
	}
	if err := operation(r, "get-heads", "Return the heads that close each day of a lease's records",
		func(ctx context.Context, v view, in *LeasePath) (*body[api.Heads], error) {
			if err := v.lease(ctx, in.ID); err != nil {
				return nil, err
			}
			h, err := v.deps.Proofs.Heads(ctx, in.ID)
			h.Heads, h.Keys = orEmpty(h.Heads), orEmpty(h.Keys)
			return answer(h, err)
		}); err != nil {
		return err
	}
	return operation(r, "list-signing-keys", "List the public keys that reports are signed with",
		func(ctx context.Context, v view, _ *struct{}) (*body[api.List[rental.SigningKey]], error) {
			return items(v.deps.Proofs.SigningKeys(ctx))
		})
}
