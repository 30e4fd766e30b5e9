package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// tokens keeps the tokens.
type tokens struct {
	ledger *ledger.Ledger
	log    *slog.Logger
}

// Tokens lists the tokens, without secrets.
func (t tokens) Tokens(ctx context.Context) ([]rental.Token, error) { return t.ledger.Tokens(ctx) }

// CreateToken makes a token; the secret is in this answer only.
func (t tokens) CreateToken(ctx context.Context, _ rental.Principal, holder rental.Principal) (rental.Token, string, error) {
	secret, err := t.ledger.CreateToken(ctx, holder)
	if err != nil {
		return rental.Token{}, "", err
	}
	token, err := t.ledger.TokenOf(ctx, secret)
	return token, secret, err
}

// CreateEnrolment makes a token that a guest of the lease uses once; the secret is in this answer only.
func (t tokens) CreateEnrolment(ctx context.Context, _ rental.Principal, name, lease string, ttl time.Duration) (rental.Token, string, error) {
	secret, err := t.ledger.CreateEnrolment(ctx, name, lease, ttl)
	if err != nil {
		return rental.Token{}, "", err
	}
	token, err := t.ledger.TokenOf(ctx, secret)
	return token, secret, err
}

// Enroll turns a guest's enrolment into a push token for its host. A second use is told here too:
// the secret may be in foreign hands.
func (t tokens) Enroll(ctx context.Context, guest rental.Principal, host, hash string) (rental.Principal, error) {
	if err := freeHost(ctx, t.ledger, guest.Lease, host); err != nil {
		return rental.Principal{}, err
	}
	enrolled, err := t.ledger.Enroll(ctx, guest.Name, host, hash)
	if err != nil {
		t.log.Warn("a guest was not enrolled", "enrolment", guest.Name, "lease", guest.Lease, "host", host, "error", err)
		return enrolled, err
	}
	t.log.Info("a guest was enrolled", "enrolment", guest.Name, "lease", guest.Lease, "host", host)
	return enrolled, nil
}

// RevokeToken ends a token at once.
func (t tokens) RevokeToken(ctx context.Context, _ rental.Principal, name string) error {
	return t.ledger.RevokeToken(ctx, name)
}
