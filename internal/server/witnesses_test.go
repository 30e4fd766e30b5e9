package server_test

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// bmcOf is a BMC whose host has power while on says so.
func bmcOf(t *testing.T, on *atomic.Bool) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch strings.TrimSuffix(r.URL.Path, "/") {
		case "/redfish/v1":
			_, _ = io.WriteString(w, `{"Systems":{"@odata.id":"/redfish/v1/Systems"}}`)
		case "/redfish/v1/Systems":
			_, _ = io.WriteString(w, `{"Members":[{"@odata.id":"/redfish/v1/Systems/1"}]}`)
		case "/redfish/v1/Systems/1":
			_, _ = fmt.Fprintf(w, `{"PowerState":%q}`, map[bool]string{true: "On", false: "Off"}[on.Load()])
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// leased records one card of each host, and its lease, from an hour ago on.
func leased(t *testing.T, storage string, hosts ...rental.Host) {
	t.Helper()
	l, err := ledger.Open(t.Context(), "sqlite:"+filepath.Join(storage, "ledger.db"), ledger.Options{Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	bill, no := true, false
	price, err := rental.ParseDecimal("2")
	target, err2 := rental.ParseDecimal("99.5")
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	r := rental.Resources{
		Providers: []rental.Provider{{Name: "north", DisplayName: "North"}}, Tenants: []rental.Tenant{{Name: "acme", DisplayName: "Acme"}},
		Sites: []rental.Site{{Name: "oslo", Provider: "north"}}, Hosts: hosts,
		SKUs: []rental.SKU{{Name: "h100", Model: "H100 80GB HBM3", FormFactor: "SXM5", MemoryMiB: 81559}},
		Contracts: []rental.Contract{{Name: "hourly", Provider: "north", Currency: "EUR", TimeZone: "UTC",
			Plan:          rental.Plan{Mode: rental.ModeHour, Unit: rental.UnitGPU, Rounding: rental.Exact, Prices: []rental.PriceVersion{{Price: price}}},
			BillWhileDown: &bill, BillWhileMaintenance: &bill, LineRounding: rental.HalfUp, DowntimeApproval: rental.ApprovalManual,
			Availability: &rental.Availability{TargetPercent: target, Scope: rental.ScopeGPU, Period: rental.PeriodCalendarMonth,
				Denominator: rental.DenominatorLease, Outage: rental.OutageExact, Degraded: "up", Unknown: "excluded", ExcludedLeavesDenominator: &no}}},
	}
	for i, h := range hosts {
		uuid := fmt.Sprintf("GPU-%d", i+1)
		r.GPUs = append(r.GPUs, rental.GPU{UUID: uuid, Serial: uuid, SKU: "h100", Host: h.Name, Life: rental.GPUService})
		r.Leases = append(r.Leases, rental.Lease{ID: fmt.Sprintf("L-%d", i+1), Tenant: "acme", Contract: "hourly",
			Start: rental.At(time.Now().Add(-time.Hour)), End: rental.Forever, GPUs: []rental.GPURef{{UUID: uuid}}})
	}
	if _, err := l.Apply(t.Context(), "ada", "test", r, false); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestASilentCardIsDownWithItsHostByTheWordOfTheBMC(t *testing.T) {
	t.Chdir(t.TempDir())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	var on atomic.Bool
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	storage := t.TempDir()
	// One host that only its BMC tells of, and one that answers on both paths while its BMC says off.
	off := bmcOf(t, &on)
	leased(t, storage, rental.Host{Name: "gpu-a1", Site: "oslo", Slots: 1, Address: "::1", BMC: off},
		rental.Host{Name: "gpu-a2", Site: "oslo", Slots: 1, Address: "127.0.0.1", BMC: off})
	base := startServer(t, fmt.Sprintf(`
witnesses:
  interval: 5s
  ways: ["tcp:%[1]s"]
  paths:
    - {name: a, source: 127.0.0.1, reference: "127.0.0.1:%[1]s"}
    - {name: b, source: 127.0.0.2, reference: "127.0.0.1:%[1]s"}
  bmc: [{}]
`, port), storage)
	client, err := api.New(base, api.Secret{}, http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	metrics := func() string { _, body := get(t, base+"/metrics"); return body }
	for _, path := range []string{"a", "b"} {
		eventually(t, "path "+path+" tells that the host answers", func() bool {
			return strings.Contains(metrics(), fmt.Sprintf(`host_probe_success{host="gpu-a2",path=%q,way="tcp:%s"} 1 `, path, port))
		})
	}
	eventually(t, "the silent card is down with its host", func() bool {
		return strings.Contains(metrics(), `lease_gpu_state{lease="L-1",state="host_down",uuid="GPU-1"} 1`)
	})
	if body := metrics(); !strings.Contains(body, `lease_gpu_state{lease="L-2",state="unknown",uuid="GPU-2"} 1`) {
		t.Error("a host that answers probes is taken for down, expected its card to be unknown")
	}
	eventually(t, "the downtime waits with the BMC as its witness", func() bool {
		found, err := client.Downtimes(t.Context(), api.DowntimeQuery{})
		return err == nil && len(found) == 1 && found[0].Reason == rental.ReasonHostDown &&
			strings.HasPrefix(found[0].Witnesses[0], `host_power_on{host="gpu-a1"} == 0 @ `)
	})
	on.Store(true)
	eventually(t, "with its power back the card is unknown again", func() bool {
		return strings.Contains(metrics(), `lease_gpu_state{lease="L-1",state="unknown",uuid="GPU-1"} 1`)
	})
}
