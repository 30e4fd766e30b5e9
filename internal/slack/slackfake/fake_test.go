package slackfake_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"

	"github.com/leasewatch/leasewatch/internal/slack/slackfake"
)

// client is slack-go on a recording Slack.
func client(t *testing.T, o slackfake.Options) (*slackgo.Client, *slackfake.Server) {
	t.Helper()
	server := slackfake.New(o)
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	return slackgo.New("xoxb-fake", slackgo.OptionAPIURL(listener.URL+"/api/")), server
}

// raw is a block as JSON, so that what slack-go would not build can be sent too.
type raw string

func (raw) BlockType() slackgo.MessageBlockType { return "" }
func (raw) ID() string                          { return "" }
func (r raw) MarshalJSON() ([]byte, error)      { return []byte(r), nil }
func text(kind string, n int) string {
	return fmt.Sprintf(`{"type":%q,"text":%q}`, kind, strings.Repeat("x", n))
}
func many(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
func rich(parts string) string {
	return `{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[` + parts + `]}]}`
}
func button(id string, n int, extra string) string {
	return fmt.Sprintf(`{"type":"button","action_id":%q,"text":%s%s}`, id, text("plain_text", n), extra)
}

func TestBlocksAreTakenAndRefusedAsSlackDoes(t *testing.T) {
	for name, test := range map[string]struct {
		blocks []string
		want   string // "" is taken
	}{
		"a section at its limit":             {[]string{`{"type":"section","text":` + text("mrkdwn", 3000) + `}`}, ""},
		"a section over its limit":           {[]string{`{"type":"section","text":` + text("mrkdwn", 3001) + `}`}, "invalid_blocks"},
		"an empty text":                      {[]string{`{"type":"section","text":` + text("plain_text", 0) + `}`}, "invalid_blocks"},
		"a section without anything":         {[]string{`{"type":"section"}`}, "invalid_blocks"},
		"a header at its limit":              {[]string{`{"type":"header","text":` + text("plain_text", 150) + `}`}, ""},
		"a header over its limit":            {[]string{`{"type":"header","text":` + text("plain_text", 151) + `}`}, "invalid_blocks"},
		"a header with markup":               {[]string{`{"type":"header","text":` + text("mrkdwn", 5) + `}`}, "invalid_blocks"},
		"a block that does not exist":        {[]string{`{"type":"marquee"}`}, "invalid_blocks"},
		"a property that does not exist":     {[]string{`{"type":"divider","colour":"red"}`}, "invalid_blocks"},
		"fifty blocks":                       {strings.Split(many(50, `{"type":"divider"}`), ","), ""},
		"fifty-one blocks":                   {strings.Split(many(51, `{"type":"divider"}`), ","), "invalid_blocks"},
		"the same block_id twice":            {[]string{`{"type":"divider","block_id":"a"}`, `{"type":"divider","block_id":"a"}`}, "invalid_blocks"},
		"a block_id over its limit":          {[]string{`{"type":"divider","block_id":"` + strings.Repeat("i", 256) + `"}`}, "invalid_blocks"},
		"ten in a context":                   {[]string{`{"type":"context","elements":[` + many(10, text("plain_text", 5)) + `]}`}, ""},
		"eleven in a context":                {[]string{`{"type":"context","elements":[` + many(11, text("plain_text", 5)) + `]}`}, "invalid_blocks"},
		"an empty context":                   {[]string{`{"type":"context","elements":[]}`}, "invalid_blocks"},
		"a button at its limit":              {[]string{`{"type":"actions","elements":[` + button("a", 75, "") + `]}`}, ""},
		"a button over its limit":            {[]string{`{"type":"actions","elements":[` + button("a", 76, "") + `]}`}, "invalid_blocks"},
		"a button's value over its limit":    {[]string{`{"type":"actions","elements":[` + button("a", 5, `,"value":"`+strings.Repeat("v", 2001)+`"`) + `]}`}, "invalid_blocks"},
		"a button's address over its limit":  {[]string{`{"type":"actions","elements":[` + button("a", 5, `,"url":"https://`+strings.Repeat("v", 3000)+`"`) + `]}`}, "invalid_blocks"},
		"a style that does not exist":        {[]string{`{"type":"actions","elements":[` + button("a", 5, `,"style":"blue"`) + `]}`}, "invalid_blocks"},
		"the same action_id twice":           {[]string{`{"type":"actions","elements":[` + button("a", 5, "") + "," + button("a", 5, "") + `]}`}, "invalid_blocks"},
		"rich text":                          {[]string{rich(`{"type":"text","text":"hello","style":{"bold":true}},{"type":"broadcast","range":"here"}`)}, ""},
		"rich text with an empty part":       {[]string{rich(`{"type":"text","text":""}`)}, "invalid_blocks"},
		"rich text calling a strange circle": {[]string{rich(`{"type":"broadcast","range":"world"}`)}, "invalid_blocks"},
		"more than a message holds":          {[]string{rich(text("text", 7000)), rich(text("text", 7000))}, "msg_blocks_too_long"},
	} {
		t.Run(name, func(t *testing.T) {
			api, server := client(t, slackfake.Options{})
			blocks := make([]slackgo.Block, 0, len(test.blocks))
			for _, block := range test.blocks {
				if !json.Valid([]byte(block)) {
					t.Fatalf("the test's own block does not parse: %s", block)
				}
				blocks = append(blocks, raw(block))
			}
			_, _, err := api.PostMessage("C0123", slackgo.MsgOptionBlocks(blocks...))
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != test.want || (len(server.Messages()) == 1) != (test.want == "") {
				t.Errorf("got %q and %d messages, want %q", got, len(server.Messages()), test.want)
			}
		})
	}
}

func TestCallsThatSlackRefuses(t *testing.T) {
	api, server := client(t, slackfake.Options{Archived: []string{"C0OLD"}})
	hello := slackgo.MsgOptionText("hello", false)
	for name, test := range map[string]struct {
		call func() error
		want string
	}{
		"an unknown channel":  {func() error { _, _, err := api.PostMessage("C0NONE", hello); return err }, "channel_not_found"},
		"an archived channel": {func() error { _, _, err := api.PostMessage("C0OLD", hello); return err }, "is_archived"},
		"nothing to say":      {func() error { _, _, err := api.PostMessage("C0123"); return err }, "no_text"},
		"a text over 40,000": {func() error {
			_, _, err := api.PostMessage("C0123", slackgo.MsgOptionText(strings.Repeat("x", 40_001), false))
			return err
		}, "msg_too_long"},
		"an unknown thread": {func() error {
			_, _, err := api.PostMessage("C0123", hello, slackgo.MsgOptionTS("1.000001"))
			return err
		}, "thread_not_found"},
		"an unknown message": {func() error { _, _, _, err := api.UpdateMessage("C0123", "1.000001", hello); return err }, "message_not_found"},
		"metadata of no event": {func() error {
			_, _, err := api.PostMessage("C0123", hello, slackgo.MsgOptionMetadata(slackgo.SlackMetadata{}))
			return err
		}, "invalid_metadata_format"},
		"an unknown user":   {func() error { _, err := api.PostEphemeral("C0123", "U0NONE", hello); return err }, "user_not_in_channel"},
		"an unknown method": {func() error { _, err := api.GetEmoji(); return err }, "unknown_method"},
		"a wrong token": {func() error {
			s := httptest.NewServer(server)
			defer s.Close()
			_, err := slackgo.New("xoxb-wrong", slackgo.OptionAPIURL(s.URL+"/api/")).AuthTest()
			return err
		}, "invalid_auth"},
	} {
		if err := test.call(); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", name, err, test.want)
		}
	}
	if n := len(server.Messages()); n != 0 {
		t.Errorf("%d messages were kept of refused calls", n)
	}
}

func TestEveryMessageHasItsOwnIDAndEditsKeepWhatIsLeftOut(t *testing.T) {
	fixed := time.Unix(1_700_000_000, 0)
	var kinds []string
	api, server := client(t, slackfake.Options{
		Now:      func() time.Time { return fixed },
		OnChange: func(c slackfake.Change) { kinds = append(kinds, c.Kind) },
	})
	seen := map[string]bool{}
	for range 5 {
		_, ts, err := api.PostMessage("C0123", slackgo.MsgOptionText("&lt;one&gt;", false), slackgo.MsgOptionBlocks(slackgo.NewDividerBlock()))
		if err != nil || seen[ts] {
			t.Fatalf("ts %q came twice, or %v", ts, err)
		}
		seen[ts] = true
	}
	ts := server.Messages()[0].TS
	if _, _, _, err := api.UpdateMessage("C0123", ts, slackgo.MsgOptionText("two", false)); err != nil {
		t.Fatal(err)
	}
	if m, _ := server.Message(ts); m.Text != "two" || !strings.Contains(string(m.Blocks), "divider") {
		t.Errorf("an edit without blocks changed them: %s", m.Blocks)
	}
	if _, _, _, err := api.UpdateMessage("C0123", ts, slackgo.MsgOptionText("<three>", true), slackgo.MsgOptionBlocks()); err != nil {
		t.Fatal(err)
	}
	if m, _ := server.Message(ts); string(m.Blocks) != "[]" || m.Rendered() != "<three>" {
		t.Errorf("empty blocks did not clear them: %s", m.Blocks)
	}
	if got := strings.Join(kinds, " "); got != "post post post post post update update" || len(server.Updates(ts)) != 2 {
		t.Errorf("changes %q and %d updates", got, len(server.Updates(ts)))
	}
}

func TestRatesAreEnforcedWhereAsked(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	api, server := client(t, slackfake.Options{RateLimit: true, Now: func() time.Time { return now }})
	post := func() error { _, _, err := api.PostMessage("C0123", slackgo.MsgOptionText("x", false)); return err }
	for i := range 3 {
		if err := post(); err != nil {
			t.Fatalf("message %d of a burst: %v", i, err)
		}
	}
	var limited *slackgo.RateLimitedError
	if err := post(); !errors.As(err, &limited) || limited.RetryAfter != time.Second {
		t.Fatalf("the fourth at once: got %v, want a wait of 1 s", err)
	}
	now = now.Add(time.Second)
	if err := post(); err != nil {
		t.Fatalf("a second later: %v", err)
	}
	ts := server.Messages()[0].TS
	edit := func() error {
		_, _, _, err := api.UpdateMessage("C0123", ts, slackgo.MsgOptionText("y", false))
		return err
	}
	for i := range 50 {
		if err := edit(); err != nil {
			t.Fatalf("edit %d of a minute: %v", i, err)
		}
	}
	if err := edit(); !errors.As(err, &limited) || limited.RetryAfter != time.Minute {
		t.Fatalf("the fifty-first edit: got %v, want a wait of a minute", err)
	}
}

func TestFailuresComeInOrderAndEnd(t *testing.T) {
	api, server := client(t, slackfake.Options{})
	post := func() error { _, _, err := api.PostMessage("C0123", slackgo.MsgOptionText("x", false)); return err }
	server.FailNext("chat.postMessage", slackfake.Failure{Error: "is_archived"})
	server.FailNext("chat.postMessage", slackfake.Failure{Status: 500, AfterDelivery: true})
	if err := post(); err == nil || err.Error() != "is_archived" || len(server.Messages()) != 0 {
		t.Errorf("first: %v and %d messages", err, len(server.Messages()))
	}
	if err := post(); err == nil || len(server.Messages()) != 1 {
		t.Errorf("second: %v and %d messages; expected a failure after delivery", err, len(server.Messages()))
	}
	server.FailAlways("chat.postMessage", slackfake.Failure{})
	for range 2 {
		if post() == nil {
			t.Error("expected failures until healed")
		}
	}
	server.Heal("chat.postMessage")
	if err := post(); err != nil || len(server.Messages()) != 2 || server.Calls("chat.postMessage") != 5 {
		t.Errorf("healed: %v, %d messages, %d calls", err, len(server.Messages()), server.Calls("chat.postMessage"))
	}
}
