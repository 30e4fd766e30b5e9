package ledger_test

import (
	"context"
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

// crashStepDSN turns the test binary into a writer that ends itself with SIGKILL at the point
// that crashStepPoint names, in the course of one step.
const (
	crashStepDSN   = "LEDGER_TEST_CRASH_STEP"
	crashStepPoint = "LEDGER_TEST_CRASH_POINT"
)

// crashStep is one thing that is written, and how to see whether it is there.
type crashStep struct {
	point string // without -before or -after
	write func(ctx context.Context, l *ledger.Ledger) error
	there func(ctx context.Context, l *ledger.Ledger) (bool, error)
}

var crashHour = span("2026-05-03T00:00:00Z", "2026-05-03T01:00:00Z")

func crashSteps() []crashStep {
	down := rental.Downtime{ID: "D-1", Lease: "L", UUIDs: []string{"GPU-A"}, Span: crashHour, Cause: rental.CauseProvider, Reason: "lost", Witnesses: []string{"a"}}
	return []crashStep{
		{"ledger-apply", func(ctx context.Context, l *ledger.Ledger) error {
			_, err := l.Apply(ctx, "ada", "test", rental.Resources{Tenants: []rental.Tenant{{Name: "new"}}, Hosts: []rental.Host{{Name: "new", Site: "oslo", Slots: 8}}}, false)
			return err
		}, func(ctx context.Context, l *ledger.Ledger) (bool, error) {
			tenants, err := l.Tenants(ctx)
			if err != nil {
				return false, err
			}
			hosts, err := l.Hosts(ctx)
			if err != nil {
				return false, err
			}
			tenant, host := false, false
			for _, t := range tenants {
				tenant = tenant || t.Name == "new"
			}
			for _, h := range hosts {
				host = host || h.Name == "new"
			}
			if tenant != host {
				return false, fmt.Errorf("a part of the step was kept: tenant %t, host %t", tenant, host)
			}
			return tenant, nil
		}},
		{"ledger-lease", func(ctx context.Context, l *ledger.Ledger) error {
			return l.EndLease(ctx, "ada", "", "L", crashHour.End)
		}, func(ctx context.Context, l *ledger.Ledger) (bool, error) {
			got, err := l.Lease(ctx, "L")
			return got.End == crashHour.End, err
		}},
		{"ledger-downtime", func(ctx context.Context, l *ledger.Ledger) error { return l.SaveDowntime(ctx, down) },
			func(ctx context.Context, l *ledger.Ledger) (bool, error) {
				got, err := l.Downtimes(ctx, "L", crashHour)
				return len(got) == 1, err
			}},
		{"ledger-timeline", func(ctx context.Context, l *ledger.Ledger) error {
			return l.SaveTimeline(ctx, "L", "GPU-A", crashHour, []rental.Interval{{Span: crashHour, Class: rental.Down, Reason: "lost"}})
		}, func(ctx context.Context, l *ledger.Ledger) (bool, error) {
			got, err := l.Timeline(ctx, "L", "GPU-A", crashHour)
			return len(got) == 1 && got[0].Class == rental.Down, err
		}},
		{"ledger-usage", func(ctx context.Context, l *ledger.Ledger) error {
			return l.SaveUsage(ctx, []rental.UsageRecord{{Lease: "L", UUID: "GPU-A", Span: crashHour, AllocatedMS: 3_600_000, MeasuredMS: 1_800_000, UpMS: 3_600_000}})
		}, func(ctx context.Context, l *ledger.Ledger) (bool, error) {
			if err := l.CheckTotals(ctx); err != nil {
				return false, err
			}
			got, err := l.UsageRecords(ctx, "L", crashHour)
			return len(got) == 1, err
		}},
	}
}

// writeAndDie makes every step; the crash point ends the process in one of them.
func writeAndDie(dsn string) {
	ctx := context.Background()
	l, err := ledger.Open(ctx, dsn, ledger.Options{Logger: slog.New(slog.DiscardHandler), Now: time.Now, CrashPoint: func(name string) {
		if name == os.Getenv(crashStepPoint) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the signal may take a moment
		}
	}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, step := range crashSteps() {
		if err := step.write(ctx, l); err != nil {
			fmt.Fprintln(os.Stderr, step.point, err)
			os.Exit(1)
		}
	}
}

func TestAWriterThatDiesAroundACommitKeptAllOfItOrNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		r := fleet()
		r.Leases = []rental.Lease{lease("L", "acme", "2026-05-01T00:00:00Z", "open", "GPU-A", "GPU-B")}
		s.apply(r)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		// Each writer makes all steps up to its own again: what was kept is written twice.
		for _, step := range crashSteps() {
			for _, moment := range []string{"-before", "-after"} {
				writer := exec.Command(os.Args[0])
				writer.Env = append(os.Environ(), crashStepDSN+"="+s.dsn, crashStepPoint+"="+step.point+moment)
				writer.Stderr = os.Stderr
				_ = writer.Run()
				if status, ok := writer.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
					t.Fatalf("%s%s: the writer ended by %s, expected SIGKILL", step.point, moment, writer.ProcessState)
				}
				l := reopened(t, s)
				there, err := step.there(t.Context(), l)
				if err != nil {
					t.Errorf("%s%s: %v", step.point, moment, err)
				}
				if want := moment == "-after"; there != want {
					t.Errorf("%s%s: what was written is there: %t, expected %t", step.point, moment, there, want)
				}
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	})
}
