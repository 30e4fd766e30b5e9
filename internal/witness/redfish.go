package witness

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Power is what a BMC says of its host's power.
type Power int

// The states of a Power. A host that is being switched on or off is neither.
const (
	PowerUntold Power = iota
	PowerOn
	PowerOff
)

// BMCReading is what a BMC told.
type BMCReading struct {
	At    time.Time
	Power Power
	// GPUs is how many GPUs it counts; nil where it does not tell processors.
	GPUs *int
	// Log is its event log by severity; nil where it has none.
	Log map[string]LogCount
	// Err is why it told nothing.
	Err error
}

// LogCount counts the entries of one severity.
type LogCount struct {
	Entries int
	Newest  time.Time // by the BMC's clock; zero where it tells no time
}

// Account says how the BMCs of a site are asked.
type Account struct {
	Site string // empty for every site
	User string
	// Password is sent to the BMCs alone.
	Password Secret
	// Session makes the BMC check the password once and not with every question.
	Session bool
	// CAs are those that may have signed the BMCs' certificates; nil for the system's.
	CAs *x509.CertPool
	// InsecureSkipVerify takes any certificate, as most BMCs make their own.
	InsecureSkipVerify bool
}

// Secret is text that never prints.
type Secret string

// String hides the secret.
func (Secret) String() string { return "<secret>" }

// GoString hides the secret.
func (Secret) GoString() string { return "<secret>" }

// MarshalText hides the secret.
func (Secret) MarshalText() ([]byte, error) { return []byte("<secret>"), nil }

// Bounds of one conversation with a BMC: they are slow, and what they send is not ours.
const (
	bmcTimeout   = 10 * time.Second
	bmcBodyLimit = 4 << 20
	bmcMembers   = 64              // systems, processors and log services that are looked at
	bmcEntries   = 1000            // log entries that are counted
	bmcDetails   = 5 * time.Minute // how often GPUs and log are read
)

// redfish asks BMCs by the standard's JSON over HTTP. BMCs of different makers leave out, misspell
// and mistype much of it, so each answer is read field by field: what is not as expected is not told.
type redfish struct {
	accounts []Account
	clients  []*http.Client
	now      func() time.Time

	mu      sync.Mutex
	details map[string]BMCReading // the last GPUs and log, by host
	tokens  map[string]string     // of sessions, by BMC
}

func newRedfish(accounts []Account, now func() time.Time) *redfish {
	r := &redfish{accounts: accounts, now: now, details: map[string]BMCReading{}, tokens: map[string]string{}}
	for _, a := range accounts {
		r.clients = append(r.clients, &http.Client{
			Timeout: bmcTimeout,
			Transport: &http.Transport{
				Proxy: nil, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute, ResponseHeaderTimeout: bmcTimeout,
				TLSClientConfig: &tls.Config{RootCAs: a.CAs, InsecureSkipVerify: a.InsecureSkipVerify, MinVersion: tls.VersionTLS12}, //nolint:gosec // said by the operator
			},
			// A redirection could carry the password to another machine.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		})
	}
	return r
}

// askBMCs asks the BMC of every host that has one and whose site has an account.
func (s *Service) askBMCs(ctx context.Context, targets []Target) {
	each(targets, func(t Target) {
		if t.BMC == "" {
			return
		}
		reading, ok := s.bmc.read(ctx, t)
		if !ok || ctx.Err() != nil && reading.Err != nil {
			return
		}
		s.fails(ctx, "BMC of "+t.Host, reading.Err, "the BMC of "+t.Host+" does not answer as it should")
		s.mu.Lock()
		defer s.mu.Unlock()
		s.power[t.Host] = reading
	})
}

// read asks one BMC; false where no account serves it.
func (r *redfish) read(ctx context.Context, t Target) (BMCReading, bool) {
	i := r.accountOf(t.Site)
	if i < 0 {
		return BMCReading{}, false
	}
	b := &bmc{base: baseOf(t.BMC), account: r.accounts[i], client: r.clients[i], redfish: r}
	systems, err := b.members(ctx, "/redfish/v1", "Systems")
	out := BMCReading{At: r.now(), Err: err}
	if err != nil {
		return out, true
	}
	out.Power = powerOf(systems)
	r.mu.Lock()
	last, known := r.details[t.Host]
	r.mu.Unlock()
	if !known || out.At.Sub(last.At) >= bmcDetails {
		last = BMCReading{At: out.At, GPUs: b.gpus(ctx, systems), Log: b.log(ctx, systems)}
		r.mu.Lock()
		r.details[t.Host] = last
		r.mu.Unlock()
	}
	out.GPUs, out.Log = last.GPUs, last.Log
	return out, true
}

func (r *redfish) accountOf(site string) int {
	for i, a := range r.accounts {
		if a.Site == "" || a.Site == site {
			return i
		}
	}
	return -1
}

// powerOf is the power of the machine: on where any system that it is made of says so, since a
// board of GPUs may be a system of its own; off where one says so and none another thing.
func powerOf(systems []object) Power {
	off, other := false, false
	for _, s := range systems {
		switch strings.ToLower(s.text("PowerState")) {
		case "on":
			return PowerOn
		case "off":
			off = true
		case "":
		default:
			other = true
		}
	}
	if off && !other {
		return PowerOff
	}
	return PowerUntold
}

// bmc is a conversation with one.
type bmc struct {
	base    string
	account Account
	client  *http.Client
	redfish *redfish
}

// baseOf is the address of a BMC; one that names no scheme is asked by TLS.
func baseOf(address string) string {
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	return strings.TrimRight(address, "/")
}

// gpus counts the processors that are GPUs and there; nil where no system tells any processor.
func (b *bmc) gpus(ctx context.Context, systems []object) *int {
	var out *int
	for _, s := range systems {
		found, err := b.linked(ctx, s, "Processors")
		if err != nil || len(found) == 0 {
			continue
		}
		if out == nil {
			out = new(int)
		}
		for _, p := range found {
			if strings.EqualFold(p.text("ProcessorType"), "GPU") && !strings.EqualFold(p.object("Status").text("State"), "Absent") {
				*out++
			}
		}
	}
	return out
}

// log counts the entries of the systems' event logs; nil where there are none.
func (b *bmc) log(ctx context.Context, systems []object) map[string]LogCount {
	var out map[string]LogCount
	seen := 0
	for _, s := range systems {
		services, err := b.linked(ctx, s, "LogServices")
		if err != nil {
			continue
		}
		for _, service := range services {
			entries, err := b.linked(ctx, service, "Entries")
			if err != nil {
				continue
			}
			if out == nil {
				out = map[string]LogCount{"ok": {}, "warning": {}, "critical": {}}
			}
			for _, e := range entries {
				if seen++; seen > bmcEntries {
					return out
				}
				severity := strings.ToLower(e.text("Severity"))
				count, known := out[severity]
				if !known {
					continue
				}
				count.Entries++
				if at, err := time.Parse(time.RFC3339, e.text("Created")); err == nil && at.After(count.Newest) {
					count.Newest = at
				}
				out[severity] = count
			}
		}
	}
	return out
}

// members returns what the collection holds that a resource links to by a name.
func (b *bmc) members(ctx context.Context, path, link string) ([]object, error) {
	at, err := b.get(ctx, path)
	if err != nil {
		return nil, err
	}
	found, err := b.linked(ctx, at, link)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s%s: found no %s, expected at least one", b.base, path, link)
	}
	return found, err
}

// linked returns the members of the collection that a resource links to. Members that are in the
// collection itself, as logs have them, are not asked for again; one that fails hides no other.
func (b *bmc) linked(ctx context.Context, from object, link string) ([]object, error) {
	path := from.object(link).text("@odata.id")
	if path == "" {
		return nil, nil
	}
	collection, err := b.get(ctx, path)
	if err != nil {
		return nil, err
	}
	var out []object
	var errs []error
	for i, m := range collection.list("Members") {
		at := m.text("@odata.id")
		if len(m) > 1 || at == "" {
			out = append(out, m)
			continue
		}
		if i >= bmcMembers {
			break
		}
		one, err := b.get(ctx, at)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, one)
	}
	if len(out) == 0 {
		return nil, errors.Join(errs...)
	}
	return out, nil
}

// get reads one resource. A path that leaves the BMC is refused: its answer is not ours to trust.
func (b *bmc) get(ctx context.Context, path string) (object, error) {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
		return nil, fmt.Errorf("%s: found a link to %q, expected a path on the BMC itself", b.base, path)
	}
	resp, err := b.do(ctx, http.MethodGet, path, nil)
	if err == nil && resp.StatusCode == http.StatusUnauthorized && b.account.Session {
		discard(resp)
		b.setToken("") // it has run out
		resp, err = b.do(ctx, http.MethodGet, path, nil)
	}
	if err != nil {
		return nil, err
	}
	defer discard(resp)
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s%s: found %s, expected 200", b.base, path, resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, bmcBodyLimit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s%s: %w", b.base, path, err)
	case len(body) > bmcBodyLimit:
		return nil, fmt.Errorf("%s%s: found more than %d bytes, expected one resource", b.base, path, bmcBodyLimit)
	}
	out, err := parseObject(body)
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", b.base, path, err)
	}
	return out, nil
}

// do sends one request in the account's name.
func (b *bmc) do(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, b.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("OData-Version", "4.0")
	switch {
	case body != nil:
		req.Header.Set("Content-Type", "application/json")
	case b.account.Session:
		token, err := b.session(ctx)
		if err != nil {
			return nil, err
		}
		req.Header.Set("X-Auth-Token", token)
	case b.account.User != "":
		req.SetBasicAuth(b.account.User, string(b.account.Password))
	}
	return b.client.Do(req)
}

// session returns the token of the session with this BMC, opening one where there is none.
func (b *bmc) session(ctx context.Context) (string, error) {
	b.redfish.mu.Lock()
	token := b.redfish.tokens[b.base]
	b.redfish.mu.Unlock()
	if token != "" {
		return token, nil
	}
	body, err := json.Marshal(map[string]string{"UserName": b.account.User, "Password": string(b.account.Password)})
	if err != nil {
		return "", err
	}
	resp, err := b.do(ctx, http.MethodPost, "/redfish/v1/SessionService/Sessions", body)
	if err != nil {
		return "", err
	}
	defer discard(resp)
	token = resp.Header.Get("X-Auth-Token")
	if resp.StatusCode/100 != 2 || token == "" {
		return "", fmt.Errorf("%s: found %s and no token, expected a session for user %q", b.base, resp.Status, b.account.User)
	}
	b.setToken(token)
	return token, nil
}

func (b *bmc) setToken(token string) {
	b.redfish.mu.Lock()
	defer b.redfish.mu.Unlock()
	b.redfish.tokens[b.base] = token
}

// discard lets the connection be used again.
func discard(resp *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	_ = resp.Body.Close()
}

// object is a JSON object whose fields are read one by one, each as what it is expected to be.
type object map[string]json.RawMessage

// parseObject reads the body of an answer.
func parseObject(body []byte) (object, error) {
	var o object
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, fmt.Errorf("found no JSON object: %w", err)
	}
	return o, nil
}

// text is a field that holds text; empty where it is absent or holds another thing.
func (o object) text(name string) string {
	var s string
	if json.Unmarshal(o[name], &s) != nil {
		return ""
	}
	return s
}

// object is a field that holds an object.
func (o object) object(name string) object {
	var out object
	if json.Unmarshal(o[name], &out) != nil {
		return nil
	}
	return out
}

// list is a field that holds objects; others among them are left out.
func (o object) list(name string) []object {
	var raw []json.RawMessage
	if json.Unmarshal(o[name], &raw) != nil {
		return nil
	}
	var out []object
	for _, r := range raw {
		var one object
		if json.Unmarshal(r, &one) == nil && one != nil {
			out = append(out, one)
		}
	}
	return out
}
