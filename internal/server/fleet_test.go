package server

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/inventory"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// shelf answers a query with the series of the metric that it names.
type shelf map[string][]rental.Series

var _ samples = shelf{}

func (s shelf) Query(_ context.Context, expr string, _ time.Time) ([]rental.Series, error) {
	for metric, series := range s {
		if strings.Contains(expr, "("+metric+")") {
			return series, nil
		}
	}
	return nil, nil
}

// put lays one sample of a metric from a vantage.
func (s shelf) put(metric, vantage, uuid string, value float64, more ...string) {
	labels := map[string]string{"uuid": uuid, "vantage": vantage, "host": map[string]string{"host": "gpu-a17", "guest": "vm-3"}[vantage], "gpu": "0"}
	for i := 0; i+1 < len(more); i += 2 {
		labels[more[i]] = more[i+1]
	}
	s[metric] = append(s[metric], rental.Series{Labels: labels, Samples: []rental.Sample{{At: 1, Value: value}}})
}

// The rest of an inventory, of which the fleet reads little.
func (p *park) Sites(context.Context) ([]rental.Site, error)               { return nil, p.err }
func (p *park) Leases(context.Context) ([]rental.Lease, error)             { return p.leases, p.err }
func (p *park) MIGInstances(context.Context) ([]rental.MIGInstance, error) { return nil, p.err }
func (p *park) Maintenances(context.Context, rental.Span) ([]rental.Maintenance, error) {
	return nil, p.err
}

func TestTheFleetShowsWhatTheHostTellsAndTheGuestWhereItDoesNot(t *testing.T) {
	said := shelf{}
	both := func(uuid, host, guest string) {
		for vantage, state := range map[string]string{"host": host, "guest": guest} {
			if state != "" {
				said.put("gpu_info", vantage, uuid, 1, "serial", "1")
				said.put("gpu_state", vantage, uuid, 1, "state", state)
				said.put("gpu_utilization_ratio", vantage, uuid, map[string]float64{"host": 0.25, "guest": 1}[vantage])
			}
		}
	}
	both("GPU-1", "ok", "lost")
	both("GPU-2", "released", "ok")
	both("GPU-3", "lost", "ok")
	both("GPU-8", "", "ok") // on gpu-a18, which is silent
	f := &fleet{samples: said, ledger: town(), now: time.Now}
	got, err := f.Fleet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cards, hosts := map[string]api.FleetGPU{}, map[string]string{}
	for _, host := range got.Hosts {
		hosts[host.Host] = host.State
		for _, card := range host.GPUs {
			cards[card.UUID] = card
		}
	}
	for uuid, want := range map[string]struct {
		state, vantage string
		use            float64
	}{
		"GPU-1": {"ok", "", 0.25},
		"GPU-2": {"ok", "guest", 1},
		"GPU-3": {"lost", "", 0.25},
		"GPU-8": {"ok", "guest", 1},
	} {
		card := cards[uuid]
		if card.State != want.state || card.Vantage != want.vantage || card.Utilisation == nil || *card.Utilisation != want.use {
			t.Errorf("%s: %s from %q with use %v; expected %+v", uuid, card.State, card.Vantage, card.Utilisation, want)
		}
	}
	if hosts["gpu-a17"] != "ok" || hosts["gpu-a18"] != "unknown" {
		t.Errorf("hosts %v: a guest is no evidence of the machine around it", hosts)
	}
	if _, shown := hosts["vm-3"]; shown {
		t.Errorf("hosts %v: the guest's cards are the inventory's", hosts)
	}
}

func TestAGuestMovesNoCardOfTheInventory(t *testing.T) {
	said := shelf{}
	said.put("gpu_info", "guest", "GPU-8", 1)   // the inventory has it in gpu-a18
	said.put("gpu_info", "guest", "GPU-new", 1) // nobody else knows it
	said.put("gpu_info", "guest", "GPU-1", 1)
	said.put("gpu_info", "host", "GPU-1", 1)
	said.put("gpu_info", "host", "GPU-old", 1)
	said.put("gpu_info", "guest", "GPU-old", 1)
	said.put("gpu_mig_info", "guest", "MIG-1", 1, "gpu_uuid", "GPU-8")
	said.put("gpu_mig_info", "guest", "MIG-2", 1, "gpu_uuid", "GPU-new")
	v := inventory.View{GPUs: town().gpus}
	if err := readReported(t.Context(), &v, said, time.Now()); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, one := range append(v.Reported, v.ReportedMIG...) {
		got[one.Labels["uuid"]] += one.Labels["host"]
	}
	if want := map[string]string{"GPU-new": "vm-3", "GPU-1": "gpu-a17", "GPU-old": "gpu-a17", "MIG-2": "vm-3"}; !maps.Equal(got, want) {
		t.Errorf("cards by host %v, expected %v", got, want)
	}
}
