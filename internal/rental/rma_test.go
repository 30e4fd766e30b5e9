package rental

import (
	"strings"
	"testing"
)

func TestAnRMAGoesFromItsOpeningToWhatCameOfIt(t *testing.T) {
	card := GPU{UUID: "GPU-1", Serial: "S1", SKU: "h100", Host: "gpu-a1", Slot: 3}
	act := func(kind, outcome string) Act {
		return Act{At: 5, By: "ann", Kind: kind, Outcome: outcome, Note: "why"}
	}
	came := RMAReplacement{UUID: "GPU-2", Serial: "S2"}
	type step struct {
		act  Act
		with RMAReplacement
	}
	for name, tc := range map[string]struct {
		steps []step
		state string
		code  Code
		says  string
	}{
		"opened, it waits":                   {nil, RMAOpen, "", ""},
		"another card came":                  {[]step{{act(ActReplaced, ""), came}}, RMAReplaced, "", ""},
		"the serial is put right":            {[]step{{act(ActReplaced, ""), RMAReplacement{"GPU-2", "S"}}, {act(ActReplaced, ""), came}}, RMAReplaced, "", ""},
		"replaced and closed":                {[]step{{act(ActReplaced, ""), came}, {act(ActClosed, "replaced"), RMAReplacement{}}}, RMAClosed, "", ""},
		"it came back mended":                {[]step{{act(ActClosed, "repaired"), RMAReplacement{}}}, RMAClosed, "", ""},
		"replaced by a card that nobody has": {[]step{{act(ActClosed, "replaced"), RMAReplacement{}}}, RMAOpen, CodeRefused, "rma replace"},
		"mended, though another came":        {[]step{{act(ActReplaced, ""), came}, {act(ActClosed, "repaired"), RMAReplacement{}}}, RMAReplaced, CodeRefused, "GPU-2 came for it"},
		"closed twice":                       {[]step{{act(ActClosed, "refused"), RMAReplacement{}}, {act(ActClosed, "refused"), RMAReplacement{}}}, RMAClosed, CodeRefused, "it is closed"},
		"replaced by itself":                 {[]step{{act(ActReplaced, ""), RMAReplacement{"GPU-1", "S1"}}}, RMAOpen, CodeInvalid, "another card than the one that went"},
		"replaced by a card without serial":  {[]step{{act(ActReplaced, ""), RMAReplacement{UUID: "GPU-2"}}}, RMAOpen, CodeInvalid, "serial"},
		"an outcome that is none":            {[]step{{act(ActClosed, "lost"), RMAReplacement{}}}, RMAOpen, CodeInvalid, "replaced, repaired, no_fault, refused"},
		"an act of something else":           {[]step{{act(ActApproved, ""), RMAReplacement{}}}, RMAOpen, CodeInvalid, "approved"},
		"closed without a reason":            {[]step{{Act{At: 5, By: "ann", Kind: ActClosed, Outcome: "refused"}, RMAReplacement{}}}, RMAOpen, CodeInvalid, "note"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := OpenRMA("RMA-000001", card, "INC-4", act("", ""))
			if err != nil {
				t.Fatal(err)
			}
			done := 1
			for _, s := range tc.steps {
				var next RMA
				if next, err = r.Do(s.act, s.with); err != nil {
					break
				}
				r, done = next, done+1
			}
			if CodeOf(err) != tc.code || tc.code != "" && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%v, expected %q with %q", err, tc.code, tc.says)
			}
			if r.State != tc.state || len(r.Acts) != done || r.Serial != "S1" || r.Slot != 3 {
				t.Errorf("%+v, expected it %s after %d acts", r, tc.state, done)
			}
			if r.Replacement != nil && *r.Replacement != came {
				t.Errorf("replaced by %+v", *r.Replacement)
			}
		})
	}
	if _, err := OpenRMA("RMA-000001", card, "", Act{At: 5, By: "ann"}); CodeOf(err) != CodeInvalid {
		t.Errorf("opened without a reason: %v", err)
	}
}

func TestACardsLifeFollowsWhatCameOfItsRMA(t *testing.T) {
	for outcome, want := range map[string]GPULife{"replaced": GPUScrapped, "repaired": GPUStock, "no_fault": GPUStock, "refused": GPURMA} {
		if got := RMALife(outcome); got != want {
			t.Errorf("%s: %s, expected %s", outcome, got, want)
		}
	}
}
