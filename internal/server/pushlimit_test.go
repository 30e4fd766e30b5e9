package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/leasewatch/leasewatch/internal/httpapi"
	"github.com/leasewatch/leasewatch/internal/monitor"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// holder is an authenticator to whom every secret is one principal's.
type holder rental.Principal

var _ httpapi.Authenticator = holder{}

func (h holder) Authenticate(context.Context, string) (rental.Principal, error) {
	return rental.Principal(h), nil
}

// park is an inventory of cards.
type park struct {
	gpus   []rental.GPU
	hosts  []rental.Host
	leases []rental.Lease
	served []rental.Assignment
	err    error
}

var _ rented = (*park)(nil)

func (p *park) GPUs(context.Context) ([]rental.GPU, error) { return p.gpus, p.err }

// limitFor returns what a principal may write.
func limitFor(t *testing.T, p *pushLimits, who rental.Principal) monitor.Limit {
	t.Helper()
	var limit monitor.Limit
	guarded := httpapi.NewGate(holder(who), nil, slog.New(slog.DiscardHandler)).Guard(rental.Roles...)(http.HandlerFunc(
		func(_ http.ResponseWriter, r *http.Request) { limit = p.of(r) }))
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.Header.Set("Authorization", "Bearer x")
	w := httptest.NewRecorder()
	guarded.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("the gate answers %d %s", w.Code, w.Body)
	}
	return limit
}

func TestATokenBoundToAHostTellsNothingOfAnother(t *testing.T) {
	inventory := &park{gpus: []rental.GPU{{UUID: "GPU-17", Host: "gpu-a17"}, {UUID: "GPU-18", Host: "gpu-a18"}, {UUID: "GPU-stock"}}}
	limits, err := newPushLimits(inventory, time.Now, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	if limitFor(t, limits, rental.Principal{Name: "any", Role: rental.RolePush}) != nil {
		t.Error("a token without a host is limited")
	}
	limit := limitFor(t, limits, rental.Principal{Name: "a17", Role: rental.RolePush, Host: "gpu-a17"})
	for what, c := range map[string]struct {
		series map[string]string
		keep   bool
		says   string
	}{
		"its own card":                     {map[string]string{"__name__": "gpu_state", "host": "gpu-a17", "uuid": "GPU-17"}, true, ""},
		"its own figures":                  {map[string]string{"__name__": "host_load1", "host": "gpu-a17"}, true, ""},
		"a card that nobody adopted":       {map[string]string{"__name__": "gpu_state", "host": "gpu-a17", "uuid": "GPU-new"}, true, ""},
		"a card from the stock":            {map[string]string{"__name__": "gpu_state", "host": "gpu-a17", "uuid": "GPU-stock"}, true, ""},
		"another host":                     {map[string]string{"__name__": "gpu_state", "host": "gpu-a18", "uuid": "GPU-18"}, false, `token "a17" writes for host "gpu-a17" only, found a series gpu_state of host "gpu-a18"`},
		"another host's card as its own":   {map[string]string{"__name__": "gpu_state", "host": "gpu-a17", "uuid": "GPU-18"}, false, ""},
		"another host's card under a MIG":  {map[string]string{"__name__": "gpu_state", "host": "gpu-a17", "uuid": "MIG-1", "gpu_uuid": "GPU-18"}, false, ""},
		"a series of no host":              {map[string]string{"__name__": "gpu_state", "uuid": "GPU-17"}, false, ""},
		"who leases a card":                {map[string]string{"__name__": "lease_gpu", "host": "gpu-a17", "uuid": "GPU-17", "tenant": "acme"}, false, ""},
		"a series that the rules record":   {map[string]string{"__name__": "uuid:gpu_state:max", "host": "gpu-a17", "uuid": "GPU-17"}, false, ""},
		"the server's word on its own way": {map[string]string{"__name__": "leasewatch_store_failing", "host": "gpu-a17"}, false, ""},
	} {
		t.Run(what, func(t *testing.T) {
			keep, err := limit(func(name string) string { return c.series[name] }, time.Now().UnixMilli())
			if keep != c.keep || (err != nil) != (c.says != "") || (err != nil && !strings.Contains(err.Error(), c.says)) {
				t.Errorf("kept %v, %v; expected %v, %q", keep, err, c.keep, c.says)
			}
		})
	}
	if n := testutil.ToFloat64(limits.foreign.WithLabelValues("gpu-a17")); n != 6 {
		t.Errorf("%v samples counted as left out, expected 6", n)
	}
}

func TestWhereTheInventoryCannotBeReadABoundTokenWaits(t *testing.T) {
	limits, err := newPushLimits(&park{err: errors.New("the ledger is away")}, time.Now, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	limit := limitFor(t, limits, rental.Principal{Name: "a17", Role: rental.RolePush, Host: "gpu-a17"})
	if keep, err := limit(func(string) string { return "gpu-a17" }, 0); keep || err == nil {
		t.Errorf("kept %v, %v: expected an error, so that the samples come again", keep, err)
	}
}
