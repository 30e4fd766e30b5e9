package ledger_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/incident"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/testenv"
)

// The ledger serves the incident room without importing it; here the two are held together.
var _ incident.Store = (*ledger.Ledger)(nil)

// postgresSocket is the folder of the test server's socket; empty until a test asks for it.
var postgresServer struct {
	folder  string
	stop    func()
	created atomic.Int64
}

func TestMain(m *testing.M) {
	if dsn := os.Getenv(crashDSN); dsn != "" {
		writeUntilKilled(dsn)
		return
	}
	if dsn := os.Getenv(crashStepDSN); dsn != "" {
		writeAndDie(dsn)
		return
	}
	if dsn := os.Getenv(openAs); dsn != "" {
		os.Exit(openOnly(dsn))
	}
	code := m.Run()
	if postgresServer.stop != nil {
		postgresServer.stop()
	}
	os.Exit(code)
}

// eachStore runs a test on SQLite and on PostgreSQL.
func eachStore(t *testing.T, test func(t *testing.T, s *store)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, newStore(t, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"))) })
	t.Run("postgres", func(t *testing.T) { test(t, newStore(t, newPostgres(t))) })
}

// store is a ledger under test with a clock that the test moves.
type store struct {
	*ledger.Ledger
	t   *testing.T
	dsn string
	now time.Time
}

func newStore(t *testing.T, dsn string) *store {
	s := &store{t: t, dsn: dsn, now: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)}
	s.reopen()
	t.Cleanup(func() { s.Close() })
	return s
}

func (s *store) options() ledger.Options {
	return ledger.Options{Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return s.now }}
}

// reopen closes the ledger, where it is open, and opens it again as a new process would.
func (s *store) reopen() {
	s.t.Helper()
	if s.Ledger != nil {
		if err := s.Close(); err != nil {
			s.t.Fatal(err)
		}
	}
	l, err := ledger.Open(s.t.Context(), s.dsn, s.options())
	if err != nil {
		s.t.Fatal(err)
	}
	s.Ledger = l
}

// raw opens the database beside the ledger, to look at it and to try what is forbidden.
func (s *store) raw() *sql.DB {
	s.t.Helper()
	driver, dsn := "pgx", s.dsn
	if path, ok := strings.CutPrefix(s.dsn, "sqlite:"); ok {
		driver, dsn = "sqlite", "file:"+path+"?_pragma=busy_timeout(5000)"
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { db.Close() })
	return db
}

func newPostgres(t *testing.T) string {
	t.Helper()
	if postgresServer.folder == "" {
		startPostgres(t)
	}
	admin := "postgres://postgres@/postgres?host=" + postgresServer.folder
	db, err := sql.Open("pgx", admin)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	name := fmt.Sprintf("ledger%d", postgresServer.created.Add(1))
	// A schema is made much faster than a database, and a ledger needs no more.
	if _, err := db.ExecContext(t.Context(), "CREATE SCHEMA "+name); err != nil {
		t.Fatal(err)
	}
	return admin + "&search_path=" + name
}

// startPostgres starts a real server on a socket of its own, without a network port.
func startPostgres(t *testing.T) {
	t.Helper()
	initdb, server := testenv.Binary(t, "initdb"), testenv.Binary(t, "postgres")
	folder, err := os.MkdirTemp("", "lwpg-")
	if err != nil {
		t.Fatal(err)
	}
	attributes := &syscall.SysProcAttr{}
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		who, err := user.Lookup("postgres")
		if err != nil {
			testenv.Skip(t, "running as root, and there is no user postgres to start PostgreSQL as")
		}
		uid, _ := strconv.Atoi(who.Uid)
		gid, _ := strconv.Atoi(who.Gid)
		attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(folder, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(folder, "data")
	run := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.SysProcAttr = folder, attributes
		return cmd
	}
	if out, err := run(initdb, "-D", data, "-A", "trust", "-U", "postgres", "--no-sync", "--no-locale", "-E", "UTF8").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	cmd := run(server, "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	postgresServer.folder = folder
	postgresServer.stop = func() {
		cmd.Process.Signal(syscall.SIGINT) // fast shutdown
		cmd.Wait()
		os.RemoveAll(folder)
	}
	db, err := sql.Open("pgx", "postgres://postgres@/postgres?host="+folder)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	deadline := time.Now().Add(30 * time.Second)
	for db.PingContext(context.Background()) != nil {
		if time.Now().After(deadline) {
			t.Fatal("PostgreSQL does not answer 30 s after its start")
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func at(text string) rental.Millis {
	var m rental.Millis
	if err := m.UnmarshalText([]byte(text)); err != nil {
		panic(err)
	}
	return m
}

func span(from, to string) rental.Span { return rental.Span{Start: at(from), End: at(to)} }

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func decimal(text string) rental.Decimal {
	d, err := rental.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return d
}

// fleet is one provider with one host of two cards, one spare, two tenants and a contract.
func fleet() rental.Resources {
	yes, no := true, false
	return rental.Resources{
		Providers: []rental.Provider{{Name: "north", DisplayName: "North Compute"}},
		Tenants:   []rental.Tenant{{Name: "acme", DisplayName: "Acme"}, {Name: "globex", DisplayName: "Globex"}},
		Sites:     []rental.Site{{Name: "oslo", Provider: "north", TimeZone: "Europe/Oslo"}},
		Hosts:     []rental.Host{{Name: "gpu-a1", Site: "oslo", Slots: 8}},
		SKUs:      []rental.SKU{{Name: "h100-sxm", Model: "H100 80GB HBM3", FormFactor: "SXM5", MemoryMiB: 81559, DataCenterCard: true}},
		GPUs: []rental.GPU{
			{UUID: "GPU-A", Serial: "1", SKU: "h100-sxm", Host: "gpu-a1", Slot: 0, Life: rental.GPUService},
			{UUID: "GPU-B", Serial: "2", SKU: "h100-sxm", Host: "gpu-a1", Slot: 1, Life: rental.GPUService},
			{UUID: "GPU-S", Serial: "3", SKU: "h100-sxm", Host: "gpu-a1", Slot: 2, Life: rental.GPUStock},
		},
		Contracts: []rental.Contract{{
			Name: "hourly", Provider: "north", Currency: "USD", TimeZone: "UTC", SKU: "h100-sxm",
			Plan: rental.Plan{Mode: "hour", Unit: "gpu", Rounding: rental.Exact,
				Prices: []rental.PriceVersion{{Price: decimal("10")}}},
			BillWhileDown: &no, BillWhileMaintenance: &yes, LineRounding: rental.HalfUp, DowntimeApproval: "automatic",
		}},
	}
}

func lease(id, tenant, from, to string, cards ...string) rental.Lease {
	l := rental.Lease{ID: id, Tenant: tenant, Contract: "hourly", Start: at(from), End: at(to)}
	for _, c := range cards {
		l.GPUs = append(l.GPUs, rental.GPURef{UUID: c})
	}
	return l
}

func (s *store) apply(r rental.Resources) []rental.Change {
	s.t.Helper()
	changes, err := s.Apply(s.t.Context(), "ada", "test", r, false)
	if err != nil {
		s.t.Fatal(err)
	}
	return changes
}

func leases(all ...rental.Lease) rental.Resources { return rental.Resources{Leases: all} }
