package slack_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/leasewatch/leasewatch/internal/slack"
)

func TestATokenNeverPrints(t *testing.T) {
	secret := slack.Secret("xoxb-very-secret")
	options := slack.Options{Token: secret, AppToken: secret}
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&out, nil))
	log.Info("text", "token", secret, "options", options)
	fmt.Fprintf(&out, "%s %v %+v %#v %q %x", secret, options, options, options, secret, secret)
	asJSON, err := json.Marshal(struct{ T slack.Secret }{secret})
	must(t, err)
	asYAML, err := yaml.Marshal(struct{ T slack.Secret }{secret})
	must(t, err)
	out.Write(append(asJSON, asYAML...))
	if strings.Contains(out.String(), "very-secret") || strings.Contains(out.String(), fmt.Sprintf("%x", "very-secret")) {
		t.Errorf("the token was printed: %s", out.String())
	}
}

func TestWrongOptionsAreNamed(t *testing.T) {
	good := slack.Options{Token: "xoxb-1", Now: time.Now, Logger: slog.New(slog.DiscardHandler)}
	for name, test := range map[string]struct {
		change func(*slack.Options)
		want   string
	}{
		"no token":            {func(o *slack.Options) { o.Token = "" }, "slack.bot_token_file"},
		"address without end": {func(o *slack.Options) { o.APIURL = "http://localhost/api" }, "ends in /"},
		"channel by name":     {func(o *slack.Options) { o.Channel = "#gpu-alerts" }, "id such as"},
		"unknown mention":     {func(o *slack.Options) { o.Mention = "@ada" }, "slack.mention"},
		"unknown role":        {func(o *slack.Options) { o.People = map[string]slack.Person{"U1": {Role: "boss"}} }, "slack.people.U1.role"},
	} {
		o := good
		test.change(&o)
		if _, err := slack.New(o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, test.want)
		}
	}
}
