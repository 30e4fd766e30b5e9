package monitor

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// may is the moment the backfill tests run at.
var may = time.Date(2026, 5, 31, 0, 0, 0, 0, time.UTC)

func atMay() time.Time { return may }

// minutes writes n samples of a gauge, a minute apart from start, with the values 0, 1, 2...
func minutes(name string, start time.Time, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s{uuid=\"1\",job=\"gpus\",instance=\"a:1\"} %d %d\n", name, i, start.Unix()+int64(i)*60)
	}
	return b.String()
}

const chainRules = `
groups:
- name: b
  rules:
  - {record: twice, expr: "uuid:gpu_x:max * 2", labels: {kind: test}}
- name: a
  rules:
  - {record: "uuid:gpu_x:max", expr: "max without (job, instance) (gpu_x)"}
  - {record: other, expr: "sum(unrelated)"}
`

func TestBackfillWritesSamplesAndWhatTheRulesRecordOfThem(t *testing.T) {
	m := open(t, Options{Now: atMay, Config: Config{RuleFiles: map[string][]byte{"r.yaml": []byte(chainRules)}}})
	begin := may.Add(-20 * 24 * time.Hour)
	const n = 6 * 24 * 60 // 6 days: several blocks, several query windows
	text := "# TYPE gpu_x gauge\n" + minutes("gpu_x", begin, n) + "# EOF\n"
	got, err := m.Backfill(t.Context(), strings.NewReader(text), BackfillOptions{})
	if err != nil {
		t.Fatal(err)
	}
	span := rental.Span{Start: rental.At(begin), End: rental.At(begin.Add((n-1)*time.Minute)) + 1}
	if got.Span != span || got.Series != 1 || got.Samples != n || got.Recorded != 2*n || got.Intervals["gpu_x"] != time.Minute {
		t.Errorf("%+v, expected %d samples and %d recorded over %v", got, n, 2*n, span)
	}
	for metric, factor := range map[string]float64{"gpu_x": 1, "uuid:gpu_x:max": 1, "twice": 2} {
		series, err := m.Select(t.Context(), metric, nil, span)
		if err != nil || len(series) != 1 || len(series[0].Samples) != n {
			t.Fatalf("%s: %d series, %v: expected one of %d samples", metric, len(series), err, n)
		}
		for i, s := range series[0].Samples {
			if s.Value != factor*float64(i) || s.At != span.Start+rental.Millis(i)*60_000 {
				t.Fatalf("%s: sample %d is %+v", metric, i, s)
			}
		}
		if metric == "twice" && (series[0].Labels["kind"] != "test" || series[0].Labels["job"] != "") {
			t.Errorf("recorded labels %v", series[0].Labels)
		}
	}
	for _, block := range m.db.BlockMetas() {
		if block.MinTime < int64(span.Start) || block.MaxTime > int64(span.End) || !block.Compaction.FromOutOfOrder() {
			t.Errorf("block %d to %d (out of order %v) reaches over the samples %v", block.MinTime, block.MaxTime, block.Compaction.FromOutOfOrder(), span)
		}
	}
	if left, err := filepath.Glob(filepath.Join(m.opts.DataDir, stagePrefix+"*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestBackfillRefusesWhatItCannotKeepAndChangesNothing(t *testing.T) {
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		text  string
		kind  error
		words []string
	}{
		"older than the retention": {
			"# TYPE g gauge\n" + minutes("g", may.Add(-91*day), 2) + "# EOF\n", ErrBeyondRetention,
			[]string{"--storage.retention", "92d", "2026-03-01", "2026-03-02"},
		},
		"in the future":          {minutes("g", may.Add(day), 2) + "# EOF\n", ErrBadHistory, []string{"not come yet", "seconds"}},
		"no timestamp":           {"g 1 1777000000\ng 2\n# EOF\n", ErrBadHistory, []string{"line 2", "timestamp", `"g 2"`}},
		"not a number":           {"g 1 1777000000\ng one 1777000060\n# EOF\n", ErrBadHistory, []string{"line 2", "g one 1777000060"}},
		"time goes back":         {"g 1 1777000060\ng 2 1777000000\n# EOF\n", ErrBadHistory, []string{"line 2", "does not come after"}},
		"no end mark":            {"g 1 1777000060\n", ErrBadHistory, []string{"line 2", "EOF"}},
		"an empty line":          {"g 1 1777000060\n\n# EOF\n", ErrBadHistory, []string{"line 2"}},
		"a label without quotes": {"g{a=b} 1 1777000060\n# EOF\n", ErrBadHistory, []string{"line 1", "g{a=b}"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := open(t, Options{Now: atMay})
			_, err := m.Backfill(t.Context(), strings.NewReader(c.text), BackfillOptions{RetentionFlag: "--storage.retention"})
			if !errors.Is(err, c.kind) {
				t.Fatalf("%v, expected %v", err, c.kind)
			}
			for _, word := range c.words {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not say %q", err, word)
				}
			}
			if len(m.db.BlockMetas()) != 0 {
				t.Error("a refused backfill wrote blocks")
			}
		})
	}
}

func TestADryRunSaysWhatItWouldWriteAndWritesNothing(t *testing.T) {
	m := open(t, Options{Now: atMay})
	got, err := m.Backfill(t.Context(), strings.NewReader(minutes("g", may.Add(-time.Hour), 10)+"# EOF\n"), BackfillOptions{DryRun: true})
	if err != nil || got.Samples != 10 || got.Intervals["g"] != time.Minute {
		t.Errorf("%+v %v", got, err)
	}
	entries, err := os.ReadDir(m.opts.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), stagePrefix) {
			t.Errorf("left %s", e.Name())
		}
	}
	if empty, err := m.Backfill(t.Context(), strings.NewReader("# EOF\n"), BackfillOptions{}); err != nil || empty.Samples != 0 {
		t.Errorf("an empty file: %+v %v", empty, err)
	}
}

func TestLiveSamplesSurviveARestartAfterABackfillOfTheSameTime(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	o := Options{DataDir: dir}
	m := open(t, o)
	put(t, m, map[string]string{"__name__": "live"}, now.UnixMilli(), 1, 42)
	text := minutes("g", now.Add(-time.Hour).Truncate(time.Minute), 60) + "# EOF\n"
	if _, err := m.Backfill(t.Context(), strings.NewReader(text), BackfillOptions{}); err != nil {
		t.Fatal(err)
	}
	stop(t, m)
	m = open(t, o)
	got, err := m.Select(t.Context(), "live", nil, rental.Span{Start: rental.At(now) - 1000, End: rental.At(now) + 1000})
	if err != nil || len(got) != 1 {
		t.Fatalf("%v %v: the block of history hid the log of live samples", got, err)
	}
}

func TestAKilledBackfillIsClearedAtTheNextStart(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, stagePrefix+"123")
	if err := os.MkdirAll(filepath.Join(left, "01ABC"), 0o750); err != nil {
		t.Fatal(err)
	}
	open(t, Options{DataDir: dir})
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v: expected the folder to be gone", err)
	}
}

func TestBlocksAlignWithTheStoresOwn(t *testing.T) {
	length := blockLength.Milliseconds()
	for _, at := range []int64{math.MinInt64 / 2, -length - 1, -length, -1, 0, 1, length - 1, length, may.UnixMilli()} {
		start := blockStart(at)
		if start%length != 0 || at < start || at >= start+length {
			t.Errorf("block of %d starts at %d", at, start)
		}
	}
}

func BenchmarkHistory(b *testing.B) {
	begin := rental.At(may.Add(-30 * 24 * time.Hour))
	const series, samples = 96, 30 * 24 * 60
	for b.Loop() {
		m, err := New(Options{DataDir: b.TempDir(), Now: atMay})
		if err != nil {
			b.Fatal(err)
		}
		_, err = m.WriteHistory(b.Context(), BackfillOptions{}, func(h *History) error {
			for s := range series {
				id, err := h.Series(map[string]string{"__name__": "gpu_temperature_celsius", "uuid": fmt.Sprint(s)})
				if err != nil {
					return err
				}
				for i := range samples {
					if err := h.Append(id, begin+rental.Millis(i)*60_000, 40+math.Round(20*math.Sin(float64(i)/90))); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		if err := m.Stop(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(series*samples*b.N)/b.Elapsed().Seconds(), "samples/s")
}
