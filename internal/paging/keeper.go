package paging

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/prometheus/alertmanager/nflog/nflogpb"
	"github.com/prometheus/alertmanager/silence/silencepb"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"google.golang.org/protobuf/encoding/protodelim"
)

// Store keeps entries over a crash: an entry is on the disk when SaveEntry returns.
type Store interface {
	SaveEntry(ctx context.Context, kind, key string, body []byte, expires time.Time) error
	LoadEntries(ctx context.Context, kind string) ([][]byte, error)
}

// The kinds of stored entries.
const (
	kindSilence      = "silence"
	kindNotification = "notification"
)

// saveTimeout bounds one write: the silence's author, or the delivery, waits for it.
const saveTimeout = 5 * time.Second

// persistent is state that tells each of its changes and takes them up again.
type persistent interface {
	Merge(body []byte) error
	SetBroadcast(func(body []byte))
}

// keeper stores each change of the state as it happens, and again later where that failed.
type keeper struct {
	store  Store
	logger *slog.Logger

	mu      sync.Mutex
	unsaved map[entryID]entry
	gauge   prometheus.Gauge
	failed  prometheus.Counter
}

type entryID struct{ kind, key string }

type entry struct {
	body    []byte
	expires time.Time
}

func newKeeper(store Store, logger *slog.Logger, reg prometheus.Registerer) *keeper {
	return &keeper{
		store: store, logger: logger, unsaved: map[entryID]entry{},
		gauge: promauto.With(reg).NewGauge(prometheus.GaugeOpts{
			Name: "leasewatch_paging_unsaved_entries",
			Help: "Silences and notifications that could not be stored yet and would be lost in a crash.",
		}),
		failed: promauto.With(reg).NewCounter(prometheus.CounterOpts{
			Name: "leasewatch_paging_save_failures_total",
			Help: "Attempts to store a silence or a notification that failed.",
		}),
	}
}

// load takes up every stored entry of the kind; one that cannot be read is reported and left out.
func (k *keeper) load(ctx context.Context, kind string, merge func([]byte) error) error {
	if k.store == nil {
		return nil
	}
	bodies, err := k.store.LoadEntries(ctx, kind)
	if err != nil {
		return fmt.Errorf("paging: reading each stored %s: %w", kind, err)
	}
	for _, body := range bodies {
		if err := merge(body); err != nil {
			k.logger.Error("a stored entry cannot be read and is left out", "kind", kind, "err", err)
		}
	}
	return nil
}

// save stores one change. It is called while the state is locked, so that the change is on the disk
// before anybody is told that it was accepted.
func (k *keeper) save(kind string, body []byte) {
	if k.store == nil {
		return
	}
	key, expires, err := identify(kind, body)
	if err != nil {
		k.logger.Error("a change of the paging state cannot be stored", "kind", kind, "err", err)
		return
	}
	id, e := entryID{kind, key}, entry{bytes.Clone(body), expires}
	k.mu.Lock()
	k.unsaved[id] = e
	k.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), saveTimeout)
	defer cancel()
	if err := k.write(ctx, id, e); err != nil {
		k.logger.Error("a change of the paging state is not stored yet: it is tried again", "kind", kind, "err", err)
	}
}

// write stores one entry, and forgets it unless a newer one took its place.
func (k *keeper) write(ctx context.Context, id entryID, e entry) error {
	err := k.store.SaveEntry(ctx, id.kind, id.key, e.body, e.expires)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.failed.Inc()
	} else if bytes.Equal(k.unsaved[id].body, e.body) {
		delete(k.unsaved, id)
	}
	k.gauge.Set(float64(len(k.unsaved)))
	return err
}

// retry stores what is left, each second.
func (k *keeper) retry(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			// save and write report; a failed round is tried again.
			_ = k.flush(ctx)
		}
	}
}

// flush stores what is left once.
func (k *keeper) flush(ctx context.Context) error {
	k.mu.Lock()
	left := maps.Clone(k.unsaved)
	k.mu.Unlock()
	var errs []error
	for id, e := range left {
		if err := k.write(ctx, id, e); err != nil {
			errs = append(errs, fmt.Errorf("paging: storing a %s: %w", id.kind, err))
		}
	}
	return errors.Join(errs...)
}

// identify returns the key under which a change is stored and when it may be forgotten.
func identify(kind string, body []byte) (key string, expires time.Time, err error) {
	switch kind {
	case kindSilence:
		var s silencepb.MeshSilence
		if err := protodelim.UnmarshalFrom(bytes.NewReader(body), &s); err != nil {
			return "", time.Time{}, err
		}
		return s.GetSilence().GetId(), s.GetExpiresAt().AsTime(), nil
	case kindNotification:
		var n nflogpb.MeshEntry
		if err := protodelim.UnmarshalFrom(bytes.NewReader(body), &n); err != nil {
			return "", time.Time{}, err
		}
		r := n.GetEntry().GetReceiver()
		key := fmt.Sprintf("%s/%s/%d:%s", r.GetGroupName(), r.GetIntegration(), r.GetIdx(), n.GetEntry().GetGroupKey())
		return key, n.GetExpiresAt().AsTime(), nil
	}
	return "", time.Time{}, fmt.Errorf("unknown kind %q", kind)
}
