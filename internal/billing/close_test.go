package billing_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/leasewatch/leasewatch/internal/billing"
	"github.com/leasewatch/leasewatch/internal/rental"
)

var _ billing.Closer = (*book)(nil)

// CloseMonth keeps what it is given, as the ledger does.
func (b *book) CloseMonth(_ context.Context, by, lease string, span rental.Span, write func(rental.Invoice) ([]byte, error)) (rental.ClosedMonth, error) {
	for _, c := range b.closed {
		if c.Span == span {
			return c, nil
		}
	}
	c := rental.ClosedMonth{Lease: lease, Span: span, Invoice: rental.Invoice{Number: fmt.Sprintf("INV-%06d", len(b.closed)+1), ClosedAt: span.End + 30*3_600_000, ClosedBy: by}}
	var err error
	if c.Bill, err = write(c.Invoice); err != nil {
		return c, err
	}
	c.Hash = fmt.Sprintf("%x", sha256.Sum256(c.Bill))
	b.closed = append(b.closed, c)
	return c, nil
}

func month(t testing.TB, text string) rental.Span {
	t.Helper()
	m, err := rental.ParseMonth(text)
	if err != nil {
		t.Fatal(err)
	}
	span, err := m.Span("UTC")
	if err != nil {
		t.Fatal(err)
	}
	return span
}

// openBook is newBook with a lease that goes on, and no bill for time that is down.
func openBook() *book {
	b := newBook()
	no := false
	b.facts.Contract.BillWhileDown = &no
	b.facts.Lease.End = rental.Forever
	for i := range b.facts.Assignments {
		b.facts.Assignments[i].Span.End = rental.Forever
	}
	return b
}

const late = "2020-12-01T00:00:00Z"

func (b *book) close(t *testing.T, text string) rental.ClosedMonth {
	t.Helper()
	closed, _, _, err := b.service(late).Close(t.Context(), b, "fin", "L-1", month(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return closed
}

func (b *book) down(from, to string) {
	b.facts.Downtimes = append(b.facts.Downtimes, rental.Downtime{ID: fmt.Sprint(len(b.facts.Downtimes)), Lease: "L-1", UUIDs: []string{"GPU-0"},
		Span: rental.Span{Start: moment(from), End: moment(to)}, Cause: rental.CauseProvider, ApprovedBy: "anna"})
}

func TestABillThatWasClosedBeforeMoreWasKeptOfUseIsWrittenAsItWas(t *testing.T) {
	const old = `{"lease":"L-1","tenant":"acme","provider":"north","contract":"earth","currency":"CNY","time_zone":"UTC",` +
		`"period":{"start":"2020-05-01T00:00:00Z","end":"2020-06-01T00:00:00Z"},"language":"en","lines":[],"total":{"currency":"CNY","minor":0},` +
		`"use":{"allocated_ms":3600000,"measured_ms":1800000,"busy_ms":900000,"used_us":450000000,"held_known_ms":0,"held_ms":0,` +
		`"utilisation_percent":"25.00","coverage_percent":"50.00","idle_cost":{"currency":"CNY","minor":0},"idle_basis":"use"},` +
		`"invoice":{"number":"INV-000001","closed_at":"2020-06-02T00:00:00Z","closed_by":"fin"}}` + "\n"
	b := newBook()
	b.closed = []rental.ClosedMonth{{Lease: "L-1", Span: may(), Bill: []byte(old)}}
	if text, err := billing.Frozen(b.bill(t, late, may())); err != nil || string(text) != old {
		t.Errorf("%v, the closed bill reads back as\n%s\nnot\n%s", err, text, old)
	}
}

func TestAClosedBillKeepsItsBytesAndLaterFactsCorrectTheNext(t *testing.T) {
	b := openBook()
	before := b.bill(t, late, may())
	closed := b.close(t, "2020-05")
	if again := b.close(t, "2020-05"); again.Hash != closed.Hash || len(b.closed) != 1 {
		t.Errorf("closing again: %+v", again)
	}

	b.down("2020-05-31T20:00:00Z", "2020-06-01T02:00:00Z")
	frozen := b.bill(t, late, may())
	if frozen.Total != before.Total || frozen.Invoice == nil || frozen.Invoice.Number != "INV-000001" || frozen.Invoice.ClosedBy != "fin" {
		t.Errorf("the closed bill is %+v", frozen)
	}
	if text, err := billing.Frozen(frozen); err != nil || !bytes.Equal(text, closed.Bill) {
		t.Errorf("%v, the closed bill reads back as\n%s\nnot\n%s", err, text, closed.Bill)
	}

	// C64: 4 h of May came too late; June is billed 2 h less by itself.
	june := b.bill(t, late, month(t, "2020-06"))
	if len(june.Lines) != 2 || june.Lines[0].Quantity != "5758" {
		t.Fatalf("June: %+v", june.Lines)
	}
	c := june.Lines[1]
	if c.Item != rental.ItemGPUTime || *c.Corrects != may() || c.Amount.Decimal() != "-40.00" || c.Quantity != "-4" || c.QuantityMS != -4*3_600_000 ||
		c.PerGPU["GPU-0"] != -4000 || len(c.PerGPU) != 1 || c.Note != "billed 59,520.00 CNY, by what is known now 59,480.00 CNY" {
		t.Errorf("the correction: %+v", c)
	}
	var table bytes.Buffer
	if err := billing.WriteTable(&table, june, "zh"); err != nil || !strings.Contains(table.String(), "GPU 使用时间（更正 2020-05）") {
		t.Errorf("%v:\n%s", err, table.String())
	}

	if running, err := b.service(late).Running(t.Context(), "L-1", month(t, "2020-06")); err != nil || len(running.Lines) != 1 {
		t.Errorf("the running bill of June: %+v, %v", running, err)
	}

	// Once June is closed with it, nothing is left to correct.
	if july := b.bill(t, late, month(t, "2020-07")); len(july.Lines) != 1 {
		t.Errorf("July carries what June does: %+v", july.Lines)
	}
	b.close(t, "2020-06")
	if july := b.bill(t, late, month(t, "2020-07")); len(july.Lines) != 1 {
		t.Errorf("July corrects what June has: %+v", july.Lines)
	}
	// The downtime is withdrawn: what was paid back is charged again.
	b.facts.Downtimes = nil
	july := b.bill(t, late, month(t, "2020-07"))
	if len(july.Lines) != 3 || july.Lines[1].Amount.Decimal() != "40.00" || july.Lines[2].Amount.Decimal() != "20.00" {
		t.Errorf("July: %+v", july.Lines)
	}
}

func TestClosedMonthsThatNothingWasLearntAboutAreNotReckonedAnew(t *testing.T) {
	b := openBook()
	b.news = []news{}
	b.facts.Contract.Credits = &rental.Credits{Tiers: []rental.CreditTier{{Under: decimal("99"), Percent: decimal("10")}}, Base: rental.BaseNet,
		Scope: rental.UnitLease, CapPercent: decimal("100")}
	yes := true
	b.facts.Contract.Availability = &rental.Availability{TargetPercent: decimal("99.5"), Scope: rental.ScopeAll, Period: rental.PeriodCalendarMonth,
		Denominator: rental.DenominatorPeriod, Outage: rental.OutageExact, Degraded: "up", Unknown: "excluded", ExcludedLeavesDenominator: &yes}
	for _, text := range []string{"2020-05", "2020-06", "2020-07"} {
		b.close(t, text)
	}
	for _, tc := range []struct {
		what     string
		news     []news
		reckoned int // August's own credit and one for each month that is looked at again
	}{
		{"nothing", []news{}, 1},
		{"what was recorded before July was closed", []news{{moment("2020-08-01T00:00:00Z"), may().Start}}, 1},
		{"a fact about August", []news{{moment("2020-09-01T00:00:00Z"), moment("2020-08-02T00:00:00Z")}}, 1},
		{"a fact about July", []news{{moment("2020-09-01T00:00:00Z"), moment("2020-07-02T00:00:00Z")}}, 2},
		{"a fact about May and since", []news{{moment("2020-09-01T00:00:00Z"), may().Start}}, 4},
	} {
		b.news, b.reckoned = tc.news, 0
		if bill := b.bill(t, late, month(t, "2020-08")); len(bill.Lines) != 1 || b.reckoned != tc.reckoned {
			t.Errorf("%s: credits were reckoned %d times, expected %d; %+v", tc.what, b.reckoned, tc.reckoned, bill.Lines)
		}
	}
}

func TestABackDatedEndComesBackInTheNextBillOfALeaseThatIsOver(t *testing.T) {
	b := openBook()
	b.close(t, "2020-05")
	end := moment("2020-05-31T00:00:00Z")
	b.facts.Lease.End = end
	for i := range b.facts.Assignments {
		b.facts.Assignments[i].Span.End = end
	}
	for _, text := range []string{"2020-06", "2020-07"} { // whichever is closed first
		bill := b.bill(t, late, month(t, text))
		if len(bill.Lines) != 1 || bill.Total.Decimal() != "-1920.00" {
			t.Errorf("%s: %+v", text, bill.Lines)
		}
	}
	b.close(t, "2020-07")
	if bill := b.bill(t, late, month(t, "2020-08")); len(bill.Lines) != 0 {
		t.Errorf("August: %+v", bill.Lines)
	}
}

func TestWhatWaitsIsToldWhenAMonthIsClosed(t *testing.T) {
	b := openBook()
	b.down("2020-05-02T00:00:00Z", "2020-05-02T01:00:00Z")
	b.facts.Downtimes[0].ApprovedBy = ""
	_, bill, waiting, err := b.service(late).Close(t.Context(), b, "fin", "L-1", may())
	if err != nil || len(waiting) != 1 || len(bill.Provisional) != 0 {
		t.Errorf("%v, waiting %q, the bill says %q", err, waiting, bill.Provisional)
	}
}

// TestClosedBillsSumToWhatIsKnownInTheEnd closes months one by one while downtime is learnt at
// any time about any of them: what was billed in all is what all of it costs by the last word.
func TestClosedBillsSumToWhatIsKnownInTheEnd(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := openBook()
		b.news = []news{}
		months := []string{"2020-05", "2020-06", "2020-07", "2020-08"}
		var sum int64
		for i, text := range months {
			if i < 3 {
				for range rapid.IntRange(0, 3).Draw(rt, "downtimes") {
					from := moment("2020-05-01T00:00:00Z") + rental.Millis(rapid.Int64Range(0, 90*24*3_600_000).Draw(rt, "from"))
					b.news = append(b.news, news{at: month(t, text).Start + 48*3_600_000, start: from})
					b.facts.Downtimes = append(b.facts.Downtimes, rental.Downtime{Lease: "L-1", UUIDs: []string{fmt.Sprintf("GPU-%d", rapid.IntRange(0, 7).Draw(rt, "card"))},
						Span: rental.Span{Start: from, End: from + rental.Millis(rapid.Int64Range(1, 40*3_600_000).Draw(rt, "length"))}, Cause: rental.CauseProvider, ApprovedBy: "anna"})
				}
			}
			bill := b.bill(t, late, month(t, text))
			known := b.news
			b.news = nil // whoever knows nothing of when reckons every month anew
			if slow := b.bill(t, late, month(t, text)); !reflect.DeepEqual(bill, slow) {
				rt.Fatalf("%s: reckoned anew where something was learnt: %+v; everywhere: %+v", text, bill.Lines, slow.Lines)
			}
			b.news = known
			sum += bill.Total.Minor
			for _, l := range bill.Lines {
				var cards int64
				for _, part := range l.PerGPU {
					cards += part
				}
				if cards != l.Amount.Minor {
					rt.Fatalf("%s: the cards of %+v sum to %d", text, l, cards)
				}
				if l.Amount.Minor < 0 && l.Corrects == nil {
					rt.Fatalf("%s: a line under zero that corrects nothing: %+v", text, l)
				}
			}
			b.close(t, text)
		}
		b.closed = nil
		var known int64
		for _, text := range months {
			known += b.bill(t, late, month(t, text)).Total.Minor
		}
		if sum != known {
			rt.Fatalf("billed %d in all, by what is known in the end %d", sum, known)
		}
	})
}
