package paging

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
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
    webhook_configs: [{url: 'http://127.0.0.1/api/v1/webhook/alertmanager'}]
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

func TestASilenceIsProlongedUnderItsID(t *testing.T) {
	var d desk
	p := startPager(t, &d, nil)
	id, err := p.Silence(t.Context(), map[string]string{"subject": "h1"}, time.Now().Add(time.Hour), "Ada", "swap ordered")
	if err != nil {
		t.Fatal(err)
	}
	until := time.Now().Add(3 * time.Hour).Truncate(time.Second)
	if err := p.ProlongSilence(t.Context(), id, until); err != nil {
		t.Fatal(err)
	}
	if ends, err := p.ActiveSilences(t.Context()); err != nil || len(ends) != 1 || !ends[id].Equal(until) {
		t.Errorf("%v, %v: expected %s to end at %s", ends, err, id, until)
	}
	if err := p.ExpireSilence(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if err := p.ProlongSilence(t.Context(), id, until); !errors.Is(err, ErrNoSilence) {
		t.Errorf("%v: expected that a silence that has ended stays ended", err)
	}
}
