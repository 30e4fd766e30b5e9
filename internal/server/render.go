package server

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/billing"
	"github.com/leasewatch/leasewatch/internal/billing/focus"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// renderer writes bills as people, spreadsheets and cost tools read them.
type renderer struct{ ledger *ledger.Ledger }

// RenderBills writes bills as csv, table, html, focus or focus-1.0.
func (r renderer) RenderBills(ctx context.Context, w io.Writer, bills []rental.Bill, format, lang string) error {
	switch format {
	case "csv":
		return billing.WriteCSV(w, bills...)
	case "table":
		return billing.WriteTables(w, bills, lang)
	case "html":
		return billing.WriteHTML(w, bills, lang)
	case "focus", "focus-1.0":
		version := focus.Version12
		if format == "focus-1.0" {
			version = focus.Version10
		}
		full, err := r.focusBills(ctx, bills)
		if err != nil {
			return err
		}
		return focus.Write(w, version, full)
	}
	return api.Errorf(http.StatusBadRequest, "format %q: expected json, csv, table, html, focus or focus-1.0", format)
}

// focusBills adds to bills what FOCUS asks besides: contracts, names and where the cards are.
func (r renderer) focusBills(ctx context.Context, bills []rental.Bill) ([]focus.Bill, error) {
	tenants, providers, regions, names := map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}
	named, err := r.ledger.Tenants(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range named {
		tenants[t.Name] = t.DisplayName
	}
	rented, err := r.ledger.Providers(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range rented {
		providers[p.Name] = p.DisplayName
	}
	inventory, err := readBook(ctx, r.ledger, 0)
	if err != nil {
		return nil, err
	}
	sites := map[string]string{}
	for _, h := range inventory.hosts {
		sites[h.Name] = h.Site
	}
	for _, g := range inventory.gpus {
		regions[g.UUID], names[g.UUID] = sites[g.Host], fmt.Sprintf("%s slot %d", g.Host, g.Slot)
	}
	for _, m := range inventory.instances {
		regions[m.UUID] = regions[m.GPU]
	}
	out := make([]focus.Bill, len(bills))
	for i, bill := range bills {
		contract, err := r.ledger.Contract(ctx, bill.Contract)
		if err != nil {
			return nil, err
		}
		out[i] = focus.Bill{Bill: bill, Contract: contract, TenantName: tenants[bill.Tenant], ProviderName: providers[bill.Provider],
			Span: inventory.leases[bill.Lease].Span(), Regions: regions, Names: names}
	}
	return out, nil
}
