package server

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	alertmanagerrules "github.com/leasewatch/leasewatch/alertmanager-rules"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/slack"
)

// checker gathers what is wrong with a configuration that the types of the file cannot tell.
type checker struct {
	config *Config
	file   string
	errs   []error
}

// bad notes a field with its place, what was found and what was expected.
func (c *checker) bad(field string, found any, expected string) {
	c.errs = append(c.errs, fmt.Errorf("%s: %s: found %q, expected %s", c.config.place(c.file, field), field, fmt.Sprint(found), expected))
}

// oneOf notes a field that holds none of the words.
func (c *checker) oneOf(field, found, expected string, words ...string) {
	if !slices.Contains(words, found) {
		c.bad(field, found, expected)
	}
}

func (c *Config) check(file string) error {
	k := &checker{config: c, file: file}
	k.global()
	k.ledger()
	k.slack()
	k.approvals()
	k.witnesses()
	k.retention()
	k.thresholds()
	return errors.Join(k.errs...)
}

func (c *checker) global() {
	g := c.config.Global
	if g.ScrapeInterval <= 0 || time.Duration(g.ScrapeInterval) > 25*time.Second {
		c.bad("global.scrape_interval", g.ScrapeInterval, "more than 0s and at most 25s: a reading counts for two intervals, and no reading older than a minute is shown as live")
	}
	if g.EvaluationInterval <= 0 {
		c.bad("global.evaluation_interval", g.EvaluationInterval, "more than 0s")
	}
	c.oneOf("global.language", g.Language, "en or zh", "en", "zh")
	if g.ExternalURL != "" && !webAddress(g.ExternalURL) {
		c.bad("global.external_url", g.ExternalURL, "an address that begins with http:// or https://, such as https://leasewatch.example.net")
	}
}

// webAddress tells whether a link may begin with the address: a browser would run a javascript: one.
func webAddress(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

// ledger says of a DSN its scheme only: the rest may hold a password.
func (c *checker) ledger() {
	dsn := string(c.config.Ledger.DSN)
	if dsn == "" {
		return
	}
	scheme, _, named := strings.Cut(dsn, ":")
	switch {
	case !named:
		c.bad("ledger.dsn", "text without a scheme", "postgres://USER@HOST/DATABASE or sqlite:PATH")
	case scheme != "sqlite" && scheme != "postgres" && scheme != "postgresql":
		c.bad("ledger.dsn", scheme+":...", "postgres://USER@HOST/DATABASE or sqlite:PATH")
	}
}

// slackUser is the form of a user's id.
var slackUser = regexp.MustCompile(`^[UW][A-Z0-9]+$`)

func (c *checker) slack() {
	s := c.config.Slack
	if s.Language != "" {
		c.oneOf("slack.language", s.Language, "en or zh", "en", "zh")
	}
	if !strings.HasSuffix(s.APIURL, "/") || !webAddress(s.APIURL) {
		c.bad("slack.api_url", s.APIURL, `an http:// or https:// address that ends in "/"`)
	}
	switch {
	case s.BotTokenFile != "" && s.Channel == "":
		c.bad("slack.channel", "", "the id of a channel, such as C0123456789, beside slack.bot_token_file")
	case s.Channel != "" && !slack.ChannelID(s.Channel):
		c.bad("slack.channel", s.Channel, "the id of a channel, such as C0123456789: Slack shows it at the end of the channel's details")
	}
	if s.Mention != "" && !slack.Mention(s.Mention) {
		c.bad("slack.mention", s.Mention, "here, channel, none, or the id of a user (U...) or user group (S...)")
	}
	if _, err := time.LoadLocation(s.TimeZone); err != nil || s.TimeZone == "Local" {
		c.bad("slack.time_zone", s.TimeZone, "an IANA zone such as Europe/Oslo")
	}
	for _, user := range slices.Sorted(maps.Keys(s.People)) {
		if !slackUser.MatchString(user) {
			c.bad("slack.people."+user, user, "the id of a user in Slack, such as U0123456789")
		}
		c.oneOf("slack.people."+user+".role", s.People[user].Role, "oncall, operator or admin", "oncall", "operator", "admin")
	}
}

func (c *checker) approvals() {
	a := c.config.Approvals
	for i, topic := range a.For {
		c.oneOf(fmt.Sprintf("approvals.for[%d]", i), topic, "one of "+strings.Join(rental.ApprovalTopics, ", "), rental.ApprovalTopics...)
	}
	if len(a.For) > 0 && !c.config.Access.Required {
		c.bad("approvals.for", strings.Join(a.For, ", "), "access.required: true beside it: without tokens everybody is the same person, and nobody could approve")
	}
	if a.MassChangePercent < 0 || a.MassChangePercent > 100 {
		c.bad("approvals.mass_change_percent", a.MassChangePercent, "a whole number from 0 to 100")
	}
	if a.ExpireAfter <= 0 {
		c.bad("approvals.expire_after", a.ExpireAfter, "more than 0s")
	}
}

func (c *checker) retention() {
	for _, fault := range c.config.Retention.policy().Validate() {
		c.bad("retention."+fault.Path, fault.Found, fault.Expected)
	}
}

func (c *checker) thresholds() {
	wide := alertmanagerrules.WideThresholds()
	names := slices.Sorted(slices.Values(slices.Concat(alertmanagerrules.Thresholds(), wide)))
	for i, t := range c.config.Thresholds {
		field := fmt.Sprintf("thresholds[%d]", i)
		c.oneOf(field+".name", t.Name, "one of "+strings.Join(names, ", "), names...)
		if set := len(t.Lease) + len(t.SKU) + len(t.Site); set != max(len(t.Lease), len(t.SKU), len(t.Site)) {
			c.bad(field, "more than one of lease, sku and site", "at most one")
		} else if set > 0 && slices.Contains(wide, t.Name) {
			c.bad(field, t.Name+" of a "+t.scope(), "none of lease, sku and site: it holds for the whole installation")
		}
		switch {
		case math.IsNaN(t.Value) || math.IsInf(t.Value, 0) || t.Value < 0:
			c.bad(field+".value", t.Value, "a number of 0 or more")
		case strings.HasSuffix(t.Name, "_ratio") && t.Value > 1:
			c.bad(field+".value", t.Value, "a share between 0 and 1")
		}
	}
}
