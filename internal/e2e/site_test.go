package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/slack/slackfake"
	"github.com/leasewatch/leasewatch/internal/testenv"
)

// soon is how long a thing that should happen at once may take on a slow, busy machine. It
// bounds a wait; it is no figure of the product.
const soon = 3 * time.Minute

var build struct {
	once sync.Once
	dir  string
	err  error
	log  []byte
}

// programs builds both programs once for all tests.
func programs(t testing.TB) string {
	t.Helper()
	testenv.Binary(t, "gcc")
	build.once.Do(func() {
		build.dir, build.err = os.MkdirTemp("", "leasewatch-e2e-")
		if build.err != nil {
			return
		}
		cmd := exec.Command("make", "-s", "bin/leasewatch", "bin/leasewatch-exporter")
		cmd.Dir = testenv.Root(t)
		build.log, build.err = cmd.CombinedOutput()
	})
	if build.err != nil {
		t.Fatalf("building the programs: %v\n%s", build.err, build.log)
	}
	return filepath.Join(testenv.Root(t), "bin")
}

// site is one GPU host, a server and a recording Slack.
type site struct {
	t                              testing.TB
	bin, dir                       string
	driver                         *fakenvml.Host
	slack                          *slackfake.Server
	slackURL                       string
	exporter                       *process
	server                         *process
	exporterAddress, serverAddress string
	client                         *api.Client
}

// newSite makes the files of a site; nothing runs yet.
func newSite(t testing.TB, machine *fakenvml.Scenario) *site {
	t.Helper()
	s := &site{t: t, bin: programs(t), driver: fakenvml.Install(t, machine), exporterAddress: freeAddress(t)}
	s.equip()
	return s
}

// beside is a second server, with a data directory and a Slack of its own, that reads the
// exporter of the first.
func (s *site) beside() *site {
	s.t.Helper()
	other := &site{t: s.t, bin: s.bin, driver: s.driver, exporterAddress: s.exporterAddress}
	other.equip()
	return other
}

// equip gives a server its Slack, its address and its configuration.
func (s *site) equip() {
	s.t.Helper()
	s.dir, s.serverAddress = s.t.TempDir(), freeAddress(s.t)
	s.slack = slackfake.New(slackfake.Options{Channels: []string{"C0E2E"}, Users: []slackfake.User{{ID: "U0ADA", Name: "ada"}}})
	recording := httptest.NewServer(s.slack)
	s.t.Cleanup(recording.Close)
	s.slackURL = recording.URL + "/api/"
	s.write("slack-bot", "xoxb-fake")
	s.write("slack-app", "xapp-fake")
	s.configure("")
	client, err := api.New("http://"+s.serverAddress, api.Secret{}, &http.Client{Timeout: 10 * time.Second})
	if err != nil {
		s.t.Fatal(err)
	}
	s.client = client
}

// configure writes the server's configuration; more is added to its end.
func (s *site) configure(more string) {
	s.t.Helper()
	s.write("leasewatch.yaml", fmt.Sprintf(`
global: {scrape_interval: 1s, evaluation_interval: 1s}
scrape_configs:
  - job_name: leasewatch-exporter
    scrape_interval: 1s
    static_configs: [{targets: [%q]}]
slack:
  api_url: %s
  channel: C0E2E
  bot_token_file: slack-bot
  app_token_file: slack-app
  people: {U0ADA: {name: ada, role: oncall}}
%s`, s.exporterAddress, s.slackURL, more))
}

func (s *site) write(name, body string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// startExporter runs the real exporter on the fake driver.
func (s *site) startExporter(env ...string) {
	s.t.Helper()
	s.exporter = start(s.t, filepath.Join(s.bin, "leasewatch-exporter"), append(s.driver.Env(), env...),
		"--host.name=gpu-a17", "--web.listen-address="+s.exporterAddress, "--nvml.library="+s.driver.Library(),
		"--push.url=http://"+s.serverAddress+"/prometheus/api/v1/write", "--push.events-only", "--push.spool-dir="+filepath.Join(s.dir, "spool"))
}

// startServer runs the real server on the site's data directory, and waits for its port.
func (s *site) startServer(env ...string) {
	s.t.Helper()
	s.server = start(s.t, filepath.Join(s.bin, "leasewatch"), env, "serve",
		"--config.file="+filepath.Join(s.dir, "leasewatch.yaml"), "--storage.path="+filepath.Join(s.dir, "data"),
		"--web.listen-address="+s.serverAddress)
}

// ready waits until alerts reach people.
func (s *site) ready() {
	s.t.Helper()
	eventually(s.t, "the server is ready", s.explain, func() bool {
		res, err := http.Get("http://" + s.serverAddress + "/-/ready")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
		return res.StatusCode == http.StatusOK
	})
}

// cli runs one command of the command line against the site's server.
func (s *site) cli(args ...string) string {
	s.t.Helper()
	cmd := exec.Command(filepath.Join(s.bin, "leasewatch"), append(args, "--server.url=http://"+s.serverAddress)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("leasewatch %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return out.String()
}

// explain is what a failed wait prints.
func (s *site) explain() string {
	var b strings.Builder
	for name, p := range map[string]*process{"server": s.server, "exporter": s.exporter} {
		if p != nil {
			fmt.Fprintf(&b, "--- %s ---\n%s\n", name, p.log())
		}
	}
	for _, m := range s.slack.Messages() {
		fmt.Fprintf(&b, "--- Slack %s ---\n%s\n", m.TS, m.Rendered())
	}
	return b.String()
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// eventually polls until the condition holds.
func eventually(t testing.TB, what string, explain func() string, holds func() bool) {
	t.Helper()
	begin := time.Now()
	deadline := begin.Add(soon)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s\n%s", soon, what, explain())
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("%s: after %s", what, time.Since(begin).Round(100*time.Millisecond))
}

// process is a program under test.
type process struct {
	cmd  *exec.Cmd
	out  *lockedBuffer
	done chan struct{}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start runs a program until the test ends.
func start(t testing.TB, program string, env []string, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{cmd: exec.CommandContext(ctx, program, args...), out: &lockedBuffer{}, done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	if err := p.cmd.Start(); err != nil {
		cancel()
		t.Fatalf("starting %s: %v", program, err)
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is for the test to judge
		close(p.done)
	}()
	t.Cleanup(func() {
		cancel()
		<-p.done
	})
	return p
}

// kill ends the process as a power cut would, and waits for its end.
func (p *process) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGKILL) // it may be gone already
	<-p.done
}

// stop asks the process to end, and waits for its end.
func (p *process) stop() int {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may be gone already
	<-p.done
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *process) log() string {
	text := p.out.String()
	if len(text) > 6000 {
		return "..." + text[len(text)-6000:]
	}
	return text
}
