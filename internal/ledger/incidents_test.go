package ledger_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func open(key string, opened rental.Millis) *rental.Incident {
	return &rental.Incident{Key: key, Status: rental.IncidentOpen, Severity: rental.Page, Title: "GPU lost", OpenedAt: opened, Revision: 1,
		Messages: map[string]rental.MessageRef{"slack:C": {Channel: "C", ID: "1.2"}},
		Events:   []rental.IncidentEvent{{At: opened, Kind: "opened", By: "", Note: "first"}}}
}

func TestAnIncidentKeepsItsLifeAndItsOutboxTogether(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		opened := at("2026-05-01T03:00:00Z")
		first, err := s.ChangeByKey(ctx, "k", func(old *rental.Incident) (*rental.Incident, []rental.Delivery, error) {
			if old != nil {
				t.Errorf("found %+v, expected no incident yet", old)
			}
			return open("k", opened), []rental.Delivery{
				{Route: "slack:C", Kind: "thread", Severity: rental.Ticket, State: rental.DeliveryPending, NextAt: opened},
				{Route: "slack:C", Kind: "post", Severity: rental.Page, State: rental.DeliveryPending, NextAt: opened},
			}, nil
		})
		if err != nil || first.ID != "INC-1" || len(first.Events) != 1 || first.Messages["slack:C"].ID != "1.2" {
			t.Fatalf("saved %+v (%v)", first, err)
		}
		due := must[[]rental.Delivery](t)(s.DueDeliveries(ctx, opened, 10))
		if len(due) != 2 || due[0].Kind != "post" || due[0].Incident != "INC-1" || due[0].ID == 0 {
			t.Errorf("due %+v, expected the page first", due)
		}
		if early := must[[]rental.Delivery](t)(s.DueDeliveries(ctx, opened-1, 10)); len(early) != 0 {
			t.Errorf("due too early: %+v", early)
		}
		due[0].State, due[0].SentAt = rental.DeliverySent, opened
		due[1].State, due[1].Error = rental.DeliveryFailed, "channel_not_found"
		for _, d := range due {
			if err := s.SaveDelivery(ctx, d); err != nil {
				t.Fatal(err)
			}
		}
		if pending := must[[]rental.Delivery](t)(s.PendingDeliveries(ctx)); len(pending) != 1 || pending[0].Error != "channel_not_found" {
			t.Errorf("pending or failed: %+v, expected the failed one", pending)
		}
		acked, err := s.ChangeByID(ctx, "INC-1", func(old *rental.Incident) (*rental.Incident, []rental.Delivery, error) {
			old.Status, old.AckedBy = rental.IncidentAcked, "ada"
			old.Events = append(old.Events, rental.IncidentEvent{At: opened + 1, Kind: "acked", By: "ada"})
			return old, nil, nil
		})
		if err != nil || acked.Status != rental.IncidentAcked || len(acked.Events) != 2 {
			t.Fatalf("acked %+v (%v)", acked, err)
		}
		s.reopen()
		kept := must[*rental.Incident](t)(s.Incident(ctx, "INC-1"))
		if !reflect.DeepEqual(kept, acked) {
			t.Errorf("after a restart: found %+v, expected %+v", kept, acked)
		}
	})
}

func TestAStepThatFailsOrDeclinesKeepsNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		broken := errors.New("broken")
		steps := map[string]func(*rental.Incident) (*rental.Incident, []rental.Delivery, error){
			"an error": func(*rental.Incident) (*rental.Incident, []rental.Delivery, error) { return open("k", 1), nil, broken },
			"nil":      func(*rental.Incident) (*rental.Incident, []rental.Delivery, error) { return nil, nil, nil },
			"a status that is not known": func(*rental.Incident) (*rental.Incident, []rental.Delivery, error) {
				i := open("k", 1)
				i.Status = "asleep"
				return i, nil, nil
			},
			"a delivery that is not there": func(*rental.Incident) (*rental.Incident, []rental.Delivery, error) {
				return open("k", 1), []rental.Delivery{{ID: 77}}, nil
			},
		}
		for name, step := range steps {
			if got, err := s.ChangeByKey(ctx, "k", step); got != nil || (err == nil) != (name == "nil") {
				t.Errorf("%s: found %+v, %v", name, got, err)
			}
		}
		if all := must[[]rental.Incident](t)(s.UnresolvedIncidents(ctx)); len(all) != 0 {
			t.Errorf("found %+v, expected none", all)
		}
		for _, id := range []string{"INC-1", "1", "INC-x", ""} {
			if _, err := s.Incident(ctx, id); !errors.Is(err, rental.ErrNotFound) {
				t.Errorf("incident %q: %v, expected not found", id, err)
			}
		}
		if _, err := s.ChangeByID(ctx, "INC-9", steps["nil"]); !errors.Is(err, rental.ErrNotFound) {
			t.Errorf("change of INC-9: %v, expected not found", err)
		}
	})
}

func TestEventsThatWereToldAreNotTakenBack(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		if _, err := s.ChangeByKey(ctx, "k", func(*rental.Incident) (*rental.Incident, []rental.Delivery, error) { return open("k", 1), nil, nil }); err != nil {
			t.Fatal(err)
		}
		_, err := s.ChangeByKey(ctx, "k", func(old *rental.Incident) (*rental.Incident, []rental.Delivery, error) {
			old.Events = nil
			return old, nil, nil
		})
		if rental.CodeOf(err) != rental.CodeInvalid {
			t.Errorf("found %v, expected it invalid", err)
		}
	})
}

func TestIncidentsOfASpanAreTheNewestFirst(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		day := span("2026-05-02T00:00:00Z", "2026-05-03T00:00:00Z")
		save := func(key string, opened, resolved rental.Millis) {
			t.Helper()
			if _, err := s.ChangeByKey(ctx, key, func(*rental.Incident) (*rental.Incident, []rental.Delivery, error) {
				i := open(key, opened)
				i.Tenants = []string{"acme", key}
				if key == "after" {
					i.Tenants = nil
				}
				if resolved != 0 {
					i.Status, i.ResolvedAt = rental.IncidentResolved, resolved
				}
				return i, nil, nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		save("over before", day.Start-100, day.Start)
		save("into it", day.Start-50, day.Start+1)
		save("still open", day.Start-40, 0)
		save("in it", day.Start+10, day.Start+10)
		save("after", day.End, 0)
		var keys []string
		for _, i := range must[[]rental.Incident](t)(s.Incidents(ctx, day, 10)) {
			keys = append(keys, i.Key)
		}
		if got := strings.Join(keys, ", "); got != "in it, still open, into it" {
			t.Errorf("found %s", got)
		}
		if few := must[[]rental.Incident](t)(s.Incidents(ctx, day, 1)); len(few) != 1 || few[0].Key != "in it" {
			t.Errorf("found %+v, expected the newest alone", few)
		}
		for what, c := range map[string]struct {
			filter ledger.IncidentFilter
			want   string
		}{
			"all of a day":              {ledger.IncidentFilter{Span: day, Limit: 10}, "in it, still open, into it"},
			"the newest resolved":       {ledger.IncidentFilter{Span: day, Status: rental.IncidentResolved, Limit: 1}, "in it"},
			"a tenant's, behind others": {ledger.IncidentFilter{Span: day, Tenant: "into it", Limit: 1}, "into it"},
			"what touched a second":     {ledger.IncidentFilter{Span: day, Tenant: "acme", Limit: 10}, "in it, still open, into it"},
			"a tenant's open ones":      {ledger.IncidentFilter{Span: day, Tenant: "still open", Status: rental.IncidentOpen, Limit: 10}, "still open"},
			"a part of a name":          {ledger.IncidentFilter{Span: day, Tenant: "acm", Limit: 10}, ""},
			"nobody's":                  {ledger.IncidentFilter{Span: day, Tenant: `' OR ''='`, Limit: 10}, ""},
		} {
			var keys []string
			for _, i := range must[[]rental.Incident](t)(s.FindIncidents(ctx, c.filter)) {
				keys = append(keys, i.Key)
			}
			if got := strings.Join(keys, ", "); got != c.want {
				t.Errorf("%s: found %s, expected %s", what, got, c.want)
			}
		}
		unresolved := must[[]rental.Incident](t)(s.UnresolvedIncidents(ctx))
		if len(unresolved) != 2 || unresolved[0].Key != "still open" {
			t.Errorf("unresolved %+v, expected the two open ones, the oldest first", unresolved)
		}
	})
}

func TestPagingEntriesLastUntilTheyExpire(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		for key, body := range map[string]string{"b": "two", "a": "one"} {
			if err := s.SaveEntry(ctx, "silence", key, []byte(body), s.now.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.SaveEntry(ctx, "silence", "a", []byte("newer\x00"), s.now.Add(2*time.Hour)); err != nil {
			t.Fatal(err)
		}
		s.reopen()
		load := func() string {
			var all []string
			for _, body := range must[[][]byte](t)(s.LoadEntries(ctx, "silence")) {
				all = append(all, string(body))
			}
			return strings.Join(all, ",")
		}
		if got := load(); got != "newer\x00,two" {
			t.Errorf("found %q", got)
		}
		s.now = s.now.Add(time.Hour)
		if got := load(); got != "newer\x00" {
			t.Errorf("an hour later: found %q, expected the one that lasts longer", got)
		}
	})
}

func TestATokenIsToldOnceAndWorksUntilItIsRevoked(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(fleet())
		secret := must[string](t)(s.CreateToken(ctx, rental.Principal{Name: "acme-portal", Role: rental.RoleTenant, Tenant: "acme"}))
		if len(secret) < 43 {
			t.Errorf("secret of %d characters, expected at least 256 bits", len(secret))
		}
		who := must[rental.Principal](t)(s.Authenticate(ctx, secret))
		if who != (rental.Principal{Name: "acme-portal", Role: rental.RoleTenant, Tenant: "acme"}) {
			t.Errorf("found %+v", who)
		}
		refusals := map[string]func() (string, error){
			"a name that is taken": func() (string, error) {
				return s.CreateToken(ctx, rental.Principal{Name: "acme-portal", Role: rental.RoleAdmin})
			},
			"a role that is not known": func() (string, error) { return s.CreateToken(ctx, rental.Principal{Name: "x", Role: "god"}) },
			"a tenant's without a tenant": func() (string, error) {
				return s.CreateToken(ctx, rental.Principal{Name: "x", Role: rental.RoleTenant})
			},
			"an admin's with a tenant": func() (string, error) {
				return s.CreateToken(ctx, rental.Principal{Name: "x", Role: rental.RoleAdmin, Tenant: "acme"})
			},
			"an operator's for a host": func() (string, error) {
				return s.CreateToken(ctx, rental.Principal{Name: "x", Role: rental.RoleOperator, Host: "gpu-a17"})
			},
			"an unknown tenant's": func() (string, error) {
				return s.CreateToken(ctx, rental.Principal{Name: "x", Role: rental.RoleTenant, Tenant: "nobody"})
			},
		}
		for name, create := range refusals {
			if got, err := create(); err == nil || got != "" {
				t.Errorf("%s: made a token, expected it refused", name)
			}
		}
		var kept int
		like := "%" + strings.TrimPrefix(secret, "lwt_") + "%"
		if err := s.raw().QueryRow("SELECT count(*) FROM tokens WHERE hash LIKE $1 OR name LIKE $1", like).Scan(&kept); err != nil || kept != 0 {
			t.Errorf("the secret itself is kept (%d, %v)", kept, err)
		}
		if err := s.RevokeToken(ctx, "acme-portal"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Authenticate(ctx, secret); !errors.Is(err, rental.ErrNotFound) {
			t.Errorf("a revoked token: %v, expected not found", err)
		}
		if err := s.RevokeToken(ctx, "acme-portal"); !errors.Is(err, rental.ErrNotFound) {
			t.Errorf("revoking again: %v, expected not found", err)
		}
		must[string](t)(s.CreateToken(ctx, rental.Principal{Name: "acme-portal", Role: rental.RoleTenant, Tenant: "acme"}))
		all := must[[]rental.Token](t)(s.Tokens(context.Background()))
		if len(all) != 2 || (all[0].RevokedAt == 0) == (all[1].RevokedAt == 0) {
			t.Errorf("tokens %+v, expected a revoked and a valid one", all)
		}
	})
}

func TestStepsOfOneIncidentComeOneAfterTheOther(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		const workers, steps = 6, 5
		var group errgroup.Group
		for range workers {
			group.Go(func() error {
				for range steps {
					if _, err := s.ChangeByKey(t.Context(), "k", func(old *rental.Incident) (*rental.Incident, []rental.Delivery, error) {
						if old == nil {
							return open("k", 1), nil, nil
						}
						old.Revision++
						old.Events = append(old.Events, rental.IncidentEvent{Kind: "changed"})
						return old, nil, nil
					}); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		all := must[[]rental.Incident](t)(s.UnresolvedIncidents(t.Context()))
		if len(all) != 1 || all[0].Revision != workers*steps || len(all[0].Events) != workers*steps {
			t.Errorf("found %d incidents, revision %d: expected one at revision %d", len(all), all[0].Revision, workers*steps)
		}
	})
}
