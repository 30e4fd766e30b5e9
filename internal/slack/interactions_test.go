package slack_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/slack"
	"github.com/leasewatch/leasewatch/internal/slack/slackfake"
)

const signingSecret = "8f742231b10e8888abcd99yyyzzz85a5"

// press is a pressed button as Slack posts it.
func press(action, user string) string {
	payload, _ := json.Marshal(map[string]any{
		"type": "block_actions", "user": map[string]any{"id": user, "username": "wang.li", "name": "wang.li"},
		"channel": map[string]any{"id": "C0123"}, "actions": []any{map[string]any{"type": "button", "action_id": action, "value": "INC-42", "block_id": "b"}},
	})
	return url.Values{"payload": {string(payload)}}.Encode()
}

// signedPress is a request that Slack signed at the moment.
func signedPress(body, secret string, at time.Time) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/api/v1/slack/interactions", strings.NewReader(body))
	stamp := fmt.Sprint(at.Unix())
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "v0:%s:%s", stamp, body)
	r.Header.Set("X-Slack-Request-Timestamp", stamp)
	r.Header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r
}

// interactions serves presses by HTTP with the actions behind them.
func interactions(t *testing.T, a *acks) (http.Handler, *slackfake.Server) {
	t.Helper()
	s, fake := workspace(t, slackfake.Options{}, func(o *slack.Options) {
		o.AppToken, o.SigningSecret = "", signingSecret
		o.People = map[string]slack.Person{"U0123": {Name: "Wang Li", Role: "oncall"}}
	})
	return s.Interactions(context.Background(), a), fake
}

func answerTo(h http.Handler, r *http.Request) int {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

func TestAPressByHTTPIsAnsweredAtOnceWhateverTheDatabaseDoes(t *testing.T) {
	a := &acks{hold: make(chan struct{})}
	h, _ := interactions(t, a)
	equal(t, "status", answerTo(h, signedPress(press("leasewatch_ack", "U0123"), signingSecret, time.Now())), http.StatusOK)
	equal(t, "acts while the database is held up", len(a.all()), 0)
	close(a.hold)
	eventually(t, "the acknowledgement", func() bool { return len(a.all()) == 1 && a.all()[0] == "INC-42 by Wang Li" })
}

func TestOnlyWhatSlackSignedLatelyAndOnceIsTaken(t *testing.T) {
	a := &acks{}
	h, _ := interactions(t, a)
	body := press("leasewatch_silence_4h", "U0123")
	good := func() *http.Request { return signedPress(body, signingSecret, time.Now().Truncate(time.Second)) }
	tampered := signedPress(body, signingSecret, time.Now())
	other := signedPress(press("leasewatch_escalate", "U0123"), signingSecret, time.Now())
	tampered.Body = other.Body
	unsigned := good()
	unsigned.Header.Del("X-Slack-Signature")
	for name, r := range map[string]*http.Request{
		"another secret":  signedPress(body, "another", time.Now()),
		"an empty secret": signedPress(body, "", time.Now()),
		"ten minutes old": signedPress(body, signingSecret, time.Now().Add(-10*time.Minute)),
		"of the future":   signedPress(body, signingSecret, time.Now().Add(10*time.Minute)),
		"another body":    tampered,
		"unsigned":        unsigned,
	} {
		equal(t, name, answerTo(h, r), http.StatusUnauthorized)
	}
	at := time.Now()
	equal(t, "the first time", answerTo(h, signedPress(body, signingSecret, at)), http.StatusOK)
	equal(t, "a replay", answerTo(h, signedPress(body, signingSecret, at)), http.StatusUnauthorized)
	upper := signedPress(body, signingSecret, at)
	upper.Header.Set("X-Slack-Signature", "v0="+strings.ToUpper(strings.TrimPrefix(upper.Header.Get("X-Slack-Signature"), "v0=")))
	equal(t, "a replay in other letters", answerTo(h, upper), http.StatusUnauthorized)
	eventually(t, "the silence", func() bool { return len(a.all()) == 1 })
	equal(t, "what was done", a.all()[0], "INC-42 silent for 4h0m0s by Wang Li")
}

func TestWhoMayNotActIsToldSoInPrivateByHTTPToo(t *testing.T) {
	a := &acks{}
	h, fake := interactions(t, a)
	equal(t, "status", answerTo(h, signedPress(press("leasewatch_ack", "U0BOB"), signingSecret, time.Now())), http.StatusOK)
	eventually(t, "a private answer", func() bool { return len(fake.Ephemeral()) == 1 })
	equal(t, "acts", len(a.all()), 0)
}

func TestWhatIsNoPressIsRefusedOrLeftAlone(t *testing.T) {
	h, _ := interactions(t, &acks{})
	for body, want := range map[string]int{
		"payload=%zz": http.StatusBadRequest, "payload=nonsense": http.StatusBadRequest, "": http.StatusBadRequest,
		url.Values{"payload": {`{"type":"view_submission"}`}}.Encode(): http.StatusOK,
		strings.Repeat("x", 2<<20):                                     http.StatusRequestEntityTooLarge,
	} {
		equal(t, fmt.Sprintf("%.30q", body), answerTo(h, signedPress(body, signingSecret, time.Now())), want)
	}
}

func TestAMessageHasItsButtonsWhereOnlyASigningSecretIsThere(t *testing.T) {
	s, fake := workspace(t, slackfake.Options{}, func(o *slack.Options) { o.AppToken, o.SigningSecret = "", signingSecret })
	_, err := s.Send(t.Context(), delivery(1, "post"), incident(lost(3)))
	must(t, err)
	if text := fake.Messages()[0].Rendered(); !strings.Contains(text, "[Ack]") {
		t.Errorf("expected an Ack button in\n%s", text)
	}
}

func TestThePersonOnCallIsMentionedAndEachCallSaysWhy(t *testing.T) {
	for lang, texts := range map[string][3]string{
		"en": {"The next on the ladder is called", "LAST STEP", "Called in beside Wang Li"},
		"zh": {"升级链中的下一位", "最后一步", "Wang Li 已确认"},
	} {
		s, fake := workspace(t, slackfake.Options{}, func(o *slack.Options) {
			o.Language, o.OnCall = lang, func() []string { return []string{"U0ADA"} }
		})
		inc := incident(lost(3))
		ref, err := s.Send(t.Context(), delivery(1, "post"), inc)
		must(t, err)
		inc.Messages[route] = ref
		reply := func(id int64, text string) string {
			t.Helper()
			d := delivery(id, "thread")
			d.Text = text
			_, err := s.Send(t.Context(), d, inc)
			must(t, err)
			all := fake.Messages()
			return all[len(all)-1].Rendered()
		}
		hold := func(what, text string, wanted ...string) {
			t.Helper()
			for _, want := range wanted {
				if !strings.Contains(text, want) {
					t.Errorf("%s in %s: %q is missing in\n%s", what, lang, want, text)
				}
			}
		}
		hold("the first message", fake.Messages()[0].Rendered(), "U0ADA")
		hold("a call", reply(2, "call:U0BO"), texts[0], "U0BO")
		hold("the last call", reply(3, "call-last:"), texts[1], "@channel")
		if text := reply(4, "call:<!everyone>"); strings.Contains(text, "everyone") {
			t.Errorf("a user's id that is none was called:\n%s", text)
		}
		inc.Status, inc.AckedBy = rental.IncidentAcked, "Wang Li"
		hold("a call beside", reply(5, "call:U0BO"), texts[2], "U0BO")
		inc.Drill = true
		if text := reply(6, "call:U0BO"); strings.Contains(text, "U0BO") {
			t.Errorf("a drill called somebody:\n%s", text)
		}
	}
}
