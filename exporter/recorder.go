package exporter

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/promslog"

	"github.com/leasewatch/leasewatch/exporter/gpu"
	"github.com/leasewatch/leasewatch/exporter/record"
)

// recordFlags are those of the command record.
type recordFlags struct {
	span   time.Duration
	output string
	redact bool
}

func (r *recordFlags) register(app *kingpin.Application) {
	command := app.Command("record", "Write what the machine tells to a file that --source=replay plays; then end.")
	command.Flag("for", "How long to record; an interrupt ends it earlier.").Default("1m").DurationVar(&r.span)
	command.Flag("out", "File to write, gzipped where its name ends in .gz; - for standard output.").Short('o').Required().StringVar(&r.output)
	command.Flag("redact", "Put pseudonyms for serial numbers, UUIDs, and the names of hosts, containers and pods.").BoolVar(&r.redact)
}

// errNothingTold is a recording without a single snapshot.
var errNothingTold = errors.New("the driver told nothing in that time: run leasewatch-exporter check")

// recordTo is the command record. It returns the exit code.
func recordTo(ctx context.Context, f *flags, stdout, stderr io.Writer, opts Options) int {
	err := recordFile(ctx, f, stdout, opts)
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(stderr, "leasewatch-exporter: %v\n", err)
	var bad *configError
	switch {
	case errors.As(err, &bad):
		return exitConfig
	case errors.Is(err, fs.ErrExist):
		return exitRefused
	default:
		return exitFailure
	}
}

func recordFile(ctx context.Context, f *flags, stdout io.Writer, opts Options) (err error) {
	if o := f.record.output; o == "" || o == "-" { // the parser takes a lone - for nothing
		return recordSource(ctx, f, stdout, opts)
	}
	file, err := os.OpenFile(f.record.output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("making the recording (a file that is there is not written over): %w", err)
	}
	defer func() {
		if closed := file.Close(); err == nil && closed != nil {
			err = fmt.Errorf("closing the recording: %w", closed)
		}
		if errors.Is(err, errNothingTold) {
			os.Remove(f.record.output)
		}
	}()
	if !strings.HasSuffix(f.record.output, ".gz") {
		return recordSource(ctx, f, file, opts)
	}
	zip := gzip.NewWriter(file)
	if err := recordSource(ctx, f, zip, opts); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return fmt.Errorf("zipping the recording: %w", err)
	}
	return nil
}

// recordSource runs the source, with the machine around it, and writes all it tells.
func recordSource(ctx context.Context, f *flags, w io.Writer, opts Options) error {
	log := promslog.New(&f.log)
	known, err := f.known()
	if err != nil {
		return &configError{err}
	}
	f.config.Known = known
	if f.source == driverSource && !f.config.NoGPM && f.exporterRuns(ctx) {
		log.Info("an exporter runs here: the recording is without performance counters, whose calls of two programs at once have no order")
		f.config.NoGPM = true
	}
	source, err := f.open(metrics.NewSet(), log, opts)
	if err != nil {
		return err
	}
	out, err := record.NewWriter(w, record.Header{Program: opts.Version, Host: f.labels.Host, Vantage: f.labels.Vantage,
		Began: opts.Now().UTC(), Redacted: f.record.redact})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, f.record.span)
	defer cancel()
	runWorkloads(ctx, &f.config)
	if err := follow(ctx, source, out, log); err != nil {
		return err
	}
	if out.Snapshots() == 0 {
		return errNothingTold
	}
	return out.Flush()
}

// looks is how often a recorder looks for a new snapshot: well within the fast tier.
const looks = 100 * time.Millisecond

// follow writes what the source tells until ctx ends. A call that hangs is left behind.
func follow(ctx context.Context, source gpu.Source, out *record.Writer, log *slog.Logger) error {
	events := make(chan gpu.Event, maxEvents)
	ended := make(chan error, 1)
	go func() {
		ended <- source.Run(ctx, func(e gpu.Event) {
			select {
			case events <- e:
			default:
				log.Warn("an event is not recorded: too many came at once")
			}
		})
	}()
	tick := time.NewTicker(looks)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-ended:
			if ctx.Err() == nil {
				return fmt.Errorf("the source of the figures ended by itself: %w", err)
			}
			return nil
		case e := <-events:
			if err := out.Event(e); err != nil {
				return err
			}
		case <-tick.C:
			if err := out.Snapshot(source.Snapshot()); err != nil {
				return err
			}
		}
	}
}
