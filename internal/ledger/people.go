package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// PersonKind is the kind of the facts that say what was done with a person, and never a name.
const PersonKind = "Person"

// People returns everybody who was entered, the erased too, in order of their ids.
func (l *Ledger) People(ctx context.Context) ([]rental.Person, error) {
	all, err := people(ctx, l.read, "")
	return all, storeError("ledger: people", err)
}

// Person returns one, or an error of CodeNotFound.
func (l *Ledger) Person(ctx context.Context, id string) (rental.Person, error) {
	p, _, err := person(ctx, l.read, id)
	return p, storeError("ledger: people", err)
}

// Names returns what ids of people are shown as: of all, or for a tenant of the people who hold a
// token of that tenant. Who of a provider's staff is behind an id is not told to tenants.
func (l *Ledger) Names(ctx context.Context, tenant string) (rental.Names, error) {
	where, args := "", []any{}
	if tenant != "" {
		where, args = ` WHERE EXISTS (SELECT 1 FROM tokens t WHERE t.tenant = $1 AND t.person = '`+rental.PersonPrefix+`' || CAST(p.id AS TEXT))`, []any{tenant}
	}
	all, err := people(ctx, l.read, where, args...)
	if err != nil {
		return nil, storeError("ledger: people", err)
	}
	names := make(rental.Names, len(all))
	for _, p := range all {
		names[p.ID] = p.Shown()
	}
	return names, nil
}

func people(ctx context.Context, q querier, where string, args ...any) ([]rental.Person, error) {
	return collect(ctx, q, func(rows *sql.Rows) (rental.Person, error) {
		var p rental.Person
		var id, at, erased int64
		err := rows.Scan(&id, &at, &p.Name, &p.Mail, &erased)
		p.ID, p.AddedAt, p.ErasedAt = personID(id), rental.Millis(at), rental.Millis(erased)
		return p, err
	}, `SELECT p.id, p.at_ms, p.name, p.mail, p.erased_ms FROM people p`+where+` ORDER BY p.id`, args...)
}

func personID(number int64) string { return rental.PersonPrefix + strconv.FormatInt(number, 10) }

// person returns one with the number in its id.
func person(ctx context.Context, q querier, id string) (rental.Person, int64, error) {
	number, err := strconv.ParseInt(strings.TrimPrefix(id, rental.PersonPrefix), 10, 64)
	if err != nil || !rental.IsPersonID(id) {
		return rental.Person{}, 0, notFound("person", id)
	}
	found, err := people(ctx, q, ` WHERE p.id = $1`, number)
	if err != nil {
		return rental.Person{}, 0, err
	}
	if len(found) == 0 {
		return rental.Person{}, 0, notFound("person", id)
	}
	return found[0], number, nil
}

// present is person, and refuses one who was erased.
func present(ctx context.Context, q querier, id string) (rental.Person, int64, error) {
	p, number, err := person(ctx, q, id)
	if err == nil && p.ErasedAt != 0 {
		err = refused("person %s was erased at %s: expected one who was not; add the person again (leasewatch person add)", id, p.ErasedAt)
	}
	return p, number, err
}

// AddPerson enters somebody under the next id.
func (l *Ledger) AddPerson(ctx context.Context, by string, p rental.Person) (rental.Person, error) {
	p.ErasedAt = 0
	if err := validPerson(p); err != nil {
		return rental.Person{}, err
	}
	err := l.transact(ctx, "person", func(t *txn) error {
		var last int64
		if err := t.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM people`).Scan(&last); err != nil {
			return err
		}
		p.ID, p.AddedAt = personID(last+1), t.now
		if _, err := t.ExecContext(ctx, `INSERT INTO people (id, at_ms, name, mail) VALUES ($1, $2, $3, $4)`, last+1, int64(t.now), p.Name, p.Mail); err != nil {
			return err
		}
		return t.personFact(ctx, p.ID, by, "", "added")
	})
	if err != nil {
		return rental.Person{}, err
	}
	return p, nil
}

// ChangePerson gives a person another name and address. What was there before is kept nowhere.
func (l *Ledger) ChangePerson(ctx context.Context, by string, p rental.Person) (rental.Person, error) {
	if err := validPerson(p); err != nil {
		return rental.Person{}, err
	}
	err := l.transact(ctx, "person", func(t *txn) error {
		old, number, err := present(ctx, t, p.ID)
		if err != nil {
			return err
		}
		old.Name, old.Mail = p.Name, p.Mail
		p = old
		if _, err := t.ExecContext(ctx, `UPDATE people SET name = $2, mail = $3 WHERE id = $1`, number, p.Name, p.Mail); err != nil {
			return err
		}
		return t.personFact(ctx, p.ID, by, "", "changed")
	})
	if err != nil {
		return rental.Person{}, err
	}
	l.scrub(ctx)
	return p, nil
}

func validPerson(p rental.Person) error {
	if err := rental.Invalid("person", p.Validate()); err != nil {
		return invalid("%s", err)
	}
	return nil
}

// eraseRequest is what erasing a person asks.
type eraseRequest struct {
	Person string `json:"person"`
}

// ErasePerson erases all of a person but the id, and ends the person's tokens. It cannot be undone.
// No fact changes by it, so neither does a bill, a head or a report. Under a policy of approvals
// that names people it waits for a second person, as the Pending that comes back says. Erasing
// again changes nothing.
func (l *Ledger) ErasePerson(ctx context.Context, by rental.Principal, why, id string) (p rental.Person, held *rental.Pending, err error) {
	err = l.transact(ctx, "person", func(t *txn) error {
		if p, _, err = person(ctx, t, id); err != nil {
			return err
		}
		if p.ErasedAt != 0 {
			return errRollback
		}
		if err := t.mayErase(ctx, id); err != nil {
			return err
		}
		policy, err := approvals(ctx, t)
		if err != nil {
			return err
		}
		if !policy.Needs(rental.ApprovePeople) {
			p, err = t.erasePerson(ctx, by.Name, why, id)
			return err
		}
		request, err := json.Marshal(eraseRequest{id})
		if err != nil {
			return fmt.Errorf("person %s: %w", id, err)
		}
		one, err := t.hold(ctx, policy, rental.Pending{Action: rental.PendingErase, EnteredBy: by.Name, Why: why, Request: request,
			Topics:  []string{rental.ApprovePeople},
			Reasons: []string{fmt.Sprintf("the name of %s would be erased for good, and the tokens of that person ended", id)},
			Changes: []rental.Change{{Kind: PersonKind, Name: id, Action: rental.ActionErase, Diff: "name and address: erased"}}})
		held = &one
		return err
	})
	if err != nil {
		return rental.Person{}, nil, err
	}
	l.scrub(ctx)
	return p, held, nil
}

// erasePerson blanks the row of a person and revokes what tokens there are.
func (t *txn) erasePerson(ctx context.Context, by, why, id string) (rental.Person, error) {
	p, number, err := person(ctx, t, id)
	if err != nil || p.ErasedAt != 0 {
		return p, err
	}
	if err := t.mayErase(ctx, id); err != nil {
		return p, err
	}
	p.Name, p.Mail, p.ErasedAt = "", "", t.now
	if _, err := t.ExecContext(ctx, `UPDATE people SET name = '', mail = '', erased_ms = $2 WHERE id = $1`, number, int64(t.now)); err != nil {
		return p, fmt.Errorf("person %s: %w", id, err)
	}
	if _, err := t.ExecContext(ctx, `INSERT INTO token_revocations (hash, at_ms) SELECT hash, $1 FROM tokens
		WHERE person = $2 AND hash NOT IN (SELECT hash FROM token_revocations)`, int64(t.now), id); err != nil {
		return p, fmt.Errorf("person %s: tokens: %w", id, err)
	}
	return p, t.personFact(ctx, id, by, why, "erased")
}

// personFact records that something was done with a person.
func (t *txn) personFact(ctx context.Context, id, by, why, did string) error {
	_, revision, err := get[json.RawMessage](ctx, t, PersonKind, id)
	if err != nil && !errors.Is(err, rental.ErrNotFound) {
		return err
	}
	body, err := json.Marshal(map[string]string{"did": did})
	if err != nil {
		return fmt.Errorf("person %s: %w", id, err)
	}
	return t.insertFact(ctx, PersonKind, id, revision+1, by, why, body)
}

// scrub takes what was erased off the store's own files. In a SQLite file secure_delete overwrites it
// within the commit, and here the write-ahead log, which still has the pages from before, is emptied;
// PostgreSQL writes the small table anew. Where a long read keeps it from that, the next start or
// the daily retention does it.
func (l *Ledger) scrub(ctx context.Context) {
	if l.write == nil {
		return
	}
	query := `PRAGMA wal_checkpoint(TRUNCATE)`
	if l.dialect == postgresDialect {
		query = `VACUUM FULL people`
	}
	if _, err := l.write.ExecContext(context.WithoutCancel(ctx), query); err != nil {
		l.log.Warn("what was erased may be in the store's files until the next start", "err", err)
	}
}
