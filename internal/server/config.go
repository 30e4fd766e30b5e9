// Package server joins the rooms into one program: App is what `leasewatch serve` runs,
// what the demo shows and what every end-to-end test starts.
package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/config"
	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Config is the server's configuration file.
type Config struct {
	Global Global `yaml:"global"`
	// ScrapeConfigs is Prometheus's own list of scrape_configs, handed on as it is.
	ScrapeConfigs yaml.Node `yaml:"scrape_configs"`
	// RuleFiles are added to the rules that come with the program; globs are allowed.
	RuleFiles []string  `yaml:"rule_files"`
	Ledger    Ledger    `yaml:"ledger"`
	Paging    Paging    `yaml:"paging"`
	Slack     Slack     `yaml:"slack"`
	Access    Access    `yaml:"access"`
	Metering  Metering  `yaml:"metering"`
	Approvals Approvals `yaml:"approvals"`
	Witnesses Witnesses `yaml:"witnesses"`
	Backups   Backups   `yaml:"backups"`
	Retention Retention `yaml:"retention"`
	// Thresholds override those of the rules for a site, a SKU or a lease.
	Thresholds []Threshold `yaml:"thresholds"`

	dir    string // relative paths in the file are relative to it
	source []byte // the file as it was read; errors of scrape_configs tell its lines
}

// Duration is a length of time, written as 15s or 5m; an error of it tells its line.
type Duration time.Duration

// UnmarshalYAML reads a length in Prometheus's syntax.
func (d *Duration) UnmarshalYAML(node *yaml.Node) error {
	found := strconv.Quote(node.Value)
	switch node.Kind {
	case yaml.SequenceNode:
		found = "a list"
	case yaml.MappingNode:
		found = "a mapping"
	}
	parsed, err := model.ParseDuration(node.Value)
	if err != nil {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: found %s, expected a length of time such as 15s", node.Line, found)}}
	}
	*d = Duration(parsed)
	return nil
}

// String writes the length as the file does.
func (d Duration) String() string { return model.Duration(d).String() }

// Global holds what several rooms share.
type Global struct {
	ScrapeInterval     Duration `yaml:"scrape_interval"`
	EvaluationInterval Duration `yaml:"evaluation_interval"`
	// ExternalURL is how people reach the portal; links in messages begin with it.
	ExternalURL string `yaml:"external_url"`
	// Language is en or zh, for messages that nobody asked for in another.
	Language string `yaml:"language"`
}

// Ledger says where facts are kept: empty for SQLite in the data directory, or a postgres:// DSN.
type Ledger struct {
	DSN config.Secret `yaml:"dsn"`
}

// Paging says how alerts are grouped and routed.
type Paging struct {
	// ConfigFile is an Alertmanager configuration; empty for the one that comes with the program.
	ConfigFile string `yaml:"config_file"`
	// OnCallFile says who is on call and whom a page calls (docs/oncall.md), in place of Next.
	OnCallFile string `yaml:"oncall_file"`
	// Next are the steps that a page climbs when Slack does not take it or nobody acknowledges it.
	Next []NextStep `yaml:"next"`
}

// Slack is the channel that people are paged in.
type Slack struct {
	APIURL       string `yaml:"api_url"`
	Channel      string `yaml:"channel"`
	BotTokenFile string `yaml:"bot_token_file"`
	AppTokenFile string `yaml:"app_token_file"`
	// SigningSecretFile holds what Slack signs pressed buttons with where they come by HTTP.
	SigningSecretFile string `yaml:"signing_secret_file"`
	Language          string `yaml:"language"`
	// Mention is whom a page calls: here, channel, none, or the id of a user or user group.
	Mention string `yaml:"mention"`
	// TimeZone is the IANA zone of times in messages; UTC where empty.
	TimeZone string `yaml:"time_zone"`
	// People maps Slack user ids to those who may act on an incident.
	People map[string]Person `yaml:"people"`
}

// Person is somebody who may act on an incident.
type Person struct {
	Name string `yaml:"name"`
	Role string `yaml:"role"`
}

// Backups says where backups of leases' work are told of besides the API.
type Backups struct {
	// DropDir is a folder whose files are taken in; empty for none.
	DropDir string `yaml:"drop_dir"`
}

// Access says who may read and write over HTTP.
type Access struct {
	// Required asks every request for a token (`leasewatch token create`). Without it the
	// server serves everything to whoever reaches it, and so listens on loopback only.
	Required bool `yaml:"required"`
}

// Metering says how use is counted.
type Metering struct {
	// Running is how often the hour under way is metered too, so that a young lease shows its
	// use at once; each time adds a revision for each leased card. 0s for very large fleets.
	Running Duration `yaml:"running"`
}

// Approvals says which changes wait for a second person.
type Approvals struct {
	// For names them: prices, backdated, credits, month_close; downtime, which always does, may be named.
	For []string `yaml:"for"`
	// MassChangePercent is the share of the GPUs that may move or leave their slots in one change; 0 for any.
	MassChangePercent int `yaml:"mass_change_percent"`
	// ExpireAfter is how long a change waits.
	ExpireAfter Duration `yaml:"expire_after"`
}

func (a Approvals) policy() rental.ApprovalPolicy {
	topics := a.For
	if len(topics) == 0 {
		topics = nil // said or not, it is the same policy
	}
	return rental.ApprovalPolicy{Topics: topics, MassPercent: a.MassChangePercent, ExpiresMS: time.Duration(a.ExpireAfter).Milliseconds()}
}

// Threshold overrides one threshold of the rules; of Lease, SKU and Site at most one is set,
// and the most specific wins. With none it holds everywhere.
type Threshold struct {
	// Name is that of alertmanager-rules/rules/defaults.yaml.
	Name  string  `yaml:"name"`
	Value float64 `yaml:"value"`
	Lease string  `yaml:"lease"`
	SKU   string  `yaml:"sku"`
	Site  string  `yaml:"site"`
}

// scope names what the threshold holds for.
func (t Threshold) scope() string {
	switch {
	case t.Lease != "":
		return "lease"
	case t.SKU != "":
		return "sku"
	case t.Site != "":
		return "site"
	}
	return "default"
}

// DefaultConfig is what holds where the file says nothing.
func DefaultConfig() Config {
	return Config{
		Global: Global{
			ScrapeInterval:     Duration(15 * time.Second),
			EvaluationInterval: Duration(15 * time.Second),
			Language:           "en",
		},
		Metering: Metering{Running: Duration(5 * time.Minute)},
		Approvals: Approvals{
			MassChangePercent: rental.DefaultApprovalPolicy().MassPercent,
			ExpireAfter:       Duration(time.Duration(rental.DefaultApprovalPolicy().ExpiresMS) * time.Millisecond),
		},
		Witnesses: Witnesses{Interval: Duration(15 * time.Second), Ways: []string{"icmp"}},
		Retention: defaultRetention(),
		Slack:     Slack{APIURL: "https://slack.com/api/"},
	}
}

// LoadConfig reads and checks a configuration file. Its errors name the file, the line,
// what was found and what was expected; several are joined.
func LoadConfig(path string) (Config, error) {
	cfg := DefaultConfig()
	source, err := os.ReadFile(path)
	if err != nil {
		return cfg, fmt.Errorf("configuration file: %w", err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(source))
	dec.KnownFields(true)
	if err := dec.Decode(&cfg); err != nil && !errors.Is(err, io.EOF) {
		return cfg, placed(path, err)
	}
	var second yaml.Node
	if err := dec.Decode(&second); err == nil {
		return cfg, fmt.Errorf("%s:%d: found a second document, expected one: put its fields above the ---", path, second.Line)
	} else if !errors.Is(err, io.EOF) {
		return cfg, placed(path, err)
	}
	cfg.dir, cfg.source = filepath.Dir(path), source
	return cfg, cfg.check(path)
}

// path resolves a path of the file against the file's folder.
func (c *Config) path(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.dir, name)
}

// secret reads the file that a field of the configuration names and that holds one secret.
func (c *Config) secret(field, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	body, err := os.ReadFile(c.path(name))
	if err != nil {
		return "", fmt.Errorf("%s: expected a file that holds the secret and that this user can read: %w", field, err)
	}
	secret := strings.TrimSpace(string(body))
	if secret == "" {
		return "", fmt.Errorf("%s: expected a file that holds the secret, found nothing in %s", field, c.path(name))
	}
	return secret, nil
}

var (
	yamlLine    = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)
	yamlUnknown = regexp.MustCompile(`^field (\S+) not found in type \S+$`)
	yamlType    = regexp.MustCompile("^cannot unmarshal !!(\\S+)(?: `(.*)`)? into (\\S+)$")
)

// placed turns the YAML decoder's words into "file:line: what was found and expected".
func placed(path string, err error) error {
	var typed *yaml.TypeError
	lines := []string{err.Error()}
	if errors.As(err, &typed) {
		lines = typed.Errors
	}
	errs := make([]error, 0, len(lines))
	for _, line := range lines {
		at := path
		if m := yamlLine.FindStringSubmatch(line); m != nil {
			at, line = path+":"+m[1], m[2]
		}
		if m := yamlUnknown.FindStringSubmatch(line); m != nil {
			line = fmt.Sprintf("unknown field %q (see docs/configuration.md for the fields)", m[1])
		} else if m := yamlType.FindStringSubmatch(line); m != nil {
			line = fmt.Sprintf("found %s, expected %s", strings.TrimSpace(kindWord(m[1])+" "+quoted(m[2])), typeWord(m[3]))
		}
		errs = append(errs, fmt.Errorf("%s: %s", at, line))
	}
	return errors.Join(errs...)
}

func quoted(text string) string {
	if text == "" {
		return ""
	}
	return strconv.Quote(text)
}

func kindWord(tag string) string {
	switch tag {
	case "str":
		return "text"
	case "int", "float":
		return "number"
	case "bool":
		return "yes-or-no"
	case "seq":
		return "a list"
	case "map":
		return "a mapping"
	}
	return tag
}

func typeWord(goType string) string {
	switch {
	case goType == "bool":
		return "true or false"
	case strings.HasPrefix(goType, "[]"):
		return "a list"
	case strings.HasPrefix(goType, "map["), strings.HasPrefix(goType, "server."):
		return "a mapping of fields"
	case strings.Contains(goType, "int"):
		return "a whole number"
	case strings.HasPrefix(goType, "float"):
		return "a number"
	}
	return "text"
}

// CheckListen refuses an address that others can reach while access is not configured.
func (c *Config) CheckListen(address string) error {
	if c.Access.Required {
		return nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--web.listen-address %q: expected HOST:PORT, such as 127.0.0.1:8080", address)
	}
	if ip := net.ParseIP(host); host == "localhost" || (ip != nil && ip.IsLoopback()) {
		return nil
	}
	return fmt.Errorf("--web.listen-address %q is not on loopback, and access is not configured: "+
		"set access.required: true in the configuration file and make tokens with `leasewatch token create`, or listen on 127.0.0.1", address)
}
