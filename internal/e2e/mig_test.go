package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// The two instances of the first card that are leased, and their card.
const (
	twoSlices = "MIG-5f1e2d3c-0000-5a5b-8c9d-000000000002"
	oneSlice  = "MIG-5f1e2d3c-0000-5a5b-8c9d-000000000004"
)

const partLease = `
apiVersion: leasewatch.dev/v1
kind: Lease
metadata: {name: %s}
spec:
  tenant: acme
  contract: hourly
  start: %q
  end: %q
  gpus: [{uuid: %q}]
`

func TestMIGInstancesAreLeasedSeenBilledAndMissedLikeCards(t *testing.T) {
	s := newSite(t, fakenvml.H100MIG())
	s.startServer()
	s.startExporter()
	s.ready()
	bySlice := strings.Replace(oneHour, "unit: gpu", "unit: slice\n    slices: {by: compute, of: 7}", 1)
	s.cli("lease", "apply", "-f", s.write("contract.yaml", bySlice))
	eventually(t, "three GPUs and five MIG instances are proposed", s.explain, func() bool {
		p, err := s.client.Proposals(t.Context())
		return err == nil && len(p.Hosts) == 1 && len(p.Hosts[0].GPUs) == 3 && len(p.Hosts[0].MIGInstances) == 5
	})
	s.cli("inventory", "adopt", "--accept", "--site=osl1")
	start := time.Now().UTC().Truncate(time.Second)
	apply := func(name, uuid string) error {
		yaml := fmt.Sprintf(partLease, name, start.Format(time.RFC3339), start.Add(time.Hour).Format(time.RFC3339), uuid)
		_, err := s.client.Apply(t.Context(), []byte(yaml), false)
		return err
	}
	for name, uuid := range map[string]string{"acme-two": twoSlices, "acme-one": oneSlice} {
		if err := apply(name, uuid); err != nil {
			t.Fatal(err)
		}
	}
	card := s.cardOf(twoSlices)
	if err := apply("acme-card", card); err == nil || !strings.Contains(err.Error(), "one the whole card and one a MIG instance of it") {
		t.Errorf("a lease of the whole card beside its parts: %v, expected it refused with the reason", err)
	}
	eventually(t, "the instance is seen working, up and leased", s.explain, func() bool {
		m, ok := s.part(twoSlices)
		return ok && m.State == "ok" && m.Lease == "acme-two" && m.Utilisation != nil && *m.Utilisation > 0 && s.lastClass("acme-two") == rental.Up
	})
	if page := s.page("/fleet"); !strings.Contains(page, "MIG 2g.20gb") || !strings.Contains(page, "acme-two") {
		t.Error("the fleet page does not show the instance with its lease")
	}
	two, one := s.firstLine("acme-two"), s.firstLine("acme-one")
	if len(two.PerGPU) != 1 || two.Quantities[twoSlices] == "" || two.UnitPrice.String() != one.UnitPrice.String() {
		t.Errorf("lines %+v and %+v, expected each instance's share at one price", two, one)
	}

	s.driver.Update(t, func(m *fakenvml.Scenario) { m.GPU(0).Set("mig_mode", 0) })
	eventually(t, "MIG that was switched off under a lease is unknown, and told", s.explain, func() bool {
		m, ok := s.part(twoSlices)
		conflicts, err := s.client.InventoryConflicts(t.Context())
		return err == nil && ok && m.State == "unknown" && strings.Contains(fmt.Sprint(conflicts), "has no MIG instance "+twoSlices) && s.lastClass("acme-two") == rental.NoData
	})
	s.driver.Update(t, func(m *fakenvml.Scenario) { m.GPU(0).Set("mig_mode", 1) })
	eventually(t, "the instance is back", s.explain, func() bool { return s.lastClass("acme-two") == rental.Up })
	s.driver.Update(t, func(m *fakenvml.Scenario) { m.GPU(0).Lost() })
	eventually(t, "an instance of a lost card is down", s.explain, func() bool {
		return s.lastClass("acme-two") == rental.Down && s.lastClass("acme-one") == rental.Down
	})
}

// part returns a MIG instance as the fleet has it.
func (s *site) part(uuid string) (api.FleetMIG, bool) {
	f, err := s.client.Fleet(s.t.Context())
	if err != nil {
		return api.FleetMIG{}, false
	}
	for _, h := range f.Hosts {
		for _, g := range h.GPUs {
			for _, m := range g.MIG {
				if m.UUID == uuid {
					return m, true
				}
			}
		}
	}
	return api.FleetMIG{}, false
}

// cardOf returns the card of a recorded MIG instance.
func (s *site) cardOf(uuid string) string {
	s.t.Helper()
	all, err := s.client.MIGInstances(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, m := range all {
		if m.UUID == uuid {
			return m.GPU
		}
	}
	s.t.Fatalf("found %+v, expected %s among them", all, uuid)
	return ""
}

// lastClass is what the newest time of a lease's one GPU counts as.
func (s *site) lastClass(lease string) rental.Class {
	states, err := s.client.States(s.t.Context(), lease, api.Period{})
	if err != nil || len(states.GPUs) != 1 {
		return ""
	}
	// The last moments were not derived yet, and say nothing.
	for i := len(states.GPUs[0].Intervals) - 1; i >= 0; i-- {
		if iv := states.GPUs[0].Intervals[i]; iv.Reason != rental.ReasonNoSamples {
			return iv.Class
		}
	}
	return ""
}

func (s *site) firstLine(lease string) rental.BillLine {
	s.t.Helper()
	bill, err := s.client.Bill(s.t.Context(), lease, api.Period{})
	if err != nil {
		s.t.Fatal(err)
	}
	if len(bill.Lines) == 0 {
		s.t.Fatalf("the bill of %s has no line", lease)
	}
	return bill.Lines[0]
}

func (s *site) page(path string) string {
	s.t.Helper()
	res, err := http.Get("http://" + s.serverAddress + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}
