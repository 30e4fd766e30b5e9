// Package host reads the machine around the GPUs from procfs and sysfs: what can starve them
// and what it is. Each part has its own collector; one that fails or hangs takes no other
// with it, and no reader of the snapshot ever waits for one.
package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// Options say where to look, and how often.
type Options struct {
	// Proc, Sys and Root are where the machine's procfs, sysfs and root are mounted; empty
	// means /proc, /sys and /.
	Proc, Sys, Root string
	// Off names the collectors that do not run.
	Off []string
	// MountsOff matches mount points that are not asked; nil means none.
	MountsOff *regexp.Regexp
	// Fast, Slow and Identity are the intervals of the three tiers: what moves, links and
	// filesystems, what stays. Zero means 5 s, 30 s and 10 min.
	Fast, Slow, Identity time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Log gets one line where a collector begins to fail and one where it works again; nil
	// means none.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	text := func(value *string, standard string) {
		if *value == "" {
			*value = standard
		}
	}
	text(&o.Proc, "/proc")
	text(&o.Sys, "/sys")
	text(&o.Root, "/")
	interval := func(value *time.Duration, standard time.Duration) {
		if *value <= 0 {
			*value = standard
		}
	}
	interval(&o.Fast, 5*time.Second)
	interval(&o.Slow, 30*time.Second)
	interval(&o.Identity, 10*time.Minute)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// DefaultMountsOff matches the mount points that tell nothing new: what container runtimes put
// in place, and their own layers.
const DefaultMountsOff = `^/(etc/(hosts|hostname|resolv\.conf)|usr/(s?bin|lib[^/]*|share)/.+|run/.+|proc/.+|sys/.+|var/lib/(docker|containerd|containers|kubelet)/.+)$`

// errAbsent is in the errors of collectors that have nothing to read on this machine.
var errAbsent = errors.New("not on this machine")

// collector reads one part of the machine. read returns what puts its figures into a host.
// It is called by one goroutine at a time.
type collector struct {
	name  string
	about string
	every func(Options) time.Duration
	read  func() (func(*gpu.Host), error)
}

func fast(o Options) time.Duration     { return o.Fast }
func slow(o Options) time.Duration     { return o.Slow }
func identity(o Options) time.Duration { return o.Identity }

// Collector is one part of the machine that can be turned off by its name.
type Collector struct{ Name, About string }

// Collectors lists every collector of this platform, sorted by name.
func Collectors() []Collector {
	var all []Collector
	for _, c := range newCollectors(Options{}.withDefaults()) {
		all = append(all, Collector{Name: c.name, About: c.about})
	}
	slices.SortFunc(all, func(a, b Collector) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Reader keeps a snapshot of the machine.
type Reader struct {
	options    Options
	collectors []collector

	mu      sync.Mutex
	parts   []part
	changed bool
	expires time.Time // when the current snapshot loses a part; zero for never
	current *gpu.Host
}

// part is what one collector read last.
type part struct {
	asked  bool // it was read at least once, or hangs in its first reading
	absent bool
	err    error
	at     time.Time // of the last reading that came, or of the start of the first
	put    func(*gpu.Host)
}

// New returns a Reader. It reads nothing before Run. The error names a collector that
// Options.Off spells wrongly.
func New(options Options) (*Reader, error) {
	options = options.withDefaults()
	r := &Reader{options: options, current: &gpu.Host{}}
	all := newCollectors(options)
	for _, name := range options.Off {
		if !slices.ContainsFunc(all, func(c collector) bool { return c.name == name }) {
			return nil, fmt.Errorf("there is no collector %q", name)
		}
	}
	for _, c := range all {
		if !slices.Contains(options.Off, c.name) {
			r.collectors = append(r.collectors, c)
		}
	}
	r.parts = make([]part, len(r.collectors))
	return r, nil
}

// stopPatience is how long Run waits for a reading that is under way when it is to end. One
// that hangs in the kernel cannot be called back.
const stopPatience = 100 * time.Millisecond

// Run collects until ctx ends. There is one beat for all collectors: to wake an idle process
// costs more than most of the readings. Each reads in a goroutine of its own, so that one that
// hangs holds no other.
func (r *Reader) Run(ctx context.Context) {
	var workers sync.WaitGroup
	wake := make([]chan struct{}, len(r.collectors))
	for i := range r.collectors {
		wake[i] = make(chan struct{}, 1)
		workers.Go(func() { r.work(ctx, i, wake[i]) })
	}
	r.beat(ctx, wake)
	ended := make(chan struct{})
	go func() { workers.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(stopPatience):
	}
}

// beat wakes the collectors whose interval is over, until ctx ends. One that still reads is
// not woken a second time.
func (r *Reader) beat(ctx context.Context, wake []chan struct{}) {
	tick := time.NewTicker(r.options.Fast)
	defer tick.Stop()
	for beats := int64(0); ; beats++ {
		for i, c := range r.collectors {
			if beats%max(1, int64(c.every(r.options)/r.options.Fast)) != 0 {
				continue
			}
			select {
			case wake[i] <- struct{}{}:
			default:
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (r *Reader) work(ctx context.Context, i int, wake <-chan struct{}) {
	r.take(i, func(p *part) { p.asked, p.at = true, r.options.Now() })
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
			put, err := r.collectors[i].read()
			r.note(i, put, err)
		}
	}
}

// note takes what a reading brought, and logs where that is another story than the last.
func (r *Reader) note(i int, put func(*gpu.Host), err error) {
	var before part
	r.take(i, func(p *part) {
		before = *p
		*p = part{asked: true, at: r.options.Now(), err: err, put: put, absent: errors.Is(err, errAbsent)}
	})
	name := slog.String("collector", r.collectors[i].name)
	switch {
	case errors.Is(err, errAbsent):
		if !before.absent {
			r.options.Log.Debug("nothing to read", name, slog.Any("reason", err))
		}
	case err != nil:
		if before.err == nil || before.err.Error() != err.Error() {
			r.options.Log.Warn("a part of the machine cannot be read", name, slog.Any("err", err))
		}
	case before.err != nil && !before.absent:
		r.options.Log.Info("a part of the machine can be read again", name)
	}
}

func (r *Reader) take(i int, change func(*part)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.parts[i])
	r.changed = true
}

// Snapshot returns the newest snapshot, the same one until something changes. A part whose
// collector has not answered for two intervals is not in it: nothing stale is told as live.
// The caller must not change it.
func (r *Reader) Snapshot() *gpu.Host {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.options.Now()
	if !r.changed && (r.expires.IsZero() || now.Before(r.expires)) {
		return r.current
	}
	h := &gpu.Host{Collectors: map[string]bool{}}
	r.changed, r.expires = false, time.Time{}
	for i, p := range r.parts {
		if !p.asked || p.absent {
			continue
		}
		until := p.at.Add(2 * r.collectors[i].every(r.options))
		live := now.Before(until)
		h.Collectors[r.collectors[i].name] = live && p.err == nil && p.put != nil
		if live && (r.expires.IsZero() || until.Before(r.expires)) {
			r.expires = until
		}
		if live && p.put != nil { // a reading may come in part, with an error for the rest
			p.put(h)
		}
	}
	r.current = h
	return h
}
