package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/billing"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// openPolicy records the configuration's policies of approvals and of retention where they are others
// than the ledger's.
func (a *App) openPolicy(ctx context.Context) error {
	if err := a.ledger.SetApprovals(ctx, "leasewatch", a.config.Load().Approvals.policy()); err != nil {
		return err
	}
	return a.ledger.SetRetention(ctx, "leasewatch", a.config.Load().Retention.policy())
}

// approvals keeps the changes that wait for a second person.
type approvals struct {
	ledger *ledger.Ledger
	books  books
	// changed is told after each change, so that the server's own series follow at once.
	changed func()
}

// Pending returns every change that waits or waited, the oldest first.
func (p approvals) Pending(ctx context.Context) ([]rental.Pending, error) {
	return p.ledger.PendingChanges(ctx)
}

// DecidePending approves or rejects a change in the name of who asks.
func (p approvals) DecidePending(ctx context.Context, by rental.Principal, id string, approve bool, note string) (rental.Pending, error) {
	one, err := p.ledger.PendingChange(ctx, id)
	if err != nil {
		return one, err
	}
	if approve && one.Action == rental.PendingClose {
		if err := p.closeMonth(ctx, by, one); err != nil {
			return one, err
		}
	}
	decided, err := p.ledger.DecidePending(ctx, id, by, approve, note)
	if err == nil && approve {
		p.changed()
	}
	return decided, err
}

// closeMonth closes the bills of a change that is about to be approved, if they are still those
// that were shown. Closing them again changes nothing, so a decision that is lost on the way is
// taken once more.
func (p approvals) closeMonth(ctx context.Context, by rental.Principal, one rental.Pending) error {
	if err := one.Decide(by, true, rental.At(p.books.now())); err != nil {
		return err
	}
	var in api.CloseMonth
	if err := json.Unmarshal(one.Request, &in); err != nil {
		return fmt.Errorf("change %s: %w", one.ID, err)
	}
	in.DryRun = true
	preview, err := p.books.closeMonth(ctx, one.EnteredBy, "", in)
	if err != nil {
		return err
	}
	if changes := closingChanges(preview); len(changes) > 0 {
		if err := one.SameChanges(changes); err != nil {
			return err
		}
	}
	in.DryRun = false
	_, err = p.books.closeMonth(ctx, one.EnteredBy, by.Name, in)
	return err
}

// closingChanges are the bills of a closing that are not closed yet.
func closingChanges(closing api.Closing) []rental.Change {
	var out []rental.Change
	for _, i := range closing.Invoices {
		if i.Number == "" {
			out = append(out, rental.Change{Kind: rental.HistoryInvoice, Name: i.Lease, Action: rental.ActionCreate,
				Diff: fmt.Sprintf("month: %s\ntenant: %s\ntotal: %s %s", closing.Month, i.Tenant, i.Total.Decimal, i.Total.Currency)})
		}
	}
	return out
}

// CloseMonth closes the bills that the request chooses, each by itself, in the name of who asks; or
// keeps the closing for a second person, where the policy says so.
func (b books) CloseMonth(ctx context.Context, by rental.Principal, in api.CloseMonth) (api.Closing, error) {
	policy, err := b.ledger.Approvals(ctx)
	if err != nil {
		return api.Closing{}, err
	}
	if in.DryRun || !policy.Needs(rental.ApproveMonthClose) {
		return b.closeMonth(ctx, by.Name, "", in)
	}
	preview := in
	preview.DryRun = true
	shown, err := b.closeMonth(ctx, by.Name, "", preview)
	if err != nil {
		return shown, err
	}
	changes := closingChanges(shown)
	if len(changes) == 0 { // all are closed: they are told once more
		return b.closeMonth(ctx, by.Name, "", in)
	}
	request, err := json.Marshal(in)
	if err != nil {
		return shown, fmt.Errorf("closing of %s: %w", in.Month, err)
	}
	held, err := b.ledger.Hold(ctx, rental.Pending{Action: rental.PendingClose, EnteredBy: by.Name, Why: "close " + in.Month, Request: request,
		Topics: []string{rental.ApproveMonthClose}, Changes: changes,
		Reasons: []string{fmt.Sprintf("the bills of %s would be frozen and numbered", in.Month)}})
	shown.DryRun, shown.Pending = false, &held
	shown.Invoices = slices.DeleteFunc(shown.Invoices, func(i api.InvoiceSummary) bool { return i.Number == "" })
	return shown, err
}

// approvedCloser closes a month with the name of the second person, where there is one.
type approvedCloser struct {
	*ledger.Ledger
	approvedBy string
}

var _ billing.Closer = approvedCloser{}

// CloseMonth freezes a lease's bill.
func (c approvedCloser) CloseMonth(ctx context.Context, by, lease string, span rental.Span, write func(rental.Invoice) ([]byte, error)) (rental.ClosedMonth, error) {
	return c.CloseMonthApproved(ctx, by, c.approvedBy, lease, span, write)
}
