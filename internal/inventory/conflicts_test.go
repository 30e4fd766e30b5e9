package inventory_test

import (
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/inventory"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestWhatRecordsAndReportsContradictIsTold(t *testing.T) {
	lease := func(v *inventory.View, uuid, card string) {
		span := rental.Span{Start: now - 1000, End: rental.Forever}
		v.Leases = append(v.Leases, rental.Lease{ID: "L-" + uuid, Tenant: "acme", Start: span.Start, End: span.End})
		v.Assignments = append(v.Assignments, rental.Assignment{Lease: "L-" + uuid, UUID: uuid, Card: card, Span: span})
	}
	used := func(v *inventory.View, uuid, card string) {
		v.Used = append(v.Used, rental.Series{Labels: map[string]string{"uuid": uuid, "gpu_uuid": card}, Samples: []rental.Sample{{At: now, Value: 0.4}}})
	}
	for _, c := range []struct {
		name   string
		change func(*inventory.View)
		want   []string // kind, uuid or host, and a part of the text
	}{
		{"nothing is wrong", func(v *inventory.View) { lease(v, "GPU-A", ""); used(v, "GPU-A", "") }, nil},
		{"two leases of one GPU", func(v *inventory.View) {
			v.Claims = []rental.Conflict{{UUID: "GPU-A", Span: rental.Span{Start: now, End: rental.Forever}, Holds: "A", Loses: "B"}}
		}, []string{rental.ConflictTwoLeases, "GPU-A", `leases "A" and "B" both claim GPU GPU-A`}},
		{"a GPU on two hosts", func(v *inventory.View) {
			v.Reported = append(v.Reported, reported("GPU-A", "1", "b1", 0, "NVIDIA H100 80GB HBM3"))
		}, []string{rental.ConflictTwoPlaces, "GPU-A", `hosts "a1" and "b1" both report`}},
		{"a GPU in another slot", func(v *inventory.View) { v.GPUs[1].Slot = 5 },
			[]string{rental.ConflictElsewhere, "GPU-B", `slot 1 of host "a1", the inventory has it in slot 5`}},
		{"a leased GPU that nobody reports", func(v *inventory.View) { lease(v, "GPU-A", ""); v.Reported = v.Reported[1:] },
			[]string{rental.ConflictDark, "GPU-A", "its time counts as unknown"}},
		{"a leased MIG instance that is gone", func(v *inventory.View) { lease(v, "MIG-1", "GPU-A") },
			[]string{rental.ConflictMIGMissing, "MIG-1", "cut it again or end the lease"}},
		{"a leased MIG instance that is there", func(v *inventory.View) {
			lease(v, "MIG-1", "GPU-A")
			v.ReportedMIG = []rental.Series{reportedMIG("MIG-1", "GPU-A", "3g.40gb", "0:4")}
			used(v, "MIG-1", "GPU-A")
		}, nil},
		{"an assignment outside its lease", func(v *inventory.View) { lease(v, "GPU-A", ""); v.Leases[0].End = now },
			[]string{rental.ConflictOutsideLease, "GPU-A", `assigned to lease "L-GPU-A" until open`}},
		{"use without a lease", func(v *inventory.View) { used(v, "GPU-B", "") },
			[]string{rental.ConflictUnleased, "GPU-B", "is in use and no lease has it"}},
		{"use of a part that nobody leases, beside one that is leased", func(v *inventory.View) {
			lease(v, "MIG-1", "GPU-A")
			v.ReportedMIG = []rental.Series{reportedMIG("MIG-1", "GPU-A", "3g.40gb", "0:4")}
			used(v, "MIG-2", "GPU-A")
		}, []string{rental.ConflictUnleased, "MIG-2", "is in use"}},
		{"use of a part of a card that is leased whole", func(v *inventory.View) { lease(v, "GPU-A", ""); used(v, "MIG-2", "GPU-A") }, nil},
		{"use of a card that the inventory does not know", func(v *inventory.View) { used(v, "GPU-X", "") }, nil},
		{"a clock that is wrong", func(v *inventory.View) {
			v.ClockOffsets = []rental.Series{{Labels: map[string]string{"host": "a1"}, Samples: []rental.Sample{{At: now, Value: -90}}}}
		}, []string{rental.ConflictClock, "", `the clock of host "a1" is -90 s off ours`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := fleet()
			c.change(&v)
			found := inventory.Conflicts(v, now)
			if c.want == nil {
				if len(found) > 0 {
					t.Errorf("found %+v, expected nothing", found)
				}
				return
			}
			if len(found) != 1 || found[0].Kind != c.want[0] || found[0].UUID != c.want[1] || !strings.Contains(found[0].Text, c.want[2]) {
				t.Errorf("found %+v, expected one of %q", found, c.want)
			}
		})
	}
}
