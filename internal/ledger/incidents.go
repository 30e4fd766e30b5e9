package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// incidentPrefix leads the ids that people read: INC-42.
const incidentPrefix = "INC-"

var statuses = []rental.IncidentStatus{rental.IncidentOpen, rental.IncidentAcked, rental.IncidentResolved, rental.IncidentUnknown}

// change is a step in an incident's life, as incident.Change has it.
type change = func(newest *rental.Incident) (*rental.Incident, []rental.Delivery, error)

// ChangeByKey hands fn the newest incident with this group key, or nil, and saves what fn
// returns with its deliveries in the same transaction. A nil incident from fn changes nothing.
// A new incident comes back with ID empty and is given the next one. fn must not call the Ledger.
func (l *Ledger) ChangeByKey(ctx context.Context, key string, fn func(*rental.Incident) (*rental.Incident, []rental.Delivery, error)) (*rental.Incident, error) {
	return l.changeIncident(ctx, fn, func(t *txn) (*rental.Incident, error) {
		found, err := oneIncident(ctx, t, `WHERE group_key = $1 ORDER BY id DESC LIMIT 1`, key)
		if errors.Is(err, rental.ErrNotFound) {
			return nil, nil
		}
		return found, err
	})
}

// ChangeByID does what ChangeByKey does for the incident with this id; CodeNotFound where there is none.
func (l *Ledger) ChangeByID(ctx context.Context, id string, fn func(*rental.Incident) (*rental.Incident, []rental.Delivery, error)) (*rental.Incident, error) {
	return l.changeIncident(ctx, fn, func(t *txn) (*rental.Incident, error) { return incidentByID(ctx, t, id) })
}

func (l *Ledger) changeIncident(ctx context.Context, fn change, find func(*txn) (*rental.Incident, error)) (*rental.Incident, error) {
	var saved *rental.Incident
	err := l.transact(ctx, "incident", func(t *txn) error {
		old, err := find(t)
		if err != nil {
			return err
		}
		told := 0
		if old != nil {
			told = len(old.Events)
		}
		next, deliveries, err := fn(old)
		if err != nil {
			return err
		}
		if next == nil {
			return errRollback
		}
		id, err := t.saveIncident(ctx, next, told)
		if err != nil {
			return err
		}
		for _, d := range deliveries {
			d.Incident = next.ID
			if err := t.saveDelivery(ctx, d); err != nil {
				return err
			}
		}
		// What is returned is what was kept, not fn's own object.
		saved, err = oneIncident(ctx, t, `WHERE id = $1`, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	return saved, nil
}

// saveIncident writes an incident of whose events the first `told` are kept already.
func (t *txn) saveIncident(ctx context.Context, i *rental.Incident, told int) (int64, error) {
	if !slices.Contains(statuses, i.Status) {
		return 0, invalid("incident %q: status: found %q, expected one of %v", i.ID, i.Status, statuses)
	}
	if len(i.Events) < told {
		return 0, invalid("incident %q: found %d events, expected the %d that are recorded and maybe more", i.ID, len(i.Events), told)
	}
	var id int64
	if i.ID == "" {
		if err := t.QueryRowContext(ctx, `INSERT INTO incidents (group_key, status, opened_ms, resolved_ms, body)
			VALUES ($1, $2, $3, 0, '') RETURNING id`, i.Key, string(i.Status), int64(i.OpenedAt)).Scan(&id); err != nil {
			return 0, fmt.Errorf("new incident: %w", err)
		}
		i.ID = incidentPrefix + strconv.FormatInt(id, 10)
	} else if n, err := incidentNumber(i.ID); err != nil {
		return 0, err
	} else {
		id = n
	}
	head := *i
	head.Events = nil // they have their own table, which is only added to
	body, err := json.Marshal(head)
	if err != nil {
		return 0, fmt.Errorf("incident %s: %w", i.ID, err)
	}
	if _, err := t.ExecContext(ctx, `UPDATE incidents SET group_key = $2, status = $3, opened_ms = $4, resolved_ms = $5, body = $6 WHERE id = $1`,
		id, i.Key, string(i.Status), int64(i.OpenedAt), int64(i.ResolvedAt), string(body)); err != nil {
		return 0, fmt.Errorf("incident %s: %w", i.ID, err)
	}
	for n := told; n < len(i.Events); n++ {
		e := i.Events[n]
		if _, err := t.ExecContext(ctx, `INSERT INTO incident_events (incident, n, at_ms, kind, by_who, note) VALUES ($1, $2, $3, $4, $5, $6)`,
			id, n+1, int64(e.At), e.Kind, e.By, e.Note); err != nil {
			return 0, fmt.Errorf("incident %s: event %d: %w", i.ID, n+1, err)
		}
	}
	return id, nil
}

func incidentNumber(id string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimPrefix(id, incidentPrefix), 10, 64)
	if err != nil || !strings.HasPrefix(id, incidentPrefix) {
		return 0, notFound("incident", id)
	}
	return n, nil
}

// Incident returns one incident with its timeline; CodeNotFound where there is none.
func (l *Ledger) Incident(ctx context.Context, id string) (*rental.Incident, error) {
	i, err := incidentByID(ctx, l.read, id)
	return i, storeError("ledger: incident", err)
}

func incidentByID(ctx context.Context, q querier, id string) (*rental.Incident, error) {
	n, err := incidentNumber(id)
	if err != nil {
		return nil, err
	}
	i, err := oneIncident(ctx, q, `WHERE id = $1`, n)
	if errors.Is(err, rental.ErrNotFound) {
		return nil, notFound("incident", id)
	}
	return i, err
}

// Incidents returns the incidents that overlap the span, the newest first, at most limit.
func (l *Ledger) Incidents(ctx context.Context, span rental.Span, limit int) ([]rental.Incident, error) {
	all, err := incidentsWhere(ctx, l.read, `WHERE opened_ms < $1 AND (resolved_ms > $2 OR (resolved_ms = 0 AND status <> 'resolved') OR opened_ms >= $2)
		ORDER BY opened_ms DESC, id DESC LIMIT $3`, int64(span.End), int64(span.Start), limit)
	return all, storeError("ledger: incidents", err)
}

// IncidentFilter chooses among incidents.
type IncidentFilter struct {
	Span   rental.Span           // whose life touches it
	Status rental.IncidentStatus // "" is any
	Tenant string                // whose leases they touched; "" is everybody's
	Limit  int
}

// FindIncidents returns the newest incidents that pass the filter, at most Limit of them.
func (l *Ledger) FindIncidents(ctx context.Context, f IncidentFilter) ([]rental.Incident, error) {
	ofTenant := `EXISTS (SELECT 1 FROM json_each(body, '$.tenants') WHERE value = $4)`
	if l.dialect == postgresDialect {
		ofTenant = `coalesce(jsonb_exists(body::jsonb -> 'tenants', $4), false)`
	}
	all, err := incidentsWhere(ctx, l.read, `WHERE opened_ms < $1 AND (resolved_ms > $2 OR (resolved_ms = 0 AND status <> 'resolved') OR opened_ms >= $2)
		AND ($3 = '' OR status = $3) AND ($4 = '' OR `+ofTenant+`) ORDER BY opened_ms DESC, id DESC LIMIT $5`,
		int64(f.Span.End), int64(f.Span.Start), string(f.Status), f.Tenant, f.Limit)
	return all, storeError("ledger: incidents", err)
}

// UnresolvedIncidents returns all open and acked incidents, the oldest first.
func (l *Ledger) UnresolvedIncidents(ctx context.Context) ([]rental.Incident, error) {
	all, err := incidentsWhere(ctx, l.read, `WHERE status IN ('open', 'acked') ORDER BY id`)
	return all, storeError("ledger: incidents", err)
}

func oneIncident(ctx context.Context, q querier, where string, args ...any) (*rental.Incident, error) {
	found, err := incidentsWhere(ctx, q, where, args...)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, rental.ErrNotFound
	}
	return &found[0], nil
}

func incidentsWhere(ctx context.Context, q querier, where string, args ...any) ([]rental.Incident, error) {
	type row struct {
		id   int64
		body string
	}
	rows, err := collect(ctx, q, func(rows *sql.Rows) (row, error) {
		var r row
		return r, rows.Scan(&r.id, &r.body)
	}, `SELECT id, body FROM incidents `+where, args...)
	if err != nil {
		return nil, err
	}
	all := make([]rental.Incident, len(rows))
	for n, r := range rows {
		if err := json.Unmarshal([]byte(r.body), &all[n]); err != nil {
			return nil, fmt.Errorf("incident %d: %w", r.id, err)
		}
		if all[n].Events, err = collect(ctx, q, func(rows *sql.Rows) (rental.IncidentEvent, error) {
			var e rental.IncidentEvent
			var at int64
			err := rows.Scan(&at, &e.Kind, &e.By, &e.Note)
			e.At = rental.Millis(at)
			return e, err
		}, `SELECT at_ms, kind, by_who, note FROM incident_events WHERE incident = $1 ORDER BY n`, r.id); err != nil {
			return nil, fmt.Errorf("incident %d: events: %w", r.id, err)
		}
	}
	return all, nil
}
