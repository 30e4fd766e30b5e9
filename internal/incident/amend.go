package incident

import (
	"context"
	"fmt"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Amend has fn say what a person adds to an incident, at a moment, and saves it; nobody is told. An
// error of fn changes nothing and is returned; an unknown id is ErrNotFound.
func (e *Engine) Amend(ctx context.Context, id string, fn func(rental.Incident, rental.Millis) (rental.Incident, error)) (rental.Incident, error) {
	out := rental.Incident{}
	saved, err := e.o.Store.ChangeByID(ctx, id, func(inc *rental.Incident) (*rental.Incident, []rental.Delivery, error) {
		if inc == nil {
			return nil, nil, ErrNotFound
		}
		next, err := fn(*inc, rental.At(e.o.Now()))
		if err != nil {
			return nil, nil, err
		}
		out = next
		if len(next.Events) == len(inc.Events) {
			return nil, nil, nil
		}
		return &next, nil, nil
	})
	if err != nil {
		return rental.Incident{}, fmt.Errorf("incident %s: %w", id, err)
	}
	if saved != nil {
		out = *saved
	}
	return out, nil
}
