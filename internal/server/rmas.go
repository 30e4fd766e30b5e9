package server

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// rmas keeps the cases of GPUs that go back to their maker.
type rmas struct {
	ledger  *ledger.Ledger
	samples sampleSelector
	now     func() time.Time
	version string
	// changed is told after each act, so that the server's own series follow at once.
	changed func()
}

// sampleSelector reads raw samples.
type sampleSelector interface {
	Select(ctx context.Context, metric string, matchers map[string]string, span rental.Span) ([]rental.Series, error)
}

// RMAs returns those that the query chooses, by id.
func (r rmas) RMAs(ctx context.Context, q api.RMAQuery) ([]rental.RMA, error) {
	all, err := r.ledger.RMAs(ctx)
	return slices.DeleteFunc(all, func(one rental.RMA) bool {
		return q.GPU != "" && one.GPU != q.GPU || q.State != "" && one.State != q.State
	}), err
}

// RMA returns one case.
func (r rmas) RMA(ctx context.Context, id string) (rental.RMA, error) { return r.ledger.RMA(ctx, id) }

// OpenRMA opens a case in the name of who asks.
func (r rmas) OpenRMA(ctx context.Context, by rental.Principal, in api.OpenRMA) (rental.RMA, error) {
	out, err := r.ledger.OpenRMA(ctx, by.Name, in.Why, in.GPU, in.Incident)
	if err == nil {
		r.changed()
	}
	return out, err
}

// ActOnRMA replaces or closes, in the name of who asks.
func (r rmas) ActOnRMA(ctx context.Context, by rental.Principal, id string, act rental.Act, with rental.RMAReplacement) (rental.RMA, error) {
	act.By = by.Name
	out, err := r.ledger.ActOnRMA(ctx, id, act, with)
	if err == nil {
		r.changed()
	}
	return out, err
}

// RMABundle writes the evidence of a case as a zip: what the samples, the inventory and the
// incident tell of the card, from so many days before the incident (or, where the case names none,
// before its opening) to a day after the opening.
func (r rmas) RMABundle(ctx context.Context, id string, q api.RMABundleQuery) ([]byte, error) {
	b, err := r.readBundle(ctx, id, q)
	if err != nil {
		return nil, err
	}
	files, err := b.files()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = writeZip(&out, "evidence of "+id, b.made, files)
	return out.Bytes(), err
}
