package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestALeaseIsProposedFromTheCardsThatReportAndNobodyHas(t *testing.T) {
	seen := func(slot int, change func(*api.FleetGPU)) api.FleetGPU {
		g := api.FleetGPU{UUID: "GPU-" + string(rune('0'+slot)), Slot: slot, Life: rental.GPUService, SampledAt: 5, State: "ok"}
		if change != nil {
			change(&g)
		}
		return g
	}
	fleet := api.Fleet{Hosts: []api.FleetHost{
		{Host: "a", GPUs: []api.FleetGPU{
			seen(0, nil),
			seen(1, func(g *api.FleetGPU) { g.Lease = "L-1" }),
			seen(2, func(g *api.FleetGPU) { g.MIG = []api.FleetMIG{{UUID: "MIG-1"}, {UUID: "MIG-2", Lease: "L-2"}} }),
			seen(3, func(g *api.FleetGPU) { g.Life = "" }),
			seen(4, func(g *api.FleetGPU) { g.Life = rental.GPURMA }),
			seen(5, func(g *api.FleetGPU) { g.SampledAt = 0 }),
			seen(6, func(g *api.FleetGPU) { g.State = "lost" }), // the tenant has it, whatever its state
		}},
		{Host: "b", GPUs: []api.FleetGPU{seen(7, nil)}},
	}}
	cards, leftOut, err := adoptable(fleet, []string{"a", "a"})
	if err != nil || !slices.Equal(cards, []rental.GPURef{{UUID: "GPU-0"}, {UUID: "GPU-6"}}) {
		t.Errorf("%v, %v", cards, err)
	}
	for i, want := range []string{`lease "L-1" holds it`, `lease "L-2" holds a part of it, MIG-2`, "not in the inventory", "its life is rma", "no exporter reports it"} {
		if len(leftOut) != 5 || !strings.Contains(leftOut[i], want) || !strings.HasPrefix(leftOut[i], "a slot ") {
			t.Errorf("left out %q, expected %q in line %d", leftOut, want, i)
		}
	}
	if cards, _, err := adoptable(fleet, []string{"b", "a"}); err != nil || len(cards) != 3 || cards[0].UUID != "GPU-7" {
		t.Errorf("of two hosts: %v, %v", cards, err)
	}
	if _, _, err := adoptable(fleet, []string{"c"}); rental.CodeOf(err) != rental.CodeNotFound {
		t.Errorf("of no host: %v", err)
	}
}

func TestAProposedLeaseIsRecordedOnlyOnceItIsAccepted(t *testing.T) {
	var got []string // what was asked to be recorded
	mux := http.NewServeMux()
	answer := func(v any) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if body, err := io.ReadAll(r.Body); err != nil {
				t.Error(err)
			} else if r.Method == http.MethodPost {
				got = append(got, r.URL.RawQuery+"\n"+string(body))
			}
			w.Header().Set("Content-Type", "application/json")
			if err := json.NewEncoder(w).Encode(v); err != nil {
				t.Error(err)
			}
		}
	}
	mux.Handle("GET "+api.Root+"/leases", answer(api.List[api.LeaseSummary]{Items: []api.LeaseSummary{{ID: "L-1"}}}))
	mux.Handle("GET "+api.Root+"/fleet", answer(api.Fleet{Hosts: []api.FleetHost{{Host: "a", GPUs: []api.FleetGPU{
		{UUID: "GPU-0", Life: rental.GPUService, SampledAt: 5}, {UUID: "GPU-1", Slot: 1, Life: rental.GPUService}}}}}))
	mux.Handle("POST "+api.Root+"/apply", answer(api.Changes{Changes: []rental.Change{{Kind: rental.KindLease, Name: "L-2", Action: rental.ActionCreate}}}))
	server := httptest.NewServer(mux)
	defer server.Close()
	adopt := func(id string, accept ...string) (int, string, string) {
		var out, errs bytes.Buffer
		args := append([]string{"lease", "adopt", id, "--host=a", "--tenant=acme", "--contract=hourly", "--start=2026-05-01T00:00:00Z", "--server.url=" + server.URL}, accept...)
		code := run(t.Context(), args, streams{in: strings.NewReader(""), out: &out, err: &errs})
		return code, out.String(), errs.String()
	}

	code, out, errs := adopt("L-2")
	if code != 0 || !strings.Contains(out, "name: L-2") || !strings.Contains(out, "uuid: GPU-0") || strings.Contains(out, "GPU-1") ||
		!strings.Contains(errs, "a slot 1: GPU GPU-1 is left out: no exporter reports it") || !strings.Contains(errs, "nothing was recorded") {
		t.Errorf("proposed: %d\n%s\n%s", code, out, errs)
	}
	if len(got) != 1 || !strings.HasPrefix(got[0], "dry_run=1\n") {
		t.Errorf("a proposal asked for %q, expected a dry run", got)
	}
	proposed := out
	if code, out, errs = adopt("L-2", "--accept"); code != 0 || !strings.Contains(out, "L-2") {
		t.Errorf("accepted: %d\n%s\n%s", code, out, errs)
	}
	if len(got) != 2 || strings.Contains(got[1], "dry_run") || !strings.HasSuffix(got[1], "\n"+proposed) {
		t.Errorf("accepted %q, expected the proposal %q", got, proposed)
	}
	if code, _, errs = adopt("L-1", "--accept"); code != exitRefused || !strings.Contains(errs, "expected a new id") || len(got) != 2 {
		t.Errorf("of a lease that is recorded: %d, %s", code, errs)
	}
}
