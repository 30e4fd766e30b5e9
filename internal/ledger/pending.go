package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// policyKind and policyName are where the policy of approvals is kept: as a fact, so that a command
// that opens the ledger by itself holds what the server would hold, and history knows since when.
const (
	policyKind = "Policy"
	policyName = "approvals"
)

// SetApprovals records the policy of approvals; the same again does nothing.
func (l *Ledger) SetApprovals(ctx context.Context, by string, policy rental.ApprovalPolicy) error {
	body, err := json.Marshal(policy)
	if err != nil {
		return fmt.Errorf("ledger: policy: %w", err)
	}
	return l.transact(ctx, "policy", func(t *txn) error {
		holds, err := approvals(ctx, t)
		if err != nil {
			return err
		}
		if reflect.DeepEqual(holds, policy) {
			return errRollback
		}
		_, revision, err := get[json.RawMessage](ctx, t, policyKind, policyName)
		if err != nil && rental.CodeOf(err) != rental.CodeNotFound {
			return err
		}
		return t.insertFact(ctx, policyKind, policyName, revision+1, by, "configuration", body)
	})
}

// Approvals returns the policy of approvals that holds.
func (l *Ledger) Approvals(ctx context.Context) (rental.ApprovalPolicy, error) {
	return approvals(ctx, l.read)
}

func approvals(ctx context.Context, q knower) (rental.ApprovalPolicy, error) {
	policy, _, err := get[rental.ApprovalPolicy](ctx, q, policyKind, policyName)
	if rental.CodeOf(err) == rental.CodeNotFound {
		return rental.DefaultApprovalPolicy(), nil
	}
	return policy, err
}

// heldBody is what a row of pending holds beside who, when and why.
type heldBody struct {
	Topics  []string        `json:"topics"`
	Reasons []string        `json:"reasons"`
	Changes []rental.Change `json:"changes"`
	Request json.RawMessage `json:"request"`
}

// hold keeps a change for a second person. One that waits already as it is stays the one.
func (t *txn) hold(ctx context.Context, policy rental.ApprovalPolicy, p rental.Pending) (rental.Pending, error) {
	waiting, err := pendings(ctx, t)
	if err != nil {
		return p, err
	}
	for _, w := range waiting {
		if w.At(t.now).Decision == "" && w.Action == p.Action && string(w.Request) == string(p.Request) {
			return w, nil
		}
	}
	body, err := json.Marshal(heldBody{p.Topics, p.Reasons, p.Changes, p.Request})
	if err != nil {
		return p, fmt.Errorf("change to be approved: %w", err)
	}
	p.EnteredAt, p.ExpiresAt = t.now, t.now+rental.Millis(policy.ExpiresMS)
	number := int64(len(waiting)) + 1
	p.ID = pendingID(number)
	_, err = t.ExecContext(ctx, `INSERT INTO pending (id, at_ms, by_who, why, action, expires_ms, body) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		number, int64(t.now), p.EnteredBy, p.Why, p.Action, int64(p.ExpiresAt), string(body))
	return p, err
}

func pendingID(number int64) string { return fmt.Sprintf("P-%d", number) }

// Hold keeps a change of PendingClose, which is carried out elsewhere, for a second person.
func (l *Ledger) Hold(ctx context.Context, p rental.Pending) (rental.Pending, error) {
	err := l.transact(ctx, "hold", func(t *txn) error {
		policy, err := approvals(ctx, t)
		if err != nil {
			return err
		}
		p, err = t.hold(ctx, policy, p)
		return err
	})
	return p, err
}

// PendingChanges returns every change that waits or waited for a second person, the oldest first.
func (l *Ledger) PendingChanges(ctx context.Context) ([]rental.Pending, error) {
	all, err := pendings(ctx, l.read)
	if err != nil {
		return nil, storeError("ledger: changes to be approved", err)
	}
	now := rental.At(l.now())
	for i, p := range all {
		all[i] = p.At(now)
	}
	return all, nil
}

// PendingChange returns one, or an error of CodeNotFound.
func (l *Ledger) PendingChange(ctx context.Context, id string) (rental.Pending, error) {
	all, err := l.PendingChanges(ctx)
	if err != nil {
		return rental.Pending{}, err
	}
	return pick(all, id)
}

func pick(all []rental.Pending, id string) (rental.Pending, error) {
	for _, p := range all {
		if p.ID == id {
			return p, nil
		}
	}
	return rental.Pending{}, notFound("pending change", id)
}

func pendings(ctx context.Context, q knower) ([]rental.Pending, error) {
	return collect(ctx, q, func(rows *sql.Rows) (rental.Pending, error) {
		var p rental.Pending
		var id, entered, expires int64
		var body string
		var decision, by, note sql.NullString
		var at sql.NullInt64
		if err := rows.Scan(&id, &entered, &p.EnteredBy, &p.Why, &p.Action, &expires, &body, &at, &by, &decision, &note); err != nil {
			return p, err
		}
		var held heldBody
		if err := json.Unmarshal([]byte(body), &held); err != nil {
			return p, fmt.Errorf("change P-%d: %w", id, err)
		}
		p.ID, p.EnteredAt, p.ExpiresAt = pendingID(id), rental.Millis(entered), rental.Millis(expires)
		p.Topics, p.Reasons, p.Changes, p.Request = held.Topics, held.Reasons, held.Changes, held.Request
		p.Decision, p.DecidedBy, p.Note, p.DecidedAt = decision.String, by.String, note.String, rental.Millis(at.Int64)
		return p, nil
	}, `SELECT p.id, p.at_ms, p.by_who, p.why, p.action, p.expires_ms, p.body, d.at_ms, d.by_who, d.decision, d.note
		FROM pending p LEFT JOIN pending_decisions d ON d.id = p.id`+q.known("d.at_ms")+` WHERE TRUE`+q.known("p.at_ms")+` ORDER BY p.id`)
}

// DecidePending approves or rejects a change in a person's name. Approving carries it out in the
// same transaction, in the name of who entered it, as far as it is the ledger's to do; a month is
// closed by the caller before. Errors: not found, refused (by the same person, by a program, after
// its time, or when it would not do any more what was shown), conflict (decided already), and
// whatever recording it meets.
func (l *Ledger) DecidePending(ctx context.Context, id string, by rental.Principal, approve bool, note string) (rental.Pending, error) {
	var p rental.Pending
	err := l.transact(ctx, "decide", func(t *txn) error {
		all, err := pendings(ctx, t)
		if err != nil {
			return err
		}
		if p, err = pick(all, id); err != nil {
			return err
		}
		if err := p.Decide(by, approve, t.now); err != nil {
			return err
		}
		p.Decision, p.DecidedAt, p.DecidedBy, p.Note = rental.DecisionRejected, t.now, by.Name, note
		if approve {
			p.Decision, t.approvedBy = rental.DecisionApproved, by.Name
			if err := t.carryOut(ctx, p); err != nil {
				return err
			}
		}
		number, err := strconv.ParseInt(strings.TrimPrefix(p.ID, "P-"), 10, 64)
		if err != nil {
			return fmt.Errorf("change %s: %w", p.ID, err)
		}
		_, err = t.ExecContext(ctx, `INSERT INTO pending_decisions (id, at_ms, by_who, decision, note) VALUES ($1, $2, $3, $4, $5)`,
			number, int64(t.now), by.Name, p.Decision, note)
		return err
	})
	if err == nil && approve && p.Action == rental.PendingErase {
		l.scrub(ctx)
	}
	return p, err
}

// endRequest is what ending a lease asks.
type endRequest struct {
	Lease string        `json:"lease"`
	At    rental.Millis `json:"at"`
}

func (t *txn) carryOut(ctx context.Context, p rental.Pending) error {
	switch p.Action {
	case rental.PendingApply:
		var r rental.Resources
		if err := json.Unmarshal(p.Request, &r); err != nil {
			return fmt.Errorf("change %s: %w", p.ID, err)
		}
		a, err := t.applier(ctx, p.EnteredBy, p.Why)
		if err != nil {
			return err
		}
		if err := a.prepare(ctx, r); err != nil {
			return err
		}
		if err := p.SameChanges(a.changes); err != nil {
			return err
		}
		return a.save(ctx)
	case rental.PendingEnd:
		var end endRequest
		if err := json.Unmarshal(p.Request, &end); err != nil {
			return fmt.Errorf("change %s: %w", p.ID, err)
		}
		err := t.changeLease(ctx, p.EnteredBy, p.Why, end.Lease, ending(end.Lease, end.At))
		if errors.Is(err, errRollback) {
			return nil // it ends then already
		}
		return err
	case rental.PendingErase:
		var in eraseRequest
		if err := json.Unmarshal(p.Request, &in); err != nil {
			return fmt.Errorf("change %s: %w", p.ID, err)
		}
		_, err := t.erasePerson(ctx, p.EnteredBy, p.Why, in.Person)
		return err
	}
	return nil
}
