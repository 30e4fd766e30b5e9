package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// guestsFor is how long what a lease's guests may write is kept before the ledger is asked again.
const guestsFor = 15 * time.Second

// rented reads whose the cards of a lease are.
type rented interface {
	cards
	Hosts(ctx context.Context) ([]rental.Host, error)
	Lease(ctx context.Context, id string) (rental.Lease, error)
	AssignmentsAt(ctx context.Context, span rental.Span) ([]rental.Assignment, error)
}

// tenure is who held which card over the span of one lease.
type tenure struct {
	lease rental.Lease
	// served are the assignments of a card, this lease's and those of others.
	served map[string][]rental.Assignment
	owners map[string]string // host by card, as the inventory has it
	hosts  map[string]bool   // the inventory's
}

func readTenure(ctx context.Context, book rented, id string) (*tenure, error) {
	lease, err := book.Lease(ctx, id)
	if err != nil {
		return nil, err
	}
	assignments, err := book.AssignmentsAt(ctx, lease.Span())
	if err != nil {
		return nil, err
	}
	gpus, err := book.GPUs(ctx)
	if err != nil {
		return nil, err
	}
	hosts, err := book.Hosts(ctx)
	if err != nil {
		return nil, err
	}
	h := &tenure{lease: lease, served: map[string][]rental.Assignment{}, owners: map[string]string{}, hosts: map[string]bool{}}
	for _, a := range assignments {
		h.served[a.UUID] = append(h.served[a.UUID], a)
	}
	for _, gpu := range gpus {
		h.owners[gpu.UUID] = gpu.Host
	}
	for _, host := range hosts {
		h.hosts[host.Name] = true
	}
	return h, nil
}

// holds tells whether the card was the lease's at the moment. Of a lease that names no cards, a
// card that nobody else held and that the inventory has on no other host is taken to be.
func (h *tenure) holds(uuid, host string, at rental.Millis) bool {
	if uuid == "" {
		return false
	}
	holder := ""
	for _, a := range h.served[uuid] {
		if a.Span.Contains(at) {
			holder = a.Lease
		}
	}
	return holder == h.lease.ID || holder == "" && len(h.lease.GPUs) == 0 && !elsewhere(h.owners, uuid, host)
}

// names tells whether a guest may call itself so: by a name that the inventory does not know, or
// that of a host all of whose cards are the lease's, as a rented machine that its tenant watches.
func (h *tenure) names(host string) bool {
	if !h.hosts[host] {
		return true
	}
	all := 0
	for uuid, at := range h.owners {
		if at != host {
			continue
		}
		if !slices.ContainsFunc(h.served[uuid], func(a rental.Assignment) bool { return a.Lease == h.lease.ID }) {
			return false
		}
		all++
	}
	return all > 0
}

// freeHost refuses a name under which a guest of the lease would speak for others.
func freeHost(ctx context.Context, book rented, lease, host string) error {
	h, err := readTenure(ctx, book, lease)
	if err == nil && !h.names(host) {
		err = &rental.Error{Code: rental.CodeConflict, Message: fmt.Sprintf(
			"host %q is in the inventory with cards that are not lease %q's: expected a name of the guest's own (leasewatch-exporter enroll --host.name=NAME)", host, lease)}
	}
	return err
}

// guests keeps what the guests of each lease may write.
type guests struct {
	book rented
	now  func() time.Time

	mu     sync.Mutex
	leases map[string]*tenure
	readAt map[string]time.Time
}

func newGuests(book rented, now func() time.Time) *guests {
	return &guests{book: book, now: now, leases: map[string]*tenure{}, readAt: map[string]time.Time{}}
}

func (g *guests) of(ctx context.Context, lease string) (*tenure, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	if age := now.Sub(g.readAt[lease]); g.leases[lease] != nil && age >= 0 && age < guestsFor {
		return g.leases[lease], nil
	}
	h, err := readTenure(ctx, g.book, lease)
	if err != nil {
		return nil, err
	}
	g.leases[lease], g.readAt[lease] = h, now
	return h, nil
}

// errNamesakes refuses a guest whose name has become that of others' host.
func errNamesakes(who rental.Principal) error {
	return fmt.Errorf("host %q is in the inventory with cards that are not lease %q's: enrol again under another name (leasewatch-exporter enroll --host.name=NAME)", who.Host, who.Lease)
}

// errAsGuest says what to do where a guest speaks as the host.
var errAsGuest = errors.New("start the exporter with --vantage=guest")

// allows tells whether the guest may tell the sample: of its own host, from inside, while the lease
// ran, and of the cards that were the lease's at that moment. What it may never tell is an error,
// what is merely not its own is left out.
func (h *tenure) allows(who rental.Principal, label func(string) string, at rental.Millis) (bool, error) {
	host, vantage, name := label("host"), label("vantage"), label("__name__")
	switch {
	case host != "" && host != who.Host:
		return false, fmt.Errorf("token %q writes for host %q only, found a series %s of host %q: enrol that host by itself (leasewatch-exporter enroll)", who.Name, who.Host, name, host)
	case vantage != "" && vantage != rental.VantageGuest:
		return false, fmt.Errorf("token %q writes from inside lease %q, found a series %s with vantage %q: %w", who.Name, who.Lease, name, vantage, errAsGuest)
	case at >= h.lease.End:
		return false, fmt.Errorf("lease %q ended at %s, and with it token %q: stop the exporter, or enrol it for another lease", who.Lease, h.lease.End, who.Name)
	}
	uuid, card := label("uuid"), label("gpu_uuid")
	whole := uuid == "" && card == ""
	if backupSeries[name] != nil && label("lease") != who.Lease {
		return false, nil // of another's work it tells nothing
	}
	return host != "" && vantage != "" && at >= h.lease.Start && !serversOwn(name) &&
		(whole || h.holds(uuid, host, at) || h.holds(card, host, at)), nil
}
