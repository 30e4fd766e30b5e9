package server_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/server"
	"github.com/leasewatch/leasewatch/internal/slack/slackfake"
	"github.com/leasewatch/leasewatch/internal/testenv"
)

// link is the link to acknowledge that the receiver was last told.
func (b *bell) link(t *testing.T, receiver string) string {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	found := ""
	for _, body := range b.rung {
		var told struct {
			Receiver          string            `json:"receiver"`
			CommonAnnotations map[string]string `json:"commonAnnotations"`
		}
		if err := json.Unmarshal([]byte(body), &told); err != nil {
			t.Fatal(err)
		}
		if link := told.CommonAnnotations["incident_ack_url"]; told.Receiver == receiver && link != "" {
			found = link
		}
	}
	return found
}

// pressed presses Escalate as Slack hands it over by HTTP, signed with the secret.
func pressed(t *testing.T, base, id, secret string) int {
	t.Helper()
	body := url.Values{"payload": {fmt.Sprintf(`{"type":"block_actions","user":{"id":"U0WANG","name":"wang.li"},"channel":{"id":"C0123"},
		"actions":[{"type":"button","action_id":"leasewatch_escalate","block_id":"b","value":%q}]}`, id)}}.Encode()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/api/v1/slack/interactions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	stamp := fmt.Sprint(time.Now().Unix())
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "v0:%s:%s", stamp, body)
	r.Header.Set("X-Slack-Request-Timestamp", stamp)
	r.Header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// phones writes a routing file whose receivers ring the bell, each at its own path.
func phones(t *testing.T, address string, names ...string) {
	t.Helper()
	text := `
route: {receiver: leasewatch, group_by: [provider, severity, subject]}
receivers:
  - name: leasewatch
    webhook_configs: [{url: 'http://127.0.0.1:8080/api/v1/webhook/alertmanager'}]
`
	for _, name := range names {
		text += fmt.Sprintf("  - name: %s\n    webhook_configs: [{url: %q}]\n", name, address+"/"+name)
	}
	write(t, "routing.yaml", text)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// manualRoster is the example of docs/oncall.md.
func manualRoster(t *testing.T) string {
	t.Helper()
	manual, err := os.ReadFile(filepath.Join(testenv.Root(t), "docs", "oncall.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(manual), "A full example")
	_, rest, _ = strings.Cut(rest, "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("docs/oncall.md shows no roster")
	}
	return example
}

func TestARosterIsCheckedWithItsFileAndLine(t *testing.T) {
	good := manualRoster(t)
	t.Chdir(t.TempDir())
	phones(t, "http://127.0.0.1:9", "phone-wang", "phone-kari", "everybody")
	write(t, "config.yaml", "paging: {config_file: routing.yaml, oncall_file: oncall.yaml}\n")
	line := func(text string) int { return strings.Count(good[:strings.Index(good, text)], "\n") + 1 }
	for name, c := range map[string]struct {
		text, want string
	}{
		"the manual's example":       {good, ""},
		"a field that is not known":  {strings.Replace(good, "hand_over:", "handover:", 1), fmt.Sprintf("oncall.yaml:%d: spec: found the unknown field", line("hand_over:"))},
		"a person who is not there":  {strings.Replace(good, "people: [wang-li, kari]", "people: [wang-li, zoe]", 1), fmt.Sprintf(`oncall.yaml:%d: Rotation "primary": people[1]: found "zoe"`, line("people: [wang"))},
		"a receiver that is not":     {strings.Replace(good, "receiver: everybody", "receiver: all", 1), fmt.Sprintf(`oncall.yaml:%d: Escalation "main": steps[2].receiver: found "all"`, line("receiver: everybody"))},
		"an instant without offset":  {strings.Replace(good, "2026-12-24T09:00:00+01:00", "2026-12-24T09:00:00", 1), "overrides[0].from"},
		"quiet pages":                {strings.Replace(good, "[ticket, notice]", "[page]", 1), fmt.Sprintf("oncall.yaml:%d: spec.severities[0]: found \"page\"", line("[ticket, notice]"))},
		"a kind of the ledger":       {"apiVersion: leasewatch.dev/v1\nkind: Lease\nmetadata: {name: l}\n", "oncall.yaml:2: kind: found \"Lease\", expected Person, Rotation, Escalation or QuietHours"},
		"nobody to call":             {"apiVersion: leasewatch.dev/v1\nkind: Person\nmetadata: {name: a}\nspec: {slack: U0123}\n", "oncall.yaml: no Escalation"},
		"a name that comes twice":    {strings.Replace(good, "{name: kari}", "{name: wang-li}", 1), `Person "wang-li" again`},
		"no file":                    {"", "paging.oncall_file: open oncall.yaml"},
		"an override that goes back": {strings.Replace(good, "to: 2026-12-27", "to: 2026-12-23", 1), "overrides[0].to"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.text == "" {
				if err := os.Remove("oncall.yaml"); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			} else {
				write(t, "oncall.yaml", c.text)
			}
			err := server.CheckConfig("config.yaml")
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
	write(t, "oncall.yaml", good)
	write(t, "both.yaml", "paging: {config_file: routing.yaml, oncall_file: oncall.yaml, next: [{receiver: everybody, undelivered_after: 2m}]}\n")
	if err := server.CheckConfig("both.yaml"); err == nil || !strings.Contains(err.Error(), "both.yaml:1: paging.oncall_file: found paging.next beside it") {
		t.Errorf("a roster beside paging.next: %v, want that one of them is expected", err)
	}
}

func TestAPageMentionsWhoIsOnCallAndClimbsToTheirPhone(t *testing.T) {
	t.Chdir(t.TempDir())
	workspace, phone := slackfake.New(slackfake.Options{}), &bell{}
	recording, ringing := httptest.NewServer(workspace), httptest.NewServer(phone)
	t.Cleanup(recording.Close)
	t.Cleanup(ringing.Close)
	phones(t, ringing.URL, "phone-wang", "everybody")
	write(t, "bot", "xoxb-fake")
	write(t, "signing", "s1gned")
	write(t, "oncall.yaml", `
{apiVersion: leasewatch.dev/v1, kind: Person, metadata: {name: wang-li}, spec: {name: Wang Li, slack: U0WANG, ladder: [{way: slack, after: 0s}, {way: phone-wang, after: 1s}]}}
---
{apiVersion: leasewatch.dev/v1, kind: Rotation, metadata: {name: primary}, spec: {zone: Europe/Oslo, every: week, from: "2026-11-30", hand_over: "09:00", people: [wang-li]}}
---
{apiVersion: leasewatch.dev/v1, kind: Escalation, metadata: {name: main}, spec: {steps: [{rotation: primary, after: 0s}, {receiver: everybody, after: 1000h}]}}
`)
	base := startServer(t, fmt.Sprintf(`
global: {scrape_interval: 1s, evaluation_interval: 1s}
paging: {config_file: routing.yaml, oncall_file: oncall.yaml}
slack: {api_url: %s/api/, channel: C0123, bot_token_file: bot, signing_secret_file: signing}
`, recording.URL), "data")
	client, err := api.New(base, api.Secret{}, http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server is ready", func() bool { code, _ := get(t, base+"/-/ready"); return code == http.StatusOK })
	who, err := client.OnCall(t.Context(), api.OnCallQuery{Turns: 3})
	if err != nil || len(who.Rotations) != 1 || len(who.Rotations[0].Turns) != 3 || who.Rotations[0].Turns[0].Shown != "Wang Li" || len(who.Ladder) != 3 || who.Ladder[2].Shown != "everybody" {
		t.Errorf("who is on call: %+v, %v", who, err)
	}
	answer, err := http.Post(base+"/api/v1/webhook/alertmanager", "application/json", strings.NewReader(stockAlert("firing", time.Now().UTC())))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	eventually(t, "the person is mentioned", func() bool {
		all := workspace.Messages()
		return len(all) > 0 && strings.Contains(all[0].Rendered(), "U0WANG")
	})
	eventually(t, "the person's phone rings", func() bool {
		return phone.heard("phone-wang", "GPU lost on gpu-a17", "wang-li (phone-wang): nobody acknowledged it")
	})
	link := phone.link(t, "phone-wang")
	if !strings.HasPrefix(link, base+"/ack/") {
		t.Errorf("the phone is told %q, expected a link to acknowledge at %s", link, base)
	}
	list, err := client.Incidents(t.Context(), api.IncidentQuery{Limit: 10})
	if err != nil || len(list.Incidents) != 1 {
		t.Fatalf("%+v, %v: expected one incident", list, err)
	}
	id := list.Incidents[0].ID
	if code := pressed(t, base, id, "another secret"); code != http.StatusUnauthorized {
		t.Errorf("a press that Slack did not sign: status %d", code)
	}
	if code := pressed(t, base, id, "s1gned"); code != http.StatusOK {
		t.Errorf("a press that Slack signed: status %d", code)
	}
	eventually(t, "everybody is told", func() bool { return phone.heard(`"receiver":"everybody"`, "this was the last step") })
	if _, err := client.EscalateIncident(t.Context(), id); err == nil || !strings.Contains(err.Error(), "no further way") {
		t.Errorf("a step beyond the last: %v", err)
	}
	if _, err := client.NoteIncident(t.Context(), id, api.NoteIncident{Note: "fan ordered"}); err != nil {
		t.Error(err)
	}
	if _, err := client.SilenceIncident(t.Context(), id, api.SilenceIncident{Minutes: 60}); err == nil || !strings.Contains(err.Error(), "another Alertmanager") {
		t.Errorf("a silence of what another Alertmanager holds: %v", err)
	}
	text, err := client.ExportIncident(t.Context(), id, "zh")
	if err != nil || !strings.Contains(string(text), "fan ordered") || !strings.Contains(string(text), "## 时间线") {
		t.Errorf("the export: %v\n%s", err, text)
	}
	if _, page := get(t, link); !strings.Contains(page, "Acknowledge as Wang Li") {
		t.Errorf("the link asks:\n%s", page)
	}
	if one, err := client.Incident(t.Context(), id); err != nil || one.Incident.Status != rental.IncidentOpen {
		t.Errorf("a look at the link: %s, %v", one.Incident.Status, err)
	}
	press := func() (int, string) {
		answer, err := http.Post(link, "application/x-www-form-urlencoded", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	if code, page := press(); code != http.StatusOK || !strings.Contains(page, id+" is acknowledged by Wang Li.") {
		t.Errorf("the link acknowledges: status %d\n%s", code, page)
	}
	if code, page := press(); code != http.StatusGone || !strings.Contains(page, "was used before") {
		t.Errorf("the link a second time: status %d\n%s", code, page)
	}
	if one, err := client.Incident(t.Context(), id); err != nil || one.Incident.AckedBy != "Wang Li" {
		t.Errorf("acknowledged by %q, %v", one.Incident.AckedBy, err)
	}
	if code, _ := get(t, base+"/ack/nonsense"); code != http.StatusNotFound {
		t.Errorf("a link that is none: status %d", code)
	}
	if _, err := client.NoteIncident(t.Context(), "INC-99", api.NoteIncident{Note: "x"}); rental.CodeOf(err) == "" && !strings.Contains(err.Error(), "no such incident") {
		t.Errorf("a note on nothing: %v", err)
	}
}
