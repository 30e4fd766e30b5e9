package ledger

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// maxEnrolment bounds how long an enrolment token may wait for its use: it travels by mail and
// chat, and lies in places that nobody clears.
const maxEnrolment = 30 * 24 * time.Hour

// CreateEnrolment makes a token that a guest of the lease turns, once, into a push token of its
// own, within ttl from now. Only its SHA-256 is kept. A lease that is unknown or has ended, a name
// that is taken, and a ttl of nothing or over 30 days are refused.
func (l *Ledger) CreateEnrolment(ctx context.Context, name, lease string, ttl time.Duration) (secret string, err error) {
	if ttl < time.Minute || ttl > maxEnrolment {
		return "", invalid("token %q: found %s to use it, expected 1 minute to 30 days", name, ttl)
	}
	holder := rental.Principal{Name: name, Role: rental.RoleEnroll, Lease: lease}
	return l.makeToken(ctx, holder, func(t *txn) (rental.Millis, error) {
		if err := running(ctx, t, lease); err != nil {
			return 0, err
		}
		return t.now + rental.Millis(ttl.Milliseconds()), nil
	})
}

// running refuses a lease that is unknown or has ended.
func running(ctx context.Context, t *txn, lease string) error {
	found, _, err := get[rental.Lease](ctx, t, rental.KindLease, lease)
	if err != nil {
		return err
	}
	if found.End <= t.now {
		return refused("lease %q ended at %s: expected one that runs or will begin", lease, found.End)
	}
	return nil
}

// Enroll turns the enrolment of that name into a push token for one host, whose secret the guest
// keeps and whose SHA-256 (hexadecimal) it tells. Doing it again with the same host and hash changes
// nothing, so that a guest which lost the answer may ask again. Refused where another guest used it,
// where its time or the lease is over, CodeNotFound where there is no such enrolment.
func (l *Ledger) Enroll(ctx context.Context, name, host, hash string) (rental.Principal, error) {
	if raw, err := hex.DecodeString(hash); err != nil || len(raw) != 32 || hex.EncodeToString(raw) != hash {
		return rental.Principal{}, invalid("enrolment %q: found a hash of %d characters, expected a SHA-256 as 64 lower-case hexadecimal digits", name, len(hash))
	}
	if host == "" {
		return rental.Principal{}, invalid("enrolment %q: found no host, expected the name that the guest's samples will carry", name)
	}
	guest := rental.Principal{Name: name, Role: rental.RolePush, Host: host}
	err := l.transact(ctx, "token", func(t *txn) error {
		var ticket string
		var expires int64
		err := t.QueryRowContext(ctx, `SELECT hash, lease, expires_ms FROM tokens WHERE name = $1 AND role = $2 AND hash NOT IN
			(SELECT hash FROM token_revocations)`, name, string(rental.RoleEnroll)).Scan(&ticket, &guest.Lease, &expires)
		if errors.Is(err, sql.ErrNoRows) {
			return notFound("valid enrolment", name)
		}
		if err != nil {
			return err
		}
		again, err := used(ctx, t, ticket, name, host, hash)
		if err != nil || again {
			return err
		}
		if expires <= int64(t.now) {
			return refused("enrolment %q could be used until %s: ask for a new one (leasewatch token create --role=enroll)", name, rental.Millis(expires))
		}
		if err := running(ctx, t, guest.Lease); err != nil {
			return err
		}
		if err := freeName(ctx, t, guest); err != nil {
			return err
		}
		var taken int
		if err := t.QueryRowContext(ctx, `SELECT count(*) FROM tokens WHERE hash = $1`, hash).Scan(&taken); err != nil || taken > 0 {
			return cmpErr(err, conflict("enrolment %q: the secret is another token's: expected a new one", name))
		}
		if _, err := t.ExecContext(ctx, `INSERT INTO tokens (hash, name, role, tenant, host, lease, expires_ms, at_ms) VALUES ($1, $2, $3, '', $4, $5, 0, $6)`,
			hash, name, string(guest.Role), host, guest.Lease, int64(t.now)); err != nil {
			return err
		}
		_, err = t.ExecContext(ctx, `INSERT INTO token_enrolments (hash, made, at_ms) VALUES ($1, $2, $3)`, ticket, hash, int64(t.now))
		return err
	})
	if err != nil {
		return rental.Principal{}, err
	}
	return guest, nil
}

// used tells whether the enrolment became just this token before, and refuses it where it became another.
func used(ctx context.Context, t *txn, ticket, name, host, hash string) (again bool, err error) {
	var made, its string
	var at int64
	err = t.QueryRowContext(ctx, `SELECT e.made, t.host, e.at_ms FROM token_enrolments e JOIN tokens t ON t.hash = e.made WHERE e.hash = $1`, ticket).
		Scan(&made, &its, &at)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, err
	case made == hash && its == host:
		return true, nil
	}
	return false, conflict("enrolment %q was used at %s by host %q: if that was not this machine, have it revoked (leasewatch token revoke %s); to enrol another, ask for a new one",
		name, rental.Millis(at), its, name)
}

// freeName refuses a host that another push token writes for, unless it is a guest's of the same
// lease or of one that has ended.
func freeName(ctx context.Context, t *txn, guest rental.Principal) error {
	leases, err := collect(ctx, t, func(rows *sql.Rows) (lease string, err error) { return lease, rows.Scan(&lease) },
		`SELECT lease FROM tokens WHERE role = $1 AND host = $2 AND lease <> $3 AND hash NOT IN (SELECT hash FROM token_revocations)`,
		string(rental.RolePush), guest.Host, guest.Lease)
	if err != nil {
		return err
	}
	for _, lease := range leases {
		if lease == "" || running(ctx, t, lease) == nil {
			return conflict("enrolment %q: another push token writes for host %q: expected a name of the guest's own (leasewatch-exporter enroll --host.name=NAME)",
				guest.Name, guest.Host)
		}
	}
	return nil
}
