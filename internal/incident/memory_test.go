package incident

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// memory is a Store that keeps its word: each method is one transaction, what goes in and
// out is a copy, an error from a Change saves nothing, ids never come twice.
type memory struct {
	mu         sync.Mutex
	incidents  []rental.Incident
	deliveries []rental.Delivery
	pending    []int64                   // ids of those pending or failed, in order
	fail       func(method string) error // nil: never
}

var _ Store = (*memory)(nil)

// clone goes through JSON as a real store does, so that a field which does not survive that is seen.
func clone[T any](in T) T {
	body, err := json.Marshal(in)
	if err != nil {
		panic(err)
	}
	var out T
	if err := json.Unmarshal(body, &out); err != nil {
		panic(err)
	}
	return out
}

func (m *memory) failing(method string) error {
	if m.fail == nil {
		return nil
	}
	return m.fail(method)
}

func (m *memory) change(find func(rental.Incident) bool, fn Change) (*rental.Incident, error) {
	at := -1
	for i := range m.incidents {
		if find(m.incidents[i]) {
			at = i
		}
	}
	var newest *rental.Incident
	if at >= 0 {
		copied := clone(m.incidents[at])
		newest = &copied
	}
	next, deliveries, err := fn(newest)
	if err != nil || next == nil {
		return nil, err
	}
	saved := clone(*next)
	if saved.ID == "" {
		saved.ID = fmt.Sprintf("INC-%d", len(m.incidents)+1)
		m.incidents = append(m.incidents, saved)
	} else {
		m.incidents[slices.IndexFunc(m.incidents, func(i rental.Incident) bool { return i.ID == saved.ID })] = saved
	}
	for _, d := range deliveries {
		d.ID, d.Incident = int64(len(m.deliveries)+1), saved.ID
		m.deliveries = append(m.deliveries, clone(d))
		m.pending = append(m.pending, d.ID)
	}
	out := clone(saved)
	return &out, nil
}

func (m *memory) ChangeByKey(_ context.Context, key string, fn Change) (*rental.Incident, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.failing("ChangeByKey"); err != nil {
		return nil, err
	}
	return m.change(func(i rental.Incident) bool { return i.Key == key }, fn)
}

func (m *memory) ChangeByID(_ context.Context, id string, fn Change) (*rental.Incident, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.failing("ChangeByID"); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(m.incidents, func(i rental.Incident) bool { return i.ID == id }) {
		return nil, fmt.Errorf("%s: %w", id, ErrNotFound)
	}
	return m.change(func(i rental.Incident) bool { return i.ID == id }, fn)
}

func (m *memory) Incident(_ context.Context, id string) (*rental.Incident, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.failing("Incident"); err != nil {
		return nil, err
	}
	for _, inc := range m.incidents {
		if inc.ID == id {
			copied := clone(inc)
			return &copied, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", id, ErrNotFound)
}

func (m *memory) Incidents(_ context.Context, _ rental.Span, limit int) ([]rental.Incident, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := clone(m.incidents)
	slices.Reverse(list)
	return list[:min(limit, len(list))], nil
}

func (m *memory) UnresolvedIncidents(context.Context) ([]rental.Incident, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(clone(m.incidents), func(i rental.Incident) bool {
		return i.Status != rental.IncidentOpen && i.Status != rental.IncidentAcked
	}), nil
}

func (m *memory) DueDeliveries(ctx context.Context, now rental.Millis, limit int) ([]rental.Delivery, error) {
	list, err := m.PendingDeliveries(ctx)
	list = slices.DeleteFunc(list, func(d rental.Delivery) bool {
		return d.State != rental.DeliveryPending || d.NextAt > now
	})
	slices.SortStableFunc(list, func(a, b rental.Delivery) int {
		return cmp.Compare(phrase.SeverityRank(a.Severity), phrase.SeverityRank(b.Severity))
	})
	return list[:min(limit, len(list))], err
}

func (m *memory) PendingDeliveries(context.Context) ([]rental.Delivery, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.failing("PendingDeliveries"); err != nil {
		return nil, err
	}
	var list []rental.Delivery
	for _, id := range m.pending {
		list = append(list, m.deliveries[id-1])
	}
	return list, nil
}

func (m *memory) SaveDelivery(_ context.Context, d rental.Delivery) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.failing("SaveDelivery"); err != nil {
		return err
	}
	if d.ID >= 1 && d.ID <= int64(len(m.deliveries)) {
		m.deliveries[d.ID-1] = clone(d)
		if d.State != rental.DeliveryPending && d.State != rental.DeliveryFailed {
			m.pending = slices.DeleteFunc(m.pending, func(id int64) bool { return id == d.ID })
		}
		return nil
	}
	return fmt.Errorf("delivery %d: %w", d.ID, ErrNotFound)
}
