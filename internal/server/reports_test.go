package server

import (
	"database/sql"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/billing"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/proof"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/report"
	"github.com/leasewatch/leasewatch/internal/sla"
)

// reported is a server's ledger with its signing key, whose May is sealed day by day.
type reported struct {
	*ledger.Ledger
	path   string
	signer *proof.Ring
	now    time.Time
}

func (r *reported) clock() time.Time { return r.now }

func (r *reported) open(t *testing.T) {
	t.Helper()
	var err error
	r.Ledger, err = ledger.Open(t.Context(), "sqlite:"+r.path, ledger.Options{Logger: slog.New(slog.DiscardHandler), Now: r.clock})
	if err != nil {
		t.Fatal(err)
	}
}

func (r *reported) proofs() proofs { return proofs{ledger: r.Ledger, signer: r.signer} }

// signedMay is the signed report on L-1's May, as the server gives it.
func (r *reported) signedMay(t *testing.T) []byte {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	judge := sla.New(r.Ledger, nil, sla.Options{Now: r.clock, Log: log})
	all := reports{proofs: r.proofs(), sla: judge, billing: billing.New(r.Ledger, billing.Options{Credits: judge, Now: r.clock}), now: r.clock, version: "1.2.3"}
	file, err := all.Report(t.Context(), "L-1", api.ReportQuery{Period: api.Period{Month: "2026-05"}, Format: "json"})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// reportedMay lives through May hour by hour: GPU-A is lost for five hours of the 10th, every hour
// is metered, every day sealed at 00:40, and the report is asked for on June 5th.
func reportedMay(t *testing.T) *reported {
	t.Helper()
	r := &reported{path: filepath.Join(t.TempDir(), "ledger.db"), now: mayMonth.Start.Time()}
	r.open(t)
	t.Cleanup(func() { _ = r.Close() })
	var err error
	if r.signer, err = proof.OpenRing(filepath.Join(t.TempDir(), signingFile), mayMonth.Start); err != nil {
		t.Fatal(err)
	}
	world := sealedWorld()
	world.Contracts[0].Availability, world.Contracts[0].Credits = proofTerms(t)
	world.Contracts[0].AutoCredit = true
	if _, err := r.Apply(t.Context(), "ada", "test", world, false); err != nil {
		t.Fatal(err)
	}
	const hour = 3_600_000
	lost := rental.Span{Start: mayMonth.Start + 9*24*hour + 3*hour, End: mayMonth.Start + 9*24*hour + 8*hour}
	sealer := &sealer{ledger: r.Ledger, now: r.clock, log: slog.New(slog.DiscardHandler), done: map[string]rental.Millis{}}
	for end := mayMonth.Start + hour; end <= mayMonth.End; end += hour {
		span := rental.Span{Start: end - hour, End: end}
		r.now = end.Time().Add(time.Minute)
		use := rental.UsageRecord{Lease: "L-1", UUID: "GPU-A", Span: span, AllocatedMS: hour, MeasuredMS: hour, UpMS: hour}
		state := rental.Interval{Span: span, Class: rental.Up, Reason: "ok"}
		if span.Overlaps(lost) {
			use.UpMS, use.DownMS, state.Class, state.Reason = 0, hour, rental.Down, "lost"
		}
		if err := r.SaveTimeline(t.Context(), "L-1", "GPU-A", span, []rental.Interval{state}); err != nil {
			t.Fatal(err)
		}
		if err := r.SaveUsage(t.Context(), []rental.UsageRecord{use}); err != nil {
			t.Fatal(err)
		}
		if end == lost.End {
			if _, err := r.ChangeDowntime(t.Context(), rental.AutomaticPrefix+"1", func(*rental.Downtime) (*rental.Downtime, error) {
				return &rental.Downtime{ID: rental.AutomaticPrefix + "1", Lease: "L-1", UUIDs: []string{"GPU-A"}, Span: lost, Cause: rental.CauseProvider,
					Reason: "lost", Witnesses: []string{"gpu_state"}, ApprovedBy: rental.ApprovalAutomatic}, nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		if r.now.Hour() == 0 {
			r.now = end.Time().Add(40 * time.Minute)
			if err := sealer.sealAll(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.now = time.Date(2026, 6, 5, 9, 0, 0, 0, time.UTC)
	return r
}

// proofTerms promise 99.5 % and pay 10 % back where that is missed.
func proofTerms(t *testing.T) (*rental.Availability, *rental.Credits) {
	t.Helper()
	decimal := func(text string) rental.Decimal {
		d, err := rental.ParseDecimal(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	yes := true
	return &rental.Availability{TargetPercent: decimal("99.5"), Scope: rental.ScopeGPU, Period: rental.PeriodCalendarMonth, Denominator: rental.DenominatorPeriod,
			Outage: rental.OutageExact, Degraded: "up", Unknown: "excluded", ExcludedLeavesDenominator: &yes},
		&rental.Credits{Tiers: []rental.CreditTier{{Under: decimal("99.5"), Percent: decimal("10")}}, Base: rental.BaseGross, Scope: rental.UnitLease, CapPercent: decimal("100")}
}

// rewrite makes the loss undone in the file of the ledger, and every head anew over what is left.
func (r *reported) rewrite(t *testing.T) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", r.path)
	if err != nil {
		t.Fatal(err)
	}
	do := func(statement string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	for _, guard := range []string{"usage_records_no_update", "timeline_no_update", "downtimes_no_delete", "heads_no_update"} {
		do("DROP TRIGGER " + guard)
	}
	do(`UPDATE usage_records SET up_ms = allocated_ms, down_ms = 0`)
	do(`UPDATE timeline SET class = 'up', reason = 'ok' WHERE class = 'down'`)
	do(`DELETE FROM downtimes`)
	r.open(t)
	heads, err := r.Heads(t.Context(), "L-1")
	if err != nil {
		t.Fatal(err)
	}
	var before rental.Head
	for _, h := range heads {
		in, err := r.Recorded(t.Context(), "L-1", before.SealedAt, h.SealedAt)
		if err != nil {
			t.Fatal(err)
		}
		records, err := proof.Records(in)
		if err != nil {
			t.Fatal(err)
		}
		again, err := proof.Seal(before, "L-1", h.SealedAt, records)
		if err != nil {
			t.Fatal(err)
		}
		before = again.Head
		do(`UPDATE heads SET records = $1, previous = $2, root = $3, hash = $4 WHERE number = $5`, before.Records, before.Previous, before.Root, before.Hash, before.Number)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// Hashes and signatures of a ledger that its keeper rewrote all fit; what a tenant kept does not.
func TestALedgerThatIsRewrittenAndSignedAnewIsFoundByTheTenantsHead(t *testing.T) {
	r := reportedMay(t)
	given, err := r.proofs().Heads(t.Context(), "L-1")
	if err != nil || len(given.Heads) != 31 {
		t.Fatalf("%d heads (%v), expected one of each day", len(given.Heads), err)
	}
	file, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := report.ReadHeads(file)
	if err != nil {
		t.Fatal(err)
	}
	honest, err := report.Verify(r.signedMay(t), given.Keys, kept)
	if err != nil || len(honest.Faults) > 0 {
		t.Fatalf("the honest report: %v, %v", err, honest.Faults)
	}
	if d := honest.Document; d.Verdict.Outcome != rental.Breached || len(d.Credits) != 1 || d.Credits[0].Amount.Minor != 74_400 || d.Credits[0].State != rental.CreditBooked {
		t.Fatalf("found %s with credits %+v, expected 10 %% of 744 h at 10 USD", d.Verdict.Outcome, d.Credits)
	}
	r.rewrite(t)
	lie := r.signedMay(t)
	alone, err := report.Verify(lie, given.Keys, nil)
	if err != nil || len(alone.Faults) > 0 || alone.Document.Verdict.Outcome != rental.Kept || len(alone.Document.Credits) != 0 {
		t.Fatalf("the rewritten report is not whole in itself: %v, %v", err, alone.Faults)
	}
	found, err := report.Verify(lie, given.Keys, kept[9:10]) // the head of the 10th alone is enough
	if err != nil || len(found.Faults) != 1 || found.Faults[0].Check != proof.CheckHeads || !strings.Contains(found.Faults[0].Where, "head 10") {
		t.Fatalf("with the tenant's head: %v, %v", err, found.Faults)
	}
}
