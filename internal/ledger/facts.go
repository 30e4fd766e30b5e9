package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// newest reads, of each fact, the revision that holds.
func newest(q knower) string {
	return `FROM facts f WHERE f.kind = $1 AND f.revision =
	(SELECT max(g.revision) FROM facts g WHERE g.kind = f.kind AND g.name = f.name` + q.known("g.at_ms") + `)`
}

// insertFact appends a revision of a fact.
func (t *txn) insertFact(ctx context.Context, kind, name string, revision int, by, why string, body []byte) error {
	_, err := t.ExecContext(ctx, `INSERT INTO facts (kind, name, revision, at_ms, by_who, approved_by, why, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, kind, name, revision, int64(t.now), by, t.approvedBy, why, string(body))
	return err
}

// list returns the things of a kind as they hold now, by name.
func list[T any](ctx context.Context, q knower, kind string) ([]T, error) {
	all, err := collect(ctx, q, func(rows *sql.Rows) (T, error) {
		var one T
		var body string
		if err := rows.Scan(&body); err != nil {
			return one, err
		}
		return one, json.Unmarshal([]byte(body), &one)
	}, "SELECT f.body "+newest(q)+" ORDER BY f.name", kind)
	if err != nil {
		return nil, storeError("ledger: "+kind, err)
	}
	return all, nil
}

// get returns one thing of a kind as it holds now, with its revision.
func get[T any](ctx context.Context, q knower, kind, name string) (T, int, error) {
	var one T
	var body string
	var revision int
	err := q.QueryRowContext(ctx, `SELECT body, revision FROM facts WHERE kind = $1 AND name = $2`+q.known("at_ms")+`
		ORDER BY revision DESC LIMIT 1`, kind, name).Scan(&body, &revision)
	if errors.Is(err, sql.ErrNoRows) {
		return one, 0, notFound(kind, name)
	}
	if err != nil {
		return one, 0, storeError("ledger: "+kind, err)
	}
	if err := json.Unmarshal([]byte(body), &one); err != nil {
		return one, 0, fmt.Errorf("ledger: %s %q revision %d: %w", kind, name, revision, err)
	}
	return one, revision, nil
}

// History returns every revision of one thing, the oldest first; empty where it never was.
func (l *Ledger) History(ctx context.Context, kind, name string) ([]rental.Fact, error) {
	facts, err := collect(ctx, l.read, func(rows *sql.Rows) (rental.Fact, error) {
		f := rental.Fact{Kind: kind, Name: name}
		var at int64
		var body string
		err := rows.Scan(&f.Revision, &at, &f.By, &f.ApprovedBy, &f.Why, &body)
		f.At, f.Body = rental.Millis(at), json.RawMessage(body)
		return f, err
	}, `SELECT revision, at_ms, by_who, approved_by, why, body FROM facts WHERE kind = $1 AND name = $2`+l.read.known("at_ms")+` ORDER BY revision`, kind, name)
	return facts, storeError("ledger: history", err)
}

// Lease returns one lease, or an error of CodeNotFound.
func (l *Ledger) Lease(ctx context.Context, id string) (rental.Lease, error) {
	lease, _, err := get[rental.Lease](ctx, l.read, rental.KindLease, id)
	return lease, err
}

// Leases returns all leases by id, those that have ended too.
func (l *Ledger) Leases(ctx context.Context) ([]rental.Lease, error) {
	return list[rental.Lease](ctx, l.read, rental.KindLease)
}

// Contract returns one contract as it holds now, or an error of CodeNotFound.
func (l *Ledger) Contract(ctx context.Context, name string) (rental.Contract, error) {
	contract, _, err := get[rental.Contract](ctx, l.read, rental.KindContract, name)
	return contract, err
}

// Contracts returns all contracts by name.
func (l *Ledger) Contracts(ctx context.Context) ([]rental.Contract, error) {
	return list[rental.Contract](ctx, l.read, rental.KindContract)
}

// Tenants returns all tenants by name.
func (l *Ledger) Tenants(ctx context.Context) ([]rental.Tenant, error) {
	return list[rental.Tenant](ctx, l.read, rental.KindTenant)
}

// Providers returns all providers by name.
func (l *Ledger) Providers(ctx context.Context) ([]rental.Provider, error) {
	return list[rental.Provider](ctx, l.read, rental.KindProvider)
}

// Sites returns all sites by name.
func (l *Ledger) Sites(ctx context.Context) ([]rental.Site, error) {
	return list[rental.Site](ctx, l.read, rental.KindSite)
}

// Hosts returns all hosts by name.
func (l *Ledger) Hosts(ctx context.Context) ([]rental.Host, error) {
	return list[rental.Host](ctx, l.read, rental.KindHost)
}

// EnergyTariffs returns what a kWh costs at each host whose site has a tariff, by the host's name.
func (l *Ledger) EnergyTariffs(ctx context.Context) (map[string]rental.EnergyTariff, error) {
	sites, err := l.Sites(ctx)
	if err != nil {
		return nil, err
	}
	bySite := map[string]rental.EnergyTariff{}
	for _, site := range sites {
		if site.Energy != nil {
			bySite[site.Name] = *site.Energy
		}
	}
	if len(bySite) == 0 {
		return nil, nil
	}
	hosts, err := l.Hosts(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]rental.EnergyTariff{}
	for _, host := range hosts {
		if tariff, known := bySite[host.Site]; known {
			out[host.Name] = tariff
		}
	}
	return out, nil
}

// SKUs returns all hardware classes by name.
func (l *Ledger) SKUs(ctx context.Context) ([]rental.SKU, error) {
	return list[rental.SKU](ctx, l.read, rental.KindSKU)
}

// GPUs returns all cards by uuid, in whatever stage of their lives.
func (l *Ledger) GPUs(ctx context.Context) ([]rental.GPU, error) {
	return list[rental.GPU](ctx, l.read, rental.KindGPU)
}

// MIGInstances returns all MIG instances by uuid, those that were removed too.
func (l *Ledger) MIGInstances(ctx context.Context) ([]rental.MIGInstance, error) {
	return list[rental.MIGInstance](ctx, l.read, rental.KindMIG)
}

// Maintenances returns the announced windows that overlap the span, by name.
func (l *Ledger) Maintenances(ctx context.Context, span rental.Span) ([]rental.Maintenance, error) {
	all, err := list[rental.Maintenance](ctx, l.read, rental.KindMaintenance)
	if err != nil {
		return nil, err
	}
	kept := all[:0]
	for _, m := range all {
		if span.Overlaps(rental.Span{Start: m.Start, End: m.End}) {
			kept = append(kept, m)
		}
	}
	return kept, nil
}

// Consumptions returns what a lease used of its contract's metered items, by name.
func (l *Ledger) Consumptions(ctx context.Context, lease string) ([]rental.Consumption, error) {
	all, err := list[rental.Consumption](ctx, l.read, rental.KindConsumption)
	return slices.DeleteFunc(all, func(c rental.Consumption) bool { return c.Lease != lease }), err
}

// Consumed returns what metered items used of every lease, by name.
func (l *Ledger) Consumed(ctx context.Context) ([]rental.Consumption, error) {
	return list[rental.Consumption](ctx, l.read, rental.KindConsumption)
}

// Adjusted returns the corrections that were booked for any lease, by name.
func (l *Ledger) Adjusted(ctx context.Context) ([]rental.Adjustment, error) {
	return list[rental.Adjustment](ctx, l.read, rental.KindAdjustment)
}

// Adjustments returns the corrections that were booked for a lease, by name.
func (l *Ledger) Adjustments(ctx context.Context, lease string) ([]rental.Adjustment, error) {
	all, err := list[rental.Adjustment](ctx, l.read, rental.KindAdjustment)
	return slices.DeleteFunc(all, func(a rental.Adjustment) bool { return a.Lease != lease }), err
}
