package server_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/server"
	"github.com/leasewatch/leasewatch/internal/testenv"
)

// pool is a floating lease of two GPUs on a host of three.
const pool = `
apiVersion: leasewatch.dev/v1
kind: Provider
metadata: {name: north}
spec: {display_name: North}
---
apiVersion: leasewatch.dev/v1
kind: Tenant
metadata: {name: acme}
spec: {display_name: Acme}
---
apiVersion: leasewatch.dev/v1
kind: Site
metadata: {name: oslo}
spec: {provider: north}
---
apiVersion: leasewatch.dev/v1
kind: Host
metadata: {name: gpu-a1}
spec: {site: oslo, slots: 3}
---
apiVersion: leasewatch.dev/v1
kind: SKU
metadata: {name: h100}
spec: {model: H100}
---
apiVersion: leasewatch.dev/v1
kind: GPU
metadata: {name: GPU-0}
spec: {serial: "0", sku: h100, host: gpu-a1, slot: 0}
---
apiVersion: leasewatch.dev/v1
kind: GPU
metadata: {name: GPU-1}
spec: {serial: "1", sku: h100, host: gpu-a1, slot: 1}
---
apiVersion: leasewatch.dev/v1
kind: GPU
metadata: {name: GPU-2}
spec: {serial: "2", sku: h100, host: gpu-a1, slot: 2}
---
apiVersion: leasewatch.dev/v1
kind: Contract
metadata: {name: hourly}
spec:
  provider: north
  currency: USD
  time_zone: UTC
  plan: {mode: hour, unit: gpu, rounding: exact, prices: [{price: 2}]}
  bill_while_down: true
  bill_while_maintenance: true
  line_rounding: half_up
  downtime_approval: automatic
---
apiVersion: leasewatch.dev/v1
kind: Lease
metadata: {name: acme-pool}
spec: {tenant: acme, contract: hourly, start: 2026-01-01T00:00:00Z, end: open, floating: {sku: h100, number: 2}}
`

// node is a machine with programs of a test's own before those of the system.
type node struct {
	t   *testing.T
	env []string
	dir string
}

// program puts a shell script of a name into the node's path.
func (n *node) program(name, script string) {
	n.t.Helper()
	if err := os.WriteFile(filepath.Join(n.dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		n.t.Fatal(err)
	}
}

// run runs a script of deploy/schedulers.
func (n *node) run(script string, env ...string) {
	n.t.Helper()
	cmd := exec.CommandContext(n.t.Context(), filepath.Join(testenv.Root(n.t), "deploy", "schedulers", script))
	cmd.Env = append(append(os.Environ(), n.env...), env...)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		n.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func TestTheExamplesForSchedulersTellTheRealServer(t *testing.T) {
	testenv.Binary(t, "curl")
	storage := t.TempDir()
	secrets := tokens(t, storage, api.NewToken{Name: "slurm", Role: rental.RoleScheduler}, api.NewToken{Name: "ada", Role: rental.RoleAdmin})
	cfg := server.DefaultConfig()
	cfg.Access.Required = true
	app, err := server.New(t.Context(), server.Options{Config: cfg, StoragePath: storage, ListenAddress: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	if err := app.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = app.Stop(t.Context()) })
	url := "http://" + app.Addr()
	ada, err := api.New(url, api.NewSecret(secrets["ada"]), &http.Client{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ada.Apply(t.Context(), []byte(pool), false); err != nil {
		t.Fatal(err)
	}

	n := &node{t: t, dir: t.TempDir()}
	token := filepath.Join(n.dir, "token")
	if err := os.WriteFile(token, []byte(secrets["slurm"]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n.env = []string{"PATH=" + n.dir + ":" + os.Getenv("PATH"), "LEASEWATCH_URL=" + url, "LEASEWATCH_TOKEN_FILE=" + token, "LEASEWATCH_LEASE=acme-pool", "LEASEWATCH_CLUSTER=prod"}
	n.program("logger", `echo "logger: $*" >&2`)
	n.program("nvidia-smi", `for arg; do case "$arg" in --id=*) for i in $(echo "${arg#--id=}" | tr , ' '); do echo "GPU-$i"; done; exit;; esac; done; echo GPU-2`)
	slurm := []string{"SLURM_JOB_ID=42", "SLURM_JOB_GPUS=0,1", "SLURM_JOB_ACCOUNT=acme", "SLURM_CLUSTER_NAME=hpc"}
	n.run("slurm-prolog.sh", slurm...)
	n.run("slurm-prolog.sh", slurm...) // a prolog that is run again
	held := func() string {
		detail, err := ada.Lease(t.Context(), "acme-pool")
		if err != nil {
			t.Fatal(err)
		}
		var text []string
		for _, a := range detail.Assignments {
			open := "open"
			if a.Span.End != rental.Forever {
				open = "ended"
			}
			text = append(text, fmt.Sprintf("%s %s %s", a.UUID, a.Reason, open))
		}
		return strings.Join(text, "; ")
	}
	if got, want := held(), "GPU-0 scheduler slurm/hpc/42.0 open; GPU-1 scheduler slurm/hpc/42.0 open"; got != want {
		t.Errorf("after the prolog %q, expected %q", got, want)
	}

	// A pod beside the job is one GPU more than was sold: recorded, and told.
	n.program("kubectl", `case "$1" in
get) echo "ADDED Pending u-1 acme-pool ns pod-1 "; echo "MODIFIED Running u-1 acme-pool ns pod-1 $(date -u +%Y-%m-%dT%H:%M:%SZ)";;
exec) shift 4; "$@";;
esac`)
	n.run("kubernetes.sh")
	if got := held(); !strings.Contains(got, "GPU-2 scheduler kubernetes/prod/u-1 open") {
		t.Errorf("with the pod %q", got)
	}
	conflicts, err := ada.InventoryConflicts(t.Context())
	if err != nil || !strings.Contains(fmt.Sprint(conflicts), `lease "acme-pool" holds more GPUs than the 2 of h100`) {
		t.Errorf("conflicts %+v (%v), expected the number told", conflicts, err)
	}

	n.run("slurm-epilog.sh", slurm...)
	n.program("kubectl", `[ "$1" = get ] && echo "DELETED Running u-1 acme-pool ns pod-1 "`)
	n.run("kubernetes.sh")
	if got := held(); strings.Contains(got, "open") {
		t.Errorf("after the end %q, expected all of it ended", got)
	}
	scheduler, err := api.New(url, api.NewSecret(secrets["slurm"]), &http.Client{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := scheduler.Leases(t.Context(), api.LeaseQuery{}); err == nil {
		t.Error("a scheduler's token reads leases, expected it to tell assignments and nothing else")
	}
}
