package ledger_test

import (
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func (s *store) announce(id string, hosts ...string) error {
	s.t.Helper()
	m := rental.Maintenance{ID: id, Hosts: hosts, Start: at("2026-05-10T00:00:00Z"), End: at("2026-05-10T02:00:00Z")}
	m, err := m.Announce(rental.Act{At: rental.At(s.now), By: "ann", Side: rental.SideProvider, Note: "firmware"}, []string{"acme"})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.AnnounceMaintenance(s.t.Context(), m)
}

func TestAMaintenanceIsAFactAndEachDeliveryItsNextRevision(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(metered())
		if err := s.announce("M-1", "gpu-a1"); err != nil {
			t.Fatal(err)
		}
		announced := rental.At(s.now)
		if err := s.announce("M-1", "gpu-a1"); rental.CodeOf(err) != rental.CodeConflict {
			t.Errorf("the same name again: %v", err)
		}
		if err := s.announce("M-2", "gpu-z9"); rental.CodeOf(err) != rental.CodeInvalid || !strings.Contains(err.Error(), `found "gpu-z9"`) {
			t.Errorf("a host that nobody knows: %v", err)
		}
		s.now = s.now.Add(time.Hour)
		told := rental.At(s.now)
		deliver := func(m rental.Maintenance) (rental.Maintenance, error) {
			return m.Do(rental.Act{At: told, By: "ann", Kind: rental.ActDelivered, Tenant: "acme", Way: "mail", Note: "ticket 7"}, []string{"acme"})
		}
		if _, err := s.ChangeMaintenance(ctx, "M-1", deliver); err != nil {
			t.Fatal(err)
		}
		if _, err := s.ChangeMaintenance(ctx, "M-9", deliver); rental.CodeOf(err) != rental.CodeNotFound {
			t.Errorf("one that nobody announced: %v", err)
		}
		if _, err := s.ChangeMaintenance(ctx, "M-1", func(m rental.Maintenance) (rental.Maintenance, error) {
			m.End, m.Acts = m.End+1, append(m.Acts, rental.Act{})
			return m, nil
		}); rental.CodeOf(err) != rental.CodeInvalid {
			t.Errorf("another window: %v", err)
		}
		one, err := s.Maintenance(ctx, "M-1")
		if err != nil || one.Delivered("acme") != told || one.Delivered("globex") != 0 || one.Announced != announced {
			t.Errorf("as it stands: %+v, %v", one, err)
		}
		if past, err := s.AsOf(announced).Maintenance(ctx, "M-1"); err != nil || past.Delivered("acme") != 0 {
			t.Errorf("as it was known before: %+v, %v", past, err)
		}
		revisions, err := s.History(ctx, rental.KindMaintenance, "M-1")
		if err != nil || len(revisions) != 2 || revisions[1].By != "ann" || revisions[1].Why != "ticket 7" {
			t.Errorf("history: %+v, %v", revisions, err)
		}
	})
}

func TestAFileNeitherMovesAnAnnouncedWindowNorTellsOfThePast(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(metered())
		if err := s.announce("M-1", "gpu-a1"); err != nil {
			t.Fatal(err)
		}
		one, err := s.Maintenance(ctx, "M-1")
		if err != nil {
			t.Fatal(err)
		}
		file := func(change func(*rental.Maintenance)) error {
			m := one
			m.Recipients, m.Acts = nil, nil // a file has none
			change(&m)
			_, _, err := s.Submit(ctx, ada, "apply", rental.Resources{Maintenances: []rental.Maintenance{m}}, ledger.Submission{})
			return err
		}
		if err := file(func(*rental.Maintenance) {}); err != nil {
			t.Errorf("the window as it stands: %v", err)
		}
		for name, change := range map[string]func(*rental.Maintenance){
			"moved":                   func(m *rental.Maintenance) { m.End++ },
			"begun before it is told": func(m *rental.Maintenance) { m.ID, m.Start, m.Announced = "M-3", rental.At(s.now), rental.At(s.now)-1 },
			"announced in the past":   func(m *rental.Maintenance) { m.ID, m.Announced = "M-4", rental.At(s.now)-day },
		} {
			if err := file(change); rental.CodeOf(err) != rental.CodeRefused {
				t.Errorf("%s: %v, expected a refusal", name, err)
			}
		}
		if kept, err := s.Maintenance(ctx, "M-1"); err != nil || len(kept.Acts) != 1 {
			t.Errorf("what people did: %+v, %v", kept, err)
		}
		s.policy(rental.ApproveBackdated)
		if held := s.submit(window("2026-04-20T00:00:00Z", "2026-04-21T00:00:00Z")); held == nil {
			t.Error("a window of the past is recorded without a second person")
		}
	})
}
