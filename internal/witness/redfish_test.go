package witness

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// service is a BMC that answers as the standard's examples do, and as oddly as the test says.
type service struct {
	mu       sync.Mutex
	bodies   map[string]string // by path
	user     string
	password string
	token    string // of the session that is open
	logins   int
	basic    int // requests with a password
	server   *httptest.Server
}

// newService is a machine of two systems, as GPU servers have them: the host, and the board of GPUs.
func newService(t *testing.T) *service {
	t.Helper()
	link := func(path string) string { return fmt.Sprintf(`{"@odata.id":%q}`, path) }
	links := func(paths ...string) string {
		var members []string
		for _, p := range paths {
			members = append(members, link(p))
		}
		return fmt.Sprintf(`{"Name":"Collection","Members@odata.count":%d,"Members":[%s]}`, len(paths), strings.Join(members, ","))
	}
	const host, board = "/redfish/v1/Systems/System.1", "/redfish/v1/Systems/Board.0"
	s := &service{user: "leasewatch", password: "swordfish", bodies: map[string]string{
		"/redfish/v1":         `{"@odata.id":"/redfish/v1/","RedfishVersion":"1.15.0","Systems":` + link("/redfish/v1/Systems") + `}`,
		"/redfish/v1/Systems": links(host, board),
		host: `{"Id":"System.1","SystemType":"Physical","PowerState":"On","Status":{"State":"Enabled","Health":"OK"},"Processors":` + link(host+"/Processors") +
			`,"LogServices":` + link(host+"/LogServices") + `}`,
		host + "/Processors":      links(host+"/Processors/CPU.1", host+"/Processors/CPU.2"),
		host + "/LogServices":     links(host + "/LogServices/SEL"),
		board:                     `{"Id":"Board.0","PowerState":"On","Processors":` + link(board+"/Processors") + `}`,
		board + "/Processors":     links(board+"/Processors/GPU.1", board+"/Processors/GPU.2", board+"/Processors/GPU.3"),
		host + "/LogServices/SEL": `{"Id":"SEL","Entries":` + link(host+"/LogServices/SEL/Entries") + `}`,
		host + "/LogServices/SEL/Entries": `{"Members":[
			{"@odata.id":"` + host + `/LogServices/SEL/Entries/1","Severity":"OK","Created":"2026-05-01T10:00:00Z","Message":"started"},
			{"@odata.id":"` + host + `/LogServices/SEL/Entries/2","Severity":"Critical","Created":"2026-05-01T12:00:00+02:00","Message":"PSU 2 lost input"},
			{"@odata.id":"` + host + `/LogServices/SEL/Entries/3","Severity":"Critical","Created":"2026-05-01T09:00:00Z","Message":"fan 4"}]}`,
	}}
	for _, cpu := range []string{"CPU.1", "CPU.2"} {
		s.bodies[host+"/Processors/"+cpu] = `{"ProcessorType":"CPU","Status":{"State":"Enabled"}}`
	}
	for gpu, state := range map[string]string{"GPU.1": "Enabled", "GPU.2": "Enabled", "GPU.3": "Absent"} {
		s.bodies[board+"/Processors/"+gpu] = `{"ProcessorType":"GPU","Status":{"State":"` + state + `"}}`
	}
	s.server = httptest.NewTLSServer(s)
	t.Cleanup(s.server.Close)
	return s
}

func (s *service) set(path, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies[path] = body
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodPost && r.URL.Path == "/redfish/v1/SessionService/Sessions" {
		var in struct{ UserName, Password string }
		if json.NewDecoder(r.Body).Decode(&in) != nil || in.UserName != s.user || in.Password != s.password {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		s.logins++
		s.token = fmt.Sprintf("session-%d", s.logins)
		w.Header().Set("X-Auth-Token", s.token)
		w.WriteHeader(http.StatusCreated)
		return
	}
	user, password, basic := r.BasicAuth()
	if basic {
		s.basic++
	}
	if (!basic || user != s.user || password != s.password) && (s.token == "" || r.Header.Get("X-Auth-Token") != s.token) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	body, ok := s.bodies[strings.TrimSuffix(r.URL.Path, "/")]
	switch {
	case !ok:
		http.NotFound(w, r)
	case strings.HasPrefix(body, "redirect "):
		http.Redirect(w, r, strings.TrimPrefix(body, "redirect "), http.StatusFound)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, body)
	}
}

// ask reads the service once with an account.
func (s *service) ask(t *testing.T, r *redfish) BMCReading {
	t.Helper()
	got, ok := r.read(t.Context(), Target{Host: "gpu-a1", Site: "oslo", BMC: s.server.URL})
	if !ok {
		t.Fatal("no account serves the host")
	}
	return got
}

func account(password string, session bool) []Account {
	return []Account{
		{Site: "bergen", User: "other", Password: "x"},
		{User: "leasewatch", Password: Secret(password), Session: session, InsecureSkipVerify: true},
	}
}

const system = "/redfish/v1/Systems/System.1"

func TestABMCTellsPowerGPUsAndItsLog(t *testing.T) {
	for name, session := range map[string]bool{"by password": false, "by session": true} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			r := newRedfish(account("swordfish", session), time.Now)
			got := s.ask(t, r)
			if got.Err != nil || got.Power != PowerOn || got.GPUs == nil || *got.GPUs != 2 {
				t.Fatalf("%+v, expected power on and two GPUs that are there", got)
			}
			if c := got.Log["critical"]; c.Entries != 2 || !c.Newest.Equal(time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)) || got.Log["ok"].Entries != 1 {
				t.Errorf("log: %+v", got.Log)
			}
			s.set(system, `{"PowerState":"Off"}`)
			s.set("/redfish/v1/Systems/Board.0", `{"PowerState":"Off"}`)
			if got = s.ask(t, r); got.Power != PowerOff {
				t.Errorf("%+v, expected power off", got)
			}
			if session && (s.logins != 1 || s.basic != 0) {
				t.Errorf("%d logins and %d requests with a password, expected one session", s.logins, s.basic)
			}
		})
	}
}

func TestASessionThatRanOutIsOpenedAgain(t *testing.T) {
	s := newService(t)
	r := newRedfish(account("swordfish", true), time.Now)
	s.ask(t, r)
	s.mu.Lock()
	s.token = "another"
	s.mu.Unlock()
	if got := s.ask(t, r); got.Err != nil || s.logins != 2 {
		t.Errorf("%+v after %d logins, expected a second session", got, s.logins)
	}
}

func TestOddBMCsTellWhatTheyCanAndNothingElse(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*service)
		power  Power
		gpus   string
		err    string
	}{
		"no power state":                 {func(s *service) { s.set(system, `{"Id":"1"}`); s.set("/redfish/v1/Systems/Board.0", `{}`) }, PowerUntold, "none", ""},
		"a power state that is a number": {func(s *service) { s.set(system, `{"PowerState":1}`); s.set("/redfish/v1/Systems/Board.0", `{}`) }, PowerUntold, "none", ""},
		"being switched off": {func(s *service) {
			s.set(system, `{"PowerState":"PoweringOff"}`)
			s.set("/redfish/v1/Systems/Board.0", `{"PowerState":"Off"}`)
		}, PowerUntold, "none", ""},
		"the board off and the host on":    {func(s *service) { s.set("/redfish/v1/Systems/Board.0", `{"PowerState":"Off"}`) }, PowerOn, "0", ""},
		"spelled in capitals":              {func(s *service) { s.set(system, `{"PowerState":"OFF"}`); s.set("/redfish/v1/Systems/Board.0", `{}`) }, PowerOff, "none", ""},
		"processors of a wrong type":       {func(s *service) { s.set("/redfish/v1/Systems/Board.0/Processors", `{"Members":"three"}`) }, PowerOn, "0", ""},
		"one system that fails":            {func(s *service) { s.set("/redfish/v1/Systems/Board.0", `<html>busy</html>`) }, PowerOn, "0", ""},
		"no systems":                       {func(s *service) { s.set("/redfish/v1/Systems", `{"Members":[]}`) }, PowerUntold, "none", "found no Systems"},
		"not JSON":                         {func(s *service) { s.set("/redfish/v1", `<html>`) }, PowerUntold, "none", "found no JSON object"},
		"an array":                         {func(s *service) { s.set("/redfish/v1", `[]`) }, PowerUntold, "none", "found no JSON object"},
		"another password":                 {func(s *service) { s.password = "changed" }, PowerUntold, "none", "401"},
		"a link to another machine":        {func(s *service) { s.set("/redfish/v1", `{"Systems":{"@odata.id":"https://192.0.2.66/steal"}}`) }, PowerUntold, "none", "expected a path on the BMC itself"},
		"a link without a scheme":          {func(s *service) { s.set("/redfish/v1", `{"Systems":{"@odata.id":"//192.0.2.66/steal"}}`) }, PowerUntold, "none", "expected a path on the BMC itself"},
		"a redirection to another machine": {func(s *service) { s.set("/redfish/v1", "redirect https://192.0.2.66/steal") }, PowerUntold, "none", "302"},
		"more than one resource holds":     {func(s *service) { s.set("/redfish/v1", `{"a":"`+strings.Repeat("x", bmcBodyLimit)+`"}`) }, PowerUntold, "none", "expected one resource"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			c.change(s)
			got := s.ask(t, newRedfish(account("swordfish", false), time.Now))
			gpus := "none"
			if got.GPUs != nil {
				gpus = fmt.Sprint(*got.GPUs)
			}
			if got.Power != c.power || gpus != c.gpus || (got.Err == nil) != (c.err == "") || c.err != "" && !strings.Contains(got.Err.Error(), c.err) {
				t.Errorf("power %v, GPUs %s, error %v; expected power %v, GPUs %s, error %q", got.Power, gpus, got.Err, c.power, c.gpus, c.err)
			}
		})
	}
}

func TestACertificateThatNobodyVouchesForIsRefusedUnlessSaid(t *testing.T) {
	s := newService(t)
	accounts := account("swordfish", false)
	accounts[1].InsecureSkipVerify = false
	if got := s.ask(t, newRedfish(accounts, time.Now)); got.Err == nil || s.basic != 0 {
		t.Errorf("%+v after %d requests with a password, expected none", got, s.basic)
	}
	accounts[1].CAs = s.server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	if got := s.ask(t, newRedfish(accounts, time.Now)); got.Err != nil {
		t.Errorf("with its own authority: %v", got.Err)
	}
}

func TestWhatBMCsTellIsGivenOut(t *testing.T) {
	up, down := newService(t), newService(t)
	down.password = "changed"
	c := &clock{now: time.UnixMilli(1_780_000_000_000)}
	var log strings.Builder
	s := New(Options{
		Interval: 15 * time.Second, BMCs: account("swordfish", false), Now: c.Now, Log: slog.New(slog.NewTextHandler(&log, nil)),
		Targets: func(context.Context) ([]Target, error) {
			return []Target{{Host: "gpu-a1", BMC: up.server.URL}, {Host: "gpu-a2", BMC: down.server.URL}, {Host: "gpu-a3"}}, nil
		},
	})
	s.Look(t.Context())
	if got := fmt.Sprint(seen(t, s, "host_bmc_up"), seen(t, s, "host_power_on"), seen(t, s, "host_bmc_gpus")); got != "map[gpu-a1:1 gpu-a2:0] map[gpu-a1:1] map[gpu-a1:2]" {
		t.Error(got)
	}
	if got := seen(t, s, "host_bmc_log_entries"); got["gpu-a1 critical"] != 2 {
		t.Error(got)
	}
	if strings.Contains(log.String(), "swordfish") || !strings.Contains(log.String(), "BMC of gpu-a2") {
		t.Errorf("log:\n%s", log.String())
	}
	if printed := fmt.Sprintf("%v %+v %#v", s.opts.BMCs, s.opts.BMCs, s.opts.BMCs); strings.Contains(printed, "swordfish") {
		t.Errorf("the password prints: %s", printed)
	}
}

func FuzzBMCAnswers(f *testing.F) {
	f.Add([]byte(`{"PowerState":"On","Members":[{"@odata.id":"/x"},3,null],"Status":{"State":"Enabled"}}`))
	f.Add([]byte(`{"PowerState":{"a":[]}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := parseObject(body)
		if err != nil {
			return
		}
		if p := powerOf([]object{o}); p == PowerOn != strings.EqualFold(o.text("PowerState"), "on") {
			t.Errorf("power %v of %q", p, body)
		}
		for _, m := range o.list("Members") {
			_ = m.object("Status").text("State")
		}
	})
}
