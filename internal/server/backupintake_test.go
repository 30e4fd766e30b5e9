package server

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// toldSeries answers each query with what stands under a metric's name.
type toldSeries map[string][]rental.Series

func (s toldSeries) Query(_ context.Context, expr string, _ time.Time) ([]rental.Series, error) {
	for name, series := range s {
		if strings.Contains(expr, "("+name+"{") {
			return series, nil
		}
	}
	return nil, nil
}

func at(t *testing.T, text string) rental.Millis {
	t.Helper()
	var m rental.Millis
	if err := m.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return m
}

// intake watches a folder over a ledger with lease L-1.
func intake(t *testing.T, series toldSeries) (backupIntake, func() []rental.Backup) {
	t.Helper()
	s := newSealed(t)
	s.now = time.Date(2026, 5, 8, 12, 0, 0, 0, time.UTC)
	b := backupIntake{dir: t.TempDir(), samples: series, ledger: s.Ledger, log: slog.New(slog.DiscardHandler), now: func() time.Time { return s.now }, changed: func() {}}
	return b, func() []rental.Backup {
		found, err := s.Backups(t.Context(), ledger.BackupFilter{Span: allOfTime, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
}

func TestFilesOfBackupsAreTakenInOnceAndMovedAway(t *testing.T) {
	b, kept := intake(t, nil)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const one = `{"lease":"L-1","set":"work","data_at":"2026-05-07T02:00:00Z","finished_at":"2026-05-07T02:20:00Z","note":"nightly"}`
	write("a.json", one)
	write("b.yaml", "- {lease: L-1, set: work, data_at: 2026-05-07T02:00:00Z, finished_at: 2026-05-07T02:20:00Z, verified_at: 2026-05-07T03:00:00Z}\n- {lease: L-1, set: work, data_at: 2026-05-08T02:00:00Z, finished_at: 2026-05-08T02:20:00Z}\n")
	write("c.json", `{"lease":"L-9","set":"work","data_at":"2026-05-07T02:00:00Z","finished_at":"2026-05-07T02:20:00Z"}`)
	write("d.yml", "lease: L-1\nsett: work\n")
	write(".half.json", `{"lease":`)
	write("e.txt", one)
	if err := b.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := kept(); len(got) != 2 || got[1].VerifiedAt == 0 || got[1].Acts[0].Note != "file a.json nightly" {
		t.Errorf("kept %+v, expected two, the older one verified", got)
	}
	left := func(dir string) []string {
		var names []string
		entries, _ := os.ReadDir(filepath.Join(b.dir, dir))
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	for dir, want := range map[string][]string{"done": {"a.json", "b.yaml"}, "failed": {"c.json", "c.json.error", "d.yml", "d.yml.error"}, "": {".half.json", "done", "e.txt", "failed"}} {
		if got := left(dir); !slices.Equal(got, want) {
			t.Errorf("%q holds %q, expected %q", dir, got, want)
		}
	}
	if why, _ := os.ReadFile(filepath.Join(b.dir, "failed", "d.yml.error")); !strings.Contains(string(why), "sett") {
		t.Errorf("the reason says %q", why)
	}
	write("a.json", one)
	if err := b.sweep(t.Context()); err != nil || len(left("done")) != 3 || len(kept()) != 2 {
		t.Errorf("told again: %v, done %q, kept %d", err, left("done"), len(kept()))
	}
	b.dir = filepath.Join(b.dir, "nothing")
	if err := b.sweep(t.Context()); err == nil || !strings.Contains(err.Error(), "backups.drop_dir") {
		t.Errorf("no folder: %v", err)
	}
}

func TestSeriesTellOfTheNewestBackupOfEachSet(t *testing.T) {
	value := func(lease, set, when string) rental.Series {
		return rental.Series{Labels: map[string]string{"lease": lease, "set": set}, Samples: []rental.Sample{{Value: float64(at(t, when)) / 1000}}}
	}
	series := toldSeries{
		"lease_backup_data_timestamp_seconds":     {value("L-1", "work", "2026-05-07T02:00:00Z"), value("L-9", "work", "2026-05-07T02:00:00Z"), value("L-1", "half", "2026-05-07T02:00:00Z")},
		"lease_backup_finished_timestamp_seconds": {value("L-1", "work", "2026-05-07T02:20:00Z"), value("L-9", "work", "2026-05-07T02:20:00Z")},
		"lease_backup_verified_timestamp_seconds": {value("L-1", "work", "2026-05-06T03:00:00Z")},
	}
	b, kept := intake(t, series)
	for range 2 {
		if err := b.readSeries(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := kept(); len(got) != 1 || got[0].VerifiedAt != 0 || len(got[0].Acts) != 1 {
		t.Fatalf("kept %+v, expected one, of which the check was of the backup before", got)
	}
	series["lease_backup_verified_timestamp_seconds"] = []rental.Series{value("L-1", "work", "2026-05-07T03:00:00Z")}
	if err := b.readSeries(t.Context()); err != nil || kept()[0].VerifiedAt != at(t, "2026-05-07T03:00:00Z") {
		t.Errorf("%v: %+v", err, kept())
	}
}

func FuzzAFileOfBackupsNeverPanics(f *testing.F) {
	f.Add([]byte(`[{"lease":"L-1","set":"work","data_at":"2026-05-07T02:00:00Z","finished_at":"2026-05-07T02:20:00Z"}]`))
	f.Add([]byte("lease: L-1\nset: work\ndata_at: open\n---\n"))
	f.Add([]byte("- &a [*a]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := parseBackups(text)
		if err != nil && rental.CodeOf(err) != rental.CodeInvalid {
			t.Errorf("%v is no error of the input", err)
		}
		if err == nil && len(text) > maxBackupFile && len(list) > 0 {
			t.Error("more than a file may hold was read")
		}
	})
}
