package sla_test

import (
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// insider makes what a recording holds of a card from there on the word of a guest.
func (r *recording) insider(uuid string, told func()) {
	before := len(r.series[uuid])
	told()
	for i := before; i < len(r.series[uuid]); i++ {
		r.series[uuid][i].Labels["vantage"] = "guest"
	}
}

// learned derives the lease's hour and returns its downtimes.
func (w *world) learned(t *testing.T) []rental.Downtime {
	t.Helper()
	w.derive(t)
	return w.downtimes(t)
}

func (w *world) verdict(t *testing.T) rental.Verdict {
	t.Helper()
	v, err := w.sla.Verdict(t.Context(), "L-1", between("10:00:00", "11:00:00"))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestALossThatOnlyTheGuestToldWaitsForAPersonUnderAnyContract(t *testing.T) {
	w := newWorld(t, contract(), "11:30:00") // approves by itself
	w.samples.insider("GPU-A", func() {
		w.samples.tell("GPU-A", "ok", between("10:00:00", "10:20:00"))
		w.samples.tell("GPU-A", "lost", between("10:20:00", "10:40:00"))
		w.samples.tell("GPU-A", "ok", between("10:40:00", "11:00:00"))
	})
	facts := w.learned(t)
	if len(facts) != 1 || facts[0].Cause != rental.CauseUndetermined || facts[0].ApprovedBy != "" || facts[0].Span != between("10:20:00", "10:40:00") {
		t.Fatalf("facts %+v, expected one of twenty minutes that waits for a person", facts)
	}
	if !strings.Contains(facts[0].Witnesses[0], `vantage="guest"`) {
		t.Errorf("witnesses %q, expected them to say from where", facts[0].Witnesses)
	}
	if v := w.verdict(t); v.Outcome != rental.Breached || v.DownMS != 20*60_000 {
		t.Errorf("verdict %s with %d ms down", v.Outcome, v.DownMS)
	}
	credits, err := w.sla.Credits(t.Context(), "L-1", between("00:00:00", "23:00:00"))
	if err != nil || len(credits) != 0 {
		t.Errorf("credits %+v, %v, expected none before a person decided", credits, err)
	}
	timeline, err := w.Timeline(t.Context(), "L-1", "GPU-A", between("10:00:00", "11:00:00"))
	if err != nil || len(timeline) != 3 || timeline[1].Vantage != rental.VantageGuest {
		t.Errorf("timeline %+v, %v, expected it to say from where", timeline, err)
	}
}

func TestAGuestChangesNothingOfACardThatTheHostSees(t *testing.T) {
	w := newWorld(t, contract(), "11:30:00")
	w.samples.tell("GPU-A", "ok", between("10:00:00", "11:00:00"))
	w.samples.insider("GPU-A", func() { w.samples.tell("GPU-A", "lost", between("10:05:00", "10:30:00")) }) // and then it is stopped
	if facts := w.learned(t); len(facts) != 0 {
		t.Errorf("facts %+v, expected none", facts)
	}
	if v := w.verdict(t); v.Outcome != rental.Kept || v.UnknownMS != 0 {
		t.Errorf("verdict %s with %d ms unknown", v.Outcome, v.UnknownMS)
	}
}

func TestAGuestThatIsStoppedIsNoDowntimeUnderAContractThatTakesUnknownForDown(t *testing.T) {
	strict := contract()
	strict.Availability.Unknown = "down"
	w := newWorld(t, strict, "11:30:00")
	w.samples.insider("GPU-A", func() { w.samples.tell("GPU-A", "ok", between("10:00:00", "10:30:00")) })
	if facts := w.learned(t); len(facts) != 0 {
		t.Errorf("facts %+v, expected none", facts)
	}
	v := w.verdict(t)
	if v.Outcome != rental.NotProven || v.DownMS != 0 || v.UnmeasuredMS == 0 || v.UnmeasuredMS != v.UnknownMS {
		t.Errorf("verdict %s: down %d, unknown %d of which %d unmeasured", v.Outcome, v.DownMS, v.UnknownMS, v.UnmeasuredMS)
	}
	w.now = at("10:50:00").Time()
	live, err := w.sla.Live(t.Context())
	if err != nil || len(live) != 1 || len(live[0].Cards) != 1 || live[0].Cards[0].State != "opaque" {
		t.Errorf("live %+v, %v, expected the card as not measured", live, err)
	}
}

func TestWhereTheHostFallsSilentAGuestsWordIsAFactOfItsOwn(t *testing.T) {
	w := newWorld(t, contract(), "11:30:00")
	w.samples.tell("GPU-A", "ok", between("10:00:00", "10:10:00"))
	w.samples.tell("GPU-A", "lost", between("10:10:00", "10:20:00"))
	w.samples.insider("GPU-A", func() { w.samples.tell("GPU-A", "lost", between("10:00:00", "10:40:00")) })
	w.samples.tell("GPU-A", "ok", between("10:40:00", "11:00:00"))
	facts := w.learned(t)
	if len(facts) != 2 {
		t.Fatalf("facts %+v, expected the host's and the guest's", facts)
	}
	approved := map[string]bool{}
	for _, d := range facts {
		approved[d.Cause] = d.ApprovedBy != ""
	}
	if !approved[rental.CauseProvider] || approved[rental.CauseUndetermined] {
		t.Errorf("facts %+v, expected the host's approved by the contract and the guest's not", facts)
	}
}
