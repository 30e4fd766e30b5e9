package e2e

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/internal/slack/slackfake"
)

// refused runs the program and expects an exit code, one line on stderr and nothing on stdout.
func refused(t *testing.T, cmd *exec.Cmd, code int, says ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err == nil || cmd.ProcessState == nil {
		t.Fatalf("%s: %v, expected exit code %d\n%s%s", cmd, err, code, out.String(), errs.String())
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("%s: exit code %d, expected %d", cmd, got, code)
	}
	said := errs.String()
	if strings.Count(said, "\n") != 1 || !strings.HasPrefix(said, "leasewatch: ") || out.Len() > 0 {
		t.Errorf("%s: expected one error and nothing else:\n%s%s", cmd, out.String(), said)
	}
	for _, word := range says {
		if !strings.Contains(said, word) {
			t.Errorf("%s: the error does not say %q: %s", cmd, word, said)
		}
	}
}

// tree lists what is in a directory: names and sizes.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %d\n", path, info.Size())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAServerThatCannotHaveItsPortOrItsDataSaysWhichAndWhatToDo(t *testing.T) {
	bin := filepath.Join(programs(t), "leasewatch")
	dir := t.TempDir()
	config := filepath.Join(dir, "leasewatch.yaml")
	if err := os.WriteFile(config, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	address, data := freeAddress(t), filepath.Join(dir, "data")
	running := start(t, bin, nil, "serve", "--config.file="+config, "--storage.path="+data, "--web.listen-address="+address)
	eventually(t, "the first server listens", running.log, func() bool { return strings.Contains(running.log(), "listens on") })
	serve := func(storage, listen string) *exec.Cmd {
		return exec.Command(bin, "serve", "--config.file="+config, "--storage.path="+storage, "--web.listen-address="+listen)
	}

	other := filepath.Join(dir, "other")
	refused(t, serve(other, address), 1, address, "address already in use", "another leasewatch on that port?")
	if _, err := os.Stat(other); err == nil {
		t.Error("a server that did not get its port made its data directory")
	}
	inUse := []string{data, "is in use by another leasewatch", fmt.Sprintf("process %d", running.cmd.Process.Pid), "--storage.path"}
	refused(t, serve(data, freeAddress(t)), 4, inUse...)
	refused(t, exec.Command(bin, "lease", "list", "--storage.path="+data), 4, inUse...)
	refused(t, exec.Command(bin, "backfill", "openmetrics", os.DevNull, "--storage.path="+data), 4, inUse...)
	if res, err := http.Get("http://" + address + "/-/healthy"); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("the first server does not answer any more: %v", err)
	} else {
		_ = res.Body.Close()
	}
	if code := running.stop(); code != 0 {
		t.Errorf("the first server ended with %d, expected 0:\n%s", code, running.log())
	}
}

func TestADataDirectoryThatCannotBeWrittenIsNamedAndLeftAsItIs(t *testing.T) {
	source := filepath.Join(programs(t), "leasewatch")
	dir, err := os.MkdirTemp("", "leasewatch-ro-") // another user must reach it: t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	bin, config, data := filepath.Join(dir, "leasewatch"), filepath.Join(dir, "leasewatch.yaml"), filepath.Join(dir, "data")
	program, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bin, program, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{dir: 0o755, bin: 0o755, config: 0o644, data: 0o555} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	before := tree(t, dir)
	stranger := func(args ...string) *exec.Cmd {
		cmd := exec.Command(bin, args...)
		if os.Geteuid() == 0 { // root may write anywhere: be nobody
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		return cmd
	}
	refused(t, stranger("serve", "--config.file="+config, "--storage.path="+data, "--web.listen-address=127.0.0.1:0"), 1,
		data, "cannot be written", "expected a directory that the user of this process owns")
	refused(t, stranger("serve", "--config.file="+config, "--storage.path="+filepath.Join(data, "below"), "--web.listen-address=127.0.0.1:0"), 1,
		"--storage.path", "permission denied", "give the directory to this user, or choose another")
	refused(t, stranger("lease", "list", "--storage.path="+data), 1, data, "cannot be written")
	if after := tree(t, dir); after != before {
		t.Errorf("something changed:\nbefore:\n%s\nafter:\n%s", before, after)
	}
}

// metric tells whether the server's page has a line that begins so and ends with a value
// that is not 0.
func (s *site) metric(prefix string) bool {
	for line := range strings.Lines(s.get("/metrics")) {
		if strings.HasPrefix(line, prefix) && !strings.HasSuffix(line, " 0\n") {
			return true
		}
	}
	return false
}

// TestRubbishFromATargetAndRefusalsOfSlackStopNothingElse has one target answer rubbish and
// Slack refuse in every way, one after the other, in the middle of a fault.
func TestRubbishFromATargetAndRefusalsOfSlackStopNothingElse(t *testing.T) {
	rubbish := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html>gpu_state{\x00\n} NaN of what\n")
	}))
	defer rubbish.Close()
	s := newSite(t, fakenvml.H100x8())
	config, err := os.ReadFile(filepath.Join(s.dir, "leasewatch.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.TrimPrefix(rubbish.URL, "http://")
	s.write("leasewatch.yaml", strings.Replace(string(config), "slack:\n",
		fmt.Sprintf("  - job_name: broken\n    scrape_interval: 1s\n    static_configs: [{targets: [%q]}]\nslack:\n", broken), 1))
	s.stock()
	s.startExporter()
	s.slack.FailAlways("chat.postMessage", slackfake.Failure{Error: "invalid_auth"})
	s.startServer()
	s.ready()

	eventually(t, "the status names the target that answers rubbish, and only it", s.explain, func() bool {
		status, err := s.client.Status(t.Context())
		return err == nil && len(status.TargetsDown) == 1 && status.TargetsDown[0].Name == broken && len(status.EvaluationFailures) == 0
	})
	if up := s.get("/prometheus/api/v1/query?query=up"); !strings.Contains(up, s.exporterAddress) {
		t.Errorf("the other target is gone: %s", up)
	}

	s.driver.Update(t, func(m *fakenvml.Scenario) { m.GPU(3).Lost() })
	eventually(t, "a refused token is in the status", s.explain, func() bool {
		status, err := s.client.Status(t.Context())
		return err == nil && status.Outbox.Failed > 0 && strings.Contains(status.Outbox.Reason, "invalid_auth")
	})
	eventually(t, "a refused token is on /metrics", s.explain, func() bool {
		return s.metric(`leasewatch_slack_errors_total{error="invalid_auth"}`) && s.metric(`leasewatch_deliveries_undelivered{kind="post",severity="page",state="failed"}`)
	})
	if page := s.get("/incidents"); !strings.Contains(page, "GPU lost: gpu-a17") {
		t.Errorf("the portal does not show the incident that Slack refused:\n%s", page)
	}

	// A restart takes a failed delivery up at once; Slack now fails in other ways.
	s.server.stop()
	s.slack.Heal("chat.postMessage")
	s.slack.FailNext("chat.postMessage", slackfake.Failure{Status: http.StatusInternalServerError})
	s.slack.FailNext("chat.postMessage", slackfake.Failure{Status: http.StatusTooManyRequests, RetryAfter: time.Second})
	s.startServer()
	s.ready()
	eventually(t, "the page is in Slack", s.explain, func() bool { return len(s.posts("GPU lost: gpu-a17")) == 1 })
	eventually(t, "what Slack answered is on /metrics", s.explain, func() bool {
		return s.metric(`leasewatch_slack_errors_total{error="http_500"}`) && s.metric(`leasewatch_slack_errors_total{error="ratelimited"}`)
	})
	eventually(t, "nothing waits any more", s.explain, func() bool {
		status, err := s.client.Status(t.Context())
		return err == nil && status.Outbox.Pending == 0 && status.Outbox.Failed == 0 && status.Outbox.Reason == ""
	})
	s.driver.Update(t, func(m *fakenvml.Scenario) { m.GPU(3).Heal(1) })
	s.healed("after Slack's refusals")
	s.toldOnce("after Slack's refusals", 1)

	s.driver.Update(t, func(m *fakenvml.Scenario) { m.GPU(6).Return("", fakenvml.UnknownError) })
	eventually(t, "the fleet shows the GPU that answers nothing as unknown, and the others as they are", s.explain, func() bool {
		fleet, err := s.client.Fleet(t.Context())
		if err != nil || len(fleet.Hosts) != 1 || len(fleet.Hosts[0].GPUs) != 8 {
			return false
		}
		for _, g := range fleet.Hosts[0].GPUs {
			if want := map[bool]string{true: "unknown", false: "ok"}[g.Slot == 6]; g.State != want {
				return false
			}
		}
		return true
	})
	if page := s.get("/fleet"); !strings.Contains(page, "No data") {
		t.Errorf("the portal does not show the GPU that answers nothing:\n%s", page)
	}
}
