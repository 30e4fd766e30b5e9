package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/billing"
	"github.com/leasewatch/leasewatch/internal/proof"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/report"
	"github.com/leasewatch/leasewatch/internal/sla"
)

// reports makes the reports that tenants are given.
type reports struct {
	proofs

	sla     *sla.Service
	billing *billing.Service
	now     func() time.Time
	version string
}

// Report writes the report on a lease as format: html, json (signed) or csv.
func (r reports) Report(ctx context.Context, lease string, q api.ReportQuery) ([]byte, error) {
	document, err := r.document(ctx, lease, q)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	switch q.Format {
	case "html":
		keys := r.signer.Keys()
		err = report.WriteHTML(&out, document, keys[len(keys)-1].ID, q.Lang)
	case "csv":
		err = report.WriteCSV(&out, document, q.Lang)
	default:
		return report.Sign(document, r.signer)
	}
	return out.Bytes(), err
}

func (r reports) document(ctx context.Context, id string, q api.ReportQuery) (report.Document, error) {
	lease, contract, err := readLease(ctx, r.ledger, id)
	if err != nil {
		return report.Document{}, err
	}
	in := report.Input{Kind: report.KindMonth, MadeAt: rental.At(r.now()), Program: r.version}
	var span rental.Span
	switch {
	case q.Trial:
		in.Kind, span = report.KindTrial, rental.Span{Start: lease.Start, End: lease.Start + report.TrialLength}
	default:
		if span, err = spanOf(q.Period, contract, in.MadeAt); err != nil {
			return report.Document{}, err
		}
		if q.Period.Month == "" && q.Period.Span != (rental.Span{}) {
			in.Kind = report.KindSpan
		} else {
			month, err := monthOf(q.Period, contract, in.MadeAt)
			if err != nil {
				return report.Document{}, err
			}
			in.Month = month.String()
		}
	}
	if !lease.Span().Overlaps(span) {
		return report.Document{}, &rental.Error{Code: rental.CodeInvalid, Message: fmt.Sprintf(
			"report on lease %s: it did not run between %s and %s: expected a period in which it did", id, span.Start, span.End)}
	}
	if in.MadeAt <= span.Start {
		return report.Document{}, &rental.Error{Code: rental.CodeInvalid, Message: fmt.Sprintf("report on lease %s: the period from %s has not begun", id, span.Start)}
	}
	if err := r.fill(ctx, &in, lease, contract, span); err != nil {
		return report.Document{}, fmt.Errorf("report on lease %s: %w", id, err)
	}
	return report.New(in)
}

// fill reads what the report is made of.
func (r reports) fill(ctx context.Context, in *report.Input, lease rental.Lease, contract rental.Contract, span rental.Span) error {
	if err := r.ledger.UsageKept(ctx, lease.ID, span.Start); err != nil { // its records could not prove it any more
		return err
	}
	judged, err := r.sla.Judged(ctx, lease.ID, span)
	if err != nil {
		return err
	}
	in.Judged, in.Verdict, in.Forecast, in.Language = judged.Input, judged.Verdict, judged.Forecast, judged.Input.Language
	if in.Objectives, err = (objectives{ledger: r.ledger, now: r.now}).Judge(ctx, lease, contract, span, in.Language); err != nil {
		return err
	}
	in.Late = r.sla.Late()
	if in.Credits, err = r.sla.CreditsFrom(ctx, judged.Input, in.MadeAt); err != nil {
		return err
	}
	if in.Consumptions, err = r.ledger.Consumptions(ctx, lease.ID); err != nil {
		return err
	}
	switch bill, err := r.billing.At(in.MadeAt).Bill(ctx, lease.ID, span); {
	case err == nil:
		in.Bill = &bill
	case rental.CodeOf(err) != rental.CodeInvalid:
		return err
	}
	if in.GPUs, err = r.ledger.GPUs(ctx); err != nil {
		return err
	}
	if in.SKUs, err = r.ledger.SKUs(ctx); err != nil {
		return err
	}
	if in.TenantName, in.ProviderName, err = r.names(ctx, lease.Tenant, contract.Provider); err != nil {
		return err
	}
	return r.prove(ctx, in, lease.ID, span)
}

// prove adds the chain, with the records that are about the period, and what no head closes yet.
func (r reports) prove(ctx context.Context, in *report.Input, lease string, span rental.Span) error {
	about := func(record json.RawMessage) bool { return report.Touches(span, record) }
	var err error
	in.Chain, err = r.chain(ctx, lease, span.Start, func(s proof.Sealed) bool {
		return report.WantsRecords(span, s.Head) || slices.ContainsFunc(s.Links, func(l proof.Link) bool { return about(l.Record) })
	})
	if err != nil {
		return err
	}
	var sealed rental.Millis
	if n := len(in.Chain); n > 0 {
		sealed = in.Chain[n-1].SealedAt
	}
	open, err := r.ledger.Recorded(ctx, lease, sealed, in.MadeAt+1000) // what was written while this was read
	if err != nil {
		return err
	}
	records, err := proof.Records(open)
	in.Unsealed = slices.DeleteFunc(records, func(record json.RawMessage) bool { return !about(record) })
	return err
}

// names returns what tenant and provider are called.
func (r reports) names(ctx context.Context, tenant, provider string) (string, string, error) {
	tenants, err := r.ledger.Tenants(ctx)
	if err != nil {
		return "", "", err
	}
	providers, err := r.ledger.Providers(ctx)
	if err != nil {
		return "", "", err
	}
	called := func(name, display string) string {
		if display == "" {
			return name
		}
		return display
	}
	if i := slices.IndexFunc(tenants, func(t rental.Tenant) bool { return t.Name == tenant }); i >= 0 {
		tenant = called(tenant, tenants[i].DisplayName)
	}
	if i := slices.IndexFunc(providers, func(p rental.Provider) bool { return p.Name == provider }); i >= 0 {
		provider = called(provider, providers[i].DisplayName)
	}
	return tenant, provider, nil
}
