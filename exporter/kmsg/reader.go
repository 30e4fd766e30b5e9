// Package kmsg reads the kernel's log for what NVIDIA's drivers tell there: XIDs, also those
// whose events the driver's library loses, and the NVSwitches' SXids, which nobody else tells.
// Only the kernel's own records count: any user may write to the log, under another facility.
package kmsg

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// Options say what is read, and who is told.
type Options struct {
	// Path is the log's device; empty means /dev/kmsg.
	Path string
	// FromNow leaves out what the log holds from before the start.
	FromNow bool
	// Known are the SXids that were counted before the start: they count on, and what the log still
	// holds of them is not counted again.
	Known map[gpu.SXID]gpu.XID
	// XID is told each XID; it must not block. Nil means nobody.
	XID func(gpu.XIDReport)
	// Now is the wall clock, Uptime the corrected clock since boot; nil means the system's.
	Now    func() time.Time
	Uptime func() time.Duration
	// Read reads from an open file; nil means the system's call, and a test may let it fail.
	Read func(fd int, p []byte) (int, error)
	// Retry is how long to wait before a log that cannot be read is tried again; zero means 30 s.
	Retry time.Duration
	// Log gets one line where the log cannot be read; nil means none.
	Log *slog.Logger
	// Metrics gets the counters; nil means none.
	Metrics *metrics.Set
}

func (o Options) withDefaults() Options {
	if o.Path == "" {
		o.Path = "/dev/kmsg"
	}
	if o.XID == nil {
		o.XID = func(gpu.XIDReport) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Uptime == nil {
		o.Uptime = uptime
	}
	if o.Read == nil {
		o.Read = read
	}
	if o.Retry <= 0 {
		o.Retry = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Metrics == nil {
		o.Metrics = metrics.NewSet()
	}
	return o
}

// Reader reads the log.
type Reader struct {
	options Options
	clock   clock
	emit    func(gpu.Event)

	start   time.Time
	current bool   // all that the log held at the start has been read
	started bool   // a record was read
	last    uint64 // its sequence number
	problem string // why the log cannot be read, as it was logged last

	records, lost, bad, foreign *metrics.Counter

	mu    sync.Mutex
	state State // its map is replaced, never changed: snapshots share it
}

// New returns a Reader. It reads nothing before Run.
func New(options Options) *Reader {
	options = options.withDefaults()
	counter := func(what string) *metrics.Counter {
		return options.Metrics.NewCounter("leasewatch_exporter_kernel_log_" + what + "_total")
	}
	return &Reader{
		options: options,
		clock:   clock{now: options.Now, uptime: options.Uptime},
		state:   State{SXIDs: options.Known},
		records: counter("records"), lost: counter("lost_records"), bad: counter("bad_records"), foreign: counter("foreign_records"),
	}
}

// State is what the log has told so far.
type State struct {
	// Number moves with every change.
	Number uint64
	// Tried tells whether the log was read to its end, or could not be; Up whether it is followed.
	Tried, Up bool
	// SXIDs are the NVSwitches' errors. The map must not be changed.
	SXIDs map[gpu.SXID]gpu.XID
}

// State returns the present state.
func (r *Reader) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// Run reads until ctx ends, and tries again where the log cannot be read. emit is told each
// SXid that comes after the start and is not called harmless; it must not block. It may be
// called once.
func (r *Reader) Run(ctx context.Context, emit func(gpu.Event)) {
	r.emit, r.start, r.current = emit, r.options.Now(), r.options.FromNow
	for ctx.Err() == nil {
		r.fail(ctx, r.follow(ctx))
		select {
		case <-ctx.Done():
		case <-time.After(r.options.Retry):
		}
	}
}

// fail notes that the log is not read, and logs why where that is news.
func (r *Reader) fail(ctx context.Context, err error) {
	r.turn(false)
	if ctx.Err() != nil || err.Error() == r.problem {
		return
	}
	r.problem = err.Error()
	r.options.Log.Warn("the kernel log is not read: XIDs come from the driver's events alone, and errors of NVSwitches are not seen",
		slog.Any("err", err), slog.String("remedy", remedy(err)))
}

// works notes that the log was read to its end, and is followed from there.
func (r *Reader) works() {
	r.turn(true)
	if r.problem != "" {
		r.problem = ""
		r.options.Log.Info("the kernel log is read")
	}
}

func (r *Reader) turn(up bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.Number++
	r.state.Tried, r.state.Up = true, up
}

// take reads whole lines and returns what is left of the last one. live is set where they came
// while the reader waited.
func (r *Reader) take(text []byte, live bool) []byte {
	for {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			return text
		}
		text = rest
		if len(line) == 0 || line[0] == ' ' { // a property of the record before
			continue
		}
		rec, err := parseRecord(line)
		if err != nil {
			r.bad.Inc()
			r.options.Log.Debug("a record of the kernel log that is none", slog.Any("err", err))
			continue
		}
		r.record(rec, live)
	}
}

// record takes one record that was not read before: a log that is opened again begins anew.
func (r *Reader) record(rec record, live bool) {
	if r.started && rec.sequence <= r.last {
		return
	}
	if r.started {
		r.lost.AddInt64(int64(min(rec.sequence-r.last-1, 1<<31)))
	}
	r.started, r.last = true, rec.sequence
	r.records.Inc()
	if live {
		r.clock.learn(rec.since)
	}
	x, isXID := parseXID(rec.message)
	sx, isSXID := parseSXID(rec.message)
	switch {
	case !isXID && !isSXID:
	case rec.facility != 0:
		r.foreign.Inc()
		r.options.Log.Warn("somebody who is not the kernel wrote an XID into its log: not counted", slog.Uint64("facility", rec.facility))
	case isXID:
		at, within := r.date(rec)
		r.options.XID(gpu.XIDReport{Witness: gpu.WitnessKernel, PCIAddress: x.address, Code: x.code, At: at, Within: within})
	default:
		at, within := r.date(rec)
		if !r.current && r.counted(sx, at, within) {
			return
		}
		r.see(sx, at)
	}
}

// date returns when a record was written, and by how much that may be wrong. What the log held
// when the reader came is from before, whatever its clock says.
func (r *Reader) date(rec record) (at time.Time, within time.Duration) {
	at, within = r.clock.date(rec.since)
	if !r.current && !at.Before(r.start) {
		at = r.start.Add(-time.Millisecond)
	}
	return at, within
}

// counted tells whether what the log held at the start was counted in an earlier life. The times of
// the same line may differ by as much as they are uncertain: of two SXids of one kind within that
// time of the last one that is known, none counts, rather than one of them twice.
func (r *Reader) counted(sx gpu.SXID, at time.Time, within time.Duration) bool {
	known, ok := r.options.Known[sx]
	return ok && !at.After(known.Last.Add(within+time.Second))
}

// see counts an SXid, and tells it where it is a new one that is not harmless.
func (r *Reader) see(sx gpu.SXID, at time.Time) {
	r.mu.Lock()
	seen := maps.Clone(r.state.SXIDs)
	if seen == nil {
		seen = map[gpu.SXID]gpu.XID{}
	}
	known := seen[sx]
	known.Count++
	if at.After(known.Last) {
		known.Last = at
	}
	seen[sx] = known
	r.state.Number++
	r.state.SXIDs = seen
	r.mu.Unlock()
	if !r.current {
		return
	}
	r.options.Log.Warn("SXid", slog.Uint64("sxid", sx.Code), slog.String("severity", sx.Severity), slog.String("nvswitch", sx.Switch), slog.Time("at", at))
	if sx.Severity != gpu.SXIDNonFatal {
		r.emit(gpu.Event{At: at, SXID: &sx, XIDCount: known.Count, Reason: "SXid of an NVSwitch"})
	}
}
