package server

import (
	"fmt"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/billing"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// rentedOut is a ledger of leases of eight GPUs at a price, from May 2026 on, with what their hours
// were used for.
func rentedOut(tb testing.TB, leases int, now func() time.Time) *ledger.Ledger {
	tb.Helper()
	l, err := ledger.Open(tb.Context(), "sqlite:"+tb.TempDir()+"/ledger.db", ledger.Options{Logger: slog.New(slog.DiscardHandler), Now: now})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { l.Close() })
	no := false
	price, err := rental.ParseDecimal("0.8")
	if err != nil {
		tb.Fatal(err)
	}
	r := rental.Resources{
		Providers: []rental.Provider{{Name: "north"}}, Tenants: []rental.Tenant{{Name: "acme"}}, Sites: []rental.Site{{Name: "oslo", Provider: "north"}},
		SKUs: []rental.SKU{{Name: "h100", Model: "H100", FormFactor: "SXM5", MemoryMiB: 81559}},
		Contracts: []rental.Contract{{Name: "hourly", Provider: "north", Currency: "USD", TimeZone: "UTC", SKU: "h100",
			Plan:          rental.Plan{Mode: rental.ModeHour, Unit: rental.UnitGPU, Rounding: rental.Exact, Prices: []rental.PriceVersion{{Price: price}}},
			BillWhileDown: &no, BillWhileMaintenance: &no, LineRounding: rental.HalfUp, DowntimeApproval: rental.ApprovalManual}},
	}
	for i := range leases {
		host := fmt.Sprintf("host-%d", i)
		r.Hosts = append(r.Hosts, rental.Host{Name: host, Site: "oslo", Slots: 8})
		lease := rental.Lease{ID: fmt.Sprintf("L-%d", i), Tenant: "acme", Contract: "hourly", Start: mayMonth.Start, End: rental.Forever}
		for slot := range 8 {
			uuid := fmt.Sprintf("GPU-%d-%d", i, slot)
			r.GPUs = append(r.GPUs, rental.GPU{UUID: uuid, Serial: uuid, SKU: "h100", Host: host, Slot: slot, Life: rental.GPUService})
			lease.GPUs = append(lease.GPUs, rental.GPURef{UUID: uuid})
		}
		r.Leases = append(r.Leases, lease)
	}
	if _, err := l.Apply(tb.Context(), "ada", "", r, false); err != nil {
		tb.Fatal(err)
	}
	return l
}

var mayMonth = rental.Span{Start: rental.At(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)), End: rental.At(time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))}

// used saves an hour of use of every card of a lease.
func used(tb testing.TB, l *ledger.Ledger, lease int, hour rental.Millis, busy int64) {
	tb.Helper()
	const whole = 3_600_000
	var records []rental.UsageRecord
	for slot := range 8 {
		records = append(records, rental.UsageRecord{Lease: fmt.Sprintf("L-%d", lease), UUID: fmt.Sprintf("GPU-%d-%d", lease, slot),
			Span: rental.Span{Start: hour, End: hour + whole}, AllocatedMS: whole, MeasuredMS: whole, BusyMS: busy, UsedMicros: busy * 1000})
	}
	if err := l.SaveUsage(tb.Context(), records); err != nil {
		tb.Fatal(err)
	}
}

func TestPricesAreComparedOverTheSameEngineAsBills(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 6, 10, 0, 0, 0, 0, time.UTC) }
	l := rentedOut(t, 1, now)
	used(t, l, 0, mayMonth.Start, 1_800_000)
	b := books{ledger: l, billing: billing.New(l, billing.Options{Now: now}), now: now}

	// R35: four cards, 8 h on 250 days at 0.8.
	quotes, err := b.SimulateProfile(t.Context(), api.UseProfile{GPUs: 4, HoursPerDay: "8", Days: 250, From: "2026-01-01"})
	if err != nil || len(quotes) != 1 || quotes[0].Total.Decimal() != "6400.00" {
		t.Errorf("quotes %+v, %v", quotes, err)
	}
	// R34: 250,000 over three years with 30 a day of power.
	in := api.OwnOrRent{Month: "2026-05", Price: "250000", LifeDays: 1095, PowerPerDay: "30"}
	owned, err := b.OwnOrRent(t.Context(), "L-0", in)
	if err != nil || owned.OwnPerDay.Decimal() != "258.31" || owned.Rent.Decimal() != "4761.60" || owned.GPUs != 8 || owned.Utilisation == nil || *owned.Utilisation != 0.5 {
		t.Errorf("owned %+v, %v", owned, err)
	}
	for what, change := range map[string]func(*api.OwnOrRent){
		"a month that has not ended": func(o *api.OwnOrRent) { o.Month = "2026-06" },
		"no number":                  func(o *api.OwnOrRent) { o.Price = "1e9" },
		"a resale over the price":    func(o *api.OwnOrRent) { o.Resale = "999999" },
	} {
		wrong := in
		change(&wrong)
		if _, err := b.OwnOrRent(t.Context(), "L-0", wrong); rental.CodeOf(err) != rental.CodeInvalid {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := b.OwnOrRent(t.Context(), "L-9", in); rental.CodeOf(err) != rental.CodeNotFound {
		t.Errorf("no such lease: %v", err)
	}
	for what, wrong := range map[string]api.UseProfile{
		"no such zone": {GPUs: 1, Days: 1, From: "2026-01-01", TimeZone: "Mars/Olympus"}, "no such day": {GPUs: 1, Days: 1, From: "2026-02-30"},
		"more hours than a day": {GPUs: 1, Days: 1, From: "2026-01-01", HoursPerDay: "25"},
	} {
		if _, err := b.SimulateProfile(t.Context(), wrong); rental.CodeOf(err) != rental.CodeInvalid {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestBillsOfManyAreThoseOfEach makes the bills of several leases at once and one by one: a card
// that moved, downtime, a window, a closed month with its correction, use and none.
func TestBillsOfManyAreThoseOfEach(t *testing.T) {
	at := time.Date(2026, 6, 3, 0, 0, 0, 0, time.UTC)
	now := func() time.Time { return at }
	l := rentedOut(t, 3, now)
	b := books{ledger: l, billing: billing.New(l, billing.Options{Now: now}), now: now}
	used(t, l, 0, mayMonth.Start, 1_800_000)
	used(t, l, 1, mayMonth.End, 3_600_000)
	if _, err := b.CloseMonth(t.Context(), rental.Principal{Name: "fin"}, api.CloseMonth{Month: "2026-05", Lease: "L-0"}); err != nil {
		t.Fatal(err)
	}
	at = at.Add(48 * time.Hour)
	for i, lease := range []string{"L-0", "L-1"} {
		if err := l.SaveDowntime(t.Context(), rental.Downtime{ID: lease, Lease: lease, UUIDs: []string{fmt.Sprintf("GPU-%d-3", i)}, Cause: rental.CauseProvider,
			Reason: "lost", Witnesses: []string{"driver"}, ApprovedBy: "anna", Span: rental.Span{Start: mayMonth.End - 3_600_000, End: mayMonth.End + 3_600_000}}); err != nil {
			t.Fatal(err)
		}
	}
	moved := rental.GPU{UUID: "GPU-2-7", Serial: "GPU-2-7", SKU: "h100", Host: "host-1", Slot: 7, Life: rental.GPUDrained}
	spare := rental.GPU{UUID: "GPU-1-7", Serial: "GPU-1-7", SKU: "h100", Host: "host-2", Slot: 7, Life: rental.GPUDrained}
	window := rental.Maintenance{ID: "w", Hosts: []string{"host-2"}, Announced: mayMonth.End, Start: mayMonth.End + 7_200_000, End: mayMonth.End + 9_000_000}
	if _, err := l.Apply(t.Context(), "ada", "", rental.Resources{GPUs: []rental.GPU{moved, spare}, Maintenances: []rental.Maintenance{window}}, false); err != nil {
		t.Fatal(err)
	}
	for _, month := range []string{"2026-05", "2026-06"} {
		period := api.Period{Month: month}
		many, err := b.Bills(t.Context(), api.BillQuery{Period: period})
		if err != nil || len(many.Bills) != 3 || len(many.Failures) > 0 {
			t.Fatalf("%s: %d bills, %+v, %v", month, len(many.Bills), many.Failures, err)
		}
		for _, bill := range many.Bills {
			alone, err := b.Bills(t.Context(), api.BillQuery{Lease: bill.Lease, Period: period})
			if err != nil || len(alone.Bills) != 1 || !reflect.DeepEqual(bill, alone.Bills[0]) {
				t.Errorf("%s of %s among many: %+v\nalone: %+v, %v", month, bill.Lease, bill, alone.Bills, err)
			}
		}
	}
}
