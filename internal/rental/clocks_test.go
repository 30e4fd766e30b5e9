package rental

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const quarter = Duration(15 * time.Minute)

// promised is a contract that answers a page within a quarter of an hour from where starts says,
// and solves it in four hours.
func promised(t testing.TB, starts string) Contract {
	c := hourly(t, "10")
	c.Response = &Clocks{Starts: starts, TargetPercent: dec(t, "100"), Limits: []ClockLimit{{Page, quarter, HoursAlways}}}
	c.Resolution = &Clocks{Starts: starts, Ends: EndsResolved, TargetPercent: dec(t, "50"), Limits: []ClockLimit{{Page, Duration(4 * time.Hour), HoursAlways}}}
	return c
}

const incidentAt Millis = 1_780_000_000_000

// paged is an incident of lease L: evidence, 5 s later its alert, 10 s later a message.
func paged(id string, change ...func(*Incident)) Incident {
	i := Incident{ID: id, Status: IncidentOpen, Severity: Page, Leases: []string{"L"},
		EvidenceAt: incidentAt, DetectedAt: incidentAt + 5_000, OpenedAt: incidentAt + 6_000,
		Events: []IncidentEvent{{At: incidentAt + 6_000, Kind: "opened"}, {At: incidentAt + 10_000, Kind: EventNotified}}}
	for _, f := range change {
		f(&i)
	}
	return i
}

func event(kind string, after int64) func(*Incident) {
	return func(i *Incident) {
		i.Events = append(i.Events, IncidentEvent{At: incidentAt + Millis(after), Kind: kind})
	}
}

func resolved(after int64) func(*Incident) {
	return func(i *Incident) { i.Status, i.ResolvedAt = IncidentResolved, incidentAt+Millis(after) }
}

// at judges as things were so many milliseconds after the evidence.
func at(t testing.TB, c Contract, after int64, incidents ...Incident) []ObjectiveVerdict {
	t.Helper()
	out, err := JudgeClocks(ClocksInput{
		Lease: Lease{ID: "L", Start: incidentAt - 1e9, End: Forever}, Contract: c, Incidents: incidents,
		Period: Span{Start: incidentAt - 1e6, End: incidentAt + 1e9}, Now: incidentAt + Millis(after)})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAResponsePassesAtExactlyItsLimit(t *testing.T) { // C55
	for name, c := range map[string]struct {
		starts string
		answer int64
		want   Outcome
	}{
		"15:00.000 from the evidence":        {StartsAtEvidence, 900_000, Kept},
		"15:00.001 from the evidence":        {StartsAtEvidence, 900_001, Breached},
		"15:00.000 from the detection":       {StartsAtDetection, 905_000, Kept},
		"15:00.001 from the detection":       {StartsAtDetection, 905_001, Breached},
		"15:00.000 from the first message":   {StartsAtReport, 910_000, Kept},
		"15:00.001 from the first message":   {StartsAtReport, 910_001, Breached},
		"an answer of before the clock runs": {StartsAtReport, 7_000, Kept},
	} {
		t.Run(name, func(t *testing.T) {
			v := at(t, promised(t, c.starts), 2_000_000, paged("INC-1", event(EventAcked, c.answer)))[0]
			if v.Outcome != c.want || v.Runs[0].Outcome != c.want {
				t.Errorf("got %s: %+v", v.Outcome, v.Runs)
			}
			if r := v.Runs[0]; r.EvidenceAt != incidentAt || r.DetectedAt != incidentAt+5_000 || r.ReportedAt != incidentAt+10_000 {
				t.Errorf("all three starts are to be shown, found %+v", r)
			}
		})
	}
}

func TestOnlyAPersonOfTheProviderStopsTheResponseClock(t *testing.T) {
	late := func(approved string) func(*Incident) {
		return func(i *Incident) {
			i.Answers = []LateAnswer{{At: incidentAt + 60_000, By: "ann", Note: "by phone", NotedAt: incidentAt + 950_000, ApprovedBy: approved}}
		}
	}
	for name, c := range map[string]struct {
		incident Incident
		now      int64
		want     Outcome
	}{
		"nobody yet, within the limit":                   {paged("I"), 900_000, Open},
		"nobody, a millisecond over it":                  {paged("I"), 900_001, Breached},
		"a program's acknowledgement":                    {paged("I", event(EventAckedByProgram, 1_000)), 950_000, Breached},
		"a program's with its moment on the record":      {paged("I", event(EventAckedByProgram, 1_000), func(i *Incident) { i.AckedAt = incidentAt + 1_000 }), 950_000, Breached},
		"a person after a program":                       {paged("I", event(EventAckedByProgram, 1_000), event(EventAcked, 2_000)), 950_000, Kept},
		"a tenant's report":                              {paged("I", event(EventReported, 1_000)), 950_000, Breached},
		"a note is no answer":                            {paged("I", event("note", 1_000)), 950_000, Breached},
		"a person who silences it has it in hand":        {paged("I", event(EventSilenced, 1_000)), 950_000, Kept},
		"an incident of before events":                   {paged("I", func(i *Incident) { i.AckedAt = incidentAt + 1_000 }), 950_000, Kept},
		"the first of two people":                        {paged("I", event(EventAcked, 899_000), event(EventAcked, 950_000)), 960_000, Kept},
		"a late note that waits for another person":      {paged("I", late("")), 960_000, NotProven},
		"a late note that another person approved":       {paged("I", late("bob")), 960_000, Kept},
		"resolved within the limit, unanswered":          {paged("I", resolved(100_000)), 960_000, NotMeasured},
		"resolved over the limit, unanswered":            {paged("I", resolved(900_001)), 960_000, Breached},
		"lost from sight, unanswered":                    {paged("I", func(i *Incident) { i.Status = IncidentUnknown }), 960_000, NotProven},
		"lost from sight, answered too late":             {paged("I", event(EventAcked, 950_000), func(i *Incident) { i.Status = IncidentUnknown }), 960_000, Breached},
		"answered and resolved, asked a year later":      {paged("I", event(EventAcked, 1_000), resolved(100_000)), 3e10, Kept},
		"reopened later: the first answer is the answer": {paged("I", event(EventAcked, 1_000), event("reopened", 2_000_000)), 3_000_000, Kept},
	} {
		t.Run(name, func(t *testing.T) {
			v := at(t, promised(t, StartsAtEvidence), c.now, c.incident)[0]
			if v.Runs[0].Outcome != c.want || v.Outcome != c.want {
				t.Errorf("got %s of %+v, want %s", v.Outcome, v.Runs[0], c.want)
			}
		})
	}
}

func TestAResolutionEndsAsTheContractSays(t *testing.T) {
	verified := func(after int64) func(*Incident) {
		return func(i *Incident) { i.VerifiedAt = incidentAt + Millis(after) }
	}
	const limit = 4 * 3_600_000
	for name, c := range map[string]struct {
		ends     string
		incident Incident
		want     Outcome
	}{
		"resolved at the limit":                  {EndsResolved, paged("I", resolved(limit)), Kept},
		"resolved a millisecond later":           {EndsResolved, paged("I", resolved(limit+1)), Breached},
		"resolved and never verified":            {EndsVerified, paged("I", resolved(limit)), Breached},
		"verified at the limit":                  {EndsVerified, paged("I", resolved(1), verified(limit)), Kept},
		"nobody knows when it ended":             {EndsResolved, paged("I", func(i *Incident) { i.Status = IncidentUnknown }), NotProven},
		"acknowledged is not solved":             {EndsResolved, paged("I", event(EventAcked, 1)), Breached},
		"resolved by itself counts as solved":    {EndsResolved, paged("I", resolved(1_000)), Kept},
		"verified long after, where that is not": {EndsResolved, paged("I", resolved(1), verified(limit+1)), Kept},
	} {
		t.Run(name, func(t *testing.T) {
			contract := promised(t, StartsAtEvidence)
			contract.Resolution.Ends = c.ends
			if v := at(t, contract, limit+10, c.incident)[1]; v.Outcome != c.want {
				t.Errorf("got %s of %+v, want %s", v.Outcome, v.Runs[0], c.want)
			}
		})
	}
}

func TestALimitOfWorkingHoursRunsInThem(t *testing.T) {
	c := promised(t, StartsAtEvidence)
	c.Response.Limits[0] = ClockLimit{Page, Duration(2 * time.Hour), HoursWorking}
	cal := office("UTC")
	c.Calendar, c.WorkTime = "office", &cal
	friday := ms(t, "2026-11-27T16:00:00Z")
	i := paged("I")
	i.EvidenceAt, i.DetectedAt, i.Events = friday, friday, []IncidentEvent{{At: ms(t, "2026-11-30T10:00:00Z"), Kind: EventAcked}}
	judge := func() ClockRun {
		out, err := JudgeClocks(ClocksInput{Lease: Lease{ID: "L", Start: 1, End: Forever}, Contract: c, Incidents: []Incident{i},
			Period: span(t, "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"), Now: ms(t, "2026-12-05T00:00:00Z")})
		if err != nil {
			t.Fatal(err)
		}
		return out[0].Runs[0]
	}
	if r := judge(); r.Outcome != Kept || r.ElapsedMS != 2*3_600_000 || r.DueAt != ms(t, "2026-11-30T10:00:00Z") {
		t.Errorf("over a weekend: %+v", r)
	}
	i.Events[0].At++
	if r := judge(); r.Outcome != Breached {
		t.Errorf("a millisecond later: %+v", r)
	}
	c.WorkTime = nil
	if _, err := JudgeClocks(ClocksInput{Lease: Lease{ID: "L", Start: 1, End: Forever}, Contract: c, Incidents: []Incident{i}, Period: Span{0, Forever}}); err == nil {
		t.Error("working hours were counted without a calendar")
	}
}

func TestWhatIsNoneOfTheProvidersClocks(t *testing.T) {
	other := func(change func(*Incident)) Incident { return paged("I", change) }
	alert := func(labels map[string]string) func(*Incident) {
		return func(i *Incident) { i.Alerts = []Alert{{Labels: labels}} }
	}
	for name, i := range map[string]Incident{
		"another lease's":            other(func(i *Incident) { i.Leases = []string{"M"} }),
		"a severity without a limit": other(func(i *Incident) { i.Severity = Ticket }),
		"one that asks the tenant":   other(alert(map[string]string{"audience": "tenant"})),
		"one about a clock":          other(alert(map[string]string{"audience": "operator", "objective": "response"})),
		"of another month":           other(func(i *Incident) { i.EvidenceAt, i.DetectedAt = incidentAt-2e6, incidentAt-2e6 }),
	} {
		if v := at(t, promised(t, StartsAtEvidence), 1e6, i)[0]; len(v.Runs) != 0 || v.Outcome != NotMeasured {
			t.Errorf("%s: got %s of %+v", name, v.Outcome, v.Runs)
		}
	}
	if v := at(t, promised(t, StartsAtReport), 1e6, paged("I", func(i *Incident) { i.Events = nil }))[0]; v.Outcome != Open || v.Runs[0].StartAt != 0 {
		t.Errorf("nobody was told: got %+v", v)
	}
}

func TestADrillIsMeasuredAndKeptOut(t *testing.T) { // R13
	drill := paged("INC-2", event(EventAcked, 950_000), func(i *Incident) { i.Drill = true })
	v := at(t, promised(t, StartsAtEvidence), 1e6, paged("INC-1", event(EventAcked, 1_000)), drill)[0]
	if v.Outcome != Kept || v.Kept != 1 || v.Breached != 0 || v.Drills != 1 || len(v.Runs) != 2 {
		t.Errorf("got %+v", v)
	}
	if i := slices.IndexFunc(v.Runs, func(r ClockRun) bool { return r.Drill }); v.Runs[i].ElapsedMS != 950_000 || v.Runs[i].Outcome != Breached {
		t.Errorf("the drill was not measured: %+v", v.Runs[i])
	}
	if want := "of 1, 1 kept and 0 broke the limit: 100.0000 %, target 100; 1 drill, kept out"; v.Arithmetic != want {
		t.Errorf("got %q, want %q", v.Arithmetic, want)
	}
}

func TestTheShareOfAMonthIsComparedAtBothBounds(t *testing.T) {
	c := promised(t, StartsAtEvidence)
	kept, broken := paged("K", event(EventAcked, 1)), paged("B", event(EventAcked, 900_001))
	unproven := paged("U", func(i *Incident) { i.Status = IncidentUnknown })
	for name, of := range map[string]struct {
		target    string
		incidents []Incident
		want      Outcome
	}{
		"half is half":            {"50", []Incident{kept, broken}, Kept},
		"less than the target":    {"50.01", []Incident{kept, broken}, Breached},
		"both bounds agree":       {"33", []Incident{kept, broken, unproven}, Kept},
		"the bounds do not agree": {"50", []Incident{kept, broken, unproven}, NotProven},
		"no proof could help":     {"67", []Incident{kept, broken, unproven}, Breached},
		"nothing to judge":        {"100", nil, NotMeasured},
	} {
		c.Response.TargetPercent = dec(t, of.target)
		if v := at(t, c, 1e6, of.incidents...)[0]; v.Outcome != of.want {
			t.Errorf("%s: got %s, want %s (%s)", name, v.Outcome, of.want, v.Arithmetic)
		}
	}
}

func TestAnAnswerSoonerNeverMakesAnObjectiveWorse(t *testing.T) {
	rank := []Outcome{Breached, NotProven, Open, Kept}
	rapid.Check(t, func(rt *rapid.T) {
		c := promised(t, rapid.SampledFrom([]string{StartsAtEvidence, StartsAtDetection, StartsAtReport}).Draw(rt, "starts"))
		first := rapid.Int64Range(0, 2_000_000).Draw(rt, "answer")
		sooner := rapid.Int64Range(0, first).Draw(rt, "sooner")
		now := first + rapid.Int64Range(0, 1_000_000).Draw(rt, "now")
		late := at(t, c, now, paged("I", event(EventAcked, first)))[0]
		soon := at(t, c, now, paged("I", event(EventAcked, sooner)))[0]
		if slices.Index(rank, soon.Outcome) < slices.Index(rank, late.Outcome) {
			rt.Fatalf("%s at %d ms, %s at %d ms", soon.Outcome, sooner, late.Outcome, first)
		}
		if n := late.Kept + late.Breached + late.NotProven + late.Open; n != 1 {
			rt.Fatalf("%d outcomes of one incident", n)
		}
	})
}

func TestALateAnswerNeedsASecondPerson(t *testing.T) {
	i := paged("INC-9", resolved(2_000_000))
	noted, err := i.NoteAnswer(incidentAt+60_000, incidentAt+3_000_000, "ann", "Bo called the data centre")
	if err != nil {
		t.Fatal(err)
	}
	if noted.Responded() != 0 {
		t.Error("a note that nobody approved stopped the clock")
	}
	for by, code := range map[string]Code{"ann": CodeRefused, "": CodeInvalid} {
		if _, err := noted.ApproveAnswer(incidentAt+3_100_000, by); CodeOf(err) != code {
			t.Errorf("%q approved: %v", by, err)
		}
	}
	if _, err := noted.NoteAnswer(incidentAt+61_000, incidentAt+3_000_001, "ann", "again"); CodeOf(err) != CodeInvalid {
		t.Errorf("two answers wait: %v", err)
	}
	done, err := noted.ApproveAnswer(incidentAt+3_100_000, "bob")
	if err != nil || done.Responded() != incidentAt+60_000 {
		t.Errorf("got %v at %v", err, done.Responded())
	}
	if len(i.Answers) != 0 || noted.Answers[0].ApprovedBy != "" || len(done.Events) != len(i.Events)+2 {
		t.Errorf("the incidents share what they say: %+v", done)
	}
	for _, given := range []Millis{incidentAt - 1, incidentAt + 3_000_001} {
		if _, err := i.NoteAnswer(given, incidentAt+3_000_000, "ann", "x"); CodeOf(err) != CodeInvalid {
			t.Errorf("an answer at %s was taken: %v", given, err)
		}
	}
	if _, err := i.ApproveAnswer(incidentAt+1, "bob"); CodeOf(err) != CodeRefused {
		t.Errorf("nothing was approved: %v", err)
	}
}

func TestAReportAndAVerificationKeepTheFirstWord(t *testing.T) {
	i := paged("INC-9", func(i *Incident) { i.Events = nil })
	told, err := i.Report(incidentAt+1_000, "acme", "our job hangs")
	if err != nil || told.Reported() != incidentAt+1_000 {
		t.Fatalf("got %v at %v", err, told.Reported())
	}
	if again, err := told.Report(incidentAt+2_000, "acme", "still"); err != nil || again.Reported() != incidentAt+1_000 || len(again.Events) != 1 {
		t.Errorf("got %v: %+v", err, again)
	}
	if _, err := told.Verify(incidentAt+3_000, "ann", "runs"); CodeOf(err) != CodeRefused {
		t.Errorf("what goes on was verified: %v", err)
	}
	resolved(3_000)(&told)
	if _, err := told.Report(incidentAt+4_000, "acme", "x"); CodeOf(err) != CodeRefused {
		t.Errorf("what is over was reported: %v", err)
	}
	if done, err := told.Verify(incidentAt+5_000, "ann", "runs"); err != nil || done.VerifiedAt != incidentAt+5_000 {
		t.Errorf("got %v: %+v", err, done)
	}
}
