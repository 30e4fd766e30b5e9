package inventory_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/inventory"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func reportedMIG(uuid, card, profile, placement string) rental.Series {
	return rental.Series{Labels: map[string]string{"uuid": uuid, "gpu_uuid": card, "host": "a1", "gpu": "0", "profile": profile, "placement": placement},
		Samples: []rental.Sample{{At: now, Value: 1}}}
}

func TestMIGInstancesAreProposedFromWhatTheirCardsReport(t *testing.T) {
	known := rental.MIGInstance{UUID: "MIG-1", GPU: "GPU-A", Profile: "3g.40gb", Placement: "0:4"}
	gone := rental.MIGInstance{UUID: "MIG-9", GPU: "GPU-A", Profile: "1g.10gb"}
	removed := gone
	removed.Removed = true
	for _, c := range []struct {
		name     string
		known    []rental.MIGInstance
		held     string // a uuid that a lease holds
		reported []rental.Series
		want     []rental.MIGInstance
		conflict string
	}{
		{"a new one", nil, "", []rental.Series{reportedMIG("MIG-1", "GPU-A", "3g.40gb", "0:4")}, []rental.MIGInstance{known}, ""},
		{"a known one is unchanged", []rental.MIGInstance{known}, "", []rental.Series{reportedMIG("MIG-1", "GPU-A", "3g.40gb", "")}, nil, ""},
		{"one that the card has no more", []rental.MIGInstance{gone}, "", nil, []rental.MIGInstance{removed}, ""},
		{"one that was removed stays so", []rental.MIGInstance{removed}, "", nil, nil, ""},
		{"one that is back", []rental.MIGInstance{removed}, "", []rental.Series{reportedMIG("MIG-9", "GPU-A", "1g.10gb", "")}, []rental.MIGInstance{gone}, ""},
		{"one that a lease holds", []rental.MIGInstance{gone}, "MIG-9", nil, nil, `GPU GPU-A has no MIG instance MIG-9 (1g.10gb) any more and lease "L-1" holds it`},
		{"one on another card", []rental.MIGInstance{known}, "", []rental.Series{reportedMIG("MIG-1", "GPU-B", "3g.40gb", "0:4")}, nil, "reported in GPU GPU-B, the inventory has it in GPU GPU-A"},
		{"one of a card that nobody reports", nil, "", []rental.Series{reportedMIG("MIG-1", "GPU-X", "3g.40gb", "0:4")}, nil, ""},
		{"one without a card", nil, "", []rental.Series{reportedMIG("MIG-1", "", "3g.40gb", "0:4")}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := fleet()
			v.MIGInstances, v.ReportedMIG = c.known, c.reported
			if c.held != "" {
				v.Assignments = []rental.Assignment{{Lease: "L-1", UUID: c.held, Card: "GPU-A", Span: rental.Span{Start: 0, End: rental.Forever}}}
			}
			plan := inventory.Propose(v, "oslo")
			r, err := plan.Resources(false)
			if err != nil || !reflect.DeepEqual(r.MIGInstances, c.want) {
				t.Errorf("found %+v (%v), expected %+v", r.MIGInstances, err, c.want)
			}
			var told []string
			for _, m := range plan.Hosts[0].Instances {
				told = append(told, m.Conflict)
			}
			if text := strings.Join(told, "\n"); c.conflict != "" && !strings.Contains(text, c.conflict) || c.conflict == "" && text != "" {
				t.Errorf("conflicts %q, expected %q", told, c.conflict)
			}
		})
	}
}

func TestALeasedMIGInstanceHasSeriesOfItsOwnAndOneThatLeadsToItsCard(t *testing.T) {
	v := fleet()
	v.MIGInstances = []rental.MIGInstance{{UUID: "MIG-1", GPU: "GPU-A", Profile: "3g.40gb"}, {UUID: "MIG-2", GPU: "GPU-A", Profile: "3g.40gb", Removed: true}}
	v.Leases = []rental.Lease{{ID: "L-1", Tenant: "acme", Contract: "c", Start: 0, End: rental.Forever}}
	v.Assignments = []rental.Assignment{{Lease: "L-1", UUID: "MIG-1", Card: "GPU-A", Span: rental.Span{Start: 0, End: rental.Forever}}}
	found := map[string]map[string]string{}
	for _, info := range inventory.InfoSeries(v, now) {
		found[info.Name+" "+info.Labels["uuid"]] = info.Labels
	}
	if l := found["lease_gpu MIG-1"]; l["lease"] != "L-1" || l["tenant"] != "acme" {
		t.Errorf("lease_gpu of the instance has %v", l)
	}
	if l := found["lease_mig_gpu GPU-A"]; l["lease"] != "L-1" {
		t.Errorf("lease_mig_gpu of the card has %v", l)
	}
	if l := found["gpu_mig_inventory_info MIG-1"]; l["gpu_uuid"] != "GPU-A" || l["provider"] != "north" || l["slot"] != "0" || l["sku"] != "h100-sxm" {
		t.Errorf("gpu_mig_inventory_info has %v", l)
	}
	for _, name := range []string{"lease_gpu GPU-A", "gpu_inventory_info MIG-1", "gpu_mig_inventory_info MIG-2"} {
		if l, there := found[name]; there {
			t.Errorf("%s has %v, expected no such series", name, l)
		}
	}
}
