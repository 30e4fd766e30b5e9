package push

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/testenv"
)

// insideEnv tells the test's own child that it is in a network namespace of its own.
const insideEnv = "LEASEWATCH_PUSH_TEST_INSIDE"

// builtEnv tells the child where the store's program is.
const builtEnv = "LEASEWATCH_PUSH_TEST_PROGRAM"

// store is a program that takes remote write and answers PromQL.
type store struct {
	program string
	port    string
	// at is where in the store its API begins, "" for the top.
	at   string
	args func(t *testing.T, dir string) []string
	// token asks the store in dir for a secret of the role; nil where it takes anybody.
	token func(t *testing.T, dir, role string) string
}

var stores = map[string]store{
	"Prometheus": {program: "prometheus", port: "9090", args: func(t *testing.T, dir string) []string {
		config := filepath.Join(dir, "prometheus.yml")
		if err := os.WriteFile(config, []byte("storage: {tsdb: {out_of_order_time_window: 26h}}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{"--config.file=" + config, "--storage.tsdb.path=" + filepath.Join(dir, "data"),
			"--web.enable-remote-write-receiver", "--web.listen-address=0.0.0.0:9090"}
	}},
	"VictoriaMetrics": {program: "victoria-metrics", port: "8428", args: func(_ *testing.T, dir string) []string {
		return []string{"-storageDataPath=" + filepath.Join(dir, "data"), "-httpListenAddr=0.0.0.0:8428",
			"-search.latencyOffset=0s", "-search.disableCache", "-dedup.minScrapeInterval=1ms"}
	}},
	leasewatch: {program: leasewatch, port: "8080", at: "/prometheus", token: leasewatchToken, args: func(t *testing.T, dir string) []string {
		config := filepath.Join(dir, "leasewatch.yaml")
		if err := os.WriteFile(config, []byte("access: {required: true}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{"serve", "--config.file=" + config, "--storage.path=" + filepath.Join(dir, "data"), "--web.listen-address=0.0.0.0:8080"}
	}},
}

// leasewatch is our own server.
const leasewatch = "leasewatch"

// find returns the store's program; our own is built for the test.
func (s store) find(t *testing.T) string {
	t.Helper()
	if s.program != leasewatch {
		return testenv.Binary(t, s.program)
	}
	path := os.Getenv(builtEnv)
	if path == "" {
		path = filepath.Join(t.TempDir(), leasewatch)
		build := exec.Command("go", "build", "-o", path, "github.com/leasewatch/leasewatch/cmd/leasewatch")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("building the server: %v\n%s", err, out)
		}
	}
	return path
}

// leasewatchToken makes a token of the server whose store is in dir.
func leasewatchToken(t *testing.T, dir, role string) string {
	t.Helper()
	out, err := exec.Command(os.Getenv(builtEnv), "token", "create", "--name="+role, "--role="+role, "--storage.path="+filepath.Join(dir, "data")).Output()
	if err != nil {
		t.Fatalf("making a token: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// Real stores, behind a network that is cut: nothing is missing but what the cap dropped and
// the metric counts, and nothing is there twice.
func TestNothingIsLostInARealStoreBehindACutNetwork(t *testing.T) {
	for name, s := range stores {
		t.Run(name, func(t *testing.T) {
			if os.Getenv(insideEnv) != "" {
				dir := t.TempDir()
				end := end{api: "http://" + farIP + ":" + s.port + s.at}
				if s.token != nil {
					end.reader = s.token(t, dir, "operator")
					end.writer = filepath.Join(t.TempDir(), "token")
					if err := os.WriteFile(end.writer, []byte(s.token(t, dir, "push")), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				outage(t, end, launch(t, s, dir))
				return
			}
			for _, program := range []string{"ip", "unshare", "nsenter"} {
				testenv.Binary(t, program)
			}
			if out, err := exec.Command("unshare", "--net", "ip", "link", "add", "near", "type", "veth", "peer", "name", "far").CombinedOutput(); err != nil {
				testenv.Skip(t, fmt.Sprintf("no network namespace can be made here (it takes root): %v: %s", err, out))
			}
			t.Parallel()
			program := s.find(t)
			child := exec.Command("unshare", "--net", os.Args[0], "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$", "-test.v")
			child.Env = append(os.Environ(), insideEnv+"=1", builtEnv+"="+program)
			child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			if out, err := child.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

const perBatch = 20 // series

// wire is what lies between the pusher and a store.
type wire interface {
	cut(t *testing.T)
	mend(t *testing.T)
}

// end is the store's end of the wire: where its API begins, the secret to read with and the file
// of the one to write with, "" where it asks for none.
type end struct{ api, reader, writer string }

// get asks the API.
func (e end) get(path string) (*http.Response, error) {
	request, err := http.NewRequest(http.MethodGet, e.api+path, nil)
	if err != nil {
		return nil, err
	}
	if e.reader != "" {
		request.Header.Set("Authorization", "Bearer "+e.reader)
	}
	return http.DefaultClient.Do(request)
}

// outage takes one store through everything that goes wrong between it and the pusher.
func outage(t *testing.T, store end, wire wire) {
	api := store.api
	eventually(t, "the store answers", func() bool {
		response, err := store.get("/api/v1/labels")
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	w := &writer{t: t, dir: t.TempDir(), token: store.writer, start: time.Now().Add(-30 * time.Minute).Truncate(time.Second)}

	w.open(api+"/api/v1/write", 4<<20) // segments of 256 KiB
	w.push(20)
	w.drained()

	wire.cut(t)
	w.push(60)
	w.open(api+"/api/v1/write", 4<<20) // a restart in the outage
	w.push(60)
	if segments, _ := filepath.Glob(filepath.Join(w.dir, "segments", "*")); len(segments) < 4 {
		t.Errorf("%d segments in the outage, want the spool to have rotated at least three times", len(segments))
	}
	w.stuck()
	wire.mend(t)
	w.drained()
	w.same(store, 0)

	proxy, tricks := trickster(t, api)
	w.open(proxy+"/api/v1/write", 4<<20)
	tricks.refuse.Store(3)
	w.push(10)
	w.drained()
	tricks.swallow.Store(3)
	w.push(10)
	w.drained()
	if tricks.refuse.Load() != 0 || tricks.swallow.Load() != 0 {
		t.Fatal("the proxy did not refuse and swallow as it was told")
	}
	w.same(store, 0)

	w.open(api+"/api/v1/write", 1<<20)
	wire.cut(t)
	w.push(150) // more than the cap holds
	w.stuck()
	wire.mend(t)
	w.drained()
	lost := 0
	if _, err := fmt.Sscan(w.p.metric("spool_dropped_records_total"), &lost); err != nil || lost == 0 {
		t.Fatalf("the cap was reached and %d batches count as lost: %v", lost, err)
	}
	w.same(store, lost)
}

// writer pushes batches of one sample a series, a second apart.
type writer struct {
	t     *testing.T
	dir   string
	token string // the file of the secret, "" for none
	start time.Time
	n     int // batches so far
	p     *pusher
}

// open starts the pusher, after stopping the one before it.
func (w *writer) open(url string, maxBytes int64) {
	w.t.Helper()
	if w.p != nil {
		w.p.stop()
	}
	config := Config{URL: url, TokenFile: w.token, SpoolDir: w.dir, SpoolMaxBytes: maxBytes,
		MinBackoff: 20 * time.Millisecond, MaxBackoff: 200 * time.Millisecond, Timeout: 2 * time.Second, Now: time.Now}
	w.p = runPusher(w.t, config)
}

func (w *writer) push(batches int) {
	w.t.Helper()
	for range batches {
		var samples []Sample
		for i := range perBatch {
			samples = append(samples, Sample{Name: "outage_test", At: w.at(w.n), Value: float64(w.n),
				Labels: []Label{{"series", fmt.Sprint(i)}, {"pad", padding(i)}}})
		}
		b, err := NewBatch(samples)
		if err != nil {
			w.t.Fatal(err)
		}
		w.p.Push(b)
		w.n++
	}
}

func (w *writer) at(n int) time.Time { return w.start.Add(time.Duration(n) * time.Second) }

// padding makes a batch some 12 KiB on disk: it does not compress.
func padding(seed int) string {
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	out := make([]byte, 600)
	for i := range out {
		out[i] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[r.IntN(62)]
	}
	return string(out)
}

// stuck waits until the pusher has found out that the network is cut.
func (w *writer) stuck() {
	w.t.Helper()
	eventually(w.t, "a request fails", func() bool { return strings.Contains(w.p.log.String(), "pushing fails") })
}

func (w *writer) drained() {
	w.t.Helper()
	eventually(w.t, "everything is delivered", func() bool { return w.p.metric("spool_records") == "0" })
}

// same compares what the store has with what was pushed: each series has every sample once,
// with its own time and value, but for those that count as lost.
func (w *writer) same(store end, lost int) {
	w.t.Helper()
	var problem error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if problem = w.compare(store, lost); problem == nil { // VictoriaMetrics shows samples after a moment
			return
		}
	}
	w.t.Fatalf("the store does not have what was pushed: %v", problem)
}

func (w *writer) compare(store end, lost int) error {
	found, err := store.query("outage_test[1h]")
	if err != nil {
		return err
	}
	if len(found) != perBatch {
		return fmt.Errorf("%d series, want %d", len(found), perBatch)
	}
	for _, series := range found {
		next := 0
		missing := w.n - len(series)
		for _, s := range series {
			k := int(s.at.Sub(w.start) / time.Second)
			if !s.at.Equal(w.at(k)) || s.value != fmt.Sprint(k) {
				return fmt.Errorf("%s at %s was never pushed", s.value, s.at)
			}
			if k < next {
				return fmt.Errorf("sample %d is there twice", k)
			}
			next = k + 1
		}
		if missing != lost || next != w.n {
			return fmt.Errorf("%d samples of %d are missing and %d count as lost, the newest is %d", missing, w.n, lost, next-1)
		}
	}
	return nil
}

// stored is one sample as a store gives it.
type stored struct {
	at    time.Time
	value string
}

// query asks for the raw samples of each series.
func (e end) query(selector string) ([][]stored, error) {
	response, err := e.get("/api/v1/query?query=" + url.QueryEscape(selector))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var answer struct {
		Data struct {
			Result []struct {
				Values [][2]any `json:"values"`
			} `json:"result"`
		} `json:"data"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("reading the store's answer, status %d: %w", response.StatusCode, err)
	}
	var all [][]stored
	for _, r := range answer.Data.Result {
		var series []stored
		for _, v := range r.Values {
			seconds, _ := v[0].(float64)
			value, _ := v[1].(string)
			series = append(series, stored{time.UnixMilli(int64(seconds * 1000)), value})
		}
		all = append(all, series)
	}
	return all, nil
}

// tricks are what the proxy does to the next requests.
type tricks struct {
	refuse  atomic.Int64 // 401
	swallow atomic.Int64 // delivered, and the answer lost
}

// trickster is a proxy before the store.
func trickster(t *testing.T, api string) (string, *tricks) {
	t.Helper()
	target, err := url.Parse(api)
	if err != nil {
		t.Fatal(err)
	}
	done := &tricks{}
	forward := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case done.refuse.Load() > 0:
			done.refuse.Add(-1)
			http.Error(w, "who are you", http.StatusUnauthorized)
		case done.swallow.Load() > 0:
			taken := httptest.NewRecorder()
			forward.ServeHTTP(taken, r)
			if taken.Code/100 == 2 {
				done.swallow.Add(-1)
			}
			panic(http.ErrAbortHandler)
		default:
			forward.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, done
}
