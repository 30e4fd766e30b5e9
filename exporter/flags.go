package exporter

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/kingpin/v2"
	"github.com/alecthomas/units"
	"github.com/prometheus/common/promslog"
	promslogflag "github.com/prometheus/common/promslog/flag"
	"github.com/prometheus/exporter-toolkit/web"
	"github.com/prometheus/exporter-toolkit/web/kingpinflag"

	"github.com/leasewatch/leasewatch/exporter/compat"
	"github.com/leasewatch/leasewatch/exporter/host"
)

// DefaultAddress is where the page is served: loopback until someone opens it, on a port
// that neither IANA nor the Prometheus project's list has given out.
const DefaultAddress = "127.0.0.1:19400"

// compatDCGM names dcgm-exporter for --exporter.compat.
const compatDCGM = "dcgm"

// driverSource names the source that asks the driver of this host.
const driverSource = "nvml"

// The bounds of --collector.interval: under the first the counters of performance have no window,
// over the second readings would be older than a scrape may make them.
const (
	shortest = 100 * time.Millisecond
	longest  = 15 * time.Second
)

// Exit codes of the program.
const (
	exitOK       = 0
	exitFailure  = 1
	exitUsage    = 2
	exitConfig   = 3
	exitRefused  = 4
	exitNotFound = 5 // no such GPU
)

// flags is what the command line said.
type flags struct {
	command   string
	web       *web.FlagConfig
	log       promslog.Config
	labels    Labels
	source    string
	config    SourceConfig
	workloads workloadFlags
	gpm       bool
	push      pushFlags
	compat    string // whose names the page also has, "" for nobody's
	host      hostFlags
	check     checkFlags
	record    recordFlags
	operator  operatorFlags
	enrol     enrolFlags
	// done is set where the line asked for help or the version only.
	done bool
}

type pushFlags struct {
	url           string
	interval      time.Duration
	tokenFile     string
	headers       map[string]string
	spoolDir      string
	spoolMaxBytes units.Base2Bytes
	eventsOnly    bool
}

// parse reads the command line. Every error is the user's to mend.
func parse(args []string, stdout, stderr io.Writer, opts Options) (*flags, error) {
	f := &flags{log: promslog.Config{Writer: stderr}}
	app := kingpin.New("leasewatch-exporter", "Tells everything that the GPUs of this host say, and says so when they do not.")
	app.UsageWriter(stdout).ErrorWriter(stderr).Terminate(func(int) { f.done = true })
	app.HelpFlag.Short('h')
	promslogflag.AddFlags(app, &f.log)
	app.Command("version", "Print the version and end.")
	app.Command("serve", "Serve the page, and push where asked to (the default).").Default()

	f.web = kingpinflag.AddFlags(app, DefaultAddress)
	app.Flag("host.name", "Name of this host in the label host; the system's own name where not given.").StringVar(&f.labels.Host)
	app.Flag("vantage", "Where the exporter looks from: host, or guest inside a passthrough machine or rented container.").
		Default("host").EnumVar(&f.labels.Vantage, "host", "guest")
	kinds := sourceKinds(opts)
	app.Flag("source", "Where the figures come from: the driver (nvml), or simulated machines (replay).").
		Default(kinds[0]).EnumVar(&f.source, kinds...)
	app.Flag("nvml.library", "Path of libnvidia-ml.so.1; the system's own where not given.").StringVar(&f.config.Library)
	app.Flag("replay.script", "YAML file of faults to replay (--source=replay).").ExistingFileVar(&f.config.Script)
	app.Flag("replay.gpus", "Number of simulated GPUs (--source=replay).").Default("8").IntVar(&f.config.GPUs)
	app.Flag("replay.seed", "Seed of the simulation; the same seed gives the same figures (--source=replay).").Default("1").Uint64Var(&f.config.Seed)
	app.Flag("replay.recording", "File that record wrote, to play instead of a simulation (--source=replay).").ExistingFileVar(&f.config.Recording)
	app.Flag("exporter.compat", "Also give the figures under the names of another exporter: dcgm.").EnumVar(&f.compat, compatDCGM)
	app.Flag("collector.interval", "How often what moves is read; errors and links are read every 6th time, what stays every 120th.").
		Default("5s").DurationVar(&f.config.Interval)
	f.host.register(app)
	f.workloads.register(app)
	app.Flag("collector.gpm", "Read the performance counters of Hopper and later: activity of SMs, tensor cores and memory, traffic of PCIe and NVLink.").
		Default("true").BoolVar(&f.gpm)
	f.push.register(app)
	f.check.register(app)
	f.record.register(app)
	f.operator.register(app)
	f.enrol.register(app)

	command, err := app.Parse(args)
	if f.done {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	f.command = command
	return f, f.complete()
}

func (p *pushFlags) register(app *kingpin.Application) {
	p.headers = map[string]string{}
	app.Flag("push.url", "Remote-write endpoint to push to, for hosts that cannot be scraped and for critical events at once.").StringVar(&p.url)
	app.Flag("push.interval", "Time between two pushes of the page.").Default("15s").DurationVar(&p.interval)
	app.Flag("push.events-only", "Push only XIDs of class F and R and changes of state, at once; leave the rest to the scrape.").BoolVar(&p.eventsOnly)
	app.Flag("push.bearer-token-file", "File with the token for the receiver, read again for each request.").StringVar(&p.tokenFile)
	app.Flag("push.header", "Header for the receiver as NAME=VALUE, such as X-Scope-OrgID=TENANT for Mimir; may be given several times. No secrets: the process list shows them.").
		StringMapVar(&p.headers)
	app.Flag("push.spool-dir", "Folder that keeps what is not delivered yet; under systemd the unit's state folder where not given.").StringVar(&p.spoolDir)
	app.Flag("push.spool-max-bytes", "Size of the spool after which its oldest part is dropped, and counted.").Default("512MiB").BytesVar(&p.spoolMaxBytes)
}

// complete fills in what the system knows and checks what belongs together.
func (f *flags) complete() error {
	if f.command == "version" {
		return nil
	}
	if err := f.operator.complete(f.command, f.source); err != nil || f.operator.asksAnExporter {
		return err
	}
	if f.labels.Host == "" {
		name, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("this host does not tell its name: give --host.name: %w", err)
		}
		f.labels.Host = name
	}
	if !utf8.ValidString(f.labels.Host) {
		return fmt.Errorf("--host.name %q is no UTF-8", f.labels.Host)
	}
	if f.command == "enroll" {
		return f.enrol.complete()
	}
	f.config.Host, f.config.NoGPM = f.labels.Host, !f.gpm
	if f.operator.releaseVFIO {
		f.config.PassedThrough = func(address string) bool { return host.PassedThrough(f.host.sysfs, address) }
	}
	f.host.complete(f.source)
	if f.config.GPUs < 1 || f.config.GPUs > 64 {
		return fmt.Errorf("--replay.gpus is %d, want 1 to 64", f.config.GPUs)
	}
	if f.config.Interval < shortest || f.config.Interval > longest {
		return fmt.Errorf("--collector.interval is %s, want %s to %s", f.config.Interval, shortest, longest)
	}
	if err := f.workloads.complete(); err != nil {
		return err
	}
	if f.push.url == "" {
		return nil
	}
	return f.push.complete()
}

// ownHeaders are those that the exporter itself sends, or that hold secrets.
var ownHeaders = []string{"Authorization", "Content-Encoding", "Content-Length", "Content-Type", "Cookie", "Host", "Proxy-Authorization",
	"User-Agent", "X-Prometheus-Remote-Write-Version"}

var headerName = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

func validHeader(name, value string) bool {
	return headerName.MatchString(name) && value != "" && !strings.ContainsFunc(value, unicode.IsControl)
}

func (p *pushFlags) complete() error {
	u, err := url.Parse(p.url)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return fmt.Errorf("--push.url: want http://HOST/PATH or https://HOST/PATH of a remote-write endpoint")
	}
	if u.User != nil {
		return fmt.Errorf("--push.url holds a user or password: they would show in the process list; use --push.bearer-token-file")
	}
	for name := range p.headers {
		if canonical := http.CanonicalHeaderKey(name); slices.Contains(ownHeaders, canonical) || !validHeader(name, p.headers[name]) {
			return fmt.Errorf("--push.header %s: want NAME=VALUE of a header that is none of %s; a token belongs into --push.bearer-token-file", name, strings.Join(ownHeaders, ", "))
		}
	}
	if p.interval < time.Second {
		return fmt.Errorf("--push.interval is %s, want at least 1s", p.interval)
	}
	if p.spoolDir == "" {
		state := os.Getenv("STATE_DIRECTORY") // set by systemd for units with StateDirectory=
		if state == "" {
			return fmt.Errorf("--push.url needs --push.spool-dir, a folder that keeps what is not delivered yet")
		}
		p.spoolDir = filepath.Join(state, "spool")
	}
	if p.spoolMaxBytes < 1<<20 {
		return fmt.Errorf("--push.spool-max-bytes is %d, want at least 1MiB", int64(p.spoolMaxBytes))
	}
	return nil
}

// aliases makes what --exporter.compat asks for.
func (f *flags) aliases() ([]More, error) {
	if f.compat != compatDCGM {
		return nil, nil
	}
	maker, err := compat.NewMaker(f.labels.Host, compat.DCGM())
	if err != nil {
		return nil, fmt.Errorf("preparing --exporter.compat=%s: %w", f.compat, err)
	}
	return []More{maker}, nil
}

// sourceKinds lists the sources this program was built with, the driver first.
func sourceKinds(opts Options) []string {
	var kinds []string
	for kind := range opts.Sources {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds) // nvml before replay
	return kinds
}
