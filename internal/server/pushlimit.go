package server

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	alertmanagerrules "github.com/leasewatch/leasewatch/alertmanager-rules"
	"github.com/leasewatch/leasewatch/internal/httpapi"
	"github.com/leasewatch/leasewatch/internal/monitor"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// ownersFor is how long the owners of cards are kept before the ledger is asked again.
const ownersFor = 15 * time.Second

// cards lists the cards of the inventory.
type cards interface {
	GPUs(ctx context.Context) ([]rental.GPU, error)
}

// pushLimits holds push tokens that are bound to what their holder may tell: to a host, that
// host's own series about its own cards; to a lease, as guest.go has it. Such a token lies on a
// machine that somebody rents; what it writes of another's cards would be downtime, and money.
type pushLimits struct {
	cards   cards
	guests  *guests
	now     func() time.Time
	foreign *prometheus.CounterVec

	mu     sync.Mutex
	owners map[string]string // host by card
	readAt time.Time
}

func newPushLimits(inventory rented, now func() time.Time, reg prometheus.Registerer) (*pushLimits, error) {
	p := &pushLimits{cards: inventory, guests: newGuests(inventory, now), now: now, foreign: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "leasewatch_push_foreign_samples_total",
		Help: "Samples left out because a push token bound to this host may not tell them: of another host's card, of a card that is not the guest's lease's, of no host, or the server's own.",
	}, []string{"host"})}
	return p, reg.Register(p.foreign)
}

// of returns what the sender of a request may write.
func (p *pushLimits) of(r *http.Request) monitor.Limit {
	who, _ := httpapi.PrincipalOf(r.Context())
	switch {
	case who.Lease != "":
		return p.ofGuest(r.Context(), who)
	case who.Host == "":
		return nil
	}
	owners, err := p.ownersOfCards(r.Context())
	if err != nil {
		return untold(err)
	}
	return func(label func(string) string, _ int64) (bool, error) {
		host := label("host")
		if host != "" && host != who.Host {
			return false, fmt.Errorf("token %q writes for host %q only, found a series %s of host %q: make a token for that host (leasewatch token create --role=push --host=%s)",
				who.Name, who.Host, label("__name__"), host, host)
		}
		if host == "" || serversOwn(label("__name__")) || backupSeries[label("__name__")] != nil || elsewhere(owners, label("uuid"), who.Host) || elsewhere(owners, label("gpu_uuid"), who.Host) {
			p.foreign.WithLabelValues(who.Host).Inc()
			return false, nil
		}
		return true, nil
	}
}

// ofGuest returns what a guest of a lease may write.
func (p *pushLimits) ofGuest(ctx context.Context, who rental.Principal) monitor.Limit {
	held, err := p.guests.of(ctx, who.Lease)
	if err != nil {
		return untold(err)
	}
	if !held.names(who.Host) {
		return func(func(string) string, int64) (bool, error) { return false, errNamesakes(who) }
	}
	return func(label func(string) string, at int64) (bool, error) {
		keep, err := held.allows(who, label, rental.Millis(at))
		if !keep && err == nil {
			p.foreign.WithLabelValues(who.Host).Inc()
		}
		return keep, err
	}
}

// untold refuses every sample while the ledger cannot be asked, so that it comes again.
func untold(err error) monitor.Limit {
	return func(func(string) string, int64) (bool, error) {
		return false, fmt.Errorf("whose cards these are cannot be told now: %w", err)
	}
}

// elsewhere tells whether the inventory has the card on another host. One that it does not know,
// or that lies in stock, may be told by whoever sees it.
func elsewhere(owners map[string]string, uuid, host string) bool {
	owner := owners[uuid]
	return owner != "" && owner != host
}

// serversOwn tells whether the server or its rules give the series out: no exporter does.
func serversOwn(name string) bool {
	return strings.Contains(name, ":") || strings.HasPrefix(name, "lease_") || witnessSeries(name) || slices.ContainsFunc(alertmanagerrules.ServerSeries(), func(s alertmanagerrules.Series) bool { return s.Name == name })
}

func (p *pushLimits) ownersOfCards(ctx context.Context) (map[string]string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if age := now.Sub(p.readAt); p.owners != nil && age >= 0 && age < ownersFor {
		return p.owners, nil
	}
	gpus, err := p.cards.GPUs(ctx)
	if err != nil {
		return nil, err
	}
	p.owners, p.readAt = make(map[string]string, len(gpus)), now
	for _, gpu := range gpus {
		p.owners[gpu.UUID] = gpu.Host
	}
	return p.owners, nil
}
