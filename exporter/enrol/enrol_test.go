package enrol_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/leasewatch/leasewatch/exporter/enrol"
)

const ticket = "lwt_one-time"

// server answers enrolments as told, and keeps what it was asked.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	answer func(w http.ResponseWriter)
	hashes []string
	bodies []string
	tokens []string
}

func newServer(t *testing.T) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		var in struct{ Host, Hash string }
		raw := json.NewDecoder(r.Body)
		if r.URL.Path != "/api/v1/enroll" || r.Method != http.MethodPost || raw.Decode(&in) != nil {
			http.NotFound(w, r)
			return
		}
		s.hashes, s.tokens = append(s.hashes, in.Hash), append(s.tokens, r.Header.Get("Authorization"))
		s.bodies = append(s.bodies, fmt.Sprint(in))
		if s.answer != nil {
			s.answer(w)
			return
		}
		fmt.Fprintf(w, `{"name":"vm-3","lease":"L-1","host":%q,"write_path":"/prometheus/api/v1/write"}`, in.Host)
	}))
	t.Cleanup(s.Close)
	return s
}

// set changes how it answers.
func (s *server) set(answer func(w http.ResponseWriter)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// told returns what it was asked: hashes, bodies and tokens, in order.
func (s *server) told() (hashes, bodies, tokens []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.hashes), slices.Clone(s.bodies), slices.Clone(s.tokens)
}

func request(t *testing.T, s *server) enrol.Request {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ticket")
	if err := os.WriteFile(file, []byte(ticket+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return enrol.Request{Server: s.URL, TokenFile: file, Host: "vm-3", Folder: filepath.Join(t.TempDir(), "guest")}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func TestAnEnrolmentKeepsATokenThatOnlyItsOwnerReadsAndNobodyWasSent(t *testing.T) {
	s := newServer(t)
	r := request(t, s)
	r.Server += "/" // as people write it
	got, err := enrol.Do(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "vm-3" || got.Lease != "L-1" || got.Args != filepath.Join(r.Folder, "exporter.args") {
		t.Errorf("enrolled as %+v", got)
	}
	secret := strings.TrimSpace(read(t, filepath.Join(r.Folder, "push-token")))
	hashes, bodies, tokens := s.told()
	if len(secret) < 43 || hashes[0] != hashOf(secret) || tokens[0] != "Bearer "+ticket {
		t.Errorf("the server was told %q by %q of a secret of %d characters", hashes[0], tokens[0], len(secret))
	}
	if strings.Contains(strings.Join(bodies, ""), secret) {
		t.Error("the push token itself was sent")
	}
	want := "--vantage=guest\n--host.name=vm-3\n--push.url=" + s.URL + "/prometheus/api/v1/write\n" +
		"--push.bearer-token-file=" + filepath.Join(r.Folder, "push-token") + "\n--push.spool-dir=" + filepath.Join(r.Folder, "spool") + "\n"
	if args := read(t, got.Args); args != want {
		t.Errorf("arguments\n%swant\n%s", args, want)
	}
	for _, name := range []string{"push-token", "exporter.args"} {
		if info, err := os.Stat(filepath.Join(r.Folder, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v; expected mode 0600", name, info.Mode(), err)
		}
	}
	if info, err := os.Stat(r.Folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v; expected mode 0700", info.Mode(), err)
	}
	if left, err := os.ReadDir(r.Folder); err != nil || len(left) != 2 {
		t.Errorf("the folder holds %v, %v", left, err)
	}
}

func TestAnEnrolmentThatLostItsAnswerGoesOnWithTheSameSecret(t *testing.T) {
	s := newServer(t)
	r := request(t, s)
	s.set(func(http.ResponseWriter) { panic(http.ErrAbortHandler) })
	if _, err := enrol.Do(t.Context(), r); err == nil || !strings.Contains(err.Error(), "try again") {
		t.Fatalf("without an answer: %v", err)
	}
	s.set(func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) })
	if _, err := enrol.Do(t.Context(), r); err == nil || !strings.Contains(err.Error(), "502") {
		t.Fatalf("behind a gateway without a server: %v", err)
	}
	s.set(nil)
	if _, err := enrol.Do(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if hashes, _, _ := s.told(); len(hashes) != 3 || hashes[0] != hashes[2] || hashes[0] != hashes[1] {
		t.Errorf("the server was told the hashes %v, expected one", hashes)
	}
	// Another token, as for another lease, makes another secret.
	if _, err := enrol.Do(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if hashes, _, _ := s.told(); len(hashes) != 4 || hashes[3] == hashes[0] {
		t.Errorf("a new enrolment has the secret of the old one: %v", hashes)
	}
}

func TestARefusalIsToldInTheServersWordsAndLeavesNoSecret(t *testing.T) {
	s := newServer(t)
	r := request(t, s)
	s.set(func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, `{"status":409,"title":"Conflict","detail":"enrolment \"vm-3\" was used at 2026-05-01T00:00:00Z\u001b[2J"}`)
	})
	_, err := enrol.Do(t.Context(), r)
	var refused *enrol.RefusedError
	if !errors.As(err, &refused) || refused.Status != http.StatusConflict || refused.Says != `enrolment "vm-3" was used at 2026-05-01T00:00:00Z [2J` {
		t.Errorf("refused with %v", err)
	}
	if left, err := os.ReadDir(r.Folder); err != nil || len(left) != 0 {
		t.Errorf("the folder holds %v, %v", left, err)
	}
	if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), "lwt_") {
		t.Errorf("the error holds a secret: %v", err)
	}
}

func TestATokenCrossesNoNetworkInTheClearAndFollowsNobody(t *testing.T) {
	s := newServer(t)
	for _, address := range []string{"http://192.0.2.7:8080", "http://example.com", "http://127.0.0.1.example.com", "ftp://localhost", "localhost:8080", "",
		"https://user:hunter2@example.com", "https://example.com?x=1"} {
		r := request(t, s)
		r.Server = address
		_, err := enrol.Do(t.Context(), r)
		if err == nil || !strings.Contains(err.Error(), "--server") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"https://example.com", "https://example.com:8443/leasewatch/", "http://localhost:8080", "http://[::1]:8080", "http://127.0.0.2"} {
		if err := enrol.CheckAddress(address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	var asked atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) }))
	defer elsewhere.Close()
	r := request(t, s)
	s.set(func(w http.ResponseWriter) {
		w.Header().Set("Location", elsewhere.URL)
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	if _, err := enrol.Do(t.Context(), r); err == nil || !strings.Contains(err.Error(), "307") || asked.Load() {
		t.Errorf("a redirect: %v, followed: %v", err, asked.Load())
	}
}

func TestWhatIsNoEnrolmentKeepsNothing(t *testing.T) {
	s := newServer(t)
	for what, c := range map[string]struct {
		change func(t *testing.T, r *enrol.Request)
		answer string
		says   string
	}{
		"a token file that is not there": {func(_ *testing.T, r *enrol.Request) { r.TokenFile += "x" }, "", "cannot be read"},
		"an empty token file": {func(t *testing.T, r *enrol.Request) {
			if err := os.WriteFile(r.TokenFile, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "", "want one line"},
		"a name of two lines":     {func(_ *testing.T, r *enrol.Request) { r.Host = "vm\n--web.listen-address=:1" }, "", "one line"},
		"another program":         {func(*testing.T, *enrol.Request) {}, "<html>", "answers no leasewatch"},
		"another host's answer":   {func(*testing.T, *enrol.Request) {}, `{"host":"gpu-a17","write_path":"/w"}`, "answers no leasewatch"},
		"an argument in the path": {func(*testing.T, *enrol.Request) {}, `{"host":"vm-3","write_path":"/w\n--log.level=debug"}`, "answers no leasewatch"},
	} {
		t.Run(what, func(t *testing.T) {
			r := request(t, s)
			c.change(t, &r)
			s.set(func(w http.ResponseWriter) { fmt.Fprint(w, c.answer) })
			if _, err := enrol.Do(t.Context(), r); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, expected %q", err, c.says)
			}
			for _, name := range []string{"push-token", "exporter.args"} {
				if _, err := os.Stat(filepath.Join(r.Folder, name)); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s is there: %v", name, err)
				}
			}
		})
	}
}
