package ledger_test

import (
	"context"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/testenv"
)

func TestASecondServerOnTheSameLedgerIsRefused(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		_, err := ledger.Open(t.Context(), s.dsn, s.options())
		if rental.CodeOf(err) != rental.CodeRefused {
			t.Fatalf("found %v, expected it refused", err)
		}
		if strings.HasPrefix(s.dsn, "sqlite:") && !strings.Contains(err.Error(), "in use by another leasewatch (process "+strconv.Itoa(os.Getpid())+")") {
			t.Errorf("found %v, expected the process that holds it", err)
		}
		s.apply(fleet())
		o := s.options()
		o.Shared = true
		reader, err := ledger.Open(t.Context(), s.dsn, o)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		if all := must[[]rental.Tenant](t)(reader.Tenants(t.Context())); len(all) != 2 {
			t.Errorf("a shared ledger reads %d tenants, expected 2", len(all))
		}
		if _, err := reader.Apply(t.Context(), "ada", "", fleet(), false); rental.CodeOf(err) != rental.CodeRefused {
			t.Errorf("a shared ledger that writes: %v, expected it refused", err)
		}
		s.reopen() // the lock is given back on Close
	})
}

func TestWhatCannotBeOpenedSaysWhyAndWhatToDo(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("this is no database. ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name, dsn, text string
		code            rental.Code
	}{
		{"a form that is not known", "mysql:whatever", "expected sqlite:PATH or postgres://USER@HOST/DATABASE", rental.CodeInvalid},
		{"a directory that is not there", "sqlite:" + filepath.Join(dir, "no", "ledger.db"), "does not exist (make it, or name another with --storage.path)", rental.CodeUnavailable},
		{"a file that is no ledger", "sqlite:" + garbage, "is damaged or is no ledger", rental.CodeUnavailable},
		{"a server that is not there", "postgres://ada:topsecret@127.0.0.1:1/ledger", "cannot be reached", rental.CodeUnavailable},
		{"an address that does not parse", "postgres://ada:topsecret@127.0.0.1:port/ledger", "does not parse", rental.CodeInvalid},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l, err := ledger.Open(t.Context(), c.dsn, (&store{}).options())
			if err == nil {
				l.Close()
				t.Fatal("opened, expected an error")
			}
			if !strings.Contains(err.Error(), c.text) || rental.CodeOf(err) != c.code {
				t.Errorf("found %v (%s), expected %q (%s)", err, rental.CodeOf(err), c.text, c.code)
			}
			if strings.Contains(err.Error(), "topsecret") {
				t.Errorf("the error tells the password: %v", err)
			}
		})
	}
}

// openAs is the variable that turns the test binary into a process that only opens a ledger.
const openAs = "LEDGER_TEST_OPEN"

func TestADirectoryThatCannotBeWrittenIsNamed(t *testing.T) {
	if os.Getuid() != 0 {
		testenv.Skip(t, "a directory that its own user cannot write needs a second user, and only root can become one")
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		testenv.Skip(t, "there is no user nobody")
	}
	dir, err := os.MkdirTemp("", "lwro-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "opener") // the test binary lies where only root may look
	content, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, content, 0o755); err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(nobody.Uid)
	gid, _ := strconv.Atoi(nobody.Gid)
	cmd := exec.Command(binary)
	cmd.Dir, cmd.Env = dir, []string{openAs + "=sqlite:" + filepath.Join(dir, "ledger.db")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "data directory "+dir+" cannot be written (expected a directory that the user of this process owns") {
		t.Errorf("found %v and %s", err, out)
	}
}

func openOnly(dsn string) int {
	l, err := ledger.Open(context.Background(), dsn, (&store{}).options())
	if err != nil {
		os.Stderr.WriteString(err.Error())
		return 1
	}
	l.Close()
	return 0
}

func TestAFullDiskIsToldAndChangesNothing(t *testing.T) {
	s := newStore(t, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"))
	s.apply(fleet())
	s.LimitPages(t.Context(), 1) // SQLite refuses to grow the file, as it does on a full disk
	big := rental.Resources{}
	for i := range 5000 {
		big.Tenants = append(big.Tenants, rental.Tenant{Name: strconv.Itoa(i), DisplayName: strings.Repeat("x", 500)})
	}
	_, err := s.Apply(t.Context(), "ada", "", big, false)
	if rental.CodeOf(err) != rental.CodeUnavailable || !strings.Contains(err.Error(), "has no space left") {
		t.Errorf("found %v, expected it unavailable with the reason", err)
	}
	if all := must[[]rental.Tenant](t)(s.Tenants(t.Context())); len(all) != 2 {
		t.Errorf("found %d tenants, expected nothing changed", len(all))
	}
}

func TestFactsAreNeverChangedOrDeleted(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		withLease(s, "UTC")
		s.saveUsage(usage("GPU-A", "2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z", 1000))
		s.saveTimeline("GPU-A", interval(0, 1000, rental.Up))
		if _, err := s.CreateToken(ctx, rental.Principal{Name: "ci", Role: rental.RolePush}); err != nil {
			t.Fatal(err)
		}
		if err := s.SaveSampleInterval(ctx, span("2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z"), 1); err != nil {
			t.Fatal(err)
		}
		db := s.raw()
		for table, column := range map[string]string{"facts": "why", "assignments": "reason", "usage_records": "used_us", "timeline": "class", "tokens": "role", "sample_intervals": "interval_ms"} {
			for _, statement := range []string{"UPDATE " + table + " SET " + column + " = " + column, "DELETE FROM " + table} {
				if _, err := db.Exec(statement); err == nil || !strings.Contains(err.Error(), table+" holds facts: they are never changed or deleted") {
					t.Errorf("%s: %v, expected the store to refuse it", statement, err)
				}
			}
		}
	})
}

func TestABackupOfALedgerInUseIsWhole(t *testing.T) {
	s := newStore(t, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"))
	ctx := t.Context()
	withLease(s, "UTC")
	s.saveUsage(usage("GPU-A", "2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z", 1000))
	dir := t.TempDir()
	backup, restored := filepath.Join(dir, "backup.db"), filepath.Join(dir, "restored.db")
	if err := s.Backup(ctx, backup); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(ctx, backup); rental.CodeOf(err) != rental.CodeRefused {
		t.Errorf("a backup over a file: %v, expected it refused", err)
	}
	if info, err := os.Stat(backup); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("backup %v (%v), expected only its owner to read it", info.Mode(), err)
	}
	if err := ledger.Restore(ctx, backup, restored); err != nil {
		t.Fatal(err)
	}
	again := newStore(t, "sqlite:"+restored)
	if err := again.CheckTotals(ctx); err != nil {
		t.Error(err)
	}
	if l := must[rental.Lease](t)(again.Lease(ctx, "L")); l.Tenant != "acme" {
		t.Errorf("restored lease %+v", l)
	}
	if err := ledger.Restore(ctx, backup, strings.TrimPrefix(s.dsn, "sqlite:")); rental.CodeOf(err) != rental.CodeRefused {
		t.Errorf("restoring over a ledger in use: %v, expected it refused", err)
	}
	content, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "half.db"), content[:len(content)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ledger.Restore(ctx, filepath.Join(dir, "half.db"), filepath.Join(dir, "x.db")); rental.CodeOf(err) != rental.CodeUnavailable {
		t.Errorf("half a backup: %v, expected it unavailable", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*x.db")); len(left) != 0 {
		t.Errorf("a failed restore left %v", left)
	}
}

func TestANewLedgerIsForItsUserAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	s := newStore(t, "sqlite:"+path)
	if _, err := s.CreateToken(t.Context(), rental.Principal{Name: "ci", Role: rental.RolePush}); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(path + "*")
	if err != nil || len(found) < 3 {
		t.Fatalf("%v, %v: expected the file, its log and its lock", found, err)
	}
	for _, name := range found {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o, expected 600", name, info.Mode().Perm())
		}
	}
}
