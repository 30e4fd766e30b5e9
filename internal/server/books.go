package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/billing"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// books makes the bills of several leases and closes months.
type books struct {
	ledger  *ledger.Ledger
	billing *billing.Service
	now     func() time.Time
}

// billed is a lease with its contract and the span that a query means for it.
type billed struct {
	lease    rental.Lease
	contract rental.Contract
	span     rental.Span
}

// chosen returns the leases that a query means, by id.
func (b books) chosen(ctx context.Context, q api.BillQuery) ([]billed, error) {
	var all []rental.Lease
	var err error
	if q.Lease == "" {
		all, err = b.ledger.Leases(ctx)
	} else {
		all = make([]rental.Lease, 1)
		all[0], err = b.ledger.Lease(ctx, q.Lease)
	}
	if err != nil {
		return nil, err
	}
	contracts := map[string]rental.Contract{}
	named, err := b.ledger.Contracts(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range named {
		contracts[c.Name] = c
	}
	var out []billed
	for _, lease := range all {
		contract := contracts[lease.Contract]
		if (q.Tenant != "" && lease.Tenant != q.Tenant) || (q.Provider != "" && contract.Provider != q.Provider) {
			continue
		}
		span, err := spanOf(q.Period, contract, rental.At(b.now()))
		if err != nil {
			return nil, err
		}
		out = append(out, billed{lease, contract, span})
	}
	slices.SortFunc(out, func(a, b billed) int { return cmp.Compare(a.lease.ID, b.lease.ID) })
	return out, nil
}

// Bills returns the bills that the query chooses. A lease without time and without lines in the
// period has none, unless it was asked for by its id; one whose bill cannot be made is told, and
// leaves the others whole.
func (b books) Bills(ctx context.Context, q api.BillQuery) (api.Bills, error) {
	chosen, err := b.chosen(ctx, q)
	if err != nil {
		return api.Bills{}, err
	}
	bills, errs, err := b.billsOf(ctx, chosen, q)
	if err != nil {
		return api.Bills{}, err
	}
	var out api.Bills
	for i, one := range chosen {
		bill, err := bills[i], errs[i]
		switch {
		case err != nil && rental.CodeOf(err) != rental.CodeInvalid:
			return api.Bills{}, err
		case err != nil:
			out.Failures = append(out.Failures, api.Failure{Name: one.lease.ID, Reason: err.Error()})
		case q.Lease != "" || len(bill.Lines) > 0 || one.lease.Span().Overlaps(one.span):
			out.Bills = append(out.Bills, bill)
		}
	}
	out.Subtotals, err = subtotals(out.Bills)
	return out, err
}

// billsOf makes the bill of each chosen lease, or says why it cannot. Of many leases the facts are
// read once for all, and each processor makes bills.
func (b books) billsOf(ctx context.Context, chosen []billed, q api.BillQuery) ([]rental.Bill, []error, error) {
	service := b.billing
	if len(chosen) > 1 {
		facts, err := newFactShelf(ctx, b.ledger, chosen)
		if err != nil {
			return nil, nil, err
		}
		service = service.Over(facts)
	}
	bills, errs := make([]rental.Bill, len(chosen)), make([]error, len(chosen))
	var work sync.WaitGroup
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), max(len(chosen), 1)) {
		work.Go(func() {
			for i := range next {
				bills[i], errs[i] = service.BillIn(ctx, chosen[i].lease.ID, chosen[i].span, q.Lang)
			}
		})
	}
	for i := range chosen {
		next <- i
	}
	close(next)
	work.Wait()
	return bills, errs, nil
}

func subtotals(bills []rental.Bill) ([]api.Money, error) {
	totals := make([]rental.Amount, len(bills))
	for i, bill := range bills {
		totals[i] = bill.Total
	}
	sums, err := rental.Subtotals(totals)
	if err != nil {
		return nil, err
	}
	out := make([]api.Money, len(sums))
	for i, sum := range sums {
		out[i] = api.MoneyOf(sum)
	}
	return out, nil
}

// Simulate prices a lease under every contract that is recorded.
func (b books) Simulate(ctx context.Context, lease string, p api.Period) ([]rental.Quote, error) {
	_, contract, err := readLease(ctx, b.ledger, lease)
	if err != nil {
		return nil, err
	}
	span, err := spanOf(p, contract, rental.At(b.now()))
	if err != nil {
		return nil, err
	}
	contracts, err := b.ledger.Contracts(ctx)
	if err != nil {
		return nil, err
	}
	return b.billing.Simulate(ctx, lease, span, contracts)
}

// closeMonth closes the bills that the request chooses, each by itself, in the name of who asks and
// of the second person, where there is one.
func (b books) closeMonth(ctx context.Context, by, approvedBy string, in api.CloseMonth) (api.Closing, error) {
	out := api.Closing{Month: in.Month, DryRun: in.DryRun}
	chosen, err := b.chosen(ctx, api.BillQuery{Lease: in.Lease, Tenant: in.Tenant, Provider: in.Provider, Period: api.Period{Month: in.Month}})
	if err != nil {
		return out, err
	}
	var bills []rental.Bill
	for _, one := range chosen {
		if end := one.span.End; end > rental.At(b.now()) {
			out.Failures = append(out.Failures, api.Failure{Name: one.lease.ID, Reason: fmt.Sprintf("%s has not ended in %s: expected to close it after %s", in.Month, one.contract.TimeZone, end)})
			continue
		}
		bill, err := b.billing.Bill(ctx, one.lease.ID, one.span)
		if err == nil && len(bill.Lines) == 0 && !one.lease.Span().Overlaps(one.span) {
			continue // nothing to freeze
		}
		invoice := invoiceOf(bill)
		invoice.Waiting = bill.Provisional
		if err == nil && !in.DryRun {
			var closed rental.ClosedMonth
			if closed, bill, invoice.Waiting, err = b.billing.Close(ctx, approvedCloser{b.ledger, approvedBy}, by, one.lease.ID, one.span); err == nil {
				waiting := invoice.Waiting
				invoice = invoiceOf(bill)
				invoice.Hash, invoice.Waiting = closed.Hash, waiting
			}
		}
		switch code := rental.CodeOf(err); {
		case err == nil:
			out.Invoices, bills = append(out.Invoices, invoice), append(bills, bill)
		case code == rental.CodeInvalid || code == rental.CodeRefused:
			out.Failures = append(out.Failures, api.Failure{Name: one.lease.ID, Reason: err.Error()})
		default:
			return out, err
		}
	}
	out.Subtotals, err = subtotals(bills)
	return out, err
}

func invoiceOf(bill rental.Bill) api.InvoiceSummary {
	out := api.InvoiceSummary{Lease: bill.Lease, Tenant: bill.Tenant, Provider: bill.Provider, Period: bill.Period, Total: api.MoneyOf(bill.Total)}
	if i := bill.Invoice; i != nil {
		out.Number, out.ClosedAt, out.ClosedBy, out.ApprovedBy = i.Number, i.ClosedAt, i.ClosedBy, i.ApprovedBy
	}
	return out
}

// Invoices returns the closed bills of a month of their contracts' zones, by number.
func (b books) Invoices(ctx context.Context, month string) ([]api.InvoiceSummary, error) {
	closed, err := b.ledger.ClosedMonths(ctx, "")
	if err != nil {
		return nil, err
	}
	out := []api.InvoiceSummary{}
	for _, c := range closed {
		bill, err := frozenBill(c)
		if err != nil {
			return nil, err
		}
		of, err := rental.MonthOf(bill.TimeZone, c.Span.Start)
		if err != nil {
			return nil, err
		}
		if month == "" || of.String() == month {
			invoice := invoiceOf(bill)
			invoice.Hash = c.Hash
			out = append(out, invoice)
		}
	}
	slices.SortFunc(out, func(a, b api.InvoiceSummary) int { return cmp.Compare(a.Number, b.Number) })
	return out, nil
}

// Invoice returns whose a closed bill is, and its frozen bytes.
func (b books) Invoice(ctx context.Context, number string) (tenant string, text []byte, err error) {
	closed, err := b.ledger.ClosedMonths(ctx, "")
	if err != nil {
		return "", nil, err
	}
	for _, c := range closed {
		if c.Number == number {
			bill, err := frozenBill(c)
			return bill.Tenant, c.Bill, err
		}
	}
	return "", nil, &rental.Error{Code: rental.CodeNotFound, Message: fmt.Sprintf("invoice %q: no such invoice", number)}
}

func frozenBill(c rental.ClosedMonth) (rental.Bill, error) {
	var bill rental.Bill
	if err := json.Unmarshal(c.Bill, &bill); err != nil {
		return bill, fmt.Errorf("invoice %s: %w", c.Number, err)
	}
	return bill, nil
}
