package monitor

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/prometheus/rules"
)

// restart is a store with a past, whose rules are about to be taken up again.
type restart struct {
	*Monitor
	t    *testing.T
	last time.Time
}

// afterRestart opens a store, fills the past and restores rule state as Start does, at a moment that
// lies down after the last sample.
func afterRestart(t *testing.T, rule string, down time.Duration, fill func(m *Monitor, last int64)) restart {
	t.Helper()
	last := time.Date(2026, 5, 4, 3, 0, 0, 0, time.UTC)
	m := open(t, Options{
		Config: Config{RuleFiles: map[string][]byte{"r.yaml": []byte(rule)}},
		Now:    func() time.Time { return last.Add(down) },
	})
	fill(m, last.UnixMilli())
	if err := m.loadRules(); err != nil {
		t.Fatal(err)
	}
	// The groups wait for Run, which Stop would start only for a started monitor.
	t.Cleanup(func() { go m.rules.Run(); m.rules.Stop() })
	m.restoreRules(t.Context(), last)
	m.resumeHolds(last, last.Add(down))
	return restart{m, t, last}
}

func (r restart) only() rules.Alert {
	r.t.Helper()
	var all []rules.Alert
	for _, rule := range r.rules.AlertingRules() {
		rule.ForEachActiveAlert(func(a *rules.Alert) { all = append(all, *a) })
	}
	if len(all) != 1 {
		r.t.Fatalf("%d alerts, expected 1: %v", len(all), all)
	}
	return all[0]
}

// evaluateAt gives the rules a sample and one evaluation, seconds after the restart.
func (r restart) evaluateAt(after time.Duration, value float64) rules.Alert {
	r.t.Helper()
	at := r.last.Add(after)
	put(r.t, r.Monitor, map[string]string{"__name__": "bad", "uuid": "1"}, at.UnixMilli(), 1, value)
	r.evaluateAll(r.t.Context(), at)
	return r.only()
}

const holdRule = `
groups:
- name: g
  interval: 15s
  rules:
  - {alert: Bad, expr: bad == 1, for: 10m, keep_firing_for: 5m}
`

// readings puts the given values of the series, 15 s apart, the last one at the last moment.
func readings(t *testing.T, values ...float64) func(*Monitor, int64) {
	return func(m *Monitor, last int64) {
		t.Helper()
		put(t, m, map[string]string{"__name__": "bad", "uuid": "1"}, last-int64(len(values)-1)*15_000, 15_000, values...)
	}
}

func times(n int, v float64) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = v
	}
	return all
}

func TestAHoldGoesOnAfterARestartWithoutTheTimeNobodySaw(t *testing.T) {
	// 6 minutes seen bad, 2 minutes down: 4 of 10 minutes are left.
	r := afterRestart(t, holdRule, 2*time.Minute, readings(t, times(25, 1)...))
	// The group's slots lie up to an interval after the samples.
	began := r.last.Add(-6*time.Minute + 2*time.Minute)
	if a := r.only(); a.State != rules.StatePending || a.ActiveAt.Before(began) || a.ActiveAt.After(began.Add(15*time.Second)) {
		t.Fatalf("%v since %v, expected pending since 6 minutes before the stop, moved by 2", a.State, a.ActiveAt)
	}
	if a := r.evaluateAt(5*time.Minute+45*time.Second, 1); a.State != rules.StatePending {
		t.Errorf("%v after 9:45 of hold, expected pending", a.State)
	}
	if a := r.evaluateAt(6*time.Minute+15*time.Second, 1); a.State != rules.StateFiring {
		t.Errorf("%v after 10 minutes of hold, expected firing", a.State)
	}
}

func TestAFiringAlertKeepsItsBeginningOverARestart(t *testing.T) {
	began := func(m *Monitor, last int64) {
		readings(t, times(200, 1)...)(m, last) // 50 minutes, more than is replayed
		since := float64(last/1000 - 7200)
		put(t, m, map[string]string{"__name__": forStateMetric, "alertname": "Bad", "uuid": "1"}, last, 1, since)
	}
	r := afterRestart(t, holdRule, 30*time.Second, began)
	a := r.only()
	if a.State != rules.StateFiring || !a.ActiveAt.Equal(r.last.Add(-2*time.Hour)) || !a.FiredAt.Equal(r.last.Add(-110*time.Minute)) {
		t.Errorf("%v active %v fired %v, expected firing, active 2 h and fired 1:50 before the stop", a.State, a.ActiveAt, a.FiredAt)
	}
	if a := r.evaluateAt(30*time.Second, 0); a.State != rules.StateFiring || a.KeepFiringSince.IsZero() {
		t.Errorf("%v, expected it to be kept firing", a.State)
	}
}

func TestKeepFiringForGoesOnAfterARestart(t *testing.T) {
	// Bad for 15 minutes, good for the last 2: kept firing for 3 more, whatever the time down.
	r := afterRestart(t, holdRule, time.Hour, readings(t, append(times(60, 1), times(9, 0)...)...))
	if a := r.only(); a.State != rules.StateFiring || a.KeepFiringSince.IsZero() {
		t.Fatalf("%v kept since %v, expected firing and kept", a.State, a.KeepFiringSince)
	}
	if a := r.evaluateAt(time.Hour+2*time.Minute+30*time.Second, 0); a.State != rules.StateFiring {
		t.Errorf("%v, expected firing for 30 s more", a.State)
	}
	if a := r.evaluateAt(time.Hour+3*time.Minute+15*time.Second, 0); a.State != rules.StateInactive {
		t.Errorf("%v after 5 minutes good, expected inactive", a.State)
	}
}

func TestAnAlertThatHealedWhileTheServerWasDownEndsAtTheFirstEvaluation(t *testing.T) {
	rule := "groups:\n- name: g\n  interval: 15s\n  rules:\n  - {alert: Bad, expr: bad == 1}\n"
	r := afterRestart(t, rule, 5*time.Minute, readings(t, times(8, 1)...))
	if a := r.only(); a.State != rules.StateFiring {
		t.Fatalf("%v, expected firing", a.State)
	}
	if a := r.evaluateAt(5*time.Minute, 0); a.State != rules.StateInactive || a.ResolvedAt.IsZero() {
		t.Errorf("%v resolved at %v, expected it ended", a.State, a.ResolvedAt)
	}
}

func TestAFailedQueryNeitherEndsNorForgetsAnAlert(t *testing.T) {
	rule := "groups:\n- name: g\n  interval: 15s\n  rules:\n  - {alert: Bad, expr: (bad == 1) / on (uuid) one}\n"
	var got told
	r := afterRestart(t, rule, 15*time.Second, func(m *Monitor, last int64) {
		m.opts.Notify = got.notify
		readings(t, 1, 1, 1)(m, last)
		put(t, m, map[string]string{"__name__": "one", "uuid": "1"}, last, 1, 1)
	})
	r.evaluateAt(15*time.Second, 1)
	// Two series of one uuid on the right side: the match is ambiguous, the query fails.
	at := r.last.Add(75 * time.Second).UnixMilli()
	put(t, r.Monitor, map[string]string{"__name__": "one", "uuid": "1"}, at, 1, 1)
	put(t, r.Monitor, map[string]string{"__name__": "one", "uuid": "1", "again": "1"}, at, 1, 1)
	if a := r.evaluateAt(75*time.Second, 1); a.State != rules.StateFiring {
		t.Errorf("%v, expected it to stay firing", a.State)
	}
	if r.rules.AlertingRules()[0].LastError() == nil {
		t.Fatal("the query did not fail: the test tests nothing")
	}
	until := r.last.Add(75*time.Second + 4*resendDelay)
	if _, ok := got.find(func(a Alert) bool { return a.EndsAt.IsZero() && a.ValidUntil.Equal(until) }); !ok {
		t.Errorf("not told again with validity until %v: %v", until, got.alerts)
	}
}

func TestAServerThatWasKilledTakesUpTheSameAlert(t *testing.T) {
	_, address := target(t, `gpu_state{uuid="GPU-1",host="a",state="lost"} 1`+"\n")
	o := Options{Config: Config{ScrapeConfigs: []byte(job("gpus", address)), RuleFiles: map[string][]byte{"lost.yaml": []byte(lostRule)}}}
	m := start(t, o)
	eventually(t, "the alert's beginning is recorded", func() bool { _, ok := value1(t, m, forStateMetric); return ok })
	before := m.ActiveAlerts()
	// What is on the disk at this moment is what a kill leaves.
	left := filepath.Join(t.TempDir(), "left")
	if err := os.CopyFS(left, os.DirFS(m.opts.DataDir)); err != nil {
		t.Fatal(err)
	}
	o.DataDir = left
	after := start(t, o).ActiveAlerts()
	if len(before) != 1 || len(after) != 1 {
		t.Fatalf("%d alerts before, %d after, expected one each", len(before), len(after))
	}
	if moved := after[0].StartsAt.Sub(before[0].StartsAt).Abs(); moved > time.Second {
		t.Errorf("the beginning moved from %v to %v", before[0].StartsAt, after[0].StartsAt)
	}
}

func TestAStoppedServerTakesUpTheSameAlert(t *testing.T) {
	_, address := target(t, `gpu_state{uuid="GPU-1",host="a",state="lost"} 1`+"\n")
	o := Options{
		DataDir: t.TempDir(),
		Config:  Config{ScrapeConfigs: []byte(job("gpus", address)), RuleFiles: map[string][]byte{"lost.yaml": []byte(lostRule)}},
	}
	m := start(t, o)
	eventually(t, "the alert's beginning is recorded", func() bool { _, ok := value1(t, m, forStateMetric); return ok })
	before := m.ActiveAlerts()
	stop(t, m)
	after := start(t, o).ActiveAlerts()
	if len(before) != 1 || len(after) != 1 {
		t.Fatalf("%d alerts before, %d after, expected one each", len(before), len(after))
	}
	if moved := after[0].StartsAt.Sub(before[0].StartsAt).Abs(); moved > time.Second {
		t.Errorf("the beginning moved from %v to %v", before[0].StartsAt, after[0].StartsAt)
	}
}

func TestALongHoldIsReplayedInWiderStepsThatStillCoverIt(t *testing.T) {
	rule := "groups:\n- name: g\n  interval: 1s\n  rules:\n  - {alert: Bad, expr: bad == 1, keep_firing_for: 3h}\n"
	// Bad until 2 hours before the stop: kept firing for an hour more.
	r := afterRestart(t, rule, time.Minute, readings(t, append(times(40, 1), times(480, 0)...)...))
	group := r.rules.RuleGroups()[0]
	if n := len(slotsBefore(group, group.AlertingRules()[0], r.last)); n > maxReplay+2 {
		t.Errorf("%d evaluations, expected at most %d", n, maxReplay+2)
	}
	a := r.only()
	if kept := r.last.Sub(a.KeepFiringSince); a.State != rules.StateFiring || kept < 118*time.Minute || kept > 120*time.Minute {
		t.Errorf("%v, kept since %s before the stop, expected firing and about 1h59m (the time down does not count)", a.State, kept)
	}
}
