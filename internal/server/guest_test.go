package server

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Hosts, Lease and AssignmentsAt make a park the book of leases too.
func (p *park) Hosts(context.Context) ([]rental.Host, error) { return p.hosts, p.err }

func (p *park) Lease(_ context.Context, id string) (rental.Lease, error) {
	for _, lease := range p.leases {
		if lease.ID == id {
			return lease, p.err
		}
	}
	return rental.Lease{}, &rental.Error{Code: rental.CodeNotFound, Message: "no such lease"}
}

func (p *park) AssignmentsAt(_ context.Context, span rental.Span) ([]rental.Assignment, error) {
	var found []rental.Assignment
	for _, a := range p.served {
		if a.Span.Overlaps(span) {
			found = append(found, a)
		}
	}
	return found, p.err
}

// hour is a moment of the test's day.
func hour(h int) rental.Millis { return rental.Millis(1_780_000_000_000 + int64(h)*3_600_000) }

// town is a park with three leases: of two cards of which one was swapped, of one card, of no named card.
func town() *park {
	day := rental.Span{Start: hour(0), End: hour(24)}
	at := func(lease, uuid string, from, to int) rental.Assignment {
		return rental.Assignment{Lease: lease, UUID: uuid, Span: rental.Span{Start: hour(from), End: hour(to)}}
	}
	return &park{
		hosts: []rental.Host{{Name: "gpu-a17"}, {Name: "gpu-a18"}, {Name: "empty"}},
		gpus: []rental.GPU{{UUID: "GPU-1", Host: "gpu-a17"}, {UUID: "GPU-2", Host: "gpu-a17"}, {UUID: "GPU-3", Host: "gpu-a17"},
			{UUID: "GPU-8", Host: "gpu-a18"}},
		leases: []rental.Lease{
			{ID: "L-1", Start: day.Start, End: day.End, GPUs: []rental.GPURef{{UUID: "GPU-1"}}},
			{ID: "L-8", Start: day.Start, End: day.End, GPUs: []rental.GPURef{{UUID: "GPU-8"}}},
			{ID: "L-any", Start: day.Start, End: rental.Forever},
		},
		served: []rental.Assignment{at("L-1", "GPU-1", 0, 10), at("L-1", "GPU-2", 10, 24), at("L-8", "GPU-1", 12, 24),
			at("L-8", "GPU-8", 0, 24), at("L-1", "MIG-5", 0, 24), at("L-any", "GPU-9", 0, 24)},
	}
}

func TestAGuestTellsItsLeasesCardsWhileTheyAreItsLeases(t *testing.T) {
	limits, err := newPushLimits(town(), time.Now, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	guest := func(more map[string]string) map[string]string {
		series := map[string]string{"__name__": "gpu_state", "host": "vm-3", "vantage": "guest"}
		for name, value := range more {
			series[name] = value
		}
		return series
	}
	left := 0
	for _, c := range []struct {
		what, lease string
		series      map[string]string
		at          int
		keep        bool
		says        string
	}{
		{"its card", "L-1", guest(map[string]string{"uuid": "GPU-1"}), 1, true, ""},
		{"its card after it was swapped away", "L-1", guest(map[string]string{"uuid": "GPU-1"}), 11, false, ""},
		{"the card that came for it", "L-1", guest(map[string]string{"uuid": "GPU-2"}), 11, true, ""},
		{"that card before it came", "L-1", guest(map[string]string{"uuid": "GPU-2"}), 1, false, ""},
		{"its own machine", "L-1", guest(map[string]string{"__name__": "host_load1"}), 1, true, ""},
		{"its MIG instance", "L-1", guest(map[string]string{"uuid": "MIG-5", "gpu_uuid": "GPU-3"}), 1, true, ""},
		{"an instance of its card", "L-1", guest(map[string]string{"uuid": "MIG-6", "gpu_uuid": "GPU-1"}), 1, true, ""},
		{"the card around its instance", "L-1", guest(map[string]string{"uuid": "GPU-3"}), 1, false, ""},
		{"a forged card", "L-1", guest(map[string]string{"uuid": "GPU-forged"}), 1, false, ""},
		{"another lease's card", "L-1", guest(map[string]string{"uuid": "GPU-8"}), 1, false, ""},
		{"before the lease began", "L-1", guest(map[string]string{"uuid": "GPU-1"}), -1, false, ""},
		{"who leases its card", "L-1", guest(map[string]string{"__name__": "lease_gpu", "uuid": "GPU-1"}), 1, false, ""},
		{"what the rules record", "L-1", guest(map[string]string{"__name__": "uuid:gpu_state:max", "uuid": "GPU-1"}), 1, false, ""},
		{"a series of no host", "L-1", map[string]string{"__name__": "gpu_state", "vantage": "guest", "uuid": "GPU-1"}, 1, false, ""},
		{"a series that does not say from where", "L-1", map[string]string{"__name__": "gpu_state", "host": "vm-3", "uuid": "GPU-1"}, 1, false, ""},
		{"the host's word", "L-1", guest(map[string]string{"vantage": "host", "uuid": "GPU-1"}), 1, false, "start the exporter with --vantage=guest"},
		{"another machine", "L-1", guest(map[string]string{"host": "gpu-a17", "uuid": "GPU-1"}), 1, false, `writes for host "vm-3" only`},
		{"after the lease ended", "L-1", guest(map[string]string{"uuid": "GPU-2"}), 24, false, `lease "L-1" ended at`},
		{"a card that nobody knows, of a lease without cards", "L-any", guest(map[string]string{"uuid": "GPU-new"}), 1, true, ""},
		{"its card, of a lease without cards", "L-any", guest(map[string]string{"uuid": "GPU-9"}), 1, true, ""},
		{"a card of the inventory, of a lease without cards", "L-any", guest(map[string]string{"uuid": "GPU-3"}), 1, false, ""},
		{"another's card, of a lease without cards", "L-any", guest(map[string]string{"uuid": "GPU-8"}), 1, false, ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			limit := limitFor(t, limits, rental.Principal{Name: "vm-3", Role: rental.RolePush, Host: "vm-3", Lease: c.lease})
			keep, err := limit(func(name string) string { return c.series[name] }, int64(hour(c.at)))
			if keep != c.keep || (err != nil) != (c.says != "") || (err != nil && !strings.Contains(err.Error(), c.says)) {
				t.Errorf("kept %v, %v; expected %v, %q", keep, err, c.keep, c.says)
			}
			if !c.keep && c.says == "" {
				left++
			}
		})
	}
	if n := testutil.ToFloat64(limits.foreign.WithLabelValues("vm-3")); n != float64(left) {
		t.Errorf("%v samples counted as left out, expected %d", n, left)
	}
}

func TestAGuestTakesNoNameUnderWhichItWouldSpeakForOthers(t *testing.T) {
	for _, c := range []struct {
		what, lease, host string
		free              bool
	}{
		{"a name of its own", "L-1", "vm-3", true},
		{"a host on which others have cards", "L-1", "gpu-a17", false},
		{"a host that is all its lease's", "L-8", "gpu-a18", true},
		{"another's host", "L-1", "gpu-a18", false},
		{"a host without cards", "L-1", "empty", false},
	} {
		err := freeHost(t.Context(), town(), c.lease, c.host)
		if (err == nil) != c.free || err != nil && (rental.CodeOf(err) != rental.CodeConflict || !strings.Contains(err.Error(), "--host.name")) {
			t.Errorf("%s: %v, expected it free: %v", c.what, err, c.free)
		}
		limits, err := newPushLimits(town(), time.Now, prometheus.NewRegistry())
		if err != nil {
			t.Fatal(err)
		}
		limit := limitFor(t, limits, rental.Principal{Name: "g", Role: rental.RolePush, Host: c.host, Lease: c.lease})
		series := map[string]string{"__name__": "host_load1", "host": c.host, "vantage": "guest"}
		if keep, err := limit(func(name string) string { return series[name] }, int64(hour(1))); keep != c.free || (err == nil) != c.free {
			t.Errorf("%s, once it has it: kept %v, %v; expected %v", c.what, keep, err, c.free)
		}
	}
}
