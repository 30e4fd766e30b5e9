package incident

import (
	"cmp"
	"context"
	"fmt"
	"maps"
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

// copied returns an incident that shares nothing with the given one.
func copied(inc rental.Incident) rental.Incident {
	inc.Leases, inc.Tenants = slices.Clone(inc.Leases), slices.Clone(inc.Tenants)
	inc.Events, inc.Alerts = slices.Clone(inc.Events), slices.Clone(inc.Alerts)
	for i := range inc.Alerts {
		inc.Alerts[i].Labels = maps.Clone(inc.Alerts[i].Labels)
		inc.Alerts[i].Annotations = maps.Clone(inc.Alerts[i].Annotations)
	}
	inc.Messages = maps.Clone(inc.Messages)
	return inc
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
		kept := copied(m.incidents[at])
		newest = &kept
	}
	next, deliveries, err := fn(newest)
	if err != nil || next == nil {
		return nil, err
	}
	saved := copied(*next)
	if saved.ID == "" {
		saved.ID = fmt.Sprintf("INC-%d", len(m.incidents)+1)
		m.incidents = append(m.incidents, saved)
	} else {
		m.incidents[slices.IndexFunc(m.incidents, func(i rental.Incident) bool { return i.ID == saved.ID })] = saved
	}
	for _, d := range deliveries {
		d.ID, d.Incident = int64(len(m.deliveries)+1), saved.ID
		m.deliveries = append(m.deliveries, d)
		m.pending = append(m.pending, d.ID)
	}
	out := copied(saved)
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
			found := copied(inc)
			return &found, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", id, ErrNotFound)
}

func (m *memory) Incidents(_ context.Context, _ rental.Span, limit int) ([]rental.Incident, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []rental.Incident
	for _, inc := range slices.Backward(m.incidents) {
		list = append(list, copied(inc))
	}
	return list[:min(limit, len(list))], nil
}

func (m *memory) UnresolvedIncidents(context.Context) ([]rental.Incident, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []rental.Incident
	for _, inc := range m.incidents {
		if inc.Status == rental.IncidentOpen || inc.Status == rental.IncidentAcked {
			list = append(list, copied(inc))
		}
	}
	return list, nil
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
		m.deliveries[d.ID-1] = d
		if d.State != rental.DeliveryPending && d.State != rental.DeliveryFailed {
			m.pending = slices.DeleteFunc(m.pending, func(id int64) bool { return id == d.ID })
		}
		return nil
	}
	return fmt.Errorf("delivery %d: %w", d.ID, ErrNotFound)
}
