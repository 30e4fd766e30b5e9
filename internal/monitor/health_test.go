package monitor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"

	"github.com/leasewatch/leasewatch/internal/testenv"
)

// brittle is a store that takes every sample and whose commits fail with err.
type brittle struct{ err error }

func (b *brittle) AppenderV2(context.Context) storage.AppenderV2 { return brittleAppender{store: b} }

type brittleAppender struct {
	storage.AppenderV2

	store *brittle
}

func (brittleAppender) Append(storage.SeriesRef, labels.Labels, int64, int64, float64, *histogram.Histogram, *histogram.FloatHistogram, storage.AppendV2Options) (storage.SeriesRef, error) {
	return 1, nil
}

func (b brittleAppender) Commit() error { return b.store.err }

func TestTheStoreIsWellAgainOnlyWhenWritesHavePassedForAWhile(t *testing.T) {
	now := time.Date(2026, 5, 1, 3, 0, 0, 0, time.UTC)
	const heals = 35 * time.Second
	health, err := newStoreHealth(func() time.Time { return now }, heals, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	disk := &brittle{}
	store := watched{disk, health}
	write := func(samples int, err error) {
		disk.err = err
		a := store.AppenderV2(t.Context())
		for range samples {
			if _, err := a.Append(0, labels.EmptyLabels(), 0, 0, 0, nil, nil, storage.AppendV2Options{}); err != nil {
				t.Fatal(err)
			}
		}
		if got := a.Commit(); !errors.Is(got, err) {
			t.Fatalf("the writer was told %v, expected %v", got, err)
		}
	}
	full := syscall.ENOSPC
	for _, step := range []struct {
		what    string
		after   time.Duration
		samples int
		err     error
		failing bool
	}{
		{"a write passes", 0, 1, nil, false},
		{"one fails", time.Second, 1, full, true},
		{"an empty one passes, which says nothing", time.Minute, 0, nil, true},
		{"one passes long after", time.Minute, 1, nil, false},
		{"one fails again", time.Second, 1, full, true},
		{"one passes at once", time.Second, 1, nil, true},
		{"they still pass a round later", heals, 1, nil, false},
	} {
		now = now.Add(step.after)
		write(step.samples, step.err)
		got := health.read()
		if got.Failing != step.failing || (got.Failing && !errors.Is(got.Err, full)) || got.Failing != !got.Since.IsZero() {
			t.Errorf("%s: %+v, expected failing %v", step.what, got, step.failing)
		}
	}
}

// smallDisk is a file system of its own of some megabytes, and a function that fills it and
// returns what frees it again.
func smallDisk(t *testing.T, size string) (dir string, fill func() (free func())) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		testenv.Skip(t, "a small file system takes the right to mount one: "+err.Error())
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir, func() func() {
		name := filepath.Join(dir, "hog")
		hog, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = hog.Write(make([]byte, 4096))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		return func() {
			if err := errors.Join(hog.Close(), os.Remove(name)); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestAFullDiskEndsNoAlertAndIsKnownWithoutAskingTheStore(t *testing.T) {
	dir, fill := smallDisk(t, "64m")
	_, address := target(t, "broken 1\n")
	var heard told
	m := open(t, Options{
		Config: Config{ScrapeConfigs: []byte(job("exporter", address)), RuleFiles: map[string][]byte{"r.yaml": []byte(`
groups:
  - {name: dedup, interval: 200ms, rules: [{record: 'all:broken:max', expr: 'max without (job, instance) (broken)'}]}
  - {name: alerts, interval: 200ms, rules: [{alert: Broken, expr: 'all:broken:max == 1'}]}
`)}},
		DataDir: filepath.Join(dir, "samples"), Lookback: 2 * time.Second, Notify: heard.notify,
	})
	m.health.heals = 3 * time.Second
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	fires := func(a Alert) bool { return a.EndsAt.IsZero() }
	eventually(t, "the alert fires", func() bool { _, ok := heard.find(fires); return ok })

	free := fill()
	eventually(t, "the writes fail", func() bool { return m.Health().Failing })
	if h := m.Health(); !errors.Is(h.Err, syscall.ENOSPC) {
		t.Errorf("the store fails with %v, expected that no space is left", h.Err)
	}
	eventually(t, "the readings have run out", func() bool {
		got, err := m.Query(t.Context(), "all:broken:max", time.Now())
		return err == nil && len(got) == 0
	})
	if len(m.ActiveAlerts()) != 1 {
		t.Errorf("alerts that fire: %v, expected the one whose readings ran out", m.ActiveAlerts())
	}

	free()
	eventually(t, "the store is well again", func() bool { return !m.Health().Failing })
	eventually(t, "readings are stored again", func() bool {
		got, err := m.Query(t.Context(), "all:broken:max", time.Now())
		return err == nil && len(got) == 1
	})
	if ended, ok := heard.find(func(a Alert) bool { return !a.EndsAt.IsZero() }); ok {
		t.Errorf("an alert was told to have ended, though nothing healed: %+v", ended)
	}
}
