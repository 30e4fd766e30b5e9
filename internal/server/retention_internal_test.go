package server

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestRetentionIsDoneOnceADayAndCounted(t *testing.T) {
	ctx := context.Background()
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	log, clock := slog.New(slog.DiscardHandler), func() time.Time { return now }
	l, err := ledger.Open(ctx, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"), ledger.Options{Logger: log, Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	r, err := newRetention(l, clock, log, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	revoke := func(name string) {
		t.Helper()
		if _, err := l.CreateToken(ctx, rental.Principal{Name: name, Role: rental.RolePush}); err != nil {
			t.Fatal(err)
		}
		if err := l.RevokeToken(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	deleted := func(want float64) {
		t.Helper()
		if err := r.daily(ctx); err != nil {
			t.Fatal(err)
		}
		if got := testutil.ToFloat64(r.deleted.WithLabelValues(rental.RetainTokens)); got != want {
			t.Errorf("at %s: %g tokens ended so far, expected %g", now, got, want)
		}
	}
	revoke("first")
	deleted(0)
	now = now.Add(12 * time.Hour)
	revoke("second")
	now = now.AddDate(0, 0, 400)
	deleted(1) // the second is half a day too young
	now = now.Add(12*time.Hour + time.Minute)
	deleted(1) // a day has not passed
	now = now.Add(12 * time.Hour)
	deleted(2)
	if got := testutil.ToFloat64(r.last); got != float64(now.Unix()) {
		t.Errorf("last done at %g, expected %d", got, now.Unix())
	}
}

func TestTheConfigurationsRetentionIsTheLedgersDefault(t *testing.T) {
	policy := DefaultConfig().Retention.policy()
	for _, k := range rental.RetentionKinds {
		if got, ok := policy[k.Name]; !ok || got != k.DefaultMS {
			t.Errorf("%s: %d ms, expected %d", k.Name, got, k.DefaultMS)
		}
	}
	if len(policy) != len(rental.RetentionKinds) {
		t.Errorf("%d kinds in the configuration, expected %d", len(policy), len(rental.RetentionKinds))
	}
}
