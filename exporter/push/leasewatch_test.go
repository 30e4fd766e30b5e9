package push

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/promslog"

	"github.com/leasewatch/leasewatch/internal/monitor"
)

// refusal is a wire to a store in this process: while it is cut, every connection ends
// without an answer.
type refusal struct {
	next http.Handler
	off  atomic.Bool
}

func (r *refusal) cut(*testing.T)  { r.off.Store(true) }
func (r *refusal) mend(*testing.T) { r.off.Store(false) }

func (r *refusal) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if r.off.Load() {
		panic(http.ErrAbortHandler)
	}
	r.next.ServeHTTP(w, request)
}

// Leasewatch's own receiver goes through the same as the stores of others.
func TestNothingIsLostInLeasewatchsOwnStore(t *testing.T) {
	m, err := monitor.New(monitor.Options{DataDir: t.TempDir(), Logger: promslog.NewNopLogger(), Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	mux := http.NewServeMux()
	mux.Handle("POST /api/v1/write", m.WriteHandler())
	mux.Handle("/", m.Handler())
	wire := &refusal{next: mux}
	server := httptest.NewServer(wire)
	t.Cleanup(server.Close)
	outage(t, end{api: server.URL}, wire)
}
