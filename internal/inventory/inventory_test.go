package inventory_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/inventory"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/testenv"
)

const now = rental.Millis(1_777_600_000_000)

func reported(uuid, serial, host string, slot int, name string) rental.Series {
	return rental.Series{Labels: map[string]string{"uuid": uuid, "serial": serial, "host": host, "gpu": strconv.Itoa(slot), "name": name, "brand": "nvidia"},
		Samples: []rental.Sample{{At: now, Value: 1}}}
}

// fleet is a host with two cards that the ledger knows.
func fleet() inventory.View {
	return inventory.View{
		Sites: []rental.Site{{Name: "oslo", Provider: "north"}},
		Hosts: []rental.Host{{Name: "a1", Site: "oslo", Slots: 8}},
		SKUs:  []rental.SKU{{Name: "h100-sxm", Model: "H100 80GB HBM3", FormFactor: "SXM5"}},
		GPUs: []rental.GPU{
			{UUID: "GPU-A", Serial: "1", SKU: "h100-sxm", Host: "a1", Slot: 0, Life: rental.GPUService},
			{UUID: "GPU-B", Serial: "2", SKU: "h100-sxm", Host: "a1", Slot: 1, Life: rental.GPUService},
		},
		Reported: []rental.Series{
			reported("GPU-A", "1", "a1", 0, "NVIDIA H100 80GB HBM3"),
			reported("GPU-B", "2", "a1", 1, "NVIDIA H100 80GB HBM3"),
		},
	}
}

func TestWhatTheInventoryKnowsIsUnchanged(t *testing.T) {
	plan := inventory.Propose(fleet(), "oslo")
	r, err := plan.Resources(false)
	if err != nil || r.Len() != 0 || plan.Held != "" || len(plan.Vanished) != 0 {
		t.Errorf("found %+v, %v, held %q, vanished %v: expected nothing to do", r, err, plan.Held, plan.Vanished)
	}
}

func TestANewHostIsProposedWithItsCardsAndTheirClass(t *testing.T) {
	v := fleet()
	v.Reported = append(v.Reported, reported("GPU-C", "3", "b1", 3, "NVIDIA  H100 80GB   HBM3"), reported("GPU-D", "4", "b1", 0, "NVIDIA H100 PCIe"))
	r, err := inventory.Propose(v, "oslo").Resources(false)
	if err != nil {
		t.Fatal(err)
	}
	want := rental.Resources{
		Hosts: []rental.Host{{Name: "b1", Site: "oslo", Slots: 4}},
		SKUs:  []rental.SKU{{Name: "h100-pcie", Model: "H100 PCIe", FormFactor: "PCIe", DataCenterCard: true}},
		GPUs: []rental.GPU{
			{UUID: "GPU-D", Serial: "4", SKU: "h100-pcie", Host: "b1", Slot: 0, Life: rental.GPUService},
			{UUID: "GPU-C", Serial: "3", SKU: "h100-sxm", Host: "b1", Slot: 3, Life: rental.GPUService},
		},
	}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("found    %+v\nexpected %+v", r, want)
	}
}

func TestOnlyVendorAndSpacingAreVariantsOfAName(t *testing.T) {
	for name, want := range map[string]string{
		"NVIDIA H100 80GB HBM3": "H100 80GB HBM3", "nvidia  A100-SXM4-80GB ": "A100-SXM4-80GB", "H800": "H800",
		"NVIDIA": "NVIDIA", "Tesla V100-SXM2-32GB": "Tesla V100-SXM2-32GB",
	} {
		if got := inventory.Model(name); got != want {
			t.Errorf("%q: found %q, expected %q", name, got, want)
		}
	}
}

func TestWhatDiffersIsToldInASentence(t *testing.T) {
	cases := []struct {
		name     string
		reported []rental.Series
		note     string
		gpus     []rental.GPU
		vanished int
	}{
		{"a card in another slot", []rental.Series{reported("GPU-A", "1", "a1", 5, "NVIDIA H100 80GB HBM3"), reported("GPU-B", "2", "a1", 1, "NVIDIA H100 80GB HBM3")},
			`moved from slot 0 of host "a1" to slot 5 of host "a1"`,
			[]rental.GPU{{UUID: "GPU-A", Serial: "1", SKU: "h100-sxm", Host: "a1", Slot: 5, Life: rental.GPUService}}, 0},
		{"a new card in an old slot", []rental.Series{reported("GPU-N", "9", "a1", 0, "NVIDIA H100 80GB HBM3"), reported("GPU-B", "2", "a1", 1, "NVIDIA H100 80GB HBM3")},
			`in slot 0 of host "a1" in place of GPU GPU-A (serial 1)`,
			[]rental.GPU{{UUID: "GPU-N", Serial: "9", SKU: "h100-sxm", Host: "a1", Slot: 0, Life: rental.GPUService},
				{UUID: "GPU-A", Serial: "1", SKU: "h100-sxm", Host: "a1", Slot: 0, Life: rental.GPURMA}}, 0},
		{"a card that vanished while its host reports", []rental.Series{reported("GPU-B", "2", "a1", 1, "NVIDIA H100 80GB HBM3")}, "", nil, 1},
		{"a host that is silent says nothing of its cards", nil, "", nil, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := fleet()
			v.Reported = c.reported
			plan := inventory.Propose(v, "oslo")
			r, err := plan.Resources(false)
			if err != nil || !reflect.DeepEqual(r.GPUs, c.gpus) || len(plan.Vanished) != c.vanished {
				t.Errorf("found %+v (%v), vanished %v\nexpected %+v", r.GPUs, err, plan.Vanished, c.gpus)
			}
			if c.note != "" && plan.Hosts[0].Cards[0].Note != c.note && plan.Hosts[0].Cards[len(plan.Hosts[0].Cards)-1].Note != c.note {
				t.Errorf("found %+v, expected the note %q", plan.Hosts[0].Cards, c.note)
			}
		})
	}
}

func TestWhatAPersonMustLookAtIsLeftOut(t *testing.T) {
	late := reported("GPU-N", "9", "b1", 0, "NVIDIA H100 80GB HBM3")
	late.Samples[0].At -= 3_600_000
	cases := []struct {
		name     string
		reported []rental.Series
		conflict string
	}{
		{"one card that two hosts report at once", []rental.Series{reported("GPU-N", "9", "b1", 0, "NVIDIA H100 80GB HBM3"), reported("GPU-N", "9", "c1", 0, "NVIDIA H100 80GB HBM3")},
			`hosts "b1" and "c1" both report GPU GPU-N`},
		{"two cards in one slot", []rental.Series{reported("GPU-N", "9", "b1", 0, "NVIDIA H100 80GB HBM3"), reported("GPU-O", "8", "b1", 0, "NVIDIA H100 80GB HBM3")},
			`GPUs GPU-N and GPU-O are both reported in slot 0 of host "b1"`},
		{"another serial under a known uuid", []rental.Series{reported("GPU-A", "77", "a1", 0, "NVIDIA H100 80GB HBM3")}, "reports serial 77, the inventory has 1"},
		{"a card without a name", []rental.Series{reported("GPU-N", "9", "b1", 0, "")}, "tells no product name"},
		{"a card that moved an hour ago is no conflict", []rental.Series{late, reported("GPU-N", "9", "c1", 0, "NVIDIA H100 80GB HBM3")}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := fleet()
			v.Reported = c.reported
			plan := inventory.Propose(v, "oslo")
			r, err := plan.Resources(false)
			if err != nil {
				t.Fatal(err)
			}
			got := plan.Hosts[0].Cards[0].Conflict
			if c.conflict == "" {
				if got != "" || len(r.GPUs) != 1 || r.GPUs[0].Host != "c1" {
					t.Errorf("found %q and %+v, expected the card in c1", got, r.GPUs)
				}
			} else if !strings.Contains(got, c.conflict) || len(r.GPUs) != 0 {
				t.Errorf("found %q and %d GPUs to apply, expected %q and none", got, len(r.GPUs), c.conflict)
			}
		})
	}
}

// TestC75AFeedThatMovesAWholeFleetIsHeld takes the real feed of a data centre: on 9 May 2020 it
// says that all 840 GPUs are one cluster's.
func TestC75AFeedThatMovesAWholeFleetIsHeld(t *testing.T) {
	before, after := quota(t, "2020-05-08"), quota(t, "2020-05-09")
	v := inventory.View{Policy: rental.DefaultApprovalPolicy(), SKUs: []rental.SKU{{Name: "v100", Model: "V100"}}, Sites: []rental.Site{{Name: "earth", Provider: "helios"}}}
	n := 0
	for _, c := range before {
		v.Hosts = append(v.Hosts, rental.Host{Name: c.name, Site: "earth", Slots: 1000})
		for slot := range c.gpus {
			v.GPUs = append(v.GPUs, rental.GPU{UUID: fmt.Sprintf("GPU-%04d", n), SKU: "v100", Host: c.name, Slot: slot, Life: rental.GPUService})
			n++
		}
	}
	n = 0
	for _, c := range after {
		for slot := range c.gpus {
			v.Reported = append(v.Reported, reported(fmt.Sprintf("GPU-%04d", n), "", c.name, slot, "V100"))
			n++
		}
	}
	plan := inventory.Propose(v, "earth")
	if !strings.Contains(plan.Held, "of 856 known GPUs would move") {
		t.Fatalf("held: %q, expected the mass change held", plan.Held)
	}
	v.Policy.MassPercent = 100
	if all := inventory.Propose(v, "earth"); all.Held != "" {
		t.Errorf("held: %q, expected nothing held where the policy lets all go at once", all.Held)
	}
	if r, err := plan.Resources(false); rental.CodeOf(err) != rental.CodeRefused || r.Len() != 0 {
		t.Errorf("found %d resources and %v, expected it refused", r.Len(), err)
	}
	if r, err := plan.Resources(true); err != nil || len(r.GPUs) < 800 {
		t.Errorf("found %d GPUs and %v, expected the change once a person insists", len(r.GPUs), err)
	}
}

type cluster struct {
	name string
	gpus int
}

func quota(t *testing.T, day string) []cluster {
	t.Helper()
	f, err := os.Open(testenv.Data(t, "helios_earth_gpu_quota_daily.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []cluster
	for _, row := range rows {
		for i := 1; row[0] == day && i < len(row)-1; i++ {
			n, err := strconv.Atoi(row[i])
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, cluster{rows[0][i], n})
		}
	}
	return all
}

func TestInfoSeriesTellWhoOwnsAndWhoLeasesWhatNow(t *testing.T) {
	v := fleet()
	v.GPUs = append(v.GPUs, rental.GPU{UUID: "GPU-R", Host: "a1", Slot: 2, Life: rental.GPURMA})
	v.Reported = append(v.Reported, reported("GPU-X", "7", "z9", 4, "NVIDIA L40S"))
	v.Contracts = []rental.Contract{{Name: "hourly", Provider: "north"}}
	v.Leases = []rental.Lease{
		{ID: "L-1", Tenant: "acme", Contract: "hourly", Start: now - 1, End: rental.Forever},
		{ID: "L-0", Tenant: "acme", Contract: "hourly", Start: now - 10, End: now},
	}
	v.Assignments = []rental.Assignment{
		{Lease: "L-1", UUID: "GPU-A", Span: rental.Span{Start: now - 1, End: rental.Forever}},
		{Lease: "L-0", UUID: "GPU-A", Span: rental.Span{Start: now - 10, End: now}},
	}
	var got []string
	for _, i := range inventory.InfoSeries(v, now) {
		line := i.Name
		for _, label := range inventory.LabelsOf(i.Name) {
			line += " " + label + "=" + i.Labels[label]
		}
		got = append(got, line)
	}
	want := []string{
		"gpu_inventory_info uuid=GPU-A serial=1 provider=north site=oslo host=a1 slot=0 sku=h100-sxm",
		"gpu_inventory_info uuid=GPU-B serial=2 provider=north site=oslo host=a1 slot=1 sku=h100-sxm",
		"gpu_inventory_info uuid=GPU-X serial=7 provider=unknown site= host=z9 slot=4 sku=",
		"host_expected host=a1 provider=north site=oslo",
		"lease_gpu uuid=GPU-A lease=L-1 tenant=acme",
		"lease_info lease=L-1 tenant=acme provider=north contract=hourly sku=h100-sxm",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("found\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
