package server

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync"
	"syscall"
	"time"

	alertmanagerrules "github.com/leasewatch/leasewatch/alertmanager-rules"
	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/incident"
	"github.com/leasewatch/leasewatch/internal/monitor"
	"github.com/leasewatch/leasewatch/internal/paging"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// The rhythm of the watch: the alert is told again well before it would count as ended.
const (
	storeLookEvery  = time.Second
	storeTellEvery  = 30 * time.Second
	storeAlertHolds = 4 * time.Minute
)

// storeWatch tells people that samples cannot be stored. It reads no samples for that, since
// there are none: it asks the writers, and hands its alert to paging itself.
type storeWatch struct {
	health  func() monitor.Health
	reserve reserve
	put     func(context.Context, []paging.Alert) error
	alert   paging.Alert
	now     func() time.Time
	log     *slog.Logger

	mu    sync.Mutex
	state monitor.Health
	told  time.Time
}

func (a *App) newStoreWatch() (*storeWatch, error) {
	labels, annotations, err := alertmanagerrules.PlainAlert(alertmanagerrules.StoreFailing, a.externalURL())
	if err != nil {
		return nil, err
	}
	return &storeWatch{
		health: a.monitor.Health, reserve: reserveIn(a.opts.StoragePath), put: a.pager.Put,
		alert: paging.Alert{Labels: labels, Annotations: annotations}, now: a.now, log: a.log.With("room", "store"),
	}, nil
}

// run looks at the store until Stop.
func (w *storeWatch) run(ctx context.Context) {
	tick := time.NewTicker(storeLookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.look(ctx)
		}
	}
}

// look takes one look: on a failure it gives up the reserve, so that the ledger can write the
// page, and the store counts as well again only once the reserve is back.
func (w *storeWatch) look(ctx context.Context) {
	was, is := w.Health(), w.health()
	switch {
	case is.Failing:
		if err := w.reserve.free(); err != nil {
			w.log.Error("the reserved room cannot be given up", "error", err)
		}
	default:
		if err := w.reserve.hold(); err != nil {
			is = monitor.Health{Failing: true, Since: w.now(), Err: err}
		}
	}
	if was.Failing {
		is.Since = was.Since
	}
	now := w.now()
	w.mu.Lock()
	w.state = is
	due := is.Failing && now.Sub(w.told) >= storeTellEvery
	w.mu.Unlock()
	switch {
	case is.Failing && !was.Failing:
		w.log.Error("samples cannot be stored: nothing new is seen, and alerts stay as they were", "error", is.Err)
		w.tell(ctx, is.Since, time.Time{})
	case due:
		w.tell(ctx, is.Since, time.Time{})
	case !is.Failing && was.Failing:
		w.log.Info("samples are stored again", "since", was.Since)
		w.tell(ctx, was.Since, now)
	}
}

func (w *storeWatch) tell(ctx context.Context, since, ended time.Time) {
	now := w.now()
	alert := w.alert
	alert.StartsAt, alert.EndsAt, alert.ValidUntil = since, ended, now.Add(storeAlertHolds)
	if err := w.put(ctx, []paging.Alert{alert}); err != nil && ctx.Err() == nil {
		w.log.Error("the alert that samples cannot be stored was not handed to paging; it comes again", "error", err)
		return
	}
	w.mu.Lock()
	w.told = now
	w.mu.Unlock()
}

// Health returns how the store is, the reserve counted in.
func (w *storeWatch) Health() monitor.Health {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

// storeStatus says how the store is as the API tells it.
func (a *App) storeStatus() api.Store {
	out := api.Store{Kind: "embedded", Healthy: true, Series: a.monitor.Series()}
	h := a.store.Health()
	if !h.Failing {
		return out
	}
	out.Healthy, out.Since, out.Reason, out.Cause = false, rental.At(h.Since), h.Err.Error(), api.StoreFails
	switch {
	case full(h.Err):
		out.Cause = api.StoreFull
	case errors.Is(h.Err, syscall.EROFS), errors.Is(h.Err, fs.ErrPermission):
		out.Cause = api.StoreReadOnly
	}
	return out
}

// started settles, at start, the incidents that only this process could have ended: a server
// that started has written to its store. All others are asked of the evidence behind it.
type started struct {
	incident.Evidence

	now func() time.Time
}

// Healed tells since when the incident's subject is well again.
func (s started) Healed(ctx context.Context, inc rental.Incident) (rental.Millis, bool, error) {
	for _, alert := range inc.Alerts {
		if alert.Labels["alertname"] != alertmanagerrules.StoreFailing {
			return s.Evidence.Healed(ctx, inc)
		}
	}
	return rental.At(s.now()), len(inc.Alerts) > 0, nil
}
