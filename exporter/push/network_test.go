package push

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// network is two namespaces with a wire between them; the store is at the far end.
type network struct{ pid int }

const nearIP, farIP = "10.99.0.1", "10.99.0.2"

func ip(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %v: %v\n%s", args, err, out)
	}
}

// launch starts the store in a namespace of its own and joins both by a wire.
func launch(t *testing.T, s store, dir string) network {
	t.Helper()
	ip(t, "link", "set", "lo", "up") // for the proxy at the near end
	// The shell waits for its end of the wire, then becomes the store.
	script := `until ip addr add ` + farIP + `/24 dev far 2>/dev/null; do sleep 0.02; done; ip link set far up; exec "$0" "$@"`
	cmd := exec.Command("unshare", append([]string{"--net", "sh", "-c", script, os.Getenv(builtEnv)}, s.args(t, dir)...)...)
	log, err := os.CreateTemp(t.TempDir(), "log")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("%s said:\n%s", s.program, text)
		}
	})
	n := network{pid: cmd.Process.Pid}
	own, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the store has a namespace of its own", func() bool {
		theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", n.pid))
		return err == nil && theirs != own
	})
	ip(t, "link", "add", "near", "type", "veth", "peer", "name", "far", "netns", fmt.Sprint(n.pid))
	ip(t, "addr", "add", nearIP+"/24", "dev", "near")
	ip(t, "link", "set", "near", "up")
	return n
}

// cut and mend pull and plug the wire at the far end: what is sent is not refused, it is gone.
func (n network) cut(t *testing.T)  { n.far(t, "down") }
func (n network) mend(t *testing.T) { n.far(t, "up") }

func (n network) far(t *testing.T, state string) {
	t.Helper()
	if out, err := exec.Command("nsenter", "--target", fmt.Sprint(n.pid), "--net", "ip", "link", "set", "far", state).CombinedOutput(); err != nil {
		t.Fatalf("setting the wire %s: %v\n%s", state, err, out)
	}
}
