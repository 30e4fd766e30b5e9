package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// world is everything that manifests describe, by name (cards by uuid).
type world struct {
	providers    map[string]rental.Provider
	tenants      map[string]rental.Tenant
	sites        map[string]rental.Site
	hosts        map[string]rental.Host
	skus         map[string]rental.SKU
	gpus         map[string]rental.GPU
	instances    map[string]rental.MIGInstance
	calendars    map[string]rental.Calendar
	contracts    map[string]rental.Contract
	leases       map[string]rental.Lease
	maintenances map[string]rental.Maintenance
	consumptions map[string]rental.Consumption
	adjustments  map[string]rental.Adjustment
}

func newWorld() world {
	return world{
		providers: map[string]rental.Provider{}, tenants: map[string]rental.Tenant{},
		sites: map[string]rental.Site{}, hosts: map[string]rental.Host{},
		skus: map[string]rental.SKU{}, gpus: map[string]rental.GPU{}, instances: map[string]rental.MIGInstance{},

		calendars: map[string]rental.Calendar{},
		contracts: map[string]rental.Contract{}, leases: map[string]rental.Lease{},
		maintenances: map[string]rental.Maintenance{},
		consumptions: map[string]rental.Consumption{}, adjustments: map[string]rental.Adjustment{},
	}
}

// clone copies the maps; what they hold is never changed in place.
func (w world) clone() world {
	return world{
		providers: maps.Clone(w.providers), tenants: maps.Clone(w.tenants),
		sites: maps.Clone(w.sites), hosts: maps.Clone(w.hosts),
		skus: maps.Clone(w.skus), gpus: maps.Clone(w.gpus), instances: maps.Clone(w.instances),

		calendars: maps.Clone(w.calendars),
		contracts: maps.Clone(w.contracts), leases: maps.Clone(w.leases),
		maintenances: maps.Clone(w.maintenances),
		consumptions: maps.Clone(w.consumptions), adjustments: maps.Clone(w.adjustments),
	}
}

// thing names a fact.
type thing struct{ kind, name string }

// loadWorld reads what holds now, with the revision of each thing.
func (t *txn) loadWorld(ctx context.Context) (world, map[thing]int, error) {
	w, revisions := newWorld(), map[thing]int{}
	rows, err := t.QueryContext(ctx, `SELECT f.kind, f.name, f.revision, f.body FROM facts f WHERE f.revision =
		(SELECT max(g.revision) FROM facts g WHERE g.kind = f.kind AND g.name = f.name)`)
	if err != nil {
		return w, nil, fmt.Errorf("current facts: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var what thing
		var revision int
		var body sql.RawBytes
		if err := rows.Scan(&what.kind, &what.name, &revision, &body); err != nil {
			return w, nil, fmt.Errorf("current facts: %w", err)
		}
		if err := w.put(what, body); err != nil {
			return w, nil, fmt.Errorf("%s %q revision %d: %w", what.kind, what.name, revision, err)
		}
		revisions[what] = revision
	}
	return w, revisions, rows.Err()
}

func (w world) put(what thing, body []byte) error {
	switch what.kind {
	case rental.KindProvider:
		return into(w.providers, what.name, body)
	case rental.KindTenant:
		return into(w.tenants, what.name, body)
	case rental.KindSite:
		return into(w.sites, what.name, body)
	case rental.KindHost:
		return into(w.hosts, what.name, body)
	case rental.KindSKU:
		return into(w.skus, what.name, body)
	case rental.KindGPU:
		return into(w.gpus, what.name, body)
	case rental.KindMIG:
		return into(w.instances, what.name, body)
	case rental.KindCalendar:
		return into(w.calendars, what.name, body)
	case rental.KindContract:
		return into(w.contracts, what.name, body)
	case rental.KindLease:
		return into(w.leases, what.name, body)
	case rental.KindMaintenance:
		return into(w.maintenances, what.name, body)
	case rental.KindConsumption:
		return into(w.consumptions, what.name, body)
	case rental.KindAdjustment:
		return into(w.adjustments, what.name, body)
	}
	return nil // other facts are no resources
}

func into[T any](m map[string]T, name string, body []byte) error {
	var one T
	if err := json.Unmarshal(body, &one); err != nil {
		return err
	}
	m[name] = one
	return nil
}

// hardware returns the card of a uuid that can be leased: its own, or that of which it is a MIG
// instance, which is then named too.
func (w world) hardware(uuid string) (card string, part rental.MIGInstance, known bool) {
	if _, is := w.gpus[uuid]; is {
		return uuid, part, true
	}
	part, is := w.instances[uuid]
	return part.GPU, part, is
}

// assignment makes an assignment that says which card it is a part of, if it is one.
func (w world) assignment(lease, uuid string, span rental.Span, reason string) rental.Assignment {
	return rental.Assignment{Lease: lease, UUID: uuid, Span: span, Reason: reason, Card: w.instances[uuid].GPU}
}

// socket is a slot of a host.
type socket struct {
	host string
	slot int
}

// sockets returns the cards that sit in slots, by slot; two in one is for checkGPUs to refuse.
func (w world) sockets() map[socket][]string {
	cards := make(map[socket][]string, len(w.gpus))
	for uuid, g := range w.gpus {
		if inSlot(g) {
			at := socket{g.Host, g.Slot}
			cards[at] = append(cards[at], uuid)
		}
	}
	for _, uuids := range cards {
		slices.Sort(uuids)
	}
	return cards
}

// inSlot tells whether a card in this stage of its life occupies its slot.
func inSlot(g rental.GPU) bool {
	return g.Life != rental.GPURMA && g.Life != rental.GPUScrapped && g.Life != rental.GPUStock
}
