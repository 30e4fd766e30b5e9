package exporter

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/exporter-toolkit/web"

	"github.com/leasewatch/leasewatch/exporter/doctor"
	"github.com/leasewatch/leasewatch/exporter/gpu"
	"github.com/leasewatch/leasewatch/exporter/push"
	"github.com/leasewatch/leasewatch/exporter/statefile"
	"github.com/leasewatch/leasewatch/exporter/workload"
)

// checkFlags are those of the command check.
type checkFlags struct {
	format string
	wait   time.Duration
}

func (c *checkFlags) register(app *kingpin.Application) {
	command := app.Command("check", "Say what the exporter can and cannot see here, and what to do about it; then end.")
	command.Flag("format", "text or json.").Default("text").EnumVar(&c.format, "text", "json")
	command.Flag("wait", "How long the driver may take for its first answers.").Default("20s").DurationVar(&c.wait)
}

// check is the doctor. It looks at everything that serve would use with the same flags,
// changes nothing, and returns the exit code.
func check(ctx context.Context, f *flags, stdout, stderr io.Writer, opts Options) int {
	known, unread := f.known()
	f.config.Known = known
	snapshot, err := firstRound(ctx, f, opts)
	if err != nil {
		fmt.Fprintf(stderr, "leasewatch-exporter: %v\n", err)
		return exitConfig
	}
	report := doctor.NewReport(f.labels.Host, opts.Version, doctor.Driver(snapshot, f.check.wait), ofHost(ctx, f, snapshot, unread), ofWays(ctx, f, opts.Now))
	write := report.WriteText
	if f.check.format == "json" {
		write = report.WriteJSON
	}
	if err := write(stdout); err != nil {
		fmt.Fprintf(stderr, "leasewatch-exporter: writing the report: %v\n", err)
		return exitFailure
	}
	if report.Worst == doctor.Fail {
		return exitFailure
	}
	return exitOK
}

// firstRound starts the source and returns its snapshot once every GPU was asked, or what
// there is when the time is over. A call that hangs is left behind; the process ends soon.
func firstRound(ctx context.Context, f *flags, opts Options) (*gpu.Snapshot, error) {
	config := f.config
	// One round has no figure of the performance counters, and the exporter may read them now: calls
	// of two programs at once have no order.
	config.NoGPM = true
	config.Log, config.Metrics, config.Now = slog.New(slog.DiscardHandler), metrics.NewSet(), opts.Now
	source, err := opts.Sources[f.source](config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, f.check.wait)
	defer cancel()
	go source.Run(ctx, func(gpu.Event) {})
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	empty, done := 0, 0
	for {
		s := source.Snapshot()
		if len(s.GPUs) == 0 && s.Driver.State == gpu.DriverOK {
			empty++
		}
		if asked(s) {
			done++
		}
		if done > settledLooks || empty > emptyLooks || ctx.Err() != nil {
			return s, nil
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// Looks at the snapshot, 50 ms apart, before it is taken for the driver's answer: where it
// is complete, for a GPU that the state file remembers as lost may be about to answer; and
// where the driver lists no GPU.
const (
	settledLooks = 4
	emptyLooks   = 40
)

// asked tells whether the first round is done for every GPU.
func asked(s *gpu.Snapshot) bool {
	if s.At.IsZero() || s.Driver.State == "" {
		return false
	}
	if s.Driver.State != gpu.DriverOK {
		return true
	}
	for i := range s.GPUs {
		if s.GPUs[i].Status.State == gpu.Unknown {
			return false
		}
	}
	return len(s.GPUs) > 0 && len(s.GPUs) >= s.Driver.Listed
}

// known reads the state file, if there is one, and changes nothing: whoever starts the driver
// beside the exporter must not ask a GPU that was released.
func (f *flags) known() (*gpu.Snapshot, error) {
	if f.operator.stateFile == "" {
		return nil, nil
	}
	return statefile.Load(f.operator.stateFile)
}

// ofHost judges what the host gives the exporter. Simulated machines need nothing of it.
// unread is why the state file cannot be read.
func ofHost(ctx context.Context, f *flags, s *gpu.Snapshot, unread error) []doctor.Finding {
	if f.source != driverSource {
		return doctor.Clock()
	}
	var findings []doctor.Finding
	findings = append(findings, doctor.Bus(os.DirFS(f.host.sysfs), s)...)
	findings = append(findings, doctor.Devices("/dev")...)
	if f.host.kmsg {
		findings = append(findings, doctor.KernelLog(f.host.kmsgPath)...)
	} else {
		findings = append(findings, doctor.NoKernelLog()...)
	}
	findings = append(findings, ofWorkloads(ctx, f)...)
	findings = append(findings, doctor.StateFile(f.operator.stateFile, unread)...)
	return append(findings, doctor.Clock()...)
}

// ofWorkloads judges what tells who uses the GPUs.
func ofWorkloads(ctx context.Context, f *flags) []doctor.Finding {
	var findings []doctor.Finding
	if f.workloads.containers {
		findings = append(findings, doctor.Containers(workload.Blind(f.workloads.config.ProcFS))...)
	}
	if f.workloads.podResources {
		devices, err := workload.NewKubelet(workload.KubeletConfig{Socket: f.workloads.socket}).Try(ctx)
		findings = append(findings, doctor.Kubelet(f.workloads.socket, devices, err)...)
	}
	return findings
}

// ofWays judges the ways by which samples leave the host.
func ofWays(ctx context.Context, f *flags, now func() time.Time) []doctor.Finding {
	var findings []doctor.Finding
	if p := f.push; p.url != "" {
		findings = append(findings, doctor.Spool(p.spoolDir, int64(p.spoolMaxBytes))...)
		answer := push.Ask(ctx, p.url, p.tokenFile, p.headers, askFor, now)
		findings = append(findings, doctor.Push(p.url, doctor.Reached{Offset: answer.Offset, Dated: answer.Dated, Err: answer.Err})...)
	}
	var err error
	if *f.web.WebConfigFile != "" {
		err = web.Validate(*f.web.WebConfigFile)
	}
	findings = append(findings, doctor.Web(*f.web.WebConfigFile, err, *f.web.WebListenAddresses)...)
	for _, address := range *f.web.WebListenAddresses {
		if !strings.HasPrefix(address, "vsock://") {
			held, err := holder(ctx, address)
			findings = append(findings, doctor.Port(address, held, err)...)
		}
	}
	return findings
}

// askFor bounds each question over the network.
const askFor = 5 * time.Second

// holder finds out who holds an address, and with what error it cannot be opened.
func holder(ctx context.Context, address string) (doctor.Listening, error) {
	listener, err := net.Listen("tcp", address)
	if err == nil {
		listener.Close()
		return doctor.Free, nil
	}
	host, port, splitErr := net.SplitHostPort(address)
	if splitErr != nil {
		return doctor.Stranger, err
	}
	if answers(ctx, host, port) {
		return doctor.Ourself, nil
	}
	return doctor.Stranger, err
}

// answers tells whether an exporter serves at an address of this host.
func answers(ctx context.Context, host, port string) bool {
	if host == "" {
		host = "localhost"
	}
	// Only this host's own liveness page is asked, and no secret is sent: any certificate will do.
	client := &http.Client{Timeout: askFor, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	for _, scheme := range []string{"http", "https"} {
		if healthy(ctx, client, scheme+"://"+net.JoinHostPort(host, port)+"/-/healthy") {
			return true
		}
	}
	return false
}

// exporterRuns tells whether an exporter answers at --web.listen-address or --control.socket.
func (f *flags) exporterRuns(ctx context.Context) bool {
	for _, address := range *f.web.WebListenAddresses {
		if host, port, err := net.SplitHostPort(address); err == nil && answers(ctx, host, port) {
			return true
		}
	}
	socket := f.operator.socket
	if socket == "" {
		socket = defaultSocket
	}
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", socket)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

func healthy(ctx context.Context, client *http.Client, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1024))
	return err == nil && response.StatusCode == http.StatusOK && strings.TrimSpace(string(body)) == healthyAnswer
}
