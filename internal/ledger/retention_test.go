package ledger_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

const aDay = 24 * time.Hour

// keep sets how many days each kind is kept, all others for ever.
func (s *store) keep(days map[string]int64) {
	s.t.Helper()
	policy := rental.RetentionPolicy{}
	for _, k := range rental.RetentionKinds {
		policy[k.Name] = days[k.Name] * aDay.Milliseconds()
	}
	if err := s.SetRetention(s.t.Context(), "leasewatch", policy); err != nil {
		s.t.Fatal(err)
	}
}

// old fills a ledger with a year-old May: of two leases of two tenants their use, sealed and closed,
// an incident each with what was told of it, sessions and tokens.
func old(s *store) {
	s.t.Helper()
	ctx := s.t.Context()
	s.apply(fleet())
	s.apply(leases(lease("L-1", "acme", "2026-05-01T00:00:00Z", "2026-09-01T00:00:00Z", "GPU-A"), lease("L-2", "globex", "2026-05-01T00:00:00Z", "2026-09-01T00:00:00Z", "GPU-B")))
	for _, l := range []struct{ id, tenant, card string }{{"L-1", "acme", "GPU-A"}, {"L-2", "globex", "GPU-B"}} {
		s.now = at("2026-05-02T00:00:00Z").Time()
		for h := range 3 {
			r := hourOf(l.id, h, 0)
			r.UUID = l.card
			s.saveUsage(r)
		}
		s.seal(l.id)
		inc := s.incident(l.id, l.tenant)
		s.now = at("2026-05-03T00:00:00Z").Time()
		resolved := must[*rental.Incident](s.t)(s.ChangeByID(ctx, inc, func(i *rental.Incident) (*rental.Incident, []rental.Delivery, error) {
			i.Status, i.ResolvedAt = rental.IncidentResolved, rental.At(s.now)
			i.Events = append(i.Events, rental.IncidentEvent{At: rental.At(s.now), Kind: "resolved", By: "PER-1", Note: "reseated"})
			return i, []rental.Delivery{{State: rental.DeliverySent, Route: "slack:C", Text: "it is well"}}, nil
		}))
		if resolved.Status != rental.IncidentResolved {
			s.t.Fatal("the incident is not resolved")
		}
		must[string](s.t)(s.CreateToken(ctx, rental.Principal{Name: "of " + l.tenant, Role: rental.RoleTenant, Tenant: l.tenant}))
		if err := s.RevokeToken(ctx, "of "+l.tenant); err != nil {
			s.t.Fatal(err)
		}
		s.now = at("2026-06-02T00:00:00Z").Time()
		s.closeMay(l.id)
	}
	s.now = at("2027-08-01T00:00:00Z").Time()
}

func (s *store) closeMay(lease string) {
	s.t.Helper()
	must[rental.ClosedMonth](s.t)(s.CloseMonth(s.t.Context(), "bob", lease, span("2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z"), func(i rental.Invoice) ([]byte, error) {
		return fmt.Appendf(nil, `{"invoice":{"number":%q}}`, i.Number), nil
	}))
}

func (s *store) incident(lease, tenant string) string {
	s.t.Helper()
	inc := must[*rental.Incident](s.t)(s.ChangeByKey(s.t.Context(), "lost "+lease, func(*rental.Incident) (*rental.Incident, []rental.Delivery, error) {
		return &rental.Incident{Key: "lost " + lease, Status: rental.IncidentOpen, OpenedAt: rental.At(s.now), Leases: []string{lease}, Tenants: []string{tenant}, Title: "GPU lost",
			Alerts: []rental.Alert{{Labels: map[string]string{"uuid": "GPU-A"}, Annotations: map[string]string{"summary": "secret words"}}},
			Events: []rental.IncidentEvent{{At: rental.At(s.now), Kind: "opened"}, {At: rental.At(s.now), Kind: "note", By: "PER-1", Note: "secret words"}}}, nil, nil
	}))
	return inc.ID
}

// done is what retention did: rows ended and held, by kind.
func (s *store) retain(dryRun bool) map[string][2]int64 {
	s.t.Helper()
	out := map[string][2]int64{}
	for _, one := range must[[]rental.Retained](s.t)(s.Retain(s.t.Context(), dryRun)) {
		if one.Rows+one.Held > 0 {
			out[one.Kind] = [2]int64{one.Rows, one.Held}
		}
	}
	return out
}

var allDays = map[string]int64{rental.RetainIncidentTexts: 400, rental.RetainDeliveries: 400, rental.RetainTokens: 400, rental.RetainSchedulerEvents: 400, rental.RetainUsageHours: 400}

func TestWhatHasComeOfAgeEndsAndWhatMoneyAndProofNeedStays(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		old(s)
		if got := s.retain(false); len(got) != 0 {
			// 455 days: the defaults end deliveries and tokens, and keep texts and hours.
			if want := (map[string][2]int64{rental.RetainDeliveries: {2, 0}, rental.RetainTokens: {2, 0}}); !reflect.DeepEqual(got, want) {
				t.Errorf("by default %v, expected %v", got, want)
			}
		} else {
			t.Error("by default nothing ended")
		}
		heads, months := must[[]rental.Head](t)(s.Heads(ctx, "L-1")), must[[]rental.ClosedMonth](t)(s.ClosedMonths(ctx, ""))
		may := span("2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z")
		totals := must[[]rental.UsageRecord](t)(s.MonthTotals(ctx, "L-1", may))
		s.keep(allDays)
		want := map[string][2]int64{rental.RetainIncidentTexts: {2, 0}, rental.RetainUsageHours: {6, 0}}
		if got := s.retain(true); !reflect.DeepEqual(got, want) {
			t.Errorf("a dry run says %v, expected %v", got, want)
		}
		if got := s.retain(false); !reflect.DeepEqual(got, want) {
			t.Errorf("ended %v, expected what the dry run said, %v", got, want)
		}
		s.reopen()
		if got := s.retain(false); len(got) != 0 {
			t.Errorf("again %v, expected nothing left to do", got)
		}
		if got := must[[]rental.Head](t)(s.Heads(ctx, "L-1")); !reflect.DeepEqual(got, heads) {
			t.Error("heads differ")
		}
		if got := must[[]rental.ClosedMonth](t)(s.ClosedMonths(ctx, "")); !reflect.DeepEqual(got, months) {
			t.Error("closed months differ")
		}
		if got := must[[]rental.UsageRecord](t)(s.MonthTotals(ctx, "L-1", may)); !reflect.DeepEqual(got, totals) {
			t.Errorf("totals %+v, expected %+v", got, totals)
		}
		if err := s.CheckTotals(ctx); err != nil {
			t.Errorf("the ledger's check: %v", err)
		}
		if err := s.UsageKept(ctx, "L-1", may.Start); rental.CodeOf(err) != rental.CodeRefused || !strings.Contains(err.Error(), "2026-06-01") {
			t.Errorf("asked for hours that ended: %v, expected it refused with since when they are kept", err)
		}
		inc := must[*rental.Incident](t)(s.Incident(ctx, "INC-1"))
		if inc.Title != "GPU lost" || inc.Alerts[0].Annotations["summary"] != "" || inc.Alerts[0].Labels["uuid"] != "GPU-A" || len(inc.Events) != 3 || inc.Events[1].Note+inc.Events[2].Note != "" || inc.Events[2].Kind != "resolved" {
			t.Errorf("%+v, expected times, kinds and machines without texts", inc)
		}
	})
}

func TestHoursThatEndedAreNotMeteredAgain(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		old(s)
		s.keep(allDays)
		s.retain(false)
		may := span("2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z")
		before := must[[]rental.UsageRecord](t)(s.MonthTotals(ctx, "L-1", may))
		s.saveUsage(hourOf("L-1", 1, 0))
		if got := must[[]rental.UsageRecord](t)(s.MonthTotals(ctx, "L-1", may)); !reflect.DeepEqual(got, before) {
			t.Errorf("totals %+v, expected %+v: an hour was counted twice", got, before)
		}
		if got := must[[]rental.UsageRecord](t)(s.UsageRecords(ctx, "L-1", may)); len(got) != 0 {
			t.Errorf("%d records, expected none to come back", len(got))
		}
	})
}

func TestUsageOfAMonthThatMayBeDisputedStays(t *testing.T) {
	for name, prepare := range map[string]func(s *store){
		"a month that is not closed": nil,
		"a downtime that waits": func(s *store) {
			must[rental.Downtime](s.t)(s.RecordDowntime(s.t.Context(), rental.Downtime{Lease: "L-1", UUIDs: []string{"GPU-A"}, Cause: rental.CauseProvider, Reason: "lost",
				Span: span("2026-05-01T01:00:00Z", "2026-05-01T02:00:00Z"), Evidence: []rental.Evidence{{Kind: "text", Text: "seen"}}, Witnesses: []string{"ticket 7"}, EnteredBy: "ada",
				Acts: []rental.Act{{At: rental.At(s.now), By: "ada", Side: rental.SideProvider, Kind: rental.ActRecorded, Note: "seen"}}}))
		},
		"a claim that waits": func(s *store) {
			must[rental.CreditCase](s.t)(s.ChangeCreditCase(s.t.Context(), "L-1", "2026-05", func(c rental.CreditCase) (rental.CreditCase, error) {
				c.Acts = append(c.Acts, rental.Act{At: rental.At(s.now), By: "acme", Kind: rental.ActClaimed, Note: "ours"})
				return c, nil
			}))
		},
		"a credit that may be claimed for years": func(s *store) {
			r := fleet()
			r.Contracts[0].Availability = &rental.Availability{TargetPercent: decimal("99.5"), Scope: "gpu", Period: "calendar_month", Denominator: "lease", Outage: "exact", Degraded: "up", Unknown: "excluded", ExcludedLeavesDenominator: new(true)}
			r.Contracts[0].Credits = &rental.Credits{Base: "gross", Scope: "gpu", CapPercent: decimal("100"), Tiers: []rental.CreditTier{{Under: decimal("99.5"), Percent: decimal("10")}}, ClaimDays: 1000}
			s.apply(rental.Resources{Contracts: r.Contracts})
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *store) {
				s.apply(fleet())
				s.apply(leases(lease("L-1", "acme", "2026-05-01T00:00:00Z", "2026-09-01T00:00:00Z", "GPU-A")))
				s.now = at("2026-05-02T00:00:00Z").Time()
				s.saveUsage(hourOf("L-1", 0, 0))
				s.seal("L-1")
				if prepare != nil {
					prepare(s)
					s.now = at("2026-06-02T00:00:00Z").Time()
					s.closeMay("L-1")
				}
				s.now = at("2027-08-01T00:00:00Z").Time()
				s.keep(allDays)
				if got := s.retain(false); len(got) != 0 {
					t.Errorf("ended %v, expected it kept", got)
				}
			})
		})
	}
}

func TestUsageThatNoHeadClosesStays(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		s.apply(fleet())
		s.apply(leases(lease("L-1", "acme", "2026-05-01T00:00:00Z", "2026-09-01T00:00:00Z", "GPU-A")))
		s.now = at("2026-05-02T00:00:00Z").Time()
		s.saveUsage(hourOf("L-1", 0, 0))
		s.seal("L-1")
		s.now = at("2026-05-03T00:00:00Z").Time()
		s.saveUsage(hourOf("L-1", 0, 500), hourOf("L-1", 1, 0)) // after the last head of May
		s.now = at("2026-06-02T00:00:00Z").Time()
		s.closeMay("L-1")
		s.seal("L-1") // in June: the report on June is made of this head, and of the one before by its hash alone
		s.now = at("2027-08-01T00:00:00Z").Time()
		s.keep(allDays)
		whole := s.chain("L-1")
		if got := s.retain(false); got[rental.RetainUsageHours][0] != 1 {
			t.Errorf("ended %v, expected the one record under the head of May", got)
		}
		if again := s.chain("L-1"); !reflect.DeepEqual(again[1], whole[1]) {
			t.Errorf("the head of June reads %+v, expected %+v", again[1], whole[1])
		}
	})
}

func TestUnderAHoldNothingOfItEnds(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		old(s)
		s.keep(allDays)
		place := func(h rental.Hold) rental.Hold { return must[rental.Hold](t)(s.PlaceHold(ctx, "ada", h)) }
		one := place(rental.Hold{Scope: rental.HoldLease, Of: "L-1", Reason: "a dispute about May"})
		if want := (map[string][2]int64{rental.RetainIncidentTexts: {1, 1}, rental.RetainDeliveries: {1, 1}, rental.RetainTokens: {2, 0}, rental.RetainUsageHours: {3, 3}}); !reflect.DeepEqual(s.retain(true), want) {
			t.Errorf("a lease is held: %v, expected %v", s.retain(true), want)
		}
		two := place(rental.Hold{Scope: rental.HoldTenant, Of: "globex", Reason: "an audit"})
		if want := (map[string][2]int64{rental.RetainIncidentTexts: {0, 2}, rental.RetainDeliveries: {0, 2}, rental.RetainTokens: {1, 1}, rental.RetainUsageHours: {0, 6}}); !reflect.DeepEqual(s.retain(true), want) {
			t.Errorf("a tenant is held too: %v, expected %v", s.retain(true), want)
		}
		three := place(rental.Hold{Scope: rental.HoldAll, Reason: "a court"})
		if want := (map[string][2]int64{rental.RetainIncidentTexts: {0, 2}, rental.RetainDeliveries: {0, 2}, rental.RetainTokens: {0, 2}, rental.RetainUsageHours: {0, 6}}); !reflect.DeepEqual(s.retain(false), want) {
			t.Errorf("all is held: %v, expected %v", s.retain(false), want)
		}
		s.person("Ada", "")
		if _, _, err := s.ErasePerson(ctx, root, "asked for it", "PER-1"); rental.CodeOf(err) != rental.CodeRefused || !strings.Contains(err.Error(), "HOLD-3") {
			t.Errorf("a person erased while all is held: %v, expected it refused with the hold", err)
		}
		for _, h := range []rental.Hold{one, two, three} {
			must[rental.Hold](t)(s.ReleaseHold(ctx, bob, h.ID, "settled"))
		}
		if want := (map[string][2]int64{rental.RetainIncidentTexts: {2, 0}, rental.RetainDeliveries: {2, 0}, rental.RetainTokens: {2, 0}, rental.RetainUsageHours: {6, 0}}); !reflect.DeepEqual(s.retain(false), want) {
			t.Errorf("released: something else ended than %v", want)
		}
	})
}

func TestAHoldIsReleasedByAnotherPersonOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(fleet())
		h := must[rental.Hold](t)(s.PlaceHold(ctx, "ada", rental.Hold{Scope: rental.HoldTenant, Of: "acme", Reason: "an audit"}))
		if h.ID != "HOLD-1" || h.PlacedBy != "ada" || h.PlacedAt == 0 {
			t.Fatalf("%+v", h)
		}
		for what, c := range map[string]struct {
			do   func() error
			want rental.Code
		}{
			"by who placed it": {func() error { _, err := s.ReleaseHold(ctx, ada, h.ID, "done"); return err }, rental.CodeRefused},
			"by a program": {func() error {
				_, err := s.ReleaseHold(ctx, rental.Principal{Name: "ci", Service: true}, h.ID, "done")
				return err
			}, rental.CodeRefused},
			"without a reason":  {func() error { _, err := s.ReleaseHold(ctx, bob, h.ID, " "); return err }, rental.CodeInvalid},
			"that is not there": {func() error { _, err := s.ReleaseHold(ctx, bob, "HOLD-9", "done"); return err }, rental.CodeNotFound},
			"placed on no lease": {func() error {
				_, err := s.PlaceHold(ctx, "ada", rental.Hold{Scope: rental.HoldLease, Of: "L-9", Reason: "x"})
				return err
			}, rental.CodeNotFound},
			"placed on no tenant": {func() error {
				_, err := s.PlaceHold(ctx, "ada", rental.Hold{Scope: rental.HoldTenant, Of: "x", Reason: "x"})
				return err
			}, rental.CodeNotFound},
			"placed without a reason": {func() error { _, err := s.PlaceHold(ctx, "ada", rental.Hold{Scope: rental.HoldAll}); return err }, rental.CodeInvalid},
			"placed on all of a lease": {func() error {
				_, err := s.PlaceHold(ctx, "ada", rental.Hold{Scope: rental.HoldAll, Of: "L-1", Reason: "x"})
				return err
			}, rental.CodeInvalid},
			"placed on what is not": {func() error {
				_, err := s.PlaceHold(ctx, "ada", rental.Hold{Scope: "host", Of: "h", Reason: "x"})
				return err
			}, rental.CodeInvalid},
		} {
			if err := c.do(); rental.CodeOf(err) != c.want {
				t.Errorf("%s: %v, expected %s", what, err, c.want)
			}
		}
		s.now = s.now.Add(time.Hour)
		released := must[rental.Hold](t)(s.ReleaseHold(ctx, bob, h.ID, "settled"))
		if released.ReleasedBy != "bob" || released.ReleasedWhy != "settled" || released.PlacedBy != "ada" {
			t.Errorf("%+v, expected both names and the reason", released)
		}
		if _, err := s.ReleaseHold(ctx, bob, h.ID, "again"); rental.CodeOf(err) != rental.CodeConflict {
			t.Errorf("released twice: %v, expected a conflict", err)
		}
		if facts := must[[]rental.Fact](t)(s.History(ctx, "Hold", h.ID)); len(facts) != 2 {
			t.Errorf("%d facts, expected both acts kept", len(facts))
		}
	})
}

func TestASessionOfClosedTimeEndsAndIsNotHeardAgain(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(fleet())
		floating := lease("L-1", "acme", "2026-05-01T00:00:00Z", "2026-09-01T00:00:00Z")
		floating.Floating = &rental.Floating{SKU: "h100-sxm", Number: 2}
		s.apply(leases(floating))
		s.now = at("2026-05-03T00:00:00Z").Time()
		event := func(key, session, kind, uuid, when string) rental.AssignmentEvent {
			return rental.AssignmentEvent{Key: key, Session: session, Lease: "L-1", UUID: uuid, Kind: kind, At: at(when)}
		}
		events := []rental.AssignmentEvent{
			event("1", "job-1", rental.EventStart, "GPU-A", "2026-05-02T00:00:00Z"), event("2", "job-1", rental.EventStop, "", "2026-05-02T06:00:00Z"),
			event("3", "job-2", rental.EventStart, "GPU-B", "2026-05-02T00:00:00Z"), // it goes on
		}
		if _, err := s.RecordEvents(ctx, "slurm", events); err != nil {
			t.Fatal(err)
		}
		s.now = at("2026-06-02T00:00:00Z").Time()
		s.closeMay("L-1")
		s.now = at("2027-08-01T00:00:00Z").Time()
		before := must[[]rental.Assignment](t)(s.Assignments(ctx, "L-1"))
		s.keep(allDays)
		if got := s.retain(false); got[rental.RetainSchedulerEvents] != [2]int64{2, 0} {
			t.Errorf("ended %v, expected the session that had ended", got)
		}
		if _, err := s.RecordEvents(ctx, "slurm", events[:1]); rental.CodeOf(err) != rental.CodeRefused {
			t.Errorf("told again: %v, expected it refused", err)
		}
		if _, err := s.RecordEvents(ctx, "slurm", events[2:]); err != nil {
			t.Errorf("an event that is known is told again: %v", err)
		}
		if got := must[[]rental.Assignment](t)(s.Assignments(ctx, "L-1")); !reflect.DeepEqual(got, before) {
			t.Errorf("assignments %+v, expected %+v", got, before)
		}
	})
}

func TestARevokedTokensNumberIsNotGivenToAnotherThatIsValid(t *testing.T) {
	s := newStore(t, "sqlite:"+t.TempDir()+"/ledger.db")
	ctx := t.Context()
	s.person("Ada", "")
	s.holds("PER-1", rental.RoleAdmin)
	s.holds("PER-1", rental.RoleAdmin)
	if err := s.RevokeToken(ctx, "PER-1.1"); err != nil {
		t.Fatal(err)
	}
	s.now = s.now.Add(500 * aDay)
	s.keep(allDays)
	if got := s.retain(false); got[rental.RetainTokens] != [2]int64{1, 0} {
		t.Fatalf("ended %v, expected the revoked token", got)
	}
	s.holds("PER-1", rental.RoleAdmin)
	var names []string
	for _, token := range must[[]rental.Token](t)(s.Tokens(ctx)) {
		names = append(names, token.Name)
	}
	if want := []string{"PER-1.2", "PER-1.3"}; !reflect.DeepEqual(names, want) {
		t.Errorf("tokens %q, expected %q", names, want)
	}
}

func TestRetentionThatIsTooShortIsRefused(t *testing.T) {
	s := newStore(t, "sqlite:"+t.TempDir()+"/ledger.db")
	for _, k := range rental.RetentionKinds {
		policy := rental.DefaultRetention()
		policy[k.Name] = k.MinimumMS - 1
		err := s.SetRetention(t.Context(), "leasewatch", policy)
		if rental.CodeOf(err) != rental.CodeInvalid || !strings.Contains(err.Error(), k.Name) || !strings.Contains(err.Error(), k.Why) {
			t.Errorf("%s: %v, expected it refused with the reason", k.Name, err)
		}
	}
	if got := must[rental.RetentionPolicy](t)(s.Retention(t.Context())); !reflect.DeepEqual(got, rental.DefaultRetention()) {
		t.Errorf("%v, expected the default", got)
	}
}

func TestNothingEndsWithoutRetention(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		old(s)
		db := s.raw()
		for _, statement := range []string{
			"DELETE FROM usage_records", "DELETE FROM tokens", "DELETE FROM token_revocations", "DELETE FROM assignment_events",
			"UPDATE incident_events SET note = ''", "DELETE FROM incident_events", "UPDATE usage_records SET used_us = 0",
		} {
			if statement == "DELETE FROM assignment_events" && strings.HasPrefix(s.dsn, "sqlite") {
				continue // no row, and SQLite's triggers are by row
			}
			if _, err := db.ExecContext(context.Background(), statement); err == nil || !strings.Contains(err.Error(), "holds facts") {
				t.Errorf("%s: %v, expected the store to refuse it", statement, err)
			}
		}
	})
}
