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
	crashStepKind  = "LEDGER_TEST_CRASH_ACTS" // the clock of a writer of crashActs; empty for one of crashSteps
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

// crashActs are what people do with money, cards and names, and what retention ends. Those that are
// in one transaction with others say so where a part of it was kept.
func crashActs() []crashStep {
	may := span("2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z")
	return []crashStep{
		{"ledger-close", func(ctx context.Context, l *ledger.Ledger) error {
			_, err := l.CloseMonth(ctx, "ada", "L", may, func(i rental.Invoice) ([]byte, error) {
				return fmt.Appendf(nil, `{"invoice":{"number":%q}}`, i.Number), nil
			})
			return err
		}, func(ctx context.Context, l *ledger.Ledger) (bool, error) {
			closed, err := l.ClosedMonths(ctx, "L")
			if len(closed) > 1 || len(closed) == 1 && closed[0].Number != "INV-000001" {
				return true, fmt.Errorf("found %+v, expected one invoice and no number lost", closed)
			}
			return len(closed) == 1, err
		}},
		{"ledger-credit", func(ctx context.Context, l *ledger.Ledger) error {
			_, err := l.ChangeCreditCase(ctx, "L", "2026-05", func(c rental.CreditCase) (rental.CreditCase, error) {
				c.Acts = append(c.Acts, rental.Act{At: 1, By: "ada", Kind: rental.ActRefused, Note: "no"})
				return c, nil
			})
			return err
		}, func(ctx context.Context, l *ledger.Ledger) (bool, error) {
			cases, err := l.CreditCases(ctx, "L")
			return len(cases) == 1, err
		}},
		{"ledger-rma", func(ctx context.Context, l *ledger.Ledger) error {
			if open, err := l.RMAs(ctx); err != nil || len(open) > 0 {
				return err // kept by the writer before
			}
			_, err := l.OpenRMA(ctx, "ada", "fan", "GPU-S", "")
			return err
		}, func(ctx context.Context, l *ledger.Ledger) (bool, error) {
			cases, err := l.RMAs(ctx)
			if err != nil {
				return false, err
			}
			life := rental.GPULife("")
			gpus, err := l.GPUs(ctx)
			for _, g := range gpus {
				if g.UUID == "GPU-S" {
					life = g.Life
				}
			}
			if (len(cases) == 1) != (life == rental.GPURMA) {
				return false, fmt.Errorf("a part of the step was kept: %d cases, life %s", len(cases), life)
			}
			return len(cases) == 1, err
		}},
		{"ledger-decide", func(ctx context.Context, l *ledger.Ledger) error {
			if err := l.SetApprovals(ctx, "ada", rental.ApprovalPolicy{Topics: []string{rental.ApprovePrices}, ExpiresMS: 1 << 50}); err != nil {
				return err
			}
			_, held, err := l.Submit(ctx, ada, "test", dearer("2099-01-01T00:00:00Z"), ledger.Submission{})
			if err != nil || held == nil {
				return err // kept by the writer before
			}
			_, err = l.DecidePending(ctx, held.ID, bob, true, "")
			return err
		}, func(ctx context.Context, l *ledger.Ledger) (bool, error) {
			c, err := l.Contract(ctx, "hourly")
			if err != nil {
				return false, err
			}
			all, err := l.PendingChanges(ctx)
			done := len(all) == 1 && all[0].Decision == rental.DecisionApproved
			if done != (len(c.Plan.Prices) == 2) {
				return false, fmt.Errorf("a part of the step was kept: decided %t, %d prices", done, len(c.Plan.Prices))
			}
			return done, err
		}},
		{"ledger-person", func(ctx context.Context, l *ledger.Ledger) error {
			if all, err := l.People(ctx); err != nil || len(all) > 0 {
				return err // kept by the writer before
			}
			_, err := l.AddPerson(ctx, "ada", rental.Person{Name: "Ada"})
			return err
		}, func(ctx context.Context, l *ledger.Ledger) (bool, error) {
			all, err := l.People(ctx)
			if err != nil {
				return false, err
			}
			facts, err := l.History(ctx, ledger.PersonKind, "PER-1")
			if len(all) != len(facts) {
				return false, fmt.Errorf("a part of the step was kept: %d people, %d facts", len(all), len(facts))
			}
			return len(all) == 1, err
		}},
		{"ledger-retention", func(ctx context.Context, l *ledger.Ledger) error {
			_, err := l.Retain(ctx, false)
			return err
		}, func(ctx context.Context, l *ledger.Ledger) (bool, error) {
			if err := l.CheckTotals(ctx); err != nil {
				return false, err
			}
			left, err := l.UsageRecords(ctx, "L", may)
			if err != nil {
				return false, err
			}
			refused := rental.CodeOf(l.UsageKept(ctx, "L", may.Start)) == rental.CodeRefused
			if refused != (len(left) == 0) {
				return false, fmt.Errorf("a part of the step was kept: %d records, refused %t", len(left), refused)
			}
			return len(left) == 0, nil
		}},
	}
}

// writeAndDie makes every step; the crash point ends the process in one of them.
func writeAndDie(dsn string) {
	ctx := context.Background()
	now := time.Now
	if text := os.Getenv(crashStepKind); text != "" {
		now = func() time.Time { return at(text).Time() }
	}
	l, err := ledger.Open(ctx, dsn, ledger.Options{Logger: slog.New(slog.DiscardHandler), Now: now, CrashPoint: func(name string) {
		if name == os.Getenv(crashStepPoint) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the signal may take a moment
		}
	}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	steps := crashSteps()
	if os.Getenv(crashStepKind) != "" {
		steps = crashActs()
	}
	for _, step := range steps {
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
		dieAtEach(t, s, crashSteps(), "")
	})
}

func TestAWriterThatDiesAroundAnActKeptAllOfItOrNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		r := fleet()
		r.Leases = []rental.Lease{lease("L", "acme", "2026-05-01T00:00:00Z", "2026-06-10T00:00:00Z", "GPU-A")}
		s.apply(r)
		s.keep(map[string]int64{rental.RetainUsageHours: 400})
		s.now = at("2026-05-02T00:00:00Z").Time()
		s.saveUsage(hourOf("L", 0, 0), hourOf("L", 1, 0))
		s.seal("L")
		// The writers' clock is past it all: 2026-05 is closed, and old enough to end.
		dieAtEach(t, s, crashActs(), "2028-01-01T00:00:00Z")
	})
}

// dieAtEach lets writers die before and after the commit of each step. Each makes all steps up to its
// own again: what was kept is written twice. now is the writers' clock, the machine's where it is empty.
func dieAtEach(t *testing.T, s *store, steps []crashStep, now string) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, step := range steps {
		for _, moment := range []string{"-before", "-after"} {
			writer := exec.Command(os.Args[0])
			writer.Env = append(os.Environ(), crashStepDSN+"="+s.dsn, crashStepPoint+"="+step.point+moment, crashStepKind+"="+now)
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
			if err := l.CheckTotals(t.Context()); err != nil {
				t.Errorf("%s%s: the ledger's check: %v", step.point, moment, err)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
