package incident

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"pgregory.net/rapid"

	"github.com/leasewatch/leasewatch/internal/rental"
)

const route = "slack:C0123"

// clock is set by hand.
type clock struct{ ms rental.Millis }

func (c *clock) now() time.Time             { return c.ms.Time() }
func (c *clock) pass(d time.Duration)       { c.ms += millis(d) }
func quiet() *slog.Logger                   { return slog.New(slog.DiscardHandler) }
func start() *clock                         { return &clock{ms: 1_700_000_000_000} }
func oneRoute(rental.Incident) []string     { return []string{route} }
func background(testing.TB) context.Context { return context.Background() }

func newEngine(tb testing.TB, store Store, c *clock) *Engine {
	tb.Helper()
	engine, err := New(Options{Store: store, Routes: oneRoute, Now: c.now, Logger: quiet(), Registerer: prometheus.NewRegistry()})
	if err != nil {
		tb.Fatal(err)
	}
	return engine
}

// alert makes an alert on slot n of a host; an end of 0 is one that fires.
func alert(n int, startsAt, endsAt rental.Millis) rental.Alert {
	if endsAt == 0 {
		endsAt = rental.Forever
	}
	return rental.Alert{
		Fingerprint: fmt.Sprintf("f%03d", n), StartsAt: startsAt, EndsAt: endsAt,
		Labels: map[string]string{"alertname": "LeasewatchGPULost", "severity": "page", "host": "gpu-a17", "subject": "gpu-a17",
			"provider": "north", "slot": fmt.Sprint(n), "lease": "l-1", "tenant": "acme"},
		Annotations: map[string]string{"summary": fmt.Sprintf("GPU lost: gpu-a17 slot %d", n)},
	}
}

func group(at rental.Millis, alerts ...rental.Alert) rental.AlertGroup {
	return rental.AlertGroup{
		Key: "slack/provider=north,severity=page,subject=gpu-a17", Receiver: "slack", At: at, Alerts: alerts,
		Labels: map[string]string{"provider": "north", "severity": "page", "subject": "gpu-a17"},
	}
}

// kindsOf leaves out the details that follow each post.
func kindsOf(deliveries []rental.Delivery) []string {
	var list []string
	for _, d := range deliveries {
		if isDetails(d) {
			continue
		}
		list = append(list, d.Kind)
	}
	return list
}

func eventsOf(inc rental.Incident) []string {
	list := make([]string, 0, len(inc.Events))
	for _, event := range inc.Events {
		list = append(list, event.Kind)
	}
	return list
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func equal[T any](tb testing.TB, what string, got, want T) {
	tb.Helper()
	if !reflect.DeepEqual(got, want) {
		tb.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestADrillIsOneOnlyWhereTheAlertSaysSoAsItsIncidentOpens(t *testing.T) {
	drill := func(a rental.Alert) rental.Alert { a.Labels["drill"] = "true"; return a }
	for name, tc := range map[string]struct {
		first, then rental.Alert
		want        bool
	}{
		"it said so at once":            {drill(alert(3, 1000, 0)), drill(alert(3, 1000, 0)), true},
		"it says so later":              {alert(3, 1000, 0), drill(alert(3, 1000, 0)), false},
		"another alert that joins says": {alert(3, 1000, 0), drill(alert(4, 2000, 0)), false},
		"it no longer says so":          {drill(alert(3, 1000, 0)), alert(3, 1000, 0), true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, c, store := background(t), start(), &memory{}
			e := newEngine(t, store, c)
			must(t, e.Handle(ctx, group(c.ms, tc.first)))
			c.pass(time.Second)
			must(t, e.Handle(ctx, group(c.ms, tc.first, tc.then)))
			equal(t, "drill", store.incidents[0].Drill, tc.want)
		})
	}
}

func TestTheLifeOfAnIncident(t *testing.T) {
	ctx, c, store := background(t), start(), &memory{}
	e := newEngine(t, store, c)
	t0 := c.ms

	must(t, e.Handle(ctx, group(c.ms, alert(3, t0-1000, 0))))
	inc := store.incidents[0]
	equal(t, "status", inc.Status, rental.IncidentOpen)
	equal(t, "title", inc.Title, "GPU lost: gpu-a17 slot 3")
	equal(t, "provider and subject", inc.Provider+" "+inc.Subject, "north gpu-a17")
	equal(t, "leases", inc.Leases, []string{"l-1"})
	equal(t, "tenants", inc.Tenants, []string{"acme"})
	equal(t, "detected", inc.DetectedAt, t0-1000)

	c.pass(time.Second)
	must(t, e.Handle(ctx, group(c.ms, alert(3, t0-1000, 0)))) // said again
	equal(t, "repeated", kindsOf(store.deliveries), []string{"post"})

	acked, err := e.Ack(ctx, "INC-1", "ada")
	must(t, err)
	equal(t, "acked", acked.Status, rental.IncidentAcked)
	again, err := e.Ack(ctx, "INC-1", "bob")
	must(t, err)
	equal(t, "first who acked", again.AckedBy, "ada")
	equal(t, "ack is told once", kindsOf(store.deliveries), []string{"post", "update"})

	c.pass(time.Second)
	must(t, e.Handle(ctx, group(c.ms, alert(3, t0-1000, 0), alert(4, c.ms, 0))))
	equal(t, "worse", kindsOf(store.deliveries), []string{"post", "update", "update", "thread"})
	equal(t, "reply is about", store.deliveries[4].Text, "f004")
	equal(t, "still acked", store.incidents[0].Status, rental.IncidentAcked)
	equal(t, "title of two", store.incidents[0].Title, "GPU lost: gpu-a17 slot 3 and 1 more")

	c.pass(time.Minute)
	healed3 := alert(3, t0-1000, c.ms-5000)
	must(t, e.Handle(ctx, group(c.ms, healed3, alert(4, t0+2000, 0))))
	equal(t, "partly healed", kindsOf(store.deliveries[5:]), []string{"update"})

	c.pass(time.Minute)
	end := c.ms - 3000
	must(t, e.Handle(ctx, group(c.ms, healed3, alert(4, t0+2000, end))))
	inc = store.incidents[0]
	equal(t, "resolved", inc.Status, rental.IncidentResolved)
	equal(t, "resolved when the last alert ended", inc.ResolvedAt, end)
	equal(t, "who had it", inc.AckedBy, "ada")
	equal(t, "resolve pings nobody", kindsOf(store.deliveries[6:]), []string{"update"})

	c.pass(10 * time.Minute)
	must(t, e.Handle(ctx, group(c.ms, alert(4, c.ms, 0))))
	inc = store.incidents[0]
	equal(t, "reopened as the same", len(store.incidents), 1)
	equal(t, "open again", inc.Status, rental.IncidentOpen)
	equal(t, "nobody has it", inc.AckedBy, "")
	equal(t, "fired again is told", kindsOf(store.deliveries[7:]), []string{"update", "thread"})

	c.pass(time.Minute)
	must(t, e.Handle(ctx, group(c.ms, alert(4, c.ms-60_000, c.ms))))
	c.pass(31 * time.Minute)
	must(t, e.Handle(ctx, group(c.ms, alert(4, c.ms, 0))))
	equal(t, "a new one after the window", len(store.incidents), 2)
	equal(t, "its page", store.deliveries[len(store.deliveries)-2].Kind, "post")
	equal(t, "timeline", eventsOf(store.incidents[0]),
		[]string{"opened", "acked", "worsened", "changed", "resolved", "reopened", "resolved"})
	equal(t, "opened", testutil.ToFloat64(e.metrics.opened), 2.0)
}

func TestWhatTellsNobody(t *testing.T) {
	for name, groups := range map[string][]rental.AlertGroup{
		"a group without alerts":               {group(2000)},
		"one that ended before anybody heard":  {group(2000, alert(1, 1000, 1500))},
		"the end of what was never told twice": {group(2000, alert(1, 1000, 1500)), group(3000, alert(1, 1000, 1500))},
	} {
		t.Run(name, func(t *testing.T) {
			store := &memory{}
			e := newEngine(t, store, start())
			for _, g := range groups {
				must(t, e.Handle(background(t), g))
			}
			equal(t, "incidents", len(store.incidents), 0)
		})
	}
}

func TestAWordWithoutATimeOrAnEndIsTakenAsSaidNow(t *testing.T) {
	store, c := &memory{}, start()
	e := newEngine(t, store, c)
	open, over := alert(1, c.ms-1000, -62_135_596_800_000), alert(2, c.ms-2000, c.ms-1000)
	must(t, e.Handle(background(t), group(0, open, over)))
	equal(t, "alerts that fire", len(store.incidents[0].Alerts), 1)
	equal(t, "its end", store.incidents[0].Alerts[0].EndsAt, rental.Forever)
}

func TestAHigherSeverityIsWorse(t *testing.T) {
	store, c := &memory{}, start()
	e := newEngine(t, store, c)
	low := alert(1, c.ms, 0)
	low.Labels["severity"] = "ticket"
	must(t, e.Handle(background(t), group(c.ms, low)))
	equal(t, "opened as", store.incidents[0].Severity, rental.Ticket)
	c.pass(time.Second)
	must(t, e.Handle(background(t), group(c.ms, alert(1, low.StartsAt, 0))))
	equal(t, "became", store.incidents[0].Severity, rental.Page)
	equal(t, "told", kindsOf(store.deliveries), []string{"post", "update", "thread"})
}

func TestALateWordDoesNotReopen(t *testing.T) {
	store, c := &memory{}, start()
	e := newEngine(t, store, c)
	early := group(c.ms, alert(1, c.ms, 0))
	must(t, e.Handle(background(t), early))
	c.pass(time.Minute)
	must(t, e.Handle(background(t), group(c.ms, alert(1, early.At, c.ms-1000))))
	must(t, e.Handle(background(t), early))
	equal(t, "status", store.incidents[0].Status, rental.IncidentResolved)
	equal(t, "told", kindsOf(store.deliveries), []string{"post", "update"})
}

func TestANewTextUpdatesWithoutAPing(t *testing.T) {
	store, c := &memory{}, start()
	e := newEngine(t, store, c)
	must(t, e.Handle(background(t), group(c.ms, alert(1, c.ms, 0))))
	warmer := alert(1, c.ms, 0)
	warmer.Annotations["description"] = "93 C, threshold 90 C"
	must(t, e.Handle(background(t), group(c.ms, warmer)))
	equal(t, "told", kindsOf(store.deliveries), []string{"post", "update"})
	equal(t, "timeline", eventsOf(store.incidents[0]), []string{"opened"})
}

type facts map[string][2]string

func (f facts) Holders(_ context.Context, host, uuid string, _ rental.Millis) []rental.Holder {
	var held []rental.Holder
	for card, lease := range f {
		if card == uuid || uuid == "" && strings.HasPrefix(card, host) {
			held = append(held, rental.Holder{Lease: lease[0], Tenant: lease[1]})
		}
	}
	slices.SortFunc(held, func(a, b rental.Holder) int { return strings.Compare(a.Lease, b.Lease) })
	return held
}

func TestAHostsAlertNamesEveryLeaseOnIt(t *testing.T) {
	store, c := &memory{}, start()
	e, err := New(Options{Store: store, Now: c.now, Logger: quiet(), Facts: facts{"h1/0": {"l-9", "globex"}, "h1/1": {"l-2", "acme"}, "h2/0": {"l-3", "other"}}})
	must(t, err)
	silent := alert(1, c.ms, 0)
	delete(silent.Labels, "uuid")
	silent.Labels["host"], silent.Labels["lease"], silent.Labels["tenant"] = "h1", "several", "several"
	must(t, e.Handle(background(t), group(c.ms, silent)))
	equal(t, "leases", store.incidents[0].Leases, []string{"l-2", "l-9"})
	equal(t, "tenants", store.incidents[0].Tenants, []string{"acme", "globex"})
}

func TestTheLedgerNamesTheLeaseWhereTheAlertDoesNot(t *testing.T) {
	store, c := &memory{}, start()
	e, err := New(Options{Store: store, Now: c.now, Logger: quiet(), Facts: facts{"GPU-1": {"l-9", "globex"}}})
	must(t, err)
	bare := alert(1, c.ms, 0)
	delete(bare.Labels, "lease")
	delete(bare.Labels, "tenant")
	bare.Labels["uuid"] = "GPU-1"
	bare.Annotations["since"] = fmt.Sprint(float64(c.ms-7000) / 1000)
	must(t, e.Handle(background(t), group(c.ms, bare)))
	equal(t, "lease and tenant", store.incidents[0].Leases[0]+" "+store.incidents[0].Tenants[0], "l-9 globex")
	equal(t, "evidence", store.incidents[0].EvidenceAt, c.ms-7000)
	equal(t, "no route, nothing to tell", len(store.deliveries), 0)
}

func TestNotesAndResolveByEvidence(t *testing.T) {
	store, c := &memory{}, start()
	e := newEngine(t, store, c)
	must(t, e.Handle(background(t), group(c.ms, alert(1, c.ms, 0))))
	_, err := e.Note(background(t), "INC-1", "ada", "reseated the card")
	must(t, err)
	c.pass(time.Hour)
	at := c.ms - 60_000
	inc, err := e.Resolve(background(t), "INC-1", at, "ada", "seen well")
	must(t, err)
	equal(t, "resolved at", inc.ResolvedAt, at)
	_, err = e.Resolve(background(t), "INC-1", at+1, "bob", "again")
	must(t, err)
	equal(t, "timeline", eventsOf(store.incidents[0]), []string{"opened", "note", "resolved"})
	if _, err := e.Ack(background(t), "INC-404", "ada"); !errors.Is(err, ErrNotFound) {
		t.Errorf("ack of an unknown incident: got %v, want ErrNotFound", err)
	}
	if _, err := e.Ack(background(t), "INC-1", " "); err == nil {
		t.Error("ack by nobody: expected an error")
	}
}

type evidenceFunc func(rental.Incident) (rental.Millis, bool, error)

func (f evidenceFunc) Healed(_ context.Context, inc rental.Incident) (rental.Millis, bool, error) {
	return f(inc)
}

func TestIncidentsThatNobodyWouldCloseAreSettledAtStart(t *testing.T) {
	ctx, store, c := background(t), &memory{}, start()
	e := newEngine(t, store, c)
	for i := range 4 {
		g := group(c.ms, alert(10*i, c.ms, 0), alert(10*i+1, c.ms, 0))
		g.Key += fmt.Sprint(i)
		must(t, e.Handle(ctx, g))
	}
	c.pass(time.Hour)
	healed := c.ms - 1_800_000
	live := func(a rental.Alert) bool { return a.Fingerprint == "f020" }
	closed, err := newEngine(t, store, c).CloseHealed(ctx, live, evidenceFunc(func(inc rental.Incident) (rental.Millis, bool, error) {
		if inc.ID == "INC-4" {
			return 0, false, errors.New("no samples can be read")
		}
		return healed, inc.ID == "INC-1", nil
	}))
	if err == nil {
		t.Error("expected the failure of INC-4")
	}
	equal(t, "counts", closed, Closed{Resolved: 1, Unknown: 1})
	equal(t, "healed", store.incidents[0].Status, rental.IncidentResolved)
	equal(t, "healed at", store.incidents[0].ResolvedAt, healed)
	equal(t, "no evidence", store.incidents[1].Status, rental.IncidentUnknown)
	equal(t, "partly live", store.incidents[2].Status, rental.IncidentOpen)
	equal(t, "its dead alert ended", firing(store.incidents[2].Alerts), 1)
	equal(t, "evidence failed", store.incidents[3].Status, rental.IncidentOpen)
	for _, d := range store.deliveries[8:] {
		equal(t, "told in place", d.Kind, "update")
	}
	must(t, e.Handle(ctx, group(c.ms+1, alert(1, c.ms, 0))))
}

func TestAStoreThatFailsIsAnErrorAndSavesNothing(t *testing.T) {
	store := &memory{fail: func(string) error { return errors.New("disk full") }}
	c := start()
	if err := newEngine(t, store, c).Handle(background(t), group(c.ms, alert(1, c.ms, 0))); err == nil {
		t.Error("expected an error")
	}
	equal(t, "incidents", len(store.incidents), 0)
	if err := newEngine(t, store, c).Handle(background(t), rental.AlertGroup{}); err == nil {
		t.Error("a group without a key: expected an error")
	}
}

// Whatever the order and however often the words on a group come, one page is posted, and
// once the last word has come the incident is over.
func TestAnyOrderOfWordsPostsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store, c := &memory{}, start()
		e, err := New(Options{Store: store, Routes: oneRoute, Now: c.now, Logger: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		t0, count := c.ms, rapid.IntRange(1, 4).Draw(t, "alerts")
		var words []rental.AlertGroup
		for step := range rapid.IntRange(1, 5).Draw(t, "steps") {
			at := t0 + rental.Millis(step+1)*1000
			var alerts []rental.Alert
			for n := range count {
				if rapid.Bool().Draw(t, "listed") {
					alerts = append(alerts, alert(n, t0, 0))
				}
			}
			words = append(words, group(at, alerts...))
		}
		words = append(words, group(t0+500, alert(0, t0, 0)))
		for i := range words {
			if rapid.Bool().Draw(t, "twice") {
				words = append(words, words[i])
			}
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		c.pass(20 * time.Second)
		for _, word := range words {
			c.pass(time.Millisecond)
			if err := e.Handle(context.Background(), word); err != nil {
				t.Fatal(err)
			}
		}
		all := make([]rental.Alert, 0, count)
		for n := range count {
			all = append(all, alert(n, t0, t0+10_000))
		}
		last := group(c.ms, all...)
		for _, word := range append([]rental.AlertGroup{last, last}, words...) {
			c.pass(time.Millisecond)
			if err := e.Handle(context.Background(), word); err != nil {
				t.Fatal(err)
			}
		}
		posts := 0
		for _, d := range store.deliveries {
			if d.Kind == kindPost {
				posts++
			}
		}
		if len(store.incidents) != 1 || posts != 1 {
			t.Fatalf("%d incidents and %d posts, want 1 and 1", len(store.incidents), posts)
		}
		if status := store.incidents[0].Status; status != rental.IncidentResolved {
			body, _ := json.Marshal(store.incidents[0])
			t.Fatalf("status %s after the last word; expected resolved: %s", status, body)
		}
		if !slices.IsSortedFunc(store.incidents[0].Events, func(a, b rental.IncidentEvent) int { return int(a.At - b.At) }) {
			t.Fatal("timeline is out of order")
		}
	})
}
