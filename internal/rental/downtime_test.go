package rental

import (
	"slices"
	"strings"
	"testing"
)

// act is one that ann of the provider does at 100.
func act(kind string, change ...func(*Act)) Act {
	a := Act{At: 100, By: "ann", Side: SideProvider, Kind: kind, Note: "because"}
	for _, c := range change {
		c(&a)
	}
	return a
}

func by(name string) func(*Act)    { return func(a *Act) { a.By = name } }
func side(s string) func(*Act)     { return func(a *Act) { a.Side = s } }
func outcome(o string) func(*Act)  { return func(a *Act) { a.Outcome = o } }
func causedBy(c string) func(*Act) { return func(a *Act) { a.Cause = c } }
func without(a *Act)               { a.Note = "" }
func disputed(d Downtime) Downtime { return after(d, act(ActDisputed, by("tom"), side(SideTenant))) }
func answered(d Downtime) Downtime { return after(disputed(d), act(ActDisputed, by("ann"))) }
func measuredDowntime() Downtime {
	return Downtime{ID: "auto-1", Span: Span{10, 20}, Cause: CauseUndetermined, Reason: "driver_down"}
}
func handDowntime() Downtime { d := measuredDowntime(); d.ID, d.EnteredBy = "DT-1", "ann"; return d }
func after(d Downtime, a Act) Downtime {
	next, err := d.Do(a)
	if err != nil {
		panic(err)
	}
	return next
}

func TestADowntimeStandsAsPeopleSaidInOrder(t *testing.T) {
	for name, tc := range map[string]struct {
		from   Downtime
		act    Act
		status string // "" where it is refused or invalid
		code   Code
		says   string
	}{
		"somebody approves what samples told":             {measuredDowntime(), act(ActApproved, causedBy(CauseProvider)), DowntimeApproved, "", ""},
		"somebody rejects what samples told":              {measuredDowntime(), act(ActRejected), DowntimeRejected, "", ""},
		"another approves what ann entered":               {handDowntime(), act(ActApproved, by("bob")), DowntimeApproved, "", ""},
		"ann approves what she entered":                   {handDowntime(), act(ActApproved), "", CodeRefused, "somebody else"},
		"ann rejects what she entered":                    {handDowntime(), act(ActRejected), "", CodeRefused, "somebody else"},
		"an approval without a reason":                    {measuredDowntime(), act(ActApproved, without), "", CodeInvalid, "note"},
		"an approval by nobody":                           {measuredDowntime(), act(ActApproved, by("")), "", CodeInvalid, "by"},
		"an unknown cause":                                {measuredDowntime(), act(ActApproved, causedBy("weather")), "", CodeInvalid, "weather"},
		"an unknown act":                                  {measuredDowntime(), act("burnt"), "", CodeInvalid, "burnt"},
		"a second approval":                               {after(measuredDowntime(), act(ActApproved)), act(ActApproved, by("bob")), "", CodeRefused, "approved by ann already"},
		"an approval of what goes on":                     {Downtime{ID: "auto-2", Span: Span{10, Forever}}, act(ActApproved), "", CodeRefused, "goes on"},
		"an approval of what was withdrawn":               {measuredDowntime().Withdrawn(30), act(ActApproved), "", CodeRefused, "withdrawn"},
		"a dispute of what waits":                         {measuredDowntime(), act(ActDisputed), DowntimeDisputed, "", ""},
		"a dispute of what was approved":                  {after(measuredDowntime(), act(ActApproved)), act(ActDisputed, by("tom"), side(SideTenant)), DowntimeDisputed, "", ""},
		"a dispute for nobody":                            {measuredDowntime(), act(ActDisputed, side("")), "", CodeInvalid, "side"},
		"an approval around a dispute":                    {disputed(measuredDowntime()), act(ActApproved, by("bob")), "", CodeRefused, "disputed by tom"},
		"a decision without the provider's side":          {disputed(measuredDowntime()), act(ActDecided, by("bob"), outcome(ActApproved)), "", CodeRefused, "the provider has not said"},
		"a decision without a dispute":                    {measuredDowntime(), act(ActDecided, outcome(ActApproved)), "", CodeRefused, "nobody disputes"},
		"a decision by who spoke for a side":              {answered(measuredDowntime()), act(ActDecided, outcome(ActRejected)), "", CodeRefused, "somebody else"},
		"a decision by another after both sides spoke":    {answered(measuredDowntime()), act(ActDecided, by("bob"), outcome(ActApproved), causedBy(CauseProvider)), DowntimeApproved, "", ""},
		"a rejection by another after both sides spoke":   {answered(measuredDowntime()), act(ActDecided, by("bob"), outcome(ActRejected)), DowntimeRejected, "", ""},
		"a decision of nothing":                           {answered(measuredDowntime()), act(ActDecided, by("bob")), "", CodeInvalid, "outcome"},
		"a decision on what its enterer's dispute was of": {answered(handDowntime()), act(ActDecided, by("ann"), outcome(ActApproved)), "", CodeRefused, "somebody else"},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(tc.from.Acts)
			got, err := tc.from.Do(tc.act)
			if CodeOf(err) != tc.code || tc.code != "" && !strings.Contains(err.Error(), tc.says) {
				t.Fatalf("error %v, expected %q about %q", err, tc.code, tc.says)
			}
			if tc.code != "" {
				if got.Status() != tc.from.Status() || len(got.Acts) != before {
					t.Errorf("a refused act changed it: %+v", got)
				}
				return
			}
			if got.Status() != tc.status || len(got.Acts) != before+1 || got.Acts[before] != tc.act {
				t.Errorf("status %s, acts %+v, expected %s and the act", got.Status(), got.Acts, tc.status)
			}
			if tc.act.Cause != "" && got.Cause != tc.act.Cause {
				t.Errorf("cause %s, expected %s", got.Cause, tc.act.Cause)
			}
			if got.Undecided() != (tc.status == DowntimeDisputed) {
				t.Errorf("undecided: %t", got.Undecided())
			}
			if len(tc.from.Acts) != before {
				t.Error("the downtime before the act was changed")
			}
		})
	}
}

func TestTheSecondPersonIsAnotherAndThePersonOfNobodyIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		by     string
		before []string
		code   Code
	}{
		"another":                {"bob", []string{"ann", "tom"}, ""},
		"the same":               {"ann", []string{"ann"}, CodeRefused},
		"one of several":         {"tom", []string{"ann", "tom"}, CodeRefused},
		"nobody before":          {"ann", nil, ""},
		"an empty name before":   {"ann", []string{""}, ""},
		"nobody":                 {"", []string{"ann"}, CodeInvalid},
		"the server of its own":  {Server, []string{Server}, ""},
		"after the server alone": {"ann", []string{Server}, ""},
	} {
		if err := SecondPerson("thing", tc.by, tc.before...); CodeOf(err) != tc.code {
			t.Errorf("%s: %v, expected %q", name, err, tc.code)
		}
	}
}

func TestWhatLaterSamplesSayKeepsWhatPeopleSaidAndNoMoreTime(t *testing.T) {
	automatic := measuredDowntime()
	automatic.ApprovedBy = ApprovalAutomatic
	for name, tc := range map[string]struct {
		old    Downtime
		end    Millis
		fresh  string // ApprovedBy of what was derived
		status string
		acts   int
	}{
		"the contract's word reaches as far as the samples":      {automatic, 90, ApprovalAutomatic, DowntimeApproved, 0},
		"an approval covers less time":                           {after(measuredDowntime(), act(ActApproved)), 15, "", DowntimeApproved, 1},
		"an approval covers no more time":                        {after(measuredDowntime(), act(ActApproved)), 21, "", DowntimeWaiting, 2},
		"the contract's word does not reach past a person's":     {after(measuredDowntime(), act(ActRejected)), 21, ApprovalAutomatic, DowntimeWaiting, 2},
		"a rejection covers less time":                           {after(measuredDowntime(), act(ActRejected)), 15, ApprovalAutomatic, DowntimeRejected, 1},
		"a dispute goes on over any time":                        {disputed(automatic), 90, ApprovalAutomatic, DowntimeDisputed, 1},
		"what was withdrawn comes back by the contract's word":   {automatic.Withdrawn(30), 20, ApprovalAutomatic, DowntimeApproved, 1},
		"what was withdrawn comes back to the person who waits":  {after(measuredDowntime(), act(ActApproved)).Withdrawn(30), 20, ApprovalAutomatic, DowntimeWaiting, 3},
		"a person's decision outlives another look at the facts": {after(answered(automatic), act(ActDecided, by("bob"), outcome(ActApproved))), 20, ApprovalAutomatic, DowntimeApproved, 3},
	} {
		t.Run(name, func(t *testing.T) {
			fresh := measuredDowntime()
			fresh.Span.End, fresh.ApprovedBy = tc.end, tc.fresh
			got := tc.old.Renewed(fresh, 200)
			if got.Status() != tc.status || len(got.Acts) != tc.acts || got.Span != fresh.Span {
				t.Errorf("%s with %d acts over %v, expected %s with %d", got.Status(), len(got.Acts), got.Span, tc.status, tc.acts)
			}
			if again := got.Renewed(fresh, 300); again.Status() != got.Status() || len(again.Acts) != len(got.Acts) {
				t.Errorf("the same samples again: %s with %d acts", again.Status(), len(again.Acts))
			}
		})
	}
	caused := after(measuredDowntime(), act(ActApproved, causedBy(CauseTenant)))
	if got := caused.Renewed(measuredDowntime(), 200); got.Cause != CauseTenant {
		t.Errorf("cause %s, expected the person's", got.Cause)
	}
}

func TestADowntimeByHandNamesCardsThatServedAndHasEnded(t *testing.T) {
	lease := Lease{ID: "L", Start: 10, End: 100}
	served := []Assignment{{UUID: "GPU-B", Span: Span{10, 50}}, {UUID: "GPU-A", Span: Span{10, 100}}, {UUID: "GPU-C", Span: Span{50, 100}}}
	words := []Evidence{{Kind: EvidenceText, Text: "ping failed"}}
	whole := func(change func(*Downtime)) Downtime {
		d := Downtime{Lease: "L", Span: Span{20, 30}, Cause: CauseProvider, Reason: "host_down", Evidence: words}
		change(&d)
		return d
	}
	for name, tc := range map[string]struct {
		in    Downtime
		fault string
	}{
		"all cards that served then": {whole(func(*Downtime) {}), ""},
		"it has not ended":           {whole(func(d *Downtime) { d.Span.End = 101 }), "over"},
		"no time":                    {whole(func(d *Downtime) { d.Span.End = 20 }), "a time after the start"},
		"before the lease":           {whole(func(d *Downtime) { d.Span.Start = 5 }), "within lease L"},
		"nothing proves it":          {whole(func(d *Downtime) { d.Evidence = nil }), "evidence"},
		"a card that came later":     {whole(func(d *Downtime) { d.UUIDs = []string{"GPU-C"} }), "GPU-C"},
		"a file without a hash":      {whole(func(d *Downtime) { d.Evidence = []Evidence{{Kind: EvidenceFile, ID: "bmc.log"}} }), "sha256"},
		"no reason":                  {whole(func(d *Downtime) { d.Reason = "" }), "reason"},
		"no cause":                   {whole(func(d *Downtime) { d.Cause = "" }), "cause"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.in.ByHand(act(ActRecorded), lease, served)
			if tc.fault != "" {
				if CodeOf(err) != CodeInvalid || !strings.Contains(err.Error(), tc.fault) {
					t.Errorf("error %v, expected one about %s", err, tc.fault)
				}
				return
			}
			if err != nil || !slices.Equal(got.UUIDs, []string{"GPU-A", "GPU-B"}) || got.EnteredBy != "ann" || len(got.Witnesses) != 1 || got.Status() != DowntimeWaiting {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}
