package server

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/proof"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// signingFile holds the keys that reports are signed with, in the storage path.
const signingFile = "signing-keys.json"

// openSigner reads the signing keys; at the first start it makes the first.
func (a *App) openSigner(context.Context) error {
	var err error
	a.signer, err = proof.OpenRing(filepath.Join(a.opts.StoragePath, signingFile), rental.At(a.now()))
	return err
}

// RotateSigningKey makes a new key, endorsed by the one before, and returns all keys.
func (o *Offline) RotateSigningKey() ([]rental.SigningKey, error) {
	err := o.app.signer.Rotate(rental.At(o.app.now()))
	return o.app.signer.Keys(), err
}

// sealer closes each day of each lease's records with a head.
type sealer struct {
	ledger *ledger.Ledger
	now    func() time.Time
	log    *slog.Logger
	done   map[string]rental.Millis // lease to the start of the day that was closed
}

const (
	// sealEvery is how often it is looked whether a day has ended.
	sealEvery = 10 * time.Minute
	// sealDelay is how long after midnight (UTC) a day is closed, so that the use of its last hour
	// is metered.
	sealDelay = rental.Millis(30 * 60_000)

	dayMS = rental.Millis(24 * 3_600_000)
)

// run closes days until ctx ends.
func (s *sealer) run(ctx context.Context) {
	ticker := time.NewTicker(sealEvery)
	defer ticker.Stop()
	for {
		if err := s.sealAll(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("the day's records could not be sealed; it is tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// sealAll gives every lease a head for the last day that has ended, where it has none yet and
// something was recorded. One that fails is logged and does not hold up the others.
func (s *sealer) sealAll(ctx context.Context) error {
	last, err := s.ledger.LastSealed(ctx)
	if err != nil {
		return err
	}
	leases, err := s.ledger.Leases(ctx)
	if err != nil {
		return err
	}
	due := rental.At(s.now()) - sealDelay
	due = due - due%dayMS + sealDelay
	for _, lease := range leases {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if last[lease.ID] >= due || s.done[lease.ID] >= due {
			continue
		}
		if _, _, err := s.ledger.Seal(ctx, lease.ID, nextHead(lease.ID)); err != nil {
			s.log.Error("the day's records of a lease could not be sealed; it is tried again", "lease", lease.ID, "error", err)
			continue
		}
		s.done[lease.ID] = due
	}
	return nil
}

// nextHead makes a lease's next head.
func nextHead(lease string) func(rental.Head, rental.Millis, rental.Recorded) (rental.Head, error) {
	return func(last rental.Head, at rental.Millis, in rental.Recorded) (rental.Head, error) {
		records, err := proof.Records(in)
		if err != nil {
			return rental.Head{}, err
		}
		sealed, err := proof.Seal(last, lease, at, records)
		return sealed.Head, err
	}
}

// proofs tells what proves a lease's records.
type proofs struct {
	ledger *ledger.Ledger
	signer *proof.Ring
}

// Heads returns the heads of a lease with the keys that reports are signed with.
func (p proofs) Heads(ctx context.Context, lease string) (api.Heads, error) {
	heads, err := p.ledger.Heads(ctx, lease)
	if heads == nil {
		heads = []rental.Head{}
	}
	return api.Heads{Lease: lease, Heads: heads, Keys: p.signer.Keys()}, err
}

// SigningKeys returns the public keys, the oldest first.
func (p proofs) SigningKeys(context.Context) ([]rental.SigningKey, error) {
	return p.signer.Keys(), nil
}

// chain reads a lease's chain back; records are worked out anew from what is stored, so that a
// head that no longer fits them is seen. Heads of before since stand by their hash alone, and so
// does a later one whose records keep turns down.
func (p proofs) chain(ctx context.Context, lease string, since rental.Millis, keep func(proof.Sealed) bool) ([]proof.Sealed, error) {
	heads, err := p.ledger.Heads(ctx, lease)
	if err != nil {
		return nil, err
	}
	out := make([]proof.Sealed, 0, len(heads))
	var before rental.Head
	for _, h := range heads {
		sealed := proof.Sealed{Head: h}
		if h.SealedAt > since {
			in, err := p.ledger.Recorded(ctx, lease, before.SealedAt, h.SealedAt)
			if err != nil {
				return nil, err
			}
			records, err := proof.Records(in.Under(h.Records))
			if err != nil {
				return nil, fmt.Errorf("chain of lease %s: %w", lease, err)
			}
			again, err := proof.Seal(before, lease, h.SealedAt, records)
			if err != nil {
				return nil, fmt.Errorf("chain of lease %s: %w", lease, err)
			}
			if again.Head = h; keep(again) {
				sealed.Links = again.Links
			}
		}
		out, before = append(out, sealed), h
	}
	return out, nil
}
