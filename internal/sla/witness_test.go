package sla_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// probe records what a witness of gpu-a1 said on a path every 15 s of the span.
func (r *recording) probe(path string, value float64, span rental.Span) {
	r.read("host_probe_success", map[string]string{"host": "gpu-a1", "path": path, "way": "icmp"}, value, span)
}

// gap is a lease of an hour whose exporter is silent from 10:20 to 10:40 (cases C57 and C58).
func gap(t *testing.T) *world {
	t.Helper()
	no := false
	c := contract()
	c.BillWhileDown = &no
	w := newWorld(t, c, "11:00:00")
	w.samples.tell("GPU-A", "ok", between("10:00:00", "10:20:00"))
	w.samples.tell("GPU-A", "ok", between("10:40:00", "11:00:00"))
	return w
}

func TestAnExporterGapIsUnknownWhileTheHostShowsThatItLives(t *testing.T) {
	for name, tell := range map[string]func(*recording){
		"no witness at all": func(*recording) {},
		"probes are answered": func(r *recording) {
			r.probe("a", 1, between("10:00:00", "11:00:00"))
			r.probe("b", 1, between("10:00:00", "11:00:00"))
		},
		"probes fail and the heartbeat is good": func(r *recording) {
			r.probe("a", 1, between("10:00:00", "10:20:00"))
			r.probe("b", 1, between("10:00:00", "10:20:00"))
			r.probe("a", 0, between("10:20:00", "10:40:00"))
			r.probe("b", 0, between("10:20:00", "10:40:00"))
			r.read("host_heartbeat", map[string]string{"host": "gpu-a1"}, 1, between("10:00:00", "11:00:00"))
		},
		"another host is down": func(r *recording) {
			r.read("host_power_on", map[string]string{"host": "gpu-a2"}, 0, between("10:20:00", "10:40:00"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := gap(t)
			tell(w.samples)
			w.derive(t)
			v, err := w.sla.Verdict(t.Context(), "L-1", may(t))
			if err != nil || v.DownMS != 0 || v.UnknownMS < 19*60_000 {
				t.Errorf("%s (%v), expected the gap unknown and nothing down", v.Arithmetic, err)
			}
			if downs := w.downtimes(t); len(downs) != 0 {
				t.Errorf("downtimes: %+v", downs)
			}
		})
	}
}

func TestAGapInWhichTwoWitnessesFailIsDowntimeOfUndeterminedCause(t *testing.T) {
	w := gap(t)
	for _, path := range []string{"a", "b"} {
		w.samples.probe(path, 1, between("10:00:00", "10:20:00"))
		w.samples.probe(path, 0, between("10:20:00", "10:40:00"))
		w.samples.probe(path, 1, between("10:40:00", "11:00:00"))
	}
	w.derive(t)
	v, err := w.sla.Verdict(t.Context(), "L-1", may(t))
	if err != nil || v.DownMS != 20*60_000 || v.UnknownMS != 0 {
		t.Fatalf("%s (%v), expected 20 minutes down and nothing unknown", v.Arithmetic, err)
	}
	downs := w.downtimes(t)
	if len(downs) != 1 || downs[0].Span != between("10:20:00", "10:40:00") || downs[0].Reason != "host_down" ||
		downs[0].Cause != rental.CauseUndetermined || downs[0].ApprovedBy != "" {
		t.Fatalf("downtimes: %+v, expected one of 10:20 to 10:40 that waits for a person", downs)
	}
	if len(downs[0].Witnesses) != 2 || !strings.Contains(downs[0].Witnesses[0], `path="a",way="icmp"} == 0 @ 2026-05-10T10:20:00Z`) {
		t.Errorf("witnesses: %q, expected the first failure of both paths", downs[0].Witnesses)
	}
	kinds := map[string]int{}
	for _, e := range downs[0].Evidence {
		kinds[e.Kind]++
	}
	if kinds[rental.EvidenceProbe] != 6 || kinds[rental.EvidenceTransition] != 1 {
		t.Errorf("evidence: %+v, expected of each path the last success, the first failure, the next success, and the card's first sample after", downs[0].Evidence)
	}
	w.derive(t)
	if again := w.downtimes(t); len(again) != 1 || len(again[0].Acts) != 0 {
		t.Errorf("derived again: %+v", again)
	}
	// C58: approved, the twenty minutes are not billed.
	if _, err := w.ChangeDowntime(t.Context(), downs[0].ID, func(old *rental.Downtime) (*rental.Downtime, error) {
		next, err := old.Do(rental.Act{At: at("11:30:00"), By: "anna", Kind: rental.ActApproved, Cause: rental.CauseProvider, Note: "the switch log says so"})
		return &next, err
	}); err != nil {
		t.Fatal(err)
	}
	if bill, err := w.billing.Bill(t.Context(), "L-1", may(t)); err != nil || bill.Total.Minor >= 1000 {
		t.Errorf("bill: %+v (%v), expected 20 minutes unbilled", bill.Total, err)
	}
}

func TestWhatAHostSentLateDisprovesItsOutage(t *testing.T) {
	w := gap(t)
	for _, path := range []string{"a", "b"} {
		w.samples.probe(path, 1, between("10:00:00", "10:20:00"))
		w.samples.probe(path, 0, between("10:20:00", "10:40:00"))
	}
	w.derive(t)
	if downs := w.downtimes(t); len(downs) != 1 {
		t.Fatalf("downtimes: %+v, expected one", downs)
	}
	// Only its network was gone: the spool tells that the card was well.
	w.samples.tell("GPU-A", "ok", between("10:20:00", "10:40:00"))
	w.derive(t)
	v, err := w.sla.Verdict(t.Context(), "L-1", may(t))
	if err != nil || v.DownMS != 0 || v.UnknownMS != 0 {
		t.Errorf("%s (%v), expected no downtime", v.Arithmetic, err)
	}
	if downs := w.downtimes(t); len(downs) != 0 && downs[0].Status() != rental.DowntimeWithdrawn {
		t.Errorf("downtimes: %+v, expected it withdrawn", downs)
	}
}

func TestALongOutageStaysOneWhileOnlyItsEndIsDerived(t *testing.T) {
	c := contract()
	w := newWorld(t, c, "10:21:00")
	w.samples.tell("GPU-A", "ok", between("10:00:00", "10:20:00"))
	for _, path := range []string{"a", "b"} {
		w.samples.probe(path, 1, between("10:00:00", "10:20:00"))
		w.samples.probe(path, 0, between("10:20:00", "10:59:00"))
	}
	for clock := at("10:21:00"); clock <= at("10:55:00"); clock += 60_000 {
		w.now = clock.Time()
		if err := w.sla.Update(t.Context(), 2*time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	downs := w.downtimes(t)
	if len(downs) != 1 || downs[0].Span.Start != at("10:20:00") || downs[0].Span.End != rental.Forever {
		t.Fatalf("downtimes: %+v, expected one from 10:20 that goes on", downs)
	}
	live, err := w.sla.Live(t.Context())
	if err != nil || len(live) != 1 || live[0].Cards[0].State != "host_down" || live[0].Cards[0].Class != rental.Down {
		t.Errorf("live: %+v (%v), expected the card down with its host", live, err)
	}
}

func TestABMCThatSaysOffIsEnough(t *testing.T) {
	w := gap(t)
	w.samples.read("host_power_on", map[string]string{"host": "gpu-a1"}, 0, between("10:25:00", "10:35:00"))
	w.samples.read("host_power_on", map[string]string{"host": "gpu-a1"}, 1, between("10:35:00", "11:00:00"))
	w.derive(t)
	v, err := w.sla.Verdict(t.Context(), "L-1", may(t))
	if err != nil || v.DownMS != 10*60_000 {
		t.Errorf("%s (%v), expected the ten minutes without power down", v.Arithmetic, err)
	}
	downs := w.downtimes(t)
	if len(downs) != 1 || !slices.ContainsFunc(downs[0].Evidence, func(e rental.Evidence) bool {
		return e.Kind == rental.EvidenceBMC && e.ID == `host_power_on{host="gpu-a1"} == 0 @ 2026-05-10T10:25:00Z`
	}) {
		t.Errorf("downtimes: %+v, expected the BMC's reading as evidence", downs)
	}
}

func TestADegradedCardCountsAsItsContractSays(t *testing.T) {
	for counts, minutes := range map[string]int64{"up": 0, "down": 10} {
		t.Run(counts, func(t *testing.T) {
			c := contract()
			c.SKU, c.Availability.Degraded = "h100", counts
			w := newWorld(t, c, "11:00:00")
			r := rental.Resources{SKUs: []rental.SKU{{Name: "h100", Model: "H100 80GB HBM3", FormFactor: "SXM5", MemoryMiB: 81559, PCIeWidth: 16}}}
			if _, err := w.Apply(t.Context(), "ada", "the class promises its lanes", r, false); err != nil {
				t.Fatal(err)
			}
			w.samples.tell("GPU-A", "ok", between("10:00:00", "11:00:00"))
			card := map[string]string{"uuid": "GPU-A", "vantage": "host"}
			w.samples.read("gpu_pcie_link_width", card, 16, between("10:00:00", "10:30:00"))
			w.samples.read("gpu_pcie_link_width", card, 8, between("10:30:00", "10:40:00"))
			w.samples.read("gpu_pcie_link_width", card, 16, between("10:40:00", "11:00:00"))
			w.derive(t)
			timeline, err := w.Timeline(t.Context(), "L-1", "GPU-A", between("10:00:00", "11:00:00"))
			if err != nil || len(timeline) != 3 || timeline[1].Reason != rental.ReasonDegraded || timeline[1].Span != between("10:30:00", "10:40:00") {
				t.Fatalf("timeline: %+v (%v), expected degraded from 10:30 to 10:40", timeline, err)
			}
			v, err := w.sla.Verdict(t.Context(), "L-1", may(t))
			if err != nil || v.DownMS != minutes*60_000 {
				t.Errorf("%s (%v), expected %d minutes down", v.Arithmetic, err, minutes)
			}
			downs := w.downtimes(t)
			if counts == "up" {
				if len(downs) != 0 {
					t.Errorf("downtimes: %+v, expected none", downs)
				}
				return
			}
			want := "gpu_pcie_link_width == 8 @ 2026-05-10T10:30:00Z, promised 16"
			if len(downs) != 1 || downs[0].ApprovedBy != "" || downs[0].Witnesses[0] != want || downs[0].Evidence[0].Kind != rental.EvidenceReading {
				t.Errorf("downtimes: %+v, expected one that waits, by %q", downs, want)
			}
		})
	}
}

func TestTheExportersCountTellsWhatHidesInAGap(t *testing.T) {
	w := gap(t)
	for state, after := range map[string]float64{"ok": 3600 - 300, "lost": 300} {
		w.samples.read("gpu_state_seconds_total", map[string]string{"uuid": "GPU-A", "state": state}, 100, between("10:00:00", "10:00:15"))
		w.samples.read("gpu_state_seconds_total", map[string]string{"uuid": "GPU-A", "state": state}, 100+after-after/240, between("10:59:45", "11:00:00"))
	}
	w.derive(t)
	assignments, err := w.Assignments(t.Context(), "L-1")
	if err != nil {
		t.Fatal(err)
	}
	check, err := w.sla.CheckStates(t.Context(), "L-1", assignments[0], between("10:00:00", "11:00:00"))
	if err != nil || check == nil || check.Span != between("10:00:00", "10:59:45") || len(check.States) != 2 {
		t.Fatalf("check: %+v (%v)", check, err)
	}
	if lost := check.States[0]; lost.State != "lost" || lost.CountedMS < 298_000 || lost.DerivedMS != 0 || check.DifferenceMS < 19*60_000 {
		t.Errorf("check: %+v, expected five minutes that were lost and that nobody saw", check)
	}
}

func TestSilenceInWhichTheServerWasAwayIsNamedSo(t *testing.T) {
	for name, c := range map[string]struct {
		ran  []rental.Span
		want string
	}{
		"it ran":                 {[]rental.Span{between("09:00:00", "11:00:00")}, rental.ReasonNoSamples},
		"it was away":            {[]rental.Span{between("09:00:00", "10:20:00"), between("10:40:00", "11:00:00")}, rental.ReasonBlind},
		"it ran before that day": {[]rental.Span{between("00:00:00", "00:10:00"), between("10:40:00", "11:00:00")}, rental.ReasonBlind},
		"there was none before":  {[]rental.Span{between("10:40:00", "11:00:00")}, rental.ReasonNoSamples},
	} {
		t.Run(name, func(t *testing.T) {
			w := gap(t)
			for _, span := range c.ran {
				w.samples.read("leasewatch_build_info", map[string]string{"job": "leasewatch", "instance": "self"}, 1, span)
			}
			w.derive(t)
			timeline, err := w.Timeline(t.Context(), "L-1", "GPU-A", between("10:30:00", "10:30:01"))
			if err != nil || len(timeline) != 1 || timeline[0].Class != rental.NoData || timeline[0].Reason != c.want {
				t.Errorf("the gap is %+v (%v), expected it unknown by %q", timeline, err, c.want)
			}
		})
	}
}
