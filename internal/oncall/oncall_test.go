package oncall

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/leasewatch/leasewatch/internal/rental"
)

func moment(t testing.TB, text string) rental.Millis {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return rental.At(at)
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// oslo is a weekly rotation that changes on Mondays at nine.
func oslo() *Rotation {
	return &Rotation{Name: "primary", Zone: "Europe/Oslo", Every: "week", From: "2026-10-05", HandOver: "09:00", People: []string{"ada", "bo", "cy"}}
}

func TestAWeeklyTurnChangesAtTheWallClockOnBothSidesOfADSTChange(t *testing.T) {
	r := oslo()
	for _, c := range []struct{ at, person string }{
		{"2026-10-05T06:59:59Z", "cy"}, // before the first turn the line goes on backwards
		{"2026-10-05T07:00:00Z", "ada"},
		{"2026-10-12T06:59:59Z", "ada"},
		{"2026-10-12T07:00:00Z", "bo"},
		{"2026-10-26T07:59:59Z", "cy"}, // winter time since the 25th: nine is 08:00 UTC
		{"2026-10-26T08:00:00Z", "ada"},
	} {
		equal(t, c.at, r.At(moment(t, c.at)).Person, c.person)
	}
	turn := r.At(moment(t, "2026-10-20T12:00:00Z"))
	equal(t, "hours of the week in which the clock goes back", int(turn.End-turn.Start)/3_600_000, 7*24+1)
}

func TestAHandOverThatTheClockSkipsIsLaterAndOneThatItShowsTwiceIsTheFirst(t *testing.T) {
	r := &Rotation{Zone: "Europe/Oslo", Every: "day", From: "2026-03-28", HandOver: "02:30", People: []string{"ada", "bo"}}
	equal(t, "skipped", r.At(moment(t, "2026-03-29T01:00:00Z")).Start, moment(t, "2026-03-29T01:30:00Z")-24*3_600_000)
	equal(t, "the turn after the gap", r.At(moment(t, "2026-03-29T01:30:00Z")).Start, moment(t, "2026-03-29T01:30:00Z"))
	r.From = "2026-10-24"
	equal(t, "shown twice", r.At(moment(t, "2026-10-25T00:30:00Z")).Start, moment(t, "2026-10-25T00:30:00Z"))
}

func TestAnOverridePutsAnotherPersonThereAndCutsTheTurnsAroundIt(t *testing.T) {
	r := oslo()
	r.Overrides = []Override{{From: moment(t, "2026-10-07T08:00:00Z"), To: moment(t, "2026-10-08T08:00:00Z"), Person: "dee"}}
	turns := r.Turns(moment(t, "2026-10-06T00:00:00Z"), 4)
	var got []string
	for _, turn := range turns {
		got = append(got, fmt.Sprintf("%s %s %t", turn.Person, turn.End, turn.Override))
	}
	want := []string{
		"ada 2026-10-07T08:00:00Z false", "dee 2026-10-08T08:00:00Z true", "ada 2026-10-12T07:00:00Z false", "bo 2026-10-19T07:00:00Z false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("turns %q, want %q", got, want)
	}
}

// rotations draws valid rotations, in zones that change their clocks in every way.
func rotations(t *rapid.T) *Rotation {
	zone := rapid.SampledFrom([]string{"UTC", "Europe/Oslo", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai", "Pacific/Apia", "Africa/Casablanca"}).Draw(t, "zone")
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rapid.IntRange(-800, 800).Draw(t, "from"))
	r := &Rotation{
		Zone: zone, Every: rapid.SampledFrom([]string{"day", "week"}).Draw(t, "every"), From: Date(day.Format(dateForm)),
		HandOver: fmt.Sprintf("%02d:%02d", rapid.IntRange(0, 23).Draw(t, "hour"), rapid.IntRange(0, 59).Draw(t, "minute")),
	}
	for n := range rapid.IntRange(1, 5).Draw(t, "people") {
		r.People = append(r.People, fmt.Sprintf("p%d", n))
	}
	at := rental.At(day) - 30*24*3_600_000
	for n := range rapid.IntRange(0, 4).Draw(t, "overrides") {
		at += rental.Millis(rapid.Int64Range(0, 10*24*3_600_000).Draw(t, "gap"))
		end := at + rental.Millis(rapid.Int64Range(1, 10*24*3_600_000).Draw(t, "length"))
		r.Overrides = append(r.Overrides, Override{From: at, To: end, Person: fmt.Sprintf("o%d", n)})
		at = end
	}
	return r
}

func TestExactlyOnePersonIsOnCallAtAnyInstant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rotations(t)
		if faults := r.Validate(); len(faults) > 0 {
			t.Fatalf("the drawn rotation is not valid: %v", faults)
		}
		first, err := time.Parse(dateForm, string(r.From))
		if err != nil {
			t.Fatal(err)
		}
		at := rental.At(first) + rental.Millis(rapid.Int64Range(-60*24*3_600_000, 60*24*3_600_000).Draw(t, "at"))
		turn := r.At(at)
		if turn.Person == "" || at < turn.Start || at >= turn.End {
			t.Fatalf("at %s: turn %+v does not hold the moment", at, turn)
		}
		for _, inside := range []rental.Millis{turn.Start, turn.End - 1, turn.Start + (turn.End-turn.Start)/2} {
			if again := r.At(inside); again != turn {
				t.Fatalf("at %s of the turn %+v: the turn is %+v", inside, turn, again)
			}
		}
		if next := r.At(turn.End); next.Start != turn.End {
			t.Fatalf("after %+v comes %+v: expected that it begins where the one before ends", turn, next)
		}
		if before := r.At(turn.Start - 1); before.End != turn.Start {
			t.Fatalf("before %+v comes %+v: expected that it ends where the next begins", turn, before)
		}
	})
}

func TestEverybodyHasTheTurnEquallyOften(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rotations(t)
		r.Overrides = nil
		first, err := time.Parse(dateForm, string(r.From))
		if err != nil {
			t.Fatal(err)
		}
		had := map[string]int{}
		for _, turn := range r.Turns(rental.At(first)+36*3_600_000, 3*len(r.People)) {
			had[turn.Person]++
		}
		for _, person := range r.People {
			if had[person] != 3 {
				t.Fatalf("turns %v: expected three for each of %v", had, r.People)
			}
		}
	})
}

func TestQuietHoursEndInTheMorningAndHoursThatFollowEachOtherAreOneNight(t *testing.T) {
	r := New()
	r.Quiet["night"] = &QuietHours{Zone: "Europe/Oslo", From: "22:00", To: "07:00", Severities: []string{"ticket", "notice"}}
	r.Quiet["weekend"] = &QuietHours{Zone: "Europe/Oslo", From: "07:00", To: "22:00", Days: []string{"saturday", "sunday"}, Severities: []string{"notice"}}
	for _, c := range []struct {
		severity rental.Severity
		at, want string
	}{
		{rental.Ticket, "2026-11-27T20:59:59Z", ""},
		{rental.Ticket, "2026-11-27T21:00:00Z", "2026-11-28T06:00:00Z"},
		{rental.Ticket, "2026-11-28T05:59:59Z", "2026-11-28T06:00:00Z"},
		{rental.Ticket, "2026-11-28T06:00:00Z", ""},
		{rental.Notice, "2026-11-27T21:00:00Z", "2026-11-30T06:00:00Z"}, // Friday night to Monday morning
		{rental.Page, "2026-11-27T23:00:00Z", ""},
		{rental.Ticket, "2026-10-24T23:30:00Z", "2026-10-25T06:00:00Z"}, // the night in which the clock goes back
	} {
		want := rental.Millis(0)
		if c.want != "" {
			want = moment(t, c.want)
		}
		equal(t, string(c.severity)+" at "+c.at, r.QuietUntil(c.severity, moment(t, c.at)), want)
	}
}

// roster has two rotations and a lead, and receivers for each.
func roster() *Roster {
	r := New()
	r.People = map[string]*Person{
		"ada": {Name: "ada", Shown: "Ada L.", Slack: "U0ADA", Ladder: []Way{{InSlack, 0}, {"phone-ada", rental.Duration(5 * time.Minute)}}},
		"bo":  {Name: "bo", Slack: "U0BO"},
		"cy":  {Name: "cy", Ladder: []Way{{"phone-cy", 0}}},
	}
	r.Rotations["primary"] = &Rotation{Name: "primary", Zone: "UTC", Every: "week", From: "2026-11-30", HandOver: "09:00", People: []string{"ada", "bo"}}
	r.Escalations["main"] = &Escalation{Name: "main", Steps: []Step{
		{Rotation: "primary"}, {Person: "cy", After: rental.Duration(15 * time.Minute)}, {Receiver: "everybody", After: rental.Duration(30 * time.Minute)},
	}}
	return r
}

func ways(name string) (int, bool) {
	counts := map[string]int{"phone-ada": 1, "phone-cy": 1, "everybody": 2, "leasewatch": 0}
	count, known := counts[name]
	return count, known
}

func TestTheLadderIsThatOfWhoeverHasTheTurnNow(t *testing.T) {
	r := roster()
	list := func(at string) string {
		var lines []string
		for _, c := range r.Calls(moment(t, at)) {
			lines = append(lines, fmt.Sprintf("%s %s%s %s %t", c.After, c.Slack, c.Receiver, c.Key, c.Last))
		}
		return strings.Join(lines, "\n")
	}
	equal(t, "in the week of Ada", list("2026-12-01T00:00:00Z"), `0s U0ADA 1/ada/slack false
5m0s phone-ada 1/ada/phone-ada false
15m0s phone-cy 2/cy/phone-cy false
30m0s everybody 3/everybody true`)
	equal(t, "in the week of Bo", list("2026-12-08T00:00:00Z"), `0s U0BO 1/bo/slack false
15m0s phone-cy 2/cy/phone-cy false
30m0s everybody 3/everybody true`)
	equal(t, "repeat", r.Repeat(), DefaultRepeat)
	owner, one := r.Owner("phone-ada")
	equal(t, "owner of the phone", owner, "ada")
	equal(t, "known", one, true)
	_, one = r.Owner("everybody")
	equal(t, "an owner of a receiver for all", one, false)
}

func TestARosterThatDoesNotFitTogetherIsRefusedByName(t *testing.T) {
	if err := roster().Check(ways); err != nil {
		t.Fatalf("a roster that is right: %v", err)
	}
	for name, c := range map[string]struct {
		change func(*Roster)
		want   string
	}{
		"a person who is nobody":        {func(r *Roster) { r.Rotations["primary"].People = []string{"zoe"} }, `Rotation "primary": people[0]: found "zoe", expected the name of a Person of this file`},
		"a rotation that is none":       {func(r *Roster) { r.Escalations["main"].Steps[0].Rotation = "x" }, `Escalation "main": steps[0].rotation: found "x"`},
		"a receiver that is none":       {func(r *Roster) { r.People["cy"].Ladder[0].Way = "fax" }, `Person "cy": ladder[0].way: found "fax", expected the name of a receiver`},
		"a receiver without people":     {func(r *Roster) { r.Escalations["main"].Steps[2].Receiver = "leasewatch" }, `steps[2].receiver: found "leasewatch", expected a receiver with a way to people`},
		"an override by nobody":         {func(r *Roster) { r.Rotations["primary"].Overrides = []Override{{Person: "zoe"}} }, `Rotation "primary": overrides[0].person: found "zoe"`},
		"two escalations":               {func(r *Roster) { r.Escalations["other"] = r.Escalations["main"] }, `Escalation "other": found a second one`},
		"no escalation":                 {func(r *Roster) { clear(r.Escalations) }, "no Escalation"},
		"a lead who is not in the file": {func(r *Roster) { r.Escalations["main"].Steps[1].Person = "boss" }, `steps[1].person: found "boss"`},
	} {
		r := roster()
		c.change(r)
		if err := r.Check(ways); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", name, err, c.want)
		}
	}
}

func TestWhatIsWrongByItselfIsToldWithItsField(t *testing.T) {
	for name, c := range map[string]struct {
		faults []rental.FieldError
		want   string
	}{
		"zone":              {(&Rotation{Zone: "Mars"}).Validate(), "zone"},
		"local zone":        {(&Rotation{Zone: "Local"}).Validate(), "zone"},
		"period":            {(&Rotation{Every: "month"}).Validate(), "every"},
		"hand-over":         {(&Rotation{HandOver: "9:00"}).Validate(), "hand_over"},
		"nobody":            {(&Rotation{}).Validate(), "people"},
		"overlap":           {(&Rotation{Overrides: []Override{{0, 10, "a"}, {9, 12, "b"}}}).Validate(), "overrides[1]"},
		"quiet pages":       {(&QuietHours{Severities: []string{"page"}}).Validate(), "severities[0]"},
		"always quiet":      {(&QuietHours{From: "07:00", To: "07:00"}).Validate(), "to"},
		"a day":             {(&QuietHours{Days: []string{"Mon"}}).Validate(), "days[0]"},
		"unreachable":       {(&Person{}).Validate(), "ladder"},
		"channel not user":  {(&Person{Slack: "C0123"}).Validate(), "slack"},
		"slack without id":  {(&Person{Ladder: []Way{{InSlack, 0}}}).Validate(), "ladder[0].way"},
		"backwards":         {(&Person{Slack: "U0ADA", Ladder: []Way{{"a", 9}, {"b", 1}}}).Validate(), "ladder[1].after"},
		"nobody at once":    {(&Escalation{Steps: []Step{{Person: "a", After: 1}}}).Validate(), "steps[0].after"},
		"two in one":        {(&Escalation{Steps: []Step{{Person: "a", Receiver: "b"}}}).Validate(), "steps[0]"},
		"without a pause":   {(&Escalation{Repeat: 1}).Validate(), "repeat"},
		"steps backwards":   {(&Escalation{Steps: []Step{{Person: "a"}, {Person: "b", After: 9}, {Person: "c", After: 1}}}).Validate(), "steps[2].after"},
		"no steps":          {(&Escalation{}).Validate(), "steps"},
		"the same way":      {(&Person{Ladder: []Way{{"a", 0}, {"a", 1}}}).Validate(), "ladder[1].way"},
		"override backward": {(&Rotation{Overrides: []Override{{10, 9, "a"}}}).Validate(), "overrides[0].to"},
	} {
		if !slices.ContainsFunc(c.faults, func(f rental.FieldError) bool { return f.Path == c.want }) {
			t.Errorf("%s: %v, want a fault at %s", name, c.faults, c.want)
		}
	}
	if faults := oslo().Validate(); len(faults) > 0 {
		t.Errorf("a rotation that is right: %v", faults)
	}
}

func FuzzClock(f *testing.F) {
	for _, seed := range []string{"09:00", "24:00", "9:00", "", "00:00", "23:59:59", "１２:００"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseClock(text)
		if err == nil && fmt.Sprintf("%02d:%02d", c.hour, c.minute) != text {
			t.Errorf("%q was read as %v: expected that it is written back the same", text, c)
		}
	})
}
