package ledger_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// root is who does what an admin does.
var root = rental.Principal{Name: "root", Role: rental.RoleAdmin}

// lovelace is a name that stands nowhere else, so that it can be looked for.
const (
	lovelace     = "Augusta Ada Lovelace-Zq"
	lovelaceMail = "augusta-zq@example.net"
)

func (s *store) person(name, mail string) rental.Person {
	s.t.Helper()
	return must[rental.Person](s.t)(s.AddPerson(s.t.Context(), "root", rental.Person{Name: name, Mail: mail}))
}

// holds makes a token of a person and returns who its holder is taken for.
func (s *store) holds(id string, role rental.Role) rental.Principal {
	s.t.Helper()
	secret := must[string](s.t)(s.CreateToken(s.t.Context(), rental.Principal{Person: id, Role: role}))
	return must[rental.Principal](s.t)(s.Authenticate(s.t.Context(), secret))
}

func TestFactsHoldTheIDOfAPersonWhicheverTokenWasUsed(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(fleet())
		s.policy(rental.ApprovePrices)
		ada := s.person(lovelace, lovelaceMail)
		if ada.ID != "PER-1" || s.person("Bob", "").ID != "PER-2" {
			t.Fatalf("%+v, expected ids in order", ada)
		}
		first, second := s.holds(ada.ID, rental.RoleOperator), s.holds(ada.ID, rental.RoleFinance)
		if first.Name != "PER-1" || second.Name != "PER-1" || first.Person != "PER-1" {
			t.Fatalf("%+v and %+v, expected both known by the id", first, second)
		}
		_, held, err := s.Submit(ctx, first, "GitOps", dearer("2026-06-01T00:00:00Z"), ledger.Submission{})
		if err != nil || held == nil {
			t.Fatalf("%+v, %v", held, err)
		}
		if _, err := s.DecidePending(ctx, held.ID, second, true, ""); rental.CodeOf(err) != rental.CodeRefused {
			t.Errorf("approved with the same person's other token: %v, expected refused", err)
		}
		if _, err := s.DecidePending(ctx, held.ID, s.holds("PER-2", rental.RoleFinance), true, ""); err != nil {
			t.Fatal(err)
		}
		facts := must[[]rental.Fact](t)(s.History(ctx, rental.KindContract, "hourly"))
		if last := facts[len(facts)-1]; last.By != "PER-1" || last.ApprovedBy != "PER-2" {
			t.Errorf("recorded by %q, approved by %q: expected ids", last.By, last.ApprovedBy)
		}
		names := must[rental.Names](t)(s.Names(ctx, ""))
		if want := (rental.Names{"PER-1": lovelace + " (PER-1)", "PER-2": "Bob (PER-2)"}); !reflect.DeepEqual(names, want) {
			t.Errorf("names %v, expected %v", names, want)
		}
	})
}

func TestATenantIsToldTheNamesOfItsOwnPeopleOnly(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		s.apply(fleet())
		s.person("Staff", "")
		s.holds("PER-1", rental.RoleOperator)
		for _, tenant := range []string{"acme", "globex"} {
			must[string](t)(s.CreateToken(t.Context(), rental.Principal{Person: s.person("of "+tenant, "").ID, Role: rental.RoleTenant, Tenant: tenant}))
		}
		names := must[rental.Names](t)(s.Names(t.Context(), "acme"))
		if _, ok := names["PER-2"]; !ok || len(names) != 1 {
			t.Errorf("names %v, expected that of PER-2 alone", names)
		}
	})
}

func TestErasingAPersonChangesNoFactAndEndsTheTokens(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.apply(fleet())
		s.apply(leases(lease("L-1", "acme", "2026-05-01T00:00:00Z", "open", "GPU-A")))
		ada := s.person(lovelace, lovelaceMail)
		secret := must[string](t)(s.CreateToken(ctx, rental.Principal{Person: ada.ID, Role: rental.RoleOperator}))
		s.now = s.now.Add(3 * time.Hour)
		must[rental.Downtime](t)(s.RecordDowntime(ctx, rental.Downtime{Lease: "L-1", UUIDs: []string{"GPU-A"}, Cause: rental.CauseProvider, Reason: "lost",
			Span: span("2026-05-01T01:00:00Z", "2026-05-01T02:00:00Z"), Evidence: []rental.Evidence{{Kind: "text", Text: "seen"}}, Witnesses: []string{"ticket 7"}, EnteredBy: ada.ID,
			Acts: []rental.Act{{At: rental.At(s.now), By: ada.ID, Side: rental.SideProvider, Kind: rental.ActRecorded, Note: "seen"}}}))
		if err := s.SaveUsage(ctx, []rental.UsageRecord{hourOf("L-1", 0, 0)}); err != nil {
			t.Fatal(err)
		}
		s.seal("L-1")
		s.now = at("2026-06-02T00:00:00Z").Time()
		closed, err := s.CloseMonth(ctx, ada.ID, "L-1", span("2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z"), func(i rental.Invoice) ([]byte, error) {
			return fmt.Appendf(nil, `{"invoice":{"number":%q,"closed_by":%q}}`, i.Number, i.ClosedBy), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		before, history := s.chain("L-1"), must[[]rental.HistoryEntry](t)(s.LeaseHistory(ctx, "L-1"))

		erased, held, err := s.ErasePerson(ctx, root, "asked for it", ada.ID)
		if err != nil || held != nil || erased.ErasedAt == 0 || erased.Name != "" {
			t.Fatalf("%+v, %+v, %v: expected it erased at once", erased, held, err)
		}
		s.reopen()
		if got := must[rental.Person](t)(s.Person(ctx, ada.ID)); got.Name != "" || got.Mail != "" || got.Shown() != "PER-1 (erased)" {
			t.Errorf("%+v, expected the id alone", got)
		}
		if _, err := s.Authenticate(ctx, secret); rental.CodeOf(err) != rental.CodeNotFound {
			t.Errorf("the token of the erased person: %v, expected it ended", err)
		}
		if after := s.chain("L-1"); !reflect.DeepEqual(after, before) {
			t.Errorf("the chain reads %+v, expected %+v", after, before)
		}
		if after := must[[]rental.HistoryEntry](t)(s.LeaseHistory(ctx, "L-1")); !reflect.DeepEqual(after, history) {
			t.Error("the history of the lease differs")
		}
		if again := must[[]rental.ClosedMonth](t)(s.ClosedMonths(ctx, "L-1")); len(again) != 1 || !bytes.Equal(again[0].Bill, closed.Bill) || again[0].Hash != closed.Hash {
			t.Errorf("%+v, expected the bill that was frozen", again)
		}
		again, held, err := s.ErasePerson(ctx, root, "again", ada.ID)
		if err != nil || held != nil || again.ErasedAt != erased.ErasedAt {
			t.Errorf("erased again: %+v, %+v, %v, expected nothing to do", again, held, err)
		}
		facts := must[[]rental.Fact](t)(s.History(ctx, ledger.PersonKind, ada.ID))
		if len(facts) != 2 || facts[1].By != "root" || facts[1].Why != "asked for it" || strings.Contains(string(facts[0].Body)+string(facts[1].Body), lovelace) {
			t.Errorf("%+v, expected that it was added and erased, without the name", facts)
		}
		if got := s.person("Next", ""); got.ID != "PER-2" {
			t.Errorf("the next person is %s, expected no id given twice", got.ID)
		}
	})
}

func TestNothingOfAnErasedOrChangedNameIsLeftInTheFilesOfSQLite(t *testing.T) {
	folder := t.TempDir()
	s := newStore(t, "sqlite:"+filepath.Join(folder, "ledger.db"))
	ctx := t.Context()
	found := func() (names []string) {
		files, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			body, err := os.ReadFile(filepath.Join(folder, file.Name()))
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{lovelace, lovelaceMail, "Countess-Zq"} {
				if bytes.Contains(body, []byte(text)) {
					names = append(names, text+" in "+file.Name())
				}
			}
		}
		return names
	}
	for i := range 40 { // pages with rows before and after
		s.person(fmt.Sprintf("Somebody %d", i), "")
	}
	ada := s.person(lovelace, lovelaceMail)
	for i := range 40 {
		s.person(fmt.Sprintf("Somebody else %d", i), "")
	}
	if len(found()) == 0 {
		t.Fatal("the name is not in the files: this test would find nothing")
	}
	ada.Name, ada.Mail = "Countess-Zq", ""
	must[rental.Person](t)(s.ChangePerson(ctx, "root", ada))
	if left := strings.Join(found(), ", "); strings.Contains(left, lovelace) || strings.Contains(left, lovelaceMail) {
		t.Errorf("after the change: %s", left)
	}
	if _, _, err := s.ErasePerson(ctx, root, "asked for it", ada.ID); err != nil {
		t.Fatal(err)
	}
	if left := found(); len(left) > 0 {
		t.Errorf("after the erasure: %v", left)
	}
}

func TestAnErasureThatThePolicyNamesTakesTwoPeople(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.policy(rental.ApprovePeople)
		s.person(lovelace, lovelaceMail)
		_, held, err := s.ErasePerson(ctx, root, "asked for it", "PER-1")
		if err != nil || held == nil || strings.Contains(fmt.Sprint(*held, string(held.Request)), "Lovelace") {
			t.Fatalf("%+v, %v, expected it to wait, without the name in it", held, err)
		}
		if got := must[rental.Person](t)(s.Person(ctx, "PER-1")); got.Name != lovelace {
			t.Errorf("%+v, expected nothing erased yet", got)
		}
		if _, err := s.DecidePending(ctx, held.ID, root, true, ""); rental.CodeOf(err) != rental.CodeRefused {
			t.Errorf("approved by who entered it: %v, expected refused", err)
		}
		if _, err := s.DecidePending(ctx, held.ID, bob, true, ""); err != nil {
			t.Fatal(err)
		}
		if got := must[rental.Person](t)(s.Person(ctx, "PER-1")); got.ErasedAt == 0 || got.Name != "" {
			t.Errorf("%+v, expected it erased", got)
		}
	})
}

func TestWhatIsRefusedOfPeopleAndTheirTokens(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.person("Ada", "")
		s.person("Gone", "")
		if _, _, err := s.ErasePerson(ctx, root, "test", "PER-2"); err != nil {
			t.Fatal(err)
		}
		token := func(p rental.Principal) func() error {
			return func() error { _, err := s.CreateToken(ctx, p); return err }
		}
		for what, c := range map[string]struct {
			do   func() error
			want rental.Code
		}{
			"a person without a name":         {func() error { _, err := s.AddPerson(ctx, "root", rental.Person{}); return err }, rental.CodeInvalid},
			"nobody is changed":               {func() error { _, err := s.ChangePerson(ctx, "root", rental.Person{ID: "PER-9", Name: "x"}); return err }, rental.CodeNotFound},
			"an erased person is changed":     {func() error { _, err := s.ChangePerson(ctx, "root", rental.Person{ID: "PER-2", Name: "x"}); return err }, rental.CodeRefused},
			"nobody is erased":                {func() error { _, _, err := s.ErasePerson(ctx, root, "", "PER-9"); return err }, rental.CodeNotFound},
			"what is no id":                   {func() error { _, err := s.Person(ctx, "ada"); return err }, rental.CodeNotFound},
			"a token of nobody":               {token(rental.Principal{Person: "PER-9", Role: rental.RoleAdmin}), rental.CodeNotFound},
			"a token of an erased person":     {token(rental.Principal{Person: "PER-2", Role: rental.RoleAdmin}), rental.CodeRefused},
			"a person's token with a name":    {token(rental.Principal{Name: "ada", Person: "PER-1", Role: rental.RoleAdmin}), rental.CodeInvalid},
			"a person's token for a machine":  {token(rental.Principal{Person: "PER-1", Role: rental.RolePush}), rental.CodeInvalid},
			"a person's token of a program":   {token(rental.Principal{Person: "PER-1", Role: rental.RoleAdmin, Service: true}), rental.CodeInvalid},
			"a program that is named as one":  {token(rental.Principal{Name: "PER-1", Role: rental.RoleAdmin}), rental.CodeInvalid},
			"a program named as one's token ": {token(rental.Principal{Name: "PER-1.1", Role: rental.RoleAdmin}), rental.CodeInvalid},
			"a token without either":          {token(rental.Principal{Role: rental.RoleAdmin}), rental.CodeInvalid},
		} {
			if err := c.do(); rental.CodeOf(err) != c.want {
				t.Errorf("%s: %v, expected %s", what, err, c.want)
			}
		}
	})
}

func TestNamesThatOlderLedgersRecordedStayAsTheyAre(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		secret := must[string](t)(s.CreateToken(ctx, rental.Principal{Name: "grace", Role: rental.RoleOperator}))
		who := must[rental.Principal](t)(s.Authenticate(ctx, secret))
		if who.Name != "grace" || who.Person != "" {
			t.Fatalf("%+v, expected the name alone", who)
		}
		s.person("Grace", "")
		if got := must[rental.Names](t)(s.Names(ctx, "")).Of("grace"); got != "grace" {
			t.Errorf("shown as %q", got)
		}
	})
}
