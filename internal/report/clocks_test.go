package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/report"
)

// clocked is June with one answer in time, one that was late, and a drill.
func clocked(t *testing.T) report.Document {
	t.Helper()
	d := newJune().document(t)
	start := at("2026-06-10T03:00:00Z")
	run := func(id string, elapsed int64, outcome rental.Outcome) rental.ClockRun {
		return rental.ClockRun{Objective: rental.ObjectiveResponse, Incident: id, Severity: rental.Page, Hours: rental.HoursAlways, LimitMS: 900_000,
			EvidenceAt: start, DetectedAt: start + 5_000, StartAt: start, StopAt: start + rental.Millis(elapsed), DueAt: start + 900_000, ElapsedMS: elapsed, Outcome: outcome}
	}
	drill := run("INC-3", 60_000, rental.Kept)
	drill.Drill = true
	v := rental.ObjectiveVerdict{Objective: rental.ObjectiveResponse, Target: decimal("100"),
		Runs: []rental.ClockRun{run("INC-1", 900_000, rental.Kept), run("INC-2", 900_001, rental.Breached), drill}}
	d.Objectives = []rental.ObjectiveVerdict{v.Counted(d.Language)}
	return d
}

func TestEachClockIsOnThePageInBothLanguages(t *testing.T) {
	for lang, words := range map[string][]string{
		"en": {"Response, resolution and recovery", "INC-2", "15m0.001s", "Breached", "INC-3 (drill, kept out)", "of 2, 1 kept and 1 broke the limit: 50.0000 %, target 100", "not agreed", "not reported"},
		"zh": {"响应、解决与恢复", "15m0.001s", "未达标", "INC-3（演练，不计入）", "共 2 起：1 起达标，1 起超限", "未约定"},
	} {
		var page bytes.Buffer
		if err := report.WriteHTML(&page, clocked(t), "k", lang); err != nil {
			t.Fatal(err)
		}
		for _, word := range words {
			if !strings.Contains(page.String(), word) {
				t.Errorf("%s: the page does not say %q", lang, word)
			}
		}
	}
	var table bytes.Buffer
	if err := report.WriteCSV(&table, clocked(t), "en"); err != nil || !strings.Contains(table.String(), "response,INC-2,2026-06-10T03:00:00Z,2026-06-10T03:15:00.001Z,900001,ms") {
		t.Errorf("%v: %s", err, table.String())
	}
}

func TestALieAboutAClockIsFound(t *testing.T) {
	ring := newRing(t)
	if r := verify(t, signed(t, clocked(t), ring), ring.Keys(), nil); len(r.Faults) > 0 {
		t.Fatalf("an honest report: %v", r.Faults)
	}
	for name, lie := range map[string]func(*rental.ObjectiveVerdict){
		"a breach that is called kept": func(v *rental.ObjectiveVerdict) { v.Runs[1].Outcome = rental.Kept },
		"a shorter time":               func(v *rental.ObjectiveVerdict) { v.Runs[1].ElapsedMS = 900_000 },
		"a breach that is left out":    func(v *rental.ObjectiveVerdict) { v.Runs = v.Runs[:1] },
		"a breach that is a drill":     func(v *rental.ObjectiveVerdict) { v.Runs[1].Drill = true },
		"another verdict":              func(v *rental.ObjectiveVerdict) { v.Outcome = rental.Kept },
	} {
		d := clocked(t)
		lie(&d.Objectives[0])
		if r := verify(t, signed(t, d, ring), ring.Keys(), nil); len(r.Faults) == 0 || r.Faults[0].Where != "objective response" {
			t.Errorf("%s: found %v", name, r.Faults)
		}
	}
}
