package paging

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/testenv"
)

// quickConfig is the routing of most tests: groups come at once and changes a tenth of a second later.
const quickConfig = `
route:
  receiver: leasewatch
  group_by: [provider, severity, subject]
  group_wait: 0s
  group_interval: 100ms
  repeat_interval: 24h
inhibit_rules:
  - source_matchers: ['alertname = "HostSilent"']
    target_matchers: ['alertname != "HostSilent"']
    equal: [host]
receivers:
  - name: leasewatch
    webhook_configs: [{url: 'http://127.0.0.1/'}]
`

// desk takes groups as the incident room does.
type desk struct {
	mu     sync.Mutex
	groups []rental.AlertGroup
	fail   int
}

func (d *desk) deliver(_ context.Context, g rental.AlertGroup) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail > 0 {
		d.fail--
		return errors.New("the desk is away")
	}
	d.groups = append(d.groups, g)
	return nil
}

// got returns the groups of the key so far.
func (d *desk) got(key string) []rental.AlertGroup {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []rental.AlertGroup
	for _, g := range d.groups {
		if g.Key == key {
			all = append(all, g)
		}
	}
	return all
}

// memory is a Store that outlives the pagers of a test, as the ledger outlives a crash.
type memory struct {
	mu      sync.Mutex
	entries map[string][]byte
	broken  bool
}

var _ Store = (*memory)(nil)

func (m *memory) SaveEntry(_ context.Context, kind, key string, body []byte, _ time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken {
		return errors.New("disk full")
	}
	if m.entries == nil {
		m.entries = map[string][]byte{}
	}
	m.entries[kind+"/"+key] = bytes.Clone(body)
	return nil
}

func (m *memory) LoadEntries(_ context.Context, kind string) ([][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all [][]byte
	for id, body := range m.entries {
		if strings.HasPrefix(id, kind+"/") {
			all = append(all, body)
		}
	}
	return all, nil
}

func (m *memory) setBroken(b bool) { m.mu.Lock(); m.broken = b; m.mu.Unlock() }

func newPager(t *testing.T, d *desk, store Store) *Pager {
	t.Helper()
	p, err := New(t.Context(), Options{Config: []byte(quickConfig), Deliver: d.deliver, Store: store, ExternalURL: "http://leasewatch.example"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

func startPager(t *testing.T, d *desk, store Store) *Pager {
	t.Helper()
	p := newPager(t, d, store)
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

func firing(name, host, uuid string) Alert {
	return Alert{
		Labels:      map[string]string{"alertname": name, "provider": "a", "severity": "page", "subject": host, "host": host, "uuid": uuid},
		Annotations: map[string]string{"summary": name + " on " + host},
		StartsAt:    time.Now(), ValidUntil: time.Now().Add(4 * time.Minute),
	}
}

func ended(a Alert) Alert {
	a.EndsAt = time.Now()
	return a
}

func put(t *testing.T, p *Pager, alerts ...Alert) {
	t.Helper()
	if err := p.Put(t.Context(), alerts); err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatal("never: " + what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func keyOf(host string) string {
	return `leasewatch{provider="a",severity="page",subject="` + host + `"}`
}

func last(groups []rental.AlertGroup) rental.AlertGroup {
	if len(groups) == 0 {
		return rental.AlertGroup{}
	}
	return groups[len(groups)-1]
}

// states lists a group's alerts as name=firing or name=ended, in the group's order.
func states(g rental.AlertGroup) string {
	var all []string
	for _, a := range g.Alerts {
		state := "ended"
		if a.EndsAt == rental.Forever {
			state = "firing"
		}
		all = append(all, a.Labels["alertname"]+"="+state)
	}
	return strings.Join(all, " ")
}

func TestAGroupIsHandedOnAtOnceOnEachChangeAndAtItsEnd(t *testing.T) {
	var d desk
	p := startPager(t, &d, nil)
	lost := firing("GPULost", "h1", "GPU-1")
	put(t, p, lost)
	eventually(t, "the group arrives", func() bool { return len(d.got(keyOf("h1"))) == 1 })
	g := d.got(keyOf("h1"))[0]
	if g.Receiver != "leasewatch" || g.Labels["subject"] != "h1" || len(g.Labels) != 3 || g.At == 0 {
		t.Errorf("%+v", g)
	}
	a := g.Alerts[0]
	if a.Labels["uuid"] != "GPU-1" || a.Annotations["summary"] == "" || a.EndsAt != rental.Forever || a.StartsAt != rental.At(lost.StartsAt) || len(a.Fingerprint) != 16 {
		t.Errorf("%+v", a)
	}

	put(t, p, lost) // told again: nothing new
	hot := firing("GPUHot", "h1", "GPU-2")
	put(t, p, hot)
	eventually(t, "the second alert arrives", func() bool { return len(last(d.got(keyOf("h1"))).Alerts) == 2 })
	put(t, p, ended(lost), ended(hot))
	eventually(t, "the end arrives", func() bool { return states(last(d.got(keyOf("h1")))) == "GPUHot=ended GPULost=ended" })
	if n := len(d.got(keyOf("h1"))); n > 4 {
		t.Errorf("%d deliveries for one, two and no alerts", n)
	}
}

func TestADeliveryThatFailsIsTriedAgain(t *testing.T) {
	d := desk{fail: 2}
	p := startPager(t, &d, nil)
	put(t, p, firing("GPULost", "h1", "GPU-1"))
	eventually(t, "the group arrives in the end", func() bool { return len(d.got(keyOf("h1"))) == 1 })
}

func TestAlertsPutBeforeStartWaitForIt(t *testing.T) {
	var d desk
	p := newPager(t, &d, nil)
	put(t, p, firing("GPULost", "h1", "GPU-1"), firing("GPUHot", "h1", "GPU-2"))
	if n := len(d.got(keyOf("h1"))); n != 0 {
		t.Fatalf("%d groups before Start", n)
	}
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "both arrive in one group", func() bool { return len(last(d.got(keyOf("h1"))).Alerts) == 2 })
	if n := len(d.got(keyOf("h1"))); n != 1 {
		t.Errorf("%d deliveries, expected one", n)
	}
}

func TestADeadHostInhibitsItsOtherAlertsAndNoOthers(t *testing.T) {
	var d desk
	p := newPager(t, &d, nil)
	put(t, p, firing("HostSilent", "h1", ""), firing("GPULost", "h1", "GPU-1"), firing("GPULost", "h2", "GPU-9"))
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "both hosts arrive", func() bool { return len(d.got(keyOf("h1"))) == 1 && len(d.got(keyOf("h2"))) == 1 })
	if got := states(d.got(keyOf("h1"))[0]); got != "HostSilent=firing" {
		t.Errorf("%s, expected only the host", got)
	}
}

func TestASilencedAlertIsNotToldButItsEndIs(t *testing.T) {
	var d desk
	p := startPager(t, &d, nil)
	lost := firing("GPULost", "h1", "GPU-1")
	put(t, p, lost)
	eventually(t, "the group arrives", func() bool { return len(d.got(keyOf("h1"))) == 1 })
	if _, err := p.Silence(t.Context(), map[string]string{"subject": "h1"}, time.Now().Add(time.Hour), "ann", "known"); err != nil {
		t.Fatal(err)
	}
	hot := firing("GPUHot", "h1", "GPU-2")
	put(t, p, hot, firing("GPULost", "h2", "GPU-9"))
	eventually(t, "another host's group arrives", func() bool { return len(d.got(keyOf("h2"))) == 1 })

	// One of two ends: the group must not look resolved while the silenced other one fires.
	put(t, p, ended(hot))
	put(t, p, ended(lost))
	eventually(t, "the end arrives", func() bool {
		groups := d.got(keyOf("h1"))
		return len(groups) > 1 && !strings.Contains(states(last(groups)), "firing")
	})
	for _, g := range d.got(keyOf("h1"))[1:] {
		if strings.Contains(states(g), "firing") {
			t.Errorf("told under a silence: %s", states(g))
		}
	}
}

func TestAGroupDoesNotLookResolvedWhileASilencedAlertFires(t *testing.T) {
	var d desk
	p := startPager(t, &d, nil)
	lost, hot := firing("GPULost", "h1", "GPU-1"), firing("GPUHot", "h1", "GPU-2")
	put(t, p, lost, hot)
	eventually(t, "both arrive", func() bool { return len(last(d.got(keyOf("h1"))).Alerts) == 2 })
	if _, err := p.Silence(t.Context(), map[string]string{"uuid": "GPU-1"}, time.Now().Add(time.Hour), "ann", ""); err != nil {
		t.Fatal(err)
	}
	before := len(d.got(keyOf("h1")))
	put(t, p, ended(hot), firing("GPULost", "h2", "GPU-9"))
	eventually(t, "another group arrives", func() bool { return len(d.got(keyOf("h2"))) == 1 })
	for i := range 3 { // each takes a flush, in which nothing must be told of h1
		put(t, p, firing("GPUHot", "h2", fmt.Sprintf("GPU-%d", 10+i)))
		eventually(t, "a change of the other group arrives", func() bool { return len(last(d.got(keyOf("h2"))).Alerts) == 2+i })
	}
	if groups := d.got(keyOf("h1")); len(groups) != before {
		t.Errorf("told %q while the silenced alert fires", states(last(groups)))
	}
}

func TestSilencesAndNotificationsSurviveACrash(t *testing.T) {
	var store memory
	var d desk
	crashed := startPager(t, &d, &store) // never stopped before the next one starts
	lost, quiet := firing("GPULost", "h1", "GPU-1"), firing("GPULost", "h2", "GPU-2")
	id, err := crashed.Silence(t.Context(), map[string]string{"subject": "h2"}, time.Now().Add(time.Hour), "ann", "swap ordered")
	if err != nil {
		t.Fatal(err)
	}
	put(t, crashed, lost)
	eventually(t, "the group arrives", func() bool { return len(d.got(keyOf("h1"))) == 1 })
	eventually(t, "the notification is stored", func() bool { all, _ := store.LoadEntries(t.Context(), kindNotification); return len(all) == 1 })

	var after desk
	p := newPager(t, &after, &store)
	active, err := p.ActiveSilences(t.Context())
	if err != nil || len(active) != 1 || active[id].IsZero() {
		t.Fatalf("silences %v %v, expected %s", active, err, id)
	}
	put(t, p, lost, quiet, firing("GPULost", "h3", "GPU-3"))
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a new group arrives", func() bool { return len(after.got(keyOf("h3"))) == 1 })
	put(t, p, ended(lost))
	eventually(t, "the end of the old one arrives", func() bool { return states(last(after.got(keyOf("h1")))) == "GPULost=ended" })
	if n := len(after.got(keyOf("h1"))); n != 1 {
		t.Errorf("%d deliveries of a group that was told before the crash, expected only its end", n)
	}
	if n := len(after.got(keyOf("h2"))); n != 0 {
		t.Errorf("%d deliveries of the silenced group", n)
	}

	if err := p.ExpireSilence(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the unsilenced group arrives", func() bool { return len(after.got(keyOf("h2"))) == 1 })
	if err := p.ExpireSilence(t.Context(), "nonesuch"); !errors.Is(err, ErrNoSilence) {
		t.Errorf("%v, expected ErrNoSilence", err)
	}
	var third desk
	if active, err := newPager(t, &third, &store).ActiveSilences(t.Context()); err != nil || len(active) != 0 {
		t.Errorf("%v %v: the expired silence came back", active, err)
	}
}

func TestAChangeThatCouldNotBeStoredIsStoredLater(t *testing.T) {
	store := memory{broken: true}
	var d desk
	p := startPager(t, &d, &store)
	if _, err := p.Silence(t.Context(), map[string]string{"subject": "h1"}, time.Now().Add(time.Hour), "ann", ""); err != nil {
		t.Fatal(err)
	}
	store.setBroken(false)
	eventually(t, "the silence is stored", func() bool { all, _ := store.LoadEntries(t.Context(), kindSilence); return len(all) == 1 })
}

func TestReloadKeepsKeysAndTellsNobodyAgain(t *testing.T) {
	var d desk
	p := startPager(t, &d, nil)
	put(t, p, firing("GPULost", "h1", "GPU-1"))
	eventually(t, "the group arrives", func() bool { return len(d.got(keyOf("h1"))) == 1 })
	if err := p.Reload([]byte("route: {receiver: nobody}\n"), "routing.yaml"); err == nil || !strings.Contains(err.Error(), "routing.yaml") {
		t.Errorf("%v, expected an error that names the file", err)
	}
	nested := strings.Replace(quickConfig, "inhibit_rules:", "  routes: [{matchers: ['severity = \"page\"'], receiver: leasewatch}]\ninhibit_rules:", 1)
	if err := p.Reload([]byte(nested), "routing.yaml"); err != nil {
		t.Fatal(err)
	}
	put(t, p, firing("GPUHot", "h1", "GPU-2"))
	eventually(t, "the next change has the same key", func() bool { return len(last(d.got(keyOf("h1"))).Alerts) == 2 })
}

func TestRoutingThatWouldSilentlyDoNothingIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, word string }{
		"another kind of receiver": {"route: {receiver: a}\nreceivers: [{name: a, pagerduty_configs: [{routing_key: k}]}]\n", "pagerduty_configs"},
		"two webhooks":             {"route: {receiver: a}\nreceivers: [{name: a, webhook_configs: [{url: 'http://a/'}, {url: 'http://b/'}]}]\n", "more than one"},
		"an unknown field":         {"route: {receiver: a, group_bye: []}\nreceivers: [{name: a}]\n", "group_bye"},
		"an unknown receiver":      {"route: {receiver: b}\nreceivers: [{name: a}]\n", `"b"`},
	} {
		if err := CheckConfig([]byte(c.text), "routing.yaml"); err == nil || !strings.Contains(err.Error(), c.word) || !strings.Contains(err.Error(), "routing.yaml") {
			t.Errorf("%s: %v, expected an error that names the file and %s", name, err, c.word)
		}
	}
	if err := CheckConfig(nil, ""); err != nil {
		t.Errorf("the default: %v", err)
	}
	rules := filepath.Join(testenv.Root(t), "alertmanager-rules", "alertmanager.yaml")
	text, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckConfig(text, rules); err != nil {
		t.Errorf("the file that comes with leasewatch: %v", err)
	}
}

func TestAnInvalidAlertIsNamedAndTheRestIsTaken(t *testing.T) {
	var d desk
	p := startPager(t, &d, nil)
	bad := firing("Bad", "h1", "")
	bad.EndsAt = bad.StartsAt.Add(-time.Hour)
	if err := p.Put(t.Context(), []Alert{bad, firing("GPULost", "h1", "GPU-1")}); err == nil || !strings.Contains(err.Error(), "Bad") {
		t.Errorf("%v, expected an error that names Bad", err)
	}
	eventually(t, "the valid one arrives", func() bool { return len(d.got(keyOf("h1"))) == 1 })
}

func TestAmtoolWorksOnTheAPI(t *testing.T) {
	amtool := testenv.Binary(t, "amtool")
	var d desk
	p := startPager(t, &d, nil)
	server := httptest.NewServer(http.StripPrefix("/alertmanager", p.Handler()))
	t.Cleanup(server.Close)
	run := func(args ...string) string {
		t.Helper()
		var complaint strings.Builder // amtool says there that its version is another one
		cmd := exec.CommandContext(t.Context(), amtool, append([]string{"--alertmanager.url", server.URL + "/alertmanager"}, args...)...)
		cmd.Stderr = &complaint
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("amtool %v: %v\n%s%s", args, err, out, complaint.String())
		}
		return strings.TrimSpace(string(out))
	}
	id := run("silence", "add", "--author=ann", "--comment=swap", "--duration=1h", "subject=h1")
	if shown := run("silence", "query"); !strings.Contains(shown, id) || !strings.Contains(shown, "subject") {
		t.Errorf("silence query: %s", shown)
	}
	put(t, p, firing("GPULost", "h1", "GPU-1"), firing("GPULost", "h2", "GPU-2"))
	eventually(t, "the other group arrives", func() bool { return len(d.got(keyOf("h2"))) == 1 })
	if shown := run("alert", "query"); !strings.Contains(shown, "h2") || strings.Contains(shown, "h1") {
		t.Errorf("alert query: %s, expected the one that is not silenced", shown)
	}
	if shown := run("alert", "query", "--silenced"); !strings.Contains(shown, "h1") {
		t.Errorf("alert query --silenced: %s", shown)
	}
	run("silence", "expire", id)
	eventually(t, "the unsilenced group arrives", func() bool { return len(d.got(keyOf("h1"))) == 1 })
	if shown := run("config", "show"); !strings.Contains(shown, "group_by") {
		t.Errorf("config show: %s", shown)
	}
	run("alert", "add", "Handmade", "severity=page", "provider=a", "subject=h3")
	eventually(t, "an alert of amtool arrives", func() bool { return len(d.got(keyOf("h3"))) == 1 })
}

func TestTheSameGroupComesByWebhookUnderTheSameKey(t *testing.T) {
	var d desk
	p := newPager(t, &d, nil)
	post := func(body string) int {
		w := httptest.NewRecorder()
		p.Webhook(w, httptest.NewRequest(http.MethodPost, "/api/v1/webhook/alertmanager", strings.NewReader(body)))
		return w.Code
	}
	message := `{"version":"4","groupKey":"{}:{subject=\"h1\"}","truncatedAlerts":2,"status":"firing","receiver":"leasewatch",
 "groupLabels":{"subject":"h1","severity":"page","provider":"a"},"commonLabels":{},"commonAnnotations":{},"externalURL":"http://am",
 "alerts":[{"status":"firing","labels":{"alertname":"GPULost","subject":"h1"},"annotations":{"summary":"s"},
   "startsAt":"2026-05-04T03:00:00Z","endsAt":"0001-01-01T00:00:00Z","generatorURL":"http://p","fingerprint":"0123456789abcdef"},
  {"status":"resolved","labels":{"alertname":"GPUHot","subject":"h1"},"startsAt":"2026-05-04T03:00:00Z","endsAt":"2026-05-04T03:05:00Z"}]}`
	if code := post(message); code != http.StatusNoContent {
		t.Fatalf("status %d", code)
	}
	g := last(d.got(keyOf("h1")))
	if states(g) != "GPULost=firing GPUHot=ended" || g.Truncated != 2 || g.Alerts[0].Fingerprint != "0123456789abcdef" || len(g.Alerts[1].Fingerprint) != 16 {
		t.Errorf("%+v", g)
	}
	d.fail = 1
	if code := post(message); code != http.StatusServiceUnavailable {
		t.Errorf("a desk that is away: %d, expected 503 so that it is sent again", code)
	}
	for _, bad := range []string{"", "{", `{"version":"3"}`, `{"version":"4","receiver":"r"}`,
		strings.Replace(message, `"resolved"`, `"gone"`, 1), strings.Replace(message, "2026-05-04T03:05:00Z", "yesterday", 1)} {
		if code := post(bad); code != http.StatusBadRequest {
			t.Errorf("%q: %d, expected 400", bad, code)
		}
	}
}

func TestGroupKeysCannotBeForgedByLabelValues(t *testing.T) {
	a := GroupKey("r", map[string]string{"a": `1",b="2`})
	b := GroupKey("r", map[string]string{"a": "1", "b": "2"})
	if a == b {
		t.Errorf("%s and %s are the same", a, b)
	}
}

func TestStopTwiceAndWithoutStartEnds(t *testing.T) {
	p, err := New(t.Context(), Options{Deliver: (&desk{}).deliver})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := p.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if _, err := New(t.Context(), Options{}); err == nil {
		t.Error("nobody to deliver to: expected an error")
	}
}

func FuzzWebhook(f *testing.F) {
	f.Add(`{"version":"4","receiver":"r","groupLabels":{"a":"b"},"alerts":[{"status":"firing","labels":{"a":"b"}}]}`)
	f.Add(`{"version":"4","receiver":"r","alerts":[{"status":"resolved","startsAt":"2026-05-04T03:00:00Z"}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		group, err := readWebhook(strings.NewReader(body))
		if err == nil && (group.Key == "" || len(group.Alerts) == 0) {
			t.Errorf("taken without key or alerts: %+v", group)
		}
	})
}

func TestAStormLosesNothing(t *testing.T) {
	var d desk
	p := startPager(t, &d, nil)
	const hosts, each = 100, 10
	for i := range each {
		var batch []Alert
		for h := range hosts {
			batch = append(batch, firing("GPULost", fmt.Sprintf("h%d", h), fmt.Sprintf("GPU-%d-%d", h, i)))
		}
		put(t, p, batch...)
	}
	eventually(t, "every alert arrives", func() bool {
		for h := range hosts {
			if len(last(d.got(keyOf(fmt.Sprintf("h%d", h)))).Alerts) != each {
				return false
			}
		}
		return true
	})
}
