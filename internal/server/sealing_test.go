package server

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/proof"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// sealed is a ledger with one lease of one card, and what closes its days.
type sealed struct {
	*ledger.Ledger
	sealer *sealer
	now    time.Time
}

func newSealed(t *testing.T) *sealed {
	t.Helper()
	s := &sealed{now: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)}
	now := func() time.Time { return s.now }
	log := slog.New(slog.DiscardHandler)
	var err error
	if s.Ledger, err = ledger.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"), ledger.Options{Logger: log, Now: now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.Apply(t.Context(), "ada", "test", sealedWorld(), false); err != nil {
		t.Fatal(err)
	}
	s.sealer = &sealer{ledger: s.Ledger, now: now, log: log, done: map[string]rental.Millis{}}
	return s
}

func sealedWorld() rental.Resources {
	yes := true
	price, _ := rental.ParseDecimal("10")
	start := rental.At(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC))
	return rental.Resources{
		Providers: []rental.Provider{{Name: "north", DisplayName: "North"}}, Tenants: []rental.Tenant{{Name: "acme", DisplayName: "Acme"}},
		Sites: []rental.Site{{Name: "oslo", Provider: "north"}}, Hosts: []rental.Host{{Name: "gpu-a1", Site: "oslo", Slots: 8}},
		SKUs: []rental.SKU{{Name: "h100", Model: "H100 80GB HBM3", FormFactor: "SXM5", MemoryMiB: 81559}},
		GPUs: []rental.GPU{{UUID: "GPU-A", Serial: "1", SKU: "h100", Host: "gpu-a1", Life: rental.GPUService}},
		Contracts: []rental.Contract{{
			Name: "hourly", Provider: "north", Currency: "USD", TimeZone: "UTC",
			Plan:          rental.Plan{Mode: "hour", Unit: "gpu", Rounding: rental.Exact, Prices: []rental.PriceVersion{{Price: price}}},
			BillWhileDown: &yes, BillWhileMaintenance: &yes, LineRounding: rental.HalfUp, DowntimeApproval: "automatic",
		}},
		Leases: []rental.Lease{{ID: "L-1", Tenant: "acme", Contract: "hourly", Start: start, End: rental.Forever, GPUs: []rental.GPURef{{UUID: "GPU-A"}}}},
	}
}

// meter records the hour before now.
func (s *sealed) meter(t *testing.T) {
	t.Helper()
	end := rental.At(s.now.Truncate(time.Hour))
	r := rental.UsageRecord{Lease: "L-1", UUID: "GPU-A", Span: rental.Span{Start: end - 3_600_000, End: end}, AllocatedMS: 3_600_000, UpMS: 3_600_000}
	if err := s.SaveUsage(t.Context(), []rental.UsageRecord{r}); err != nil {
		t.Fatal(err)
	}
}

func TestEachDayIsSealedOnceHalfAnHourAfterItHasEnded(t *testing.T) {
	s := newSealed(t)
	heads := func(clock string, want int) {
		t.Helper()
		at, err := time.Parse(time.RFC3339, clock)
		if err != nil {
			t.Fatal(err)
		}
		s.now = at
		if err := s.sealer.sealAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := s.Heads(t.Context(), "L-1")
		if err != nil || len(got) != want {
			t.Errorf("%s: %d heads (%v), expected %d", clock, len(got), err, want)
		}
	}
	s.now = s.now.Add(25 * time.Hour)
	s.meter(t)
	heads("2026-05-02T01:05:00Z", 1)
	heads("2026-05-02T09:00:00Z", 1)
	s.meter(t)
	heads("2026-05-02T23:50:00Z", 1)
	heads("2026-05-03T00:20:00Z", 1)
	heads("2026-05-03T00:30:00Z", 2)
	heads("2026-05-04T00:40:00Z", 2) // nothing was recorded
	if _, err := s.ChangeCreditCase(t.Context(), "L-1", "2026-04", func(c rental.CreditCase) (rental.CreditCase, error) {
		c.Acts = append(c.Acts, rental.Act{Kind: rental.ActClaimed, By: "tess", At: rental.At(s.now), Note: "missed"})
		return c, nil
	}); err != nil {
		t.Fatal(err)
	}
	heads("2026-05-05T00:40:00Z", 3) // what people do with a credit is a record
	whole, err := proofs{ledger: s.Ledger}.chain(t.Context(), "L-1", 0, func(proof.Sealed) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	if f := proof.Check("L-1", whole); f != nil || len(whole) != 3 || len(whole[1].Links) != 1 || len(whole[2].Links) != 1 {
		t.Errorf("%v; %+v", f, whole)
	}
}
