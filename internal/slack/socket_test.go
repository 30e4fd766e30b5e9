package slack_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/slack"
	"github.com/leasewatch/leasewatch/internal/slack/slackfake"
)

// acks records who acknowledged what, and may hold the database up.
type acks struct {
	mu   sync.Mutex
	list []string
	hold chan struct{}
	fail error
}

func (a *acks) Ack(_ context.Context, id, by string) (rental.Incident, error) {
	if a.hold != nil {
		<-a.hold
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, id+" by "+by)
	return rental.Incident{}, a.fail
}

func (a *acks) Silence(_ context.Context, id string, length time.Duration, by string) (rental.Incident, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, id+" silent for "+length.String()+" by "+by)
	return rental.Incident{}, a.fail
}

func (a *acks) Escalate(_ context.Context, id, by string) (rental.Incident, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, id+" up by "+by)
	return rental.Incident{}, a.fail
}

func (a *acks) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.list)
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("never came: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// listening starts Socket Mode and posts a message to press.
func listening(t *testing.T, a *acks, change func(*slack.Options)) (*slackfake.Server, string) {
	t.Helper()
	s, fake := workspace(t, slackfake.Options{}, change)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Listen(ctx, a) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Listen ended with %v", err)
		}
	})
	ref, err := s.Send(context.Background(), delivery(1, "post"), incident(lost(3)))
	must(t, err)
	return fake, ref.ID
}

func TestAckIsPressedInSlack(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	t.Run("by anybody where nobody is listed", func(t *testing.T) {
		a := &acks{}
		fake, ts := listening(t, a, nil)
		must(t, fake.ClickAck(ctx, ts, "U0ADA"))
		eventually(t, "the ack", func() bool { return slices.Equal(a.all(), []string{"INC-42 by ada"}) })
		fake.Disconnect() // Slack renews connections; the client comes back
		must(t, fake.ClickAck(ctx, ts, "U0BOB"))
		eventually(t, "the second ack", func() bool { return len(a.all()) == 2 })
	})
	t.Run("only by those listed with a role that may", func(t *testing.T) {
		a := &acks{}
		fake, ts := listening(t, a, func(o *slack.Options) {
			o.People = map[string]slack.Person{"U0ADA": {Name: "Ada L.", Role: "oncall"}, "U0BOB": {Name: "Bob", Role: "finance"}}
		})
		must(t, fake.ClickAck(ctx, ts, "U0BOB"))
		eventually(t, "the private answer", func() bool { return len(fake.Ephemeral()) == 1 })
		equal(t, "answered to", fake.Ephemeral()[0].User, "U0BOB")
		must(t, fake.ClickAck(ctx, ts, "U0ADA"))
		eventually(t, "the ack", func() bool { return slices.Equal(a.all(), []string{"INC-42 by Ada L."}) })
	})
	t.Run("answered while the database hangs, and told when it fails", func(t *testing.T) {
		a := &acks{hold: make(chan struct{}), fail: errors.New("disk full")}
		fake, ts := listening(t, a, nil)
		must(t, fake.ClickAck(ctx, ts, "U0ADA")) // returns only once Slack was answered
		equal(t, "acks so far", len(a.all()), 0)
		close(a.hold)
		eventually(t, "the private answer", func() bool { return len(fake.Ephemeral()) == 1 })
	})
	t.Run("and so are silence and escalation", func(t *testing.T) {
		a := &acks{}
		fake, ts := listening(t, a, func(o *slack.Options) { o.Escalation = true })
		for _, action := range []string{"leasewatch_silence_1h", "leasewatch_silence_4h", "leasewatch_silence_fixed", "leasewatch_escalate"} {
			before := len(a.all())
			must(t, fake.Click(ctx, ts, action, "U0ADA"))
			eventually(t, action, func() bool { return len(a.all()) == before+1 })
		}
		equal(t, "asked for", strings.Join(a.all(), "; "),
			"INC-42 silent for 1h0m0s by ada; INC-42 silent for 4h0m0s by ada; INC-42 silent for 0s by ada; INC-42 up by ada")
	})
	t.Run("and why nothing was done is told in private", func(t *testing.T) {
		a := &acks{fail: rental.ErrNoStep}
		fake, ts := listening(t, a, func(o *slack.Options) { o.Escalation = true })
		must(t, fake.Click(ctx, ts, "leasewatch_escalate", "U0ADA"))
		eventually(t, "the private answer", func() bool { return len(fake.Ephemeral()) == 1 })
		if text := fake.Ephemeral()[0].Text; !strings.Contains(text, "paging.next") {
			t.Errorf("answered %q, expected what to do", text)
		}
	})
	t.Run("without an app token there is no button", func(t *testing.T) {
		s, fake := workspace(t, slackfake.Options{}, func(o *slack.Options) { o.AppToken = "" })
		must(t, s.Listen(ctx, &acks{}))
		_, err := s.Send(ctx, delivery(1, "post"), incident(lost(3)))
		must(t, err)
		equal(t, "ack button", fake.Messages()[0].HasButton("leasewatch_ack"), false)
	})
}
