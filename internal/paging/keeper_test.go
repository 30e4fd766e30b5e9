package paging

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

// memory is a Store that outlives the pagers of a test, as the ledger outlives a crash.
type memory struct {
	mu      sync.Mutex
	entries map[string][]byte
	broken  bool
}

var _ Store = (*memory)(nil)

func (m *memory) SaveEntry(_ context.Context, kind, key string, body []byte, _ time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken {
		return errors.New("disk full")
	}
	if m.entries == nil {
		m.entries = map[string][]byte{}
	}
	m.entries[kind+"/"+key] = bytes.Clone(body)
	return nil
}

func (m *memory) LoadEntries(_ context.Context, kind string) ([][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all [][]byte
	for id, body := range m.entries {
		if strings.HasPrefix(id, kind+"/") {
			all = append(all, body)
		}
	}
	return all, nil
}

func (m *memory) setBroken(b bool) { m.mu.Lock(); m.broken = b; m.mu.Unlock() }

func TestSilencesAndNotificationsSurviveACrash(t *testing.T) {
	var store memory
	var d desk
	crashed := startPager(t, &d, &store) // never stopped before the next one starts
	lost, quiet := firing("GPULost", "h1", "GPU-1"), firing("GPULost", "h2", "GPU-2")
	id, err := crashed.Silence(t.Context(), map[string]string{"subject": "h2"}, time.Now().Add(time.Hour), "ann", "swap ordered")
	if err != nil {
		t.Fatal(err)
	}
	put(t, crashed, lost)
	eventually(t, "the group arrives", func() bool { return len(d.got(keyOf("h1"))) == 1 })
	eventually(t, "the notification is stored", func() bool { all, _ := store.LoadEntries(t.Context(), kindNotification); return len(all) == 1 })

	var after desk
	p := newPager(t, &after, &store)
	active, err := p.ActiveSilences(t.Context())
	if err != nil || len(active) != 1 || active[id].IsZero() {
		t.Fatalf("silences %v %v, expected %s", active, err, id)
	}
	put(t, p, lost, quiet, firing("GPULost", "h3", "GPU-3"))
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a new group arrives", func() bool { return len(after.got(keyOf("h3"))) == 1 })
	put(t, p, ended(lost))
	eventually(t, "the end of the old one arrives", func() bool { return states(last(after.got(keyOf("h1")))) == "GPULost=ended" })
	if n := len(after.got(keyOf("h1"))); n != 1 {
		t.Errorf("%d deliveries of a group that was told before the crash, expected only its end", n)
	}
	if n := len(after.got(keyOf("h2"))); n != 0 {
		t.Errorf("%d deliveries of the silenced group", n)
	}

	if err := p.ExpireSilence(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the unsilenced group arrives", func() bool { return len(after.got(keyOf("h2"))) == 1 })
	if err := p.ExpireSilence(t.Context(), "nonesuch"); !errors.Is(err, ErrNoSilence) {
		t.Errorf("%v, expected ErrNoSilence", err)
	}
	var third desk
	if active, err := newPager(t, &third, &store).ActiveSilences(t.Context()); err != nil || len(active) != 0 {
		t.Errorf("%v %v: the expired silence came back", active, err)
	}
}

func TestAChangeThatCouldNotBeStoredIsStoredLater(t *testing.T) {
	store := memory{broken: true}
	var d desk
	p := startPager(t, &d, &store)
	if _, err := p.Silence(t.Context(), map[string]string{"subject": "h1"}, time.Now().Add(time.Hour), "ann", ""); err != nil {
		t.Fatal(err)
	}
	store.setBroken(false)
	eventually(t, "the silence is stored", func() bool { all, _ := store.LoadEntries(t.Context(), kindSilence); return len(all) == 1 })
}
