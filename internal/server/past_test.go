package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/server"
)

// pastWorld is a lease of two GPUs whose downtime pays back, and a spare.
const pastWorld = `
apiVersion: leasewatch.dev/v1
kind: Provider
metadata: {name: north}
spec: {display_name: North}
---
apiVersion: leasewatch.dev/v1
kind: Tenant
metadata: {name: acme}
spec: {display_name: Acme}
---
apiVersion: leasewatch.dev/v1
kind: Site
metadata: {name: oslo}
spec: {provider: north}
---
apiVersion: leasewatch.dev/v1
kind: SKU
metadata: {name: h100}
spec: {model: H100 80GB HBM3, form_factor: SXM5, memory_mib: 81559, data_center: true}
---
apiVersion: leasewatch.dev/v1
kind: Host
metadata: {name: gpu-a1}
spec: {site: oslo, slots: 4}
---
apiVersion: leasewatch.dev/v1
kind: GPU
metadata: {name: GPU-1}
spec: {serial: "1", sku: h100, host: gpu-a1, slot: 0, life: service}
---
apiVersion: leasewatch.dev/v1
kind: GPU
metadata: {name: GPU-2}
spec: {serial: "2", sku: h100, host: gpu-a1, slot: 1, life: service}
---
apiVersion: leasewatch.dev/v1
kind: GPU
metadata: {name: GPU-3}
spec: {serial: "3", sku: h100, host: gpu-a1, slot: 2, life: service}
---
apiVersion: leasewatch.dev/v1
kind: Contract
metadata: {name: hourly}
spec:
  provider: north
  currency: USD
  time_zone: UTC
  plan: {mode: hour, unit: gpu, rounding: exact, prices: [{price: "2.49"}]}
  bill_while_down: false
  bill_while_maintenance: true
  line_rounding: half_up
  downtime_approval: manual
  auto_credit: true
  availability: {target_percent: "99.5", scope: gpu, period: calendar_month, denominator: lease, outage: exact, degraded: up, unknown: excluded, excluded_leaves_denominator: true}
  credits: {base: gross, scope: gpu, cap_percent: "100", tiers: [{under: "99.5", percent: "10"}]}
---
apiVersion: leasewatch.dev/v1
kind: Lease
metadata: {name: L-1}
spec: {tenant: acme, contract: hourly, start: 2026-05-01T00:00:00Z, gpus: [{uuid: GPU-1}, {uuid: GPU-2}]}
`

// TestABillAsOfYesterdayIsTheBytesThatWereTakenYesterday takes a bill and a verdict, records all
// that may change them later, and asks for both again as they were known.
func TestABillAsOfYesterdayIsTheBytesThatWereTakenYesterday(t *testing.T) {
	ctx := context.Background()
	now := time.Date(2026, 5, 20, 9, 0, 0, 0, time.UTC)
	offline, err := server.OpenOffline(ctx, server.OfflineOptions{StoragePath: t.TempDir(), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = offline.Close() }()
	client, err := offline.Client()
	if err != nil {
		t.Fatal(err)
	}
	check := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	down := rental.Downtime{ID: "D-1", Lease: "L-1", UUIDs: []string{"GPU-1"}, Cause: rental.CauseProvider, Reason: "lost", Witnesses: []string{"the log"}, ApprovedBy: "ada",
		Span: rental.Span{Start: moment("2026-05-03T00:00:00Z"), End: moment("2026-05-03T06:00:00Z")}}
	check(client.Apply(ctx, []byte(pastWorld), false))
	check(nil, offline.Ledger().SaveDowntime(ctx, down))
	taken := func(c *api.Client) map[string][]byte {
		t.Helper()
		out := map[string][]byte{}
		for _, format := range []string{"json", "csv", "html", "focus"} {
			for _, month := range []string{"2026-04", "2026-05", "2026-06"} {
				text, err := c.BillAs(ctx, "L-1", api.Period{Month: month}, format, "")
				check(nil, err)
				out["bill "+month+" "+format] = text
			}
		}
		bills, err := c.BillsAs(ctx, api.BillQuery{Tenant: "acme", Period: api.Period{Month: "2026-05"}}, "table", "zh")
		check(nil, err)
		sla, err := c.SLA(ctx, "L-1", "2026-05")
		check(nil, err)
		detail, err := c.Lease(ctx, "L-1")
		check(nil, err)
		list, err := c.Leases(ctx, api.LeaseQuery{})
		check(nil, err)
		history, err := c.LeaseHistory(ctx, "L-1")
		check(nil, err)
		facts, err := json.Marshal([]any{sla, detail, list, history})
		check(nil, err)
		out["bills"], out["facts"] = bills, facts
		return out
	}
	yesterday := rental.At(now)
	then := taken(client)

	now = now.AddDate(0, 0, 20) // in June, May is closed and then much is learnt about it
	check(client.CloseMonth(ctx, api.CloseMonth{Month: "2026-05"}))
	now = now.Add(time.Hour)
	down.Span.End = moment("2026-05-04T00:00:00Z")
	check(nil, offline.Ledger().SaveDowntime(ctx, down))
	check(nil, offline.Ledger().Swap(ctx, "ada", "fan", "L-1", "GPU-2", "GPU-3", moment("2026-06-02T00:00:00Z")))
	dearer := bytes.Replace([]byte(pastWorld), []byte(`prices: [{price: "2.49"}]`), []byte(`prices: [{price: "2.49"}, {from: 2026-06-10T00:00:00Z, price: "3.10"}]`), 1)
	check(client.Apply(ctx, dearer, false))
	check(client.EndLease(ctx, "L-1", api.EndLease{At: moment("2026-06-08T00:00:00Z")}))

	again := taken(client.AsOf(yesterday))
	present := taken(client)
	for name := range then {
		if !bytes.Equal(again[name], then[name]) {
			t.Errorf("%s: found\n%s\nexpected, as it was taken,\n%s", name, again[name], then[name])
		}
	}
	for _, name := range []string{"bill 2026-05 json", "bill 2026-06 csv", "facts"} {
		if bytes.Equal(present[name], then[name]) {
			t.Errorf("%s: what is known now is what was known then: the test changed nothing", name)
		}
	}

	var refused *api.Error
	if _, err := client.AsOf(rental.At(now)+1).Lease(ctx, "L-1"); !errors.As(err, &refused) || refused.Status != http.StatusUnprocessableEntity {
		t.Errorf("as of a moment to come: %v, expected 422", err)
	}
	if _, err := client.AsOf(yesterday).Fleet(ctx); !errors.As(err, &refused) || refused.Status != http.StatusUnprocessableEntity {
		t.Errorf("the fleet as of then: %v, expected 422: it is shown as it is now only", err)
	}
	if _, err := client.AsOf(moment("2026-05-19T00:00:00Z")).Lease(ctx, "L-1"); !errors.Is(err, api.ErrNotFound) {
		t.Errorf("before the lease was recorded: %v, expected not found", err)
	}
}

func moment(text string) rental.Millis {
	var at rental.Millis
	if err := at.UnmarshalText([]byte(text)); err != nil {
		panic(err)
	}
	return at
}
