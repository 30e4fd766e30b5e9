package exporter_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/testenv"
)

// built is the folder of the real program, which the first test that needs it builds.
var built string

// binary builds the real program once for all tests, as the Makefile does.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(built, "leasewatch-exporter")
	// Compilers that bind at start by default (Ubuntu's) would end the program at its start.
	build := exec.Command("go", "build", "-ldflags=-extldflags=-Wl,-z,lazy", "-o", path, "github.com/leasewatch/leasewatch/cmd/leasewatch-exporter")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	var err error
	if built, err = os.MkdirTemp("", "leasewatch-exporter-test"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(built)
	os.Exit(code)
}

// program is a running process of the real binary.
type program struct {
	url string
	cmd *exec.Cmd
	log *safeBuffer
}

var listeningOn = regexp.MustCompile(`msg="Listening on" address=(\S+)`)

// startProgram runs the real binary on a free port, with env added to the environment.
func startProgram(t testing.TB, env []string, args ...string) *program {
	t.Helper()
	testenv.Binary(t, "gcc")
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	p := &program{log: &safeBuffer{}}
	p.cmd = exec.Command(path, append([]string{"--web.listen-address=127.0.0.1:0", "--host.name=gpu-a1"}, args...)...)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = p.log
	p.listen(t)
	return p
}

// listen starts the process and waits until it says where it serves.
func (p *program) listen(t testing.TB) {
	t.Helper()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.stop(t) })
	eventually(t, "the program listens", func() bool {
		found := listeningOn.FindStringSubmatch(p.log.String())
		if found != nil {
			p.url = "http://" + found[1]
		}
		return found != nil
	})
}

// stop ends the program and returns how it ended; a second call does nothing.
func (p *program) stop(t testing.TB) {
	t.Helper()
	if p.cmd.ProcessState != nil {
		return
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("ending the program: %v", err)
	}
	kill := time.AfterFunc(20*time.Second, func() { p.cmd.Process.Kill() })
	defer kill.Stop()
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the program ended with %v:\n%s", err, p.log)
	}
}

// page returns the metrics page.
func (p *program) page(t testing.TB) string {
	t.Helper()
	body, _, status := get(t, p.url+"/metrics")
	if status != 200 {
		t.Fatalf("the page answers %d:\n%s", status, body)
	}
	return body
}

// cpu is the process's own CPU time so far, to the nanosecond: the sum over its threads.
func (p *program) cpu(t testing.TB) time.Duration {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.cmd.Process.Pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("the process tells no CPU time: %v", err)
	}
	sum := time.Duration(0)
	for _, thread := range threads {
		raw, err := os.ReadFile(thread)
		if err != nil {
			continue // the thread has ended
		}
		ran, err := strconv.ParseInt(strings.Fields(string(raw))[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += time.Duration(ran)
	}
	return sum
}

// memory is one of the figures of resident memory that the kernel tells, in bytes: VmRSS for all,
// RssAnon for what is not mapped from files.
func (p *program) memory(t testing.TB, field string) float64 {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(raw), "\n") {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib * 1024
		}
	}
	t.Fatalf("the process tells no %s", field)
	return 0
}
