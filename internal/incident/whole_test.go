package incident_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/incident"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/slack"
	"github.com/leasewatch/leasewatch/internal/slack/slackfake"
)

// house is the way from an alert group to a channel on the real ledger and the real Slack
// client, against a recording Slack.
type house struct {
	t      *testing.T
	fake   *slackfake.Server
	api    string
	ledger *ledger.Ledger
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, fake: slackfake.New(slackfake.Options{})}
	listener := httptest.NewServer(h.fake)
	t.Cleanup(listener.Close)
	h.api = listener.URL + "/api/"
	var err error
	h.ledger, err = ledger.Open(context.Background(), "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"),
		ledger.Options{Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.ledger.Close() })
	return h
}

// live starts one life of the program; the returned function ends it.
func (h *house) live(crashPoint func(string)) (engine *incident.Engine, stop func()) {
	h.t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	sender, err := slack.New(slack.Options{Token: "xoxb-fake", AppToken: "xapp-fake", APIURL: h.api, Now: time.Now, Logger: quiet})
	if err != nil {
		h.t.Fatal(err)
	}
	outbox, err := incident.NewOutbox(incident.OutboxOptions{
		Store: h.ledger, Sender: sender, Now: time.Now, Logger: quiet, CrashPoint: crashPoint,
		MessageEvery: time.Millisecond, ThreadEvery: time.Millisecond, MaxBackoff: 10 * time.Millisecond, UpdatesPerMinute: 10_000,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	engine, err = incident.New(incident.Options{
		Store: h.ledger, Now: time.Now, Logger: quiet, Wake: outbox.Wake,
		Routes: func(rental.Incident) []string { return []string{slack.Route("C0123")} },
	})
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- outbox.Run(ctx) }()
	go func() { ended <- sender.Listen(ctx, engine) }()
	return engine, func() {
		cancel()
		for range 2 {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				h.t.Errorf("ended with %v", err)
			}
		}
	}
}

func (h *house) handle(engine *incident.Engine, host int, end rental.Millis, slots ...int) {
	h.t.Helper()
	g := rental.AlertGroup{Key: fmt.Sprintf("slack/gpu-a%d", host), Receiver: "slack", At: rental.At(time.Now())}
	for _, slot := range slots {
		g.Alerts = append(g.Alerts, rental.Alert{
			Fingerprint: fmt.Sprintf("%d-%d", host, slot), StartsAt: 1_700_000_000_000, EndsAt: end,
			Labels:      map[string]string{"alertname": "LeasewatchGPULost", "severity": "page", "subject": fmt.Sprint("gpu-a", host)},
			Annotations: map[string]string{"summary": fmt.Sprintf("GPU lost: gpu-a%d slot %d", host, slot)},
		})
	}
	if err := engine.Handle(context.Background(), g); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) eventually(what string, ok func() bool) {
	h.t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Fatalf("never came: %s; the channel shows %d messages", what, len(h.fake.Messages()))
		}
	}
}

// quiet waits until nothing is left to be told.
func (h *house) quiet() {
	h.t.Helper()
	h.eventually("an empty outbox", func() bool {
		left, err := h.ledger.PendingDeliveries(context.Background())
		return err == nil && len(left) == 0
	})
}

// posts returns the messages that stand in the channel itself.
func (h *house) posts() []slackfake.Message {
	var list []slackfake.Message
	for _, m := range h.fake.Messages() {
		if m.ThreadTS == "" {
			list = append(list, m)
		}
	}
	return list
}

func TestFromTheAlertToTheChannelAndBack(t *testing.T) {
	h := newHouse(t)
	engine, stop := h.live(nil)
	defer stop()
	h.handle(engine, 1, rental.Forever, 3)
	h.eventually("the page", func() bool { return len(h.posts()) == 1 })
	ts := h.posts()[0].TS
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := h.fake.ClickAck(ctx, ts, "U0ADA"); err != nil {
		t.Fatal(err)
	}
	h.eventually("the message that says who has it", func() bool {
		m, _ := h.fake.Message(ts)
		return strings.Contains(m.Rendered(), "acknowledged by ada") && !m.HasButton("leasewatch_ack")
	})
	h.handle(engine, 1, rental.Forever, 3, 4)
	h.eventually("the reply that calls", func() bool {
		for _, m := range h.fake.Messages() {
			if m.ThreadTS == ts && strings.HasPrefix(m.Rendered(), "Worse: GPU lost: gpu-a1 slot 4") {
				return len(m.Mentions()) == 1
			}
		}
		return false
	})
	h.handle(engine, 1, rental.At(time.Now()), 3, 4)
	h.eventually("the message that says it is over", func() bool {
		m, _ := h.fake.Message(ts)
		return strings.HasPrefix(m.Rendered(), "● PAGE resolved") && len(m.Mentions()) == 0
	})
	if n := len(h.posts()); n != 1 {
		t.Errorf("%d messages in the channel, want 1", n)
	}
	inc, err := h.ledger.Incident(ctx, "INC-1")
	if err != nil || inc.AckedBy != "ada" || inc.Status != rental.IncidentResolved {
		t.Errorf("the ledger has %+v, %v", inc, err)
	}
}

func TestASlackThatFailsAThirdOfItsCallsIsToldEverythingOnce(t *testing.T) {
	h := newHouse(t)
	for n := range 40 {
		switch n % 4 {
		case 0:
			h.fake.FailNext("chat.postMessage", slackfake.Failure{Status: 500, AfterDelivery: true})
		case 1:
			h.fake.FailNext("chat.postMessage", slackfake.Failure{AfterDelivery: true})
		case 2:
			h.fake.FailNext("chat.postMessage", slackfake.Failure{Status: 503})
		default:
			h.fake.FailNext("chat.postMessage", slackfake.Failure{Error: "internal_error"})
		}
		h.fake.FailNext("chat.update", slackfake.Failure{Status: 500, AfterDelivery: n%2 == 0})
	}
	engine, stop := h.live(nil)
	defer stop()
	const hosts = 25
	for host := range hosts {
		h.handle(engine, host, rental.Forever, 1)
	}
	h.quiet()
	for host := range hosts {
		h.handle(engine, host, rental.At(time.Now()), 1)
	}
	h.quiet()
	shown := map[string]int{}
	for _, m := range h.posts() {
		line, _, _ := strings.Cut(m.Rendered(), "\n")
		shown[line]++
	}
	for host := range hosts {
		line := fmt.Sprintf("● PAGE resolved  GPU lost: gpu-a%d slot 1", host)
		if shown[line] != 1 {
			t.Errorf("%q is shown %d times, want once", line, shown[line])
		}
	}
	if len(shown) != hosts {
		t.Errorf("%d different messages, want %d", len(shown), hosts)
	}
}

// A life that stops at a crash point never gets past it; the next one finds what was sent.
func TestALifeThatEndsAtACrashPointSendsNoSecondPage(t *testing.T) {
	for _, point := range incident.CrashPoints() {
		if !strings.HasPrefix(point, "delivery-") {
			continue
		}
		t.Run(point, func(t *testing.T) {
			h := newHouse(t)
			var dead atomic.Bool
			forever := make(chan struct{})
			engine, stop := h.live(func(name string) {
				if name == point && dead.CompareAndSwap(false, true) {
					<-forever
				}
			})
			h.handle(engine, 1, rental.Forever, 1)
			h.eventually("the crash", dead.Load)
			_, stopSecond := h.live(nil) // the first life hangs where it would have died
			h.quiet()
			if n := len(h.posts()); n != 1 {
				t.Errorf("%d pages, want 1", n)
			}
			stopSecond()
			close(forever)
			stop()
		})
	}
}
