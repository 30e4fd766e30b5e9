package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// crashDSN names the variable that turns the test binary into a writer that is to be killed.
const crashDSN = "LEDGER_TEST_WRITE_UNTIL_KILLED"

// writeUntilKilled writes facts as fast as it can, each round several tables that must agree.
func writeUntilKilled(dsn string) {
	ctx := context.Background()
	l, err := ledger.Open(ctx, dsn, ledger.Options{Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for n := 0; ; n++ {
		if err := writeRound(ctx, l, n); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if n == 0 {
			fmt.Println("wrote")
		}
	}
}

func writeRound(ctx context.Context, l *ledger.Ledger, n int) error {
	start := at("2026-05-02T00:00:00Z") + rental.Millis(n%700)*3_600_000
	hour := rental.Span{Start: start, End: start + 3_600_000}
	var records []rental.UsageRecord
	for _, uuid := range []string{"GPU-A", "GPU-B"} {
		records = append(records, rental.UsageRecord{Lease: "L", UUID: uuid, Span: hour, AllocatedMS: 3_600_000,
			MeasuredMS: time.Now().UnixNano() % 3_600_000, UpMS: 3_600_000})
	}
	class := []rental.Class{rental.Up, rental.Down}[n%2]
	_, err := l.ChangeByKey(ctx, fmt.Sprintf("key-%d", n%5), func(old *rental.Incident) (*rental.Incident, []rental.Delivery, error) {
		if old == nil {
			old = &rental.Incident{Key: fmt.Sprintf("key-%d", n%5), Status: rental.IncidentOpen, OpenedAt: start}
		}
		old.Revision++
		old.Events = append(old.Events, rental.IncidentEvent{At: start, Kind: "changed"})
		return old, []rental.Delivery{{State: rental.DeliveryPending, Route: "slack:C", Revision: old.Revision}}, nil
	})
	return errors.Join(err, l.SaveUsage(ctx, records),
		l.SaveTimeline(ctx, "L", "GPU-A", hour, []rental.Interval{{Span: hour, Class: class}}))
}

func TestALedgerThatIsKilledWhileItWritesIsWhole(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		r := fleet()
		r.Leases = []rental.Lease{lease("L", "acme", "2026-05-01T00:00:00Z", "open", "GPU-A", "GPU-B")}
		s.apply(r)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for kill := range 10 {
			writer := exec.Command(os.Args[0])
			writer.Env = append(os.Environ(), crashDSN+"="+s.dsn)
			writer.Stderr = os.Stderr
			out, err := writer.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := writer.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := out.Read(make([]byte, 5)); err != nil {
				t.Fatalf("kill %d: the writer wrote nothing: %v", kill, err)
			}
			time.Sleep(time.Duration(20+37*kill%100) * time.Millisecond) // where in its work it dies is up to chance
			writer.Process.Kill()
			writer.Wait()
			if status := writer.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() {
				t.Fatalf("kill %d: the writer ended by itself: %v", kill, writer.ProcessState)
			}
			checkWhole(t, s)
		}
	})
}

// reopened opens the ledger as the next process would. PostgreSQL drops a dead session's lock
// when it notices the closed socket.
func reopened(t *testing.T, s *store) *ledger.Ledger {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		l, err := ledger.Open(t.Context(), s.dsn, s.options())
		if err == nil {
			return l
		}
		if rental.CodeOf(err) != rental.CodeRefused || time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// checkWhole opens the ledger as the next process would and checks what must agree.
func checkWhole(t *testing.T, s *store) {
	t.Helper()
	l := reopened(t, s)
	s.Ledger = l
	defer l.Close()
	if err := l.CheckTotals(t.Context()); err != nil {
		t.Error(err)
	}
	incidents := must[[]rental.Incident](t)(l.UnresolvedIncidents(t.Context()))
	told := map[string]int{}
	for _, d := range must[[]rental.Delivery](t)(l.PendingDeliveries(t.Context())) {
		told[d.Incident]++
	}
	if len(incidents) == 0 {
		t.Error("found no incident, expected those that were written before the kill")
	}
	for _, i := range incidents {
		if len(i.Events) != i.Revision || told[i.ID] != i.Revision {
			t.Errorf("%s: revision %d with %d events and %d deliveries: a part of a step was kept", i.ID, i.Revision, len(i.Events), told[i.ID])
		}
	}
	if _, err := l.Timeline(t.Context(), "L", "GPU-A", span("2026-05-01T00:00:00Z", "2026-07-01T00:00:00Z")); err != nil {
		t.Error(err)
	}
}
