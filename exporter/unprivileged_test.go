package exporter_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/internal/testenv"
)

// nobody is how a container runs the program without any privilege: another user, and no way to
// more. Processes and mounts are the command's own.
var nobody = []string{"sh", "-c", `mount --make-rprivate / && mount -t proc proc /proc && exec "$0" "$@"`,
	"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs", "--bounding-set=-all"}

// asNobody returns a command that runs so.
func asNobody(path string, args ...string) *exec.Cmd {
	cmd := exec.Command(nobody[0], append(append(nobody[1:len(nobody):len(nobody)], path), args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// contained returns the command that runs the real program as nobody, over the fake driver.
func contained(t *testing.T, host *fakenvml.Host, args ...string) *exec.Cmd {
	t.Helper()
	testenv.Binary(t, "gcc")
	testenv.Binary(t, "setpriv")
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := asNobody("true").CombinedOutput(); err != nil {
		testenv.Skip(t, fmt.Sprintf("no namespaces can be made here (it takes root): %v: %s", err, out))
	}
	readable(t, path)
	for _, variable := range host.Env() {
		if _, file, _ := strings.Cut(variable, "="); !strings.HasPrefix(variable, fakenvml.LogEnv) { // nobody may not write that one
			readable(t, file)
		}
	}
	cmd := asNobody(path, args...)
	cmd.Env = append(os.Environ(), host.Env()...)
	return cmd
}

// readable lets everybody reach a file of the test's.
func readable(t *testing.T, file string) {
	t.Helper()
	for dir := file; strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWithoutAnyPrivilegeThePageHasWhatNeedsNoneAndSaysWhatItMisses(t *testing.T) {
	host := fakenvml.Install(t, fakenvml.H100x8())
	p := &program{cmd: contained(t, host, "--web.listen-address=127.0.0.1:0", "--host.name=gpu-a1"), log: &safeBuffer{}}
	p.cmd.Stderr = p.log
	p.listen(t)
	eventually(t, "all GPUs are on the page", func() bool {
		return strings.Count(p.page(t), "\ngpu_sm_active_ratio{") == 8 && strings.Contains(p.page(t), "\ngpu_remapped_rows_pending{")
	})
	for _, missed := range []string{"the kernel log is not read", "processes on GPUs cannot be told by container"} {
		if n := strings.Count(p.log.String(), missed); n != 1 {
			t.Errorf("%d lines say that %s, want one:\n%s", n, missed, p.log)
		}
	}
}

func TestTheDoctorSaysWhatIsMissedWithoutPrivilege(t *testing.T) {
	host := fakenvml.Install(t, fakenvml.H100x8())
	cmd := contained(t, host, "check")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	_ = cmd.Run() // how it ends says how bad it is
	for _, want := range []string{"/dev/kmsg", "8 GPUs"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("the doctor does not speak of %s:\n%s", want, said.String())
		}
	}
}
