package server

import (
	"slices"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/billing"
	"github.com/leasewatch/leasewatch/internal/httpapi"
	"github.com/leasewatch/leasewatch/internal/rental"
)

var _ httpapi.Maintenances = maintenances{}

func TestAWindowIsUnbilledForTheTenantThatWasToldAndBilledForTheOneThatWasNot(t *testing.T) {
	at := time.Date(2026, 6, 10, 0, 0, 0, 0, time.UTC)
	now := func() time.Time { return at }
	l := rentedOut(t, 2, now)
	if _, err := l.Apply(t.Context(), "ada", "", rental.Resources{
		Tenants: []rental.Tenant{{Name: "globex"}}, Hosts: []rental.Host{{Name: "host-x", Site: "oslo", Slots: 1}},
		GPUs: []rental.GPU{{UUID: "GPU-x", Serial: "x", SKU: "h100", Host: "host-x", Life: rental.GPUService}},
		Leases: []rental.Lease{{ID: "G", Tenant: "globex", Contract: "hourly", Start: mayMonth.Start, End: rental.Forever, GPUs: []rental.GPURef{{UUID: "GPU-x"}}},
			{ID: "G-over", Tenant: "globex", Contract: "hourly", Start: mayMonth.Start - 3_600_000, End: mayMonth.Start, GPUs: []rental.GPURef{{UUID: "GPU-x"}}}},
	}, false); err != nil {
		t.Fatal(err)
	}
	changes := 0
	m := maintenances{ledger: l, now: now, changed: func() { changes++ }}
	ann := rental.Principal{Name: "ann", Role: rental.RoleOperator}
	tom := rental.Principal{Name: "tom", Role: rental.RoleTenant, Tenant: "acme"}
	start := rental.At(at) + 24*3_600_000
	one, err := m.AnnounceMaintenance(t.Context(), ann, api.AnnounceMaintenance{ID: "M-1", Hosts: []string{"host-0", "host-x"}, Start: start, End: start + 3_600_000, Reason: "fans"})
	if err != nil || !slices.Equal(one.Recipients, []string{"acme", "globex"}) || len(one.Touches) != 2 || one.Touches[0].Lease != "G" || one.Touches[1].Lease != "L-0" {
		t.Fatalf("announced: %+v, %v", one, err)
	}
	read := rental.Act{Kind: rental.ActDelivered, Side: rental.SideTenant, Tenant: "acme", Way: rental.WayRead, Note: "read"}
	for range 2 {
		if one, err = m.ActOnMaintenance(t.Context(), tom, "M-1", read); err != nil || len(one.Acts) != 2 {
			t.Fatalf("read: %+v, %v, expected one delivery however often it is read", one, err)
		}
	}
	if one.Touches[0].Standing != rental.MaintenanceUndelivered || one.Touches[1].Standing != rental.MaintenanceCounts || changes == 0 {
		t.Errorf("touches: %+v", one.Touches)
	}
	for _, tc := range []struct {
		q    api.MaintenanceQuery
		want int
	}{
		{api.MaintenanceQuery{}, 1}, {api.MaintenanceQuery{Lease: "L-0"}, 1}, {api.MaintenanceQuery{Lease: "L-1"}, 0}, {api.MaintenanceQuery{Lease: "G-over"}, 0},
		{api.MaintenanceQuery{Tenant: "globex"}, 1}, {api.MaintenanceQuery{Tenant: "initech"}, 0}, {api.MaintenanceQuery{Host: "host-x"}, 1}, {api.MaintenanceQuery{Host: "host-1"}, 0},
		{api.MaintenanceQuery{State: rental.MaintenanceAnnounced}, 1}, {api.MaintenanceQuery{State: rental.MaintenanceOver}, 0},
	} {
		if found, err := m.Maintenances(t.Context(), tc.q); err != nil || len(found) != tc.want {
			t.Errorf("%+v: %d, %v, expected %d", tc.q, len(found), err, tc.want)
		}
	}

	at = at.Add(30 * 24 * time.Hour)
	b := books{ledger: l, billing: billing.New(l, billing.Options{Now: now}), now: now}
	bills, err := b.Bills(t.Context(), api.BillQuery{Period: api.Period{Month: "2026-06"}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"L-0": "4601.60", "L-1": "4608.00", "G": "576.00"} // 720 h of June at 0.80 a GPU; L-0 without 8 GPU-hours
	for _, bill := range bills.Bills {
		if got := bill.Total.Decimal(); got != want[bill.Lease] {
			t.Errorf("%s: %s, expected %s", bill.Lease, got, want[bill.Lease])
		}
		delete(want, bill.Lease)
	}
	if len(want) > 0 {
		t.Errorf("no bill of %v", want)
	}
}

func TestACancelledWindowIsNotShownAsMaintenance(t *testing.T) {
	b := &book{at: 100, maintenances: []rental.Maintenance{{ID: "fans", Hosts: []string{"gpu-a17"}, Start: 50, End: 150,
		Acts: []rental.Act{{At: 60, Kind: rental.ActCancelled}}}}}
	if shown, reason := b.derive("gpu-a17", holding{}, "ok"); shown != "ok" || reason != "" {
		t.Errorf("shown as %s by %s", shown, reason)
	}
}
