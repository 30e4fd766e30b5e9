package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// backupIntake takes in backups that are not told of by the API: files of a folder, and series.
type backupIntake struct {
	// dir is the folder that is watched; "" for none. What was taken goes to done, what cannot be to
	// failed, with the reason beside it.
	dir     string
	samples interface {
		Query(ctx context.Context, expr string, at time.Time) ([]rental.Series, error)
	}
	ledger  *ledger.Ledger
	log     *slog.Logger
	now     func() time.Time
	changed func()
}

// How often the folder and the series are looked at, and how large a file may be.
const (
	backupIntakeEvery = 15 * time.Second
	maxBackupFile     = 1 << 20
)

// run looks until ctx ends.
func (b backupIntake) run(ctx context.Context) {
	ticker := time.NewTicker(backupIntakeEvery)
	defer ticker.Stop()
	for {
		if err := errors.Join(b.sweep(ctx), b.readSeries(ctx)); err != nil && ctx.Err() == nil {
			b.log.Error("backups were not taken in; they are tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// backupFile is one document of a dropped file.
type backupFile struct {
	rental.Backup `yaml:",inline"`

	Note string `yaml:"note"`
}

// sweep takes in each file of the folder that ends in .json, .yaml or .yml and does not begin with a
// dot. A file must come by a rename: one that is still written would be refused.
func (b backupIntake) sweep(ctx context.Context) error {
	if b.dir == "" {
		return nil
	}
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return fmt.Errorf("backups.drop_dir: %w", err)
	}
	var errs []error
	for _, e := range entries {
		name := e.Name()
		if !e.Type().IsRegular() || strings.HasPrefix(name, ".") || !slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(name)) {
			continue
		}
		errs = append(errs, b.take(ctx, name))
	}
	return errors.Join(errs...)
}

// take reads one file and moves it away. While the ledger cannot be written it stays.
func (b backupIntake) take(ctx context.Context, name string) error {
	told, err := readBackupFile(filepath.Join(b.dir, name))
	for _, one := range told {
		if err != nil {
			break
		}
		_, err = b.ledger.ReportBackup(ctx, one.Backup, rental.Act{By: rental.Server, Side: rental.SideProvider, Note: strings.TrimSpace("file " + name + " " + one.Note)})
	}
	if code := rental.CodeOf(err); err != nil && code != rental.CodeInvalid && code != rental.CodeNotFound {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err == nil {
		b.changed()
		return b.move(name, "done", nil)
	}
	b.log.Warn("a file of backups cannot be taken in", "file", name, "error", err)
	return b.move(name, "failed", err)
}

// move puts a file into a folder beside, under a name that no earlier one has, with the reason why
// it failed.
func (b backupIntake) move(name, folder string, why error) error {
	dir := filepath.Join(b.dir, folder)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	to := filepath.Join(dir, name)
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		to = filepath.Join(dir, b.now().UTC().Format("20060102T150405.000Z-")+name)
	}
	if err := os.Rename(filepath.Join(b.dir, name), to); err != nil || why == nil {
		return err
	}
	return os.WriteFile(to+".error", []byte(why.Error()+"\n"), 0o640)
}

// readBackupFile reads one backup or a list of them; JSON is YAML. Its errors are CodeInvalid but for
// those of reading.
func readBackupFile(path string) ([]backupFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxBackupFile+1))
	if err != nil {
		return nil, err
	}
	return parseBackups(text)
}

func parseBackups(text []byte) ([]backupFile, error) {
	if len(text) > maxBackupFile {
		return nil, &rental.Error{Code: rental.CodeInvalid, Message: fmt.Sprintf("found more than %d bytes, expected at most so many", maxBackupFile)}
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	var list []backupFile
	var err error
	if first := bytes.TrimSpace(text); len(first) > 0 && (first[0] == '[' || first[0] == '-') {
		err = dec.Decode(&list)
	} else {
		list = make([]backupFile, 1)
		err = dec.Decode(&list[0])
	}
	if err == nil {
		var more yaml.Node
		if next := dec.Decode(&more); !errors.Is(next, io.EOF) {
			err = errors.New("found a second document, expected one: a backup or a list of them")
		}
	}
	if err != nil {
		return nil, &rental.Error{Code: rental.CodeInvalid, Message: "expected a backup or a list of them, with lease, set, data_at and finished_at", Cause: err}
	}
	return list, nil
}

// backupSeries are the series that tell of a backup, by lease and set, and where each goes.
var backupSeries = map[string]func(*rental.Backup) *rental.Millis{
	"lease_backup_data_timestamp_seconds":     func(b *rental.Backup) *rental.Millis { return &b.DataAt },
	"lease_backup_finished_timestamp_seconds": func(b *rental.Backup) *rental.Millis { return &b.FinishedAt },
	"lease_backup_verified_timestamp_seconds": func(b *rental.Backup) *rental.Millis { return &b.VerifiedAt },
}

// readSeries takes in the newest backup of each set that series tell of.
func (b backupIntake) readSeries(ctx context.Context) error {
	type key struct{ lease, set string }
	told := map[key]*rental.Backup{}
	for name, field := range backupSeries {
		found, err := b.samples.Query(ctx, fmt.Sprintf(`max by (lease, set) (%s{lease!="", set!=""})`, name), b.now())
		if err != nil {
			return fmt.Errorf("series of backups: %w", err)
		}
		for _, s := range found {
			k := key{s.Labels["lease"], s.Labels["set"]}
			if told[k] == nil {
				told[k] = &rental.Backup{Lease: k.lease, Set: k.set}
			}
			if n := len(s.Samples); n > 0 {
				*field(told[k]) = rental.Millis(s.Samples[n-1].Value * 1000)
			}
		}
	}
	for k, one := range told {
		if one.FinishedAt == 0 || one.DataAt == 0 {
			continue // half told
		}
		if one.VerifiedAt < one.FinishedAt {
			one.VerifiedAt = 0 // of the backup before
		}
		before, err := b.ledger.BackupNamed(ctx, rental.BackupID(k.lease, k.set, one.DataAt))
		if err == nil && before.VerifiedAt >= one.VerifiedAt {
			continue
		}
		if _, err := b.ledger.ReportBackup(ctx, *one, rental.Act{By: rental.Server, Side: rental.SideProvider, Note: "series"}); err != nil {
			if code := rental.CodeOf(err); code != rental.CodeInvalid && code != rental.CodeNotFound {
				return err
			}
			b.log.Debug("a series tells of a backup that cannot be taken in", "lease", k.lease, "set", k.set, "error", err)
			continue
		}
		b.changed()
	}
	return nil
}
