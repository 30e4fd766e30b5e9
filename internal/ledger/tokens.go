package ledger

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// tokenPrefix lets secret scanners know one of ours where it leaks.
const tokenPrefix = "lwt_"

// CreateToken makes a token and returns its secret, which is told this once: only its SHA-256
// is kept. The secret holds 256 random bits, so its plain hash cannot be guessed back. A tenant's
// token names its tenant, and a push token may name its host; all others name neither. Tokens of
// guests are made by CreateEnrolment and Enroll. A token of a person, whom Person names by id, is named
// after that id: the ledger keeps tokens for ever, and no names of people with them.
func (l *Ledger) CreateToken(ctx context.Context, holder rental.Principal) (secret string, err error) {
	name, role, tenant := holder.Name, holder.Role, holder.Tenant
	switch {
	case !slices.Contains(rental.Roles, role):
		return "", invalid("token %q: role: found %q, expected one of %v", name, role, rental.Roles)
	case role == rental.RoleEnroll || holder.Lease != "":
		return "", invalid("token %q: found role %s for lease %q, expected it made as an enrolment", name, role, holder.Lease)
	case (role == rental.RoleTenant) != (tenant != ""):
		return "", invalid("token %q: tenant: found %q for the role %s, expected a tenant for the role tenant and none for others", name, tenant, role)
	case holder.Host != "" && role != rental.RolePush:
		return "", invalid("token %q: host: found %q for the role %s, expected a host for the role push only", name, holder.Host, role)
	case holder.Person != "" && (name != "" || !holder.ForPeople()):
		return "", invalid("token %q of %s, role %s: expected no name, no service and a role of people: it is named after the person", name, holder.Person, role)
	case rental.IsPersonID(name) || strings.HasPrefix(name, rental.PersonPrefix):
		return "", invalid("token %q: found the form of a person's id, expected another name; a person's token is made with the person (--person)", name)
	}
	return l.makeToken(ctx, holder, func(t *txn) (rental.Millis, error) {
		if tenant == "" {
			return 0, nil
		}
		_, _, err := get[rental.Tenant](ctx, t, rental.KindTenant, tenant)
		return 0, err
	})
}

// makeToken keeps a token under a name that is free, once check, which tells until when it can be
// used (0 for ever), lets it pass.
func (l *Ledger) makeToken(ctx context.Context, holder rental.Principal, check func(*txn) (rental.Millis, error)) (string, error) {
	if holder.Name == "" && holder.Person == "" {
		return "", invalid("token: found no name, expected one")
	}
	random := make([]byte, 32)
	rand.Read(random) // it never fails: without random numbers the process ends
	secret := tokenPrefix + base64.RawURLEncoding.EncodeToString(random)
	err := l.transact(ctx, "token", func(t *txn) error {
		if err := t.nameToken(ctx, &holder); err != nil {
			return err
		}
		var taken int
		if err := t.QueryRowContext(ctx, `SELECT count(*) FROM tokens WHERE name = $1 AND hash NOT IN
			(SELECT hash FROM token_revocations)`, holder.Name).Scan(&taken); err != nil {
			return err
		}
		if taken > 0 {
			return conflict("token %q exists: expected another name, or revoke it first (leasewatch token revoke)", holder.Name)
		}
		expires, err := check(t)
		if err != nil {
			return err
		}
		_, err = t.ExecContext(ctx, `INSERT INTO tokens (hash, name, role, tenant, host, lease, service, person, expires_ms, at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			hashOf(secret), holder.Name, string(holder.Role), holder.Tenant, holder.Host, holder.Lease, holder.Service, holder.Person, int64(expires), int64(t.now))
		return err
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// nameToken names a person's token after the person: PER-3.1, PER-3.2, ...
func (t *txn) nameToken(ctx context.Context, holder *rental.Principal) error {
	if holder.Person == "" {
		return nil
	}
	if _, _, err := present(ctx, t, holder.Person); err != nil {
		return err
	}
	made, err := collectText(ctx, t, `SELECT name FROM tokens WHERE person = $1`, holder.Person)
	if err != nil {
		return err
	}
	last := 0
	for _, name := range made { // old ones may have ended, so they are not counted
		n, err := strconv.Atoi(strings.TrimPrefix(name, holder.Person+"."))
		if err != nil {
			return fmt.Errorf("token %q: %w", name, err)
		}
		last = max(last, n)
	}
	holder.Name = fmt.Sprintf("%s.%d", holder.Person, last+1)
	return nil
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Authenticate returns who a secret stands for, or an error of CodeNotFound, the same for a
// secret that never was and one that was revoked. An enrolment that was used or is too old is
// still known: Enroll says what became of it. Whoever holds a person's token is known by the
// person's id, with whichever token.
func (l *Ledger) Authenticate(ctx context.Context, secret string) (rental.Principal, error) {
	var p rental.Principal
	var role string
	err := l.read.QueryRowContext(ctx, `SELECT t.name, t.role, t.tenant, t.host, t.lease, t.service, t.person FROM tokens t WHERE t.hash = $1 AND NOT EXISTS
		(SELECT 1 FROM token_revocations r WHERE r.hash = t.hash)`, hashOf(secret)).Scan(&p.Name, &role, &p.Tenant, &p.Host, &p.Lease, &p.Service, &p.Person)
	if errors.Is(err, sql.ErrNoRows) {
		return p, &rental.Error{Code: rental.CodeNotFound, Message: "token is not known or was revoked: expected one that leasewatch token create printed"}
	}
	p.Role = rental.Role(role)
	p.Name = cmp.Or(p.Person, p.Name)
	return p, storeError("ledger: token", err)
}

// Tokens returns all tokens without their secrets, the revoked ones too, by name and age.
func (l *Ledger) Tokens(ctx context.Context) ([]rental.Token, error) {
	return l.tokens(ctx, "")
}

// TokenOf returns the token that a secret belongs to, or an error of CodeNotFound.
func (l *Ledger) TokenOf(ctx context.Context, secret string) (rental.Token, error) {
	found, err := l.tokens(ctx, " WHERE t.hash = $1", hashOf(secret))
	if err == nil && len(found) == 0 {
		err = notFound("token", "")
	}
	if err != nil {
		return rental.Token{}, err
	}
	return found[0], nil
}

func (l *Ledger) tokens(ctx context.Context, where string, args ...any) ([]rental.Token, error) {
	all, err := collect(ctx, l.read, func(rows *sql.Rows) (rental.Token, error) {
		var t rental.Token
		var role string
		var created int64
		var expires int64
		var revoked, used sql.NullInt64
		err := rows.Scan(&t.Name, &role, &t.Tenant, &t.Host, &t.Lease, &t.Service, &t.Person, &created, &expires, &revoked, &used)
		t.Role, t.CreatedAt, t.ExpiresAt = rental.Role(role), rental.Millis(created), rental.Millis(expires)
		t.RevokedAt, t.UsedAt = rental.Millis(revoked.Int64), rental.Millis(used.Int64)
		return t, err
	}, `SELECT t.name, t.role, t.tenant, t.host, t.lease, t.service, t.person, t.at_ms, t.expires_ms, r.at_ms, e.at_ms FROM tokens t
		LEFT JOIN token_revocations r ON r.hash = t.hash LEFT JOIN token_enrolments e ON e.hash = t.hash`+where+`
		ORDER BY t.name, t.at_ms, t.hash`, args...)
	return all, storeError("ledger: tokens", err)
}

// RevokeToken makes the token of that name worthless from now on; CodeNotFound where none is valid.
func (l *Ledger) RevokeToken(ctx context.Context, name string) error {
	return l.transact(ctx, "token", func(t *txn) error {
		done, err := t.ExecContext(ctx, `INSERT INTO token_revocations (hash, at_ms) SELECT hash, $1 FROM tokens
			WHERE name = $2 AND hash NOT IN (SELECT hash FROM token_revocations)`, int64(t.now), name)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return cmpErr(err, notFound("valid token", name))
		}
		return nil
	})
}

func cmpErr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}
