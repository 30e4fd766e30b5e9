package rental

import (
	"errors"
	"strings"
	"testing"
	"time"
)

const hourMS = Millis(3_600_000)

// announced is a window of two hours on the card's host, announced four days before it begins.
func announced(t testing.TB, start Millis) Maintenance {
	t.Helper()
	m, err := Maintenance{ID: "M-1", Hosts: []string{"host-0"}, Start: start, End: start + 2*hourMS}.
		Announce(Act{At: start - 96*hourMS, By: "ann", Side: SideProvider, Note: "new firmware"}, []string{"acme", "globex"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func actedOn(t testing.TB, m Maintenance, acts ...Act) Maintenance {
	t.Helper()
	for _, a := range acts {
		a.By, a.Note = "ann", "x"
		var err error
		if m, err = m.Do(a, []string{"acme", "globex"}); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func TestMaintenanceExcusesWhatItsOwnTenantWasToldInTime(t *testing.T) {
	start := ms(t, "2026-04-02T00:00:00Z") // the card is down for three hours from here
	told := func(tenant string, before Millis) Act {
		return Act{Kind: ActDelivered, Tenant: tenant, Way: "mail", At: start - before}
	}
	cancelled := func(after Millis) Act { return Act{Kind: ActCancelled, At: start + after} }
	for _, tc := range []struct {
		name     string
		acts     []Act
		cap      time.Duration
		excluded Millis // of the window's two hours; what is over them is downtime by itself
	}{
		{"delivered with more than the notice", []Act{told("acme", 90*hourMS)}, 0, 2 * hourMS},
		{"delivered with exactly the notice", []Act{told("acme", 48*hourMS)}, 0, 2 * hourMS},
		{"delivered a millisecond too late", []Act{told("acme", 48*hourMS-1)}, 0, 0},
		{"delivered after it began", []Act{told("acme", -hourMS)}, 0, 0},
		{"announced and never delivered", nil, 0, 0},
		{"delivered to another tenant", []Act{told("globex", 90*hourMS)}, 0, 0},
		{"delivered again, later: the first one counts", []Act{told("acme", 90*hourMS), told("acme", hourMS)}, 0, 2 * hourMS},
		{"cancelled before it began", []Act{told("acme", 90*hourMS), cancelled(-hourMS)}, 0, 0},
		{"cancelled at its start", []Act{told("acme", 90*hourMS), cancelled(0)}, 0, 0},
		{"cancelled in the middle", []Act{told("acme", 90*hourMS), cancelled(hourMS)}, 0, hourMS},
		{"capped by the contract", []Act{told("acme", 90*hourMS)}, 90 * time.Minute, 90 * 60_000},
		{"under the contract's cap", []Act{told("acme", 90*hourMS)}, 3 * time.Hour, 2 * hourMS},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := withTarget(t, hourly(t, "6"), "99.5")
			c.Availability.MaintenanceNotice, c.Availability.MaintenanceCap = Duration(48*time.Hour), Duration(tc.cap)
			c.BillWhileMaintenance = no()
			f, month := april(t, c)
			f.Maintenances = []Maintenance{actedOn(t, announced(t, start), tc.acts...)}
			v := judge(t, JudgeInput{Facts: f, Period: month, Timelines: map[string][]Interval{"A": downFor(month, 3*time.Hour)}})
			if v.ExcludedMS != int64(tc.excluded) || v.DownMS != int64(3*hourMS-tc.excluded) {
				t.Errorf("%s", v.Arithmetic)
			}
			if lines := charge(t, f, month); lines[0].QuantityMS != month.Duration()-int64(tc.excluded) {
				t.Errorf("%d ms are billed, expected all but %d", lines[0].QuantityMS, tc.excluded)
			}
		})
	}
}

func TestTheCapHoldsForEachMonthOfTheContractsZone(t *testing.T) {
	c := withTarget(t, hourly(t, "6"), "99.5")
	c.TimeZone = "Europe/Oslo"
	c.Availability.MaintenanceCap = Duration(time.Hour)
	when := span(t, "2026-04-01T00:00:00Z", "2026-06-01T00:00:00Z")
	f := facts(c, when, 9) // on two hosts
	border := ms(t, "2026-04-30T22:00:00Z")
	window := func(id, host string, start, end Millis) Maintenance {
		return Maintenance{ID: id, Hosts: []string{host}, Start: start, End: end, Announced: 1}
	}
	f.Maintenances = []Maintenance{
		window("over the border", "host-0", border-hourMS/2, border+hourMS/2),
		window("at once on the other host", "host-1", border-hourMS/2, border+hourMS/2),
		window("later in May", "host-1", border+10*hourMS, border+12*hourMS),
	}
	if got, want := f.windows("host-0"), (Span{border - hourMS/2, border + hourMS/2}); len(got) != 1 || got[0] != want {
		t.Errorf("host-0: %v, want %v", got, want)
	}
	if got, want := f.windows("host-1"), (Span{border + 10*hourMS, border + 10*hourMS + hourMS/2}); len(got) != 2 || got[1] != want {
		t.Errorf("host-1: %v, want %v as the second: half of May's hour was used", got, want)
	}
}

func TestAWindowFromAFileKeepsItsMeaning(t *testing.T) {
	m := Maintenance{ID: "M", Hosts: []string{"h"}, Start: 100 * hourMS, End: 101 * hourMS, Announced: 10 * hourMS}
	if m.Standing("whoever", Duration(90*time.Hour)) != MaintenanceCounts || m.Standing("whoever", Duration(91*time.Hour)) != MaintenanceLate {
		t.Error("it must count as delivered to all when it says that it was")
	}
	var refused *Error
	if _, err := m.Do(Act{At: 50 * hourMS, By: "ann", Kind: ActDelivered, Tenant: "acme", Way: "mail", Note: "x"}, []string{"acme"}); !errors.As(err, &refused) || refused.Code != CodeRefused {
		t.Errorf("a delivery: %v", err)
	}
	m = actedOn(t, m, Act{At: 50 * hourMS, Kind: ActCancelled})
	if !m.Window().Empty() || m.Delivered("acme") != 10*hourMS {
		t.Errorf("cancelled: %+v", m)
	}
}

func TestWhatComesTooLateIsRefusedWithTheReason(t *testing.T) {
	start := 200 * hourMS
	one := announced(t, start)
	do := func(m Maintenance, a Act) error {
		a.By, a.Note = "ann", "x"
		_, err := m.Do(a, []string{"acme"})
		return err
	}
	announce := func(at Millis, change func(*Maintenance)) error {
		m := Maintenance{ID: "M", Leases: []string{"L"}, Start: start, End: start + hourMS}
		change(&m)
		_, err := m.Announce(Act{At: at, By: "ann", Note: "x"}, nil)
		return err
	}
	as := func(*Maintenance) {}
	for name, tc := range map[string]struct {
		err  error
		code Code
		says string
	}{
		"announced as it begins":     {announce(start, as), CodeRefused, "can no longer be announced"},
		"announced after it began":   {announce(start+1, as), CodeRefused, "it is downtime"},
		"announced without an end":   {announce(1, func(m *Maintenance) { m.End = Forever }), CodeInvalid, "without an end"},
		"announced of nothing":       {announce(1, func(m *Maintenance) { m.Leases = nil }), CodeInvalid, "hosts"},
		"delivered after its end":    {do(one, Act{At: one.End, Kind: ActDelivered, Tenant: "acme", Way: "mail"}), CodeRefused, "it ended at"},
		"delivered to a stranger":    {do(one, Act{At: 150 * hourMS, Kind: ActDelivered, Tenant: "eve", Way: "mail"}), CodeInvalid, `found "eve"`},
		"delivered in no way":        {do(one, Act{At: 150 * hourMS, Kind: ActDelivered, Tenant: "acme"}), CodeInvalid, "way"},
		"cancelled after its end":    {do(one, Act{At: one.End, Kind: ActCancelled}), CodeRefused, "it ended at"},
		"cancelled twice":            {do(actedOn(t, one, Act{At: 150 * hourMS, Kind: ActCancelled}), Act{At: 151 * hourMS, Kind: ActCancelled}), CodeRefused, "was cancelled at"},
		"delivered once cancelled":   {do(actedOn(t, one, Act{At: 150 * hourMS, Kind: ActCancelled}), Act{At: 151 * hourMS, Kind: ActDelivered}), CodeRefused, "was cancelled at"},
		"something that nobody does": {do(one, Act{At: 150 * hourMS, Kind: ActApproved}), CodeInvalid, `the act "approved"`},
	} {
		var got *Error
		if !errors.As(tc.err, &got) || got.Code != tc.code || !strings.Contains(tc.err.Error(), tc.says) {
			t.Errorf("%s: %v, expected %s with %q", name, tc.err, tc.code, tc.says)
		}
	}
}

func TestAFileMayNotTellOfThePast(t *testing.T) {
	now := 1000 * hourMS
	good := Maintenance{ID: "M", Hosts: []string{"h"}, Announced: now - hourMS, Start: now + hourMS, End: now + 2*hourMS}
	changed := func(change func(*Maintenance)) Maintenance { m := good; change(&m); return m }
	for name, tc := range map[string]struct {
		m    Maintenance
		old  *Maintenance
		says string
	}{
		"announced an hour ago":               {good, nil, ""},
		"announced longer ago":                {changed(func(m *Maintenance) { m.Announced-- }), nil, "no more than an hour before now"},
		"announced in the future":             {changed(func(m *Maintenance) { m.Announced = now + 1 }), nil, "no time after now"},
		"begun":                               {changed(func(m *Maintenance) { m.Start = now }), nil, "can no longer be announced"},
		"moved on after it began":             {good, new(changed(func(m *Maintenance) { m.Start = now - 1 })), "can no longer be announced or changed"},
		"announced long ago, and longer then": {changed(func(m *Maintenance) { m.Announced = 1 }), new(changed(func(m *Maintenance) { m.Announced, m.End = 1, m.End+1 })), ""},
	} {
		if got := tc.m.Backdates(tc.old, now); (got == "") != (tc.says == "") || !strings.Contains(got, tc.says) {
			t.Errorf("%s: %q, expected %q", name, got, tc.says)
		}
	}
}

func TestAMaintenanceTellsATenantOfItselfAlone(t *testing.T) {
	m := announced(t, 200*hourMS)
	m.Leases = []string{"L", "G"}
	m.Hosts = []string{"host-0", "host-9"}
	m = actedOn(t, m, Act{At: 110 * hourMS, Kind: ActDelivered, Tenant: "acme", Way: "mail"}, Act{At: 111 * hourMS, Kind: ActDelivered, Tenant: "globex", Way: "mail"})
	is := func(want string) func(string) bool { return func(s string) bool { return s == want } }
	own := m.For("acme", is("L"), is("host-0"))
	if len(own.Leases) != 1 || len(own.Hosts) != 1 || len(own.Recipients) != 1 || len(own.Acts) != 2 || own.Delivered("globex") != 0 || own.Delivered("acme") != 110*hourMS {
		t.Errorf("found %+v", own)
	}
	if len(m.Acts) != 3 || len(m.Hosts) != 2 {
		t.Errorf("the window itself was changed: %+v", m)
	}
}

func TestAWindowStandsSomewhereAtEachMoment(t *testing.T) {
	m := announced(t, 200*hourMS)
	cut := actedOn(t, m, Act{At: 201 * hourMS, Kind: ActCancelled})
	off := actedOn(t, m, Act{At: 150 * hourMS, Kind: ActCancelled})
	for _, tc := range []struct {
		m    Maintenance
		now  Millis
		want string
	}{
		{m, m.Start - 1, MaintenanceAnnounced}, {m, m.Start, MaintenanceRunning}, {m, m.End - 1, MaintenanceRunning}, {m, m.End, MaintenanceOver},
		{cut, 201 * hourMS, MaintenanceOver}, {off, 150 * hourMS, MaintenanceCancelled}, {off, 300 * hourMS, MaintenanceCancelled},
	} {
		if got := tc.m.State(tc.now); got != tc.want {
			t.Errorf("at %s: %s, expected %s", tc.now, got, tc.want)
		}
	}
}
