package workload

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/leasewatch/leasewatch/internal/testenv"
)

const insideEnv = "LEASEWATCH_WORKLOAD_TEST_INSIDE"

// The kernel's own procfs, whatever this machine is: where processes can be told, so can we.
func TestTheKernelsOwnProcfs(t *testing.T) {
	reason, advice := Blind("/proc")
	if (reason == "") != (advice == "") {
		t.Errorf("reason %q, advice %q", reason, advice)
	}
	if os.Getenv(insideEnv) != "" {
		if reason != reasonNamespace {
			t.Errorf("in a namespace of its own: reason %q, want %q", reason, reasonNamespace)
		}
		return
	}
	w, why := procfs{"/proc"}.owner(uint32(os.Getpid()))
	if why != "" || w.Runtime == "" {
		t.Errorf("this test belongs to %+v, %s", w, why)
	}
	if _, why := (procfs{"/proc"}).owner(maxPID + 1); why != reasonNotFound {
		t.Errorf("a process that cannot be: %s", why)
	}
}

const maxPID = 1 << 22

func TestInAPIDNamespaceOfItsOwnNothingIsGuessed(t *testing.T) {
	for name, set := range map[string]string{
		"with the host's procfs": "exec",
		"with its own procfs":    "mount -t proc proc /proc && exec",
	} {
		t.Run(name, func(t *testing.T) {
			inside := exec.Command("sh", "-c", set+` "$0" -test.run='^TestTheKernelsOwnProcfs$' -test.v`, os.Args[0])
			inside.Env = append(os.Environ(), insideEnv+"=1")
			inside.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Unshareflags: syscall.CLONE_NEWNS}
			out, err := inside.CombinedOutput()
			if err != nil && !strings.Contains(string(out), "=== RUN") {
				testenv.Skip(t, "this user may make no pid namespace: "+err.Error()+" "+string(out))
			}
			if err != nil || !strings.Contains(string(out), "PASS: TestTheKernelsOwnProcfs") {
				t.Errorf("inside: %v\n%s", err, out)
			}
		})
	}
}
