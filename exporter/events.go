package exporter

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/leasewatch/leasewatch/exporter/catalog"
	"github.com/leasewatch/leasewatch/exporter/gpu"
	"github.com/leasewatch/leasewatch/exporter/push"
)

// maxEvents is how many events may wait for the push's disk; more than a host with all its
// cards failing tells at once.
const maxEvents = 1024

// outbox takes what must leave this host: events at once, and the page at its interval.
// Without a receiver it only counts.
type outbox struct {
	page       *Page
	source     gpu.Source
	pusher     *push.Pusher // nil without a receiver
	labels     Labels
	scraped    []push.Label // what a scraper would add to each series
	interval   time.Duration
	eventsOnly bool
	now        func() time.Time
	log        *slog.Logger
	events     chan *gpu.Event // pointers: the room for many is made at the start, and seldom used

	critical, overflow *metrics.Counter
}

func newOutbox(f *flags, page *Page, source gpu.Source, set *metrics.Set, log *slog.Logger, now func() time.Time) (*outbox, error) {
	o := &outbox{
		page: page, source: source, labels: f.labels, interval: f.push.interval, eventsOnly: f.push.eventsOnly, now: now, log: log,
		scraped:  []push.Label{{Name: "job", Value: "leasewatch-exporter"}, {Name: "instance", Value: f.labels.Host}},
		events:   make(chan *gpu.Event, maxEvents),
		critical: set.NewCounter("leasewatch_exporter_events_total"),
		overflow: set.NewCounter("leasewatch_exporter_events_overflow_total"),
	}
	if f.push.url == "" {
		return o, nil
	}
	pusher, err := push.New(push.Config{
		URL: f.push.url, TokenFile: f.push.tokenFile, Headers: f.push.headers, SpoolDir: f.push.spoolDir, SpoolMaxBytes: int64(f.push.spoolMaxBytes),
		Now: now, Log: log, Metrics: set,
	})
	if err != nil {
		return nil, fmt.Errorf("preparing the push: %w", err)
	}
	o.pusher = pusher
	return o, nil
}

// emit takes an event from the source. It never blocks.
func (o *outbox) emit(e gpu.Event) {
	if !critical(e) {
		return
	}
	o.critical.Inc()
	select {
	case o.events <- &e:
	default:
		o.overflow.Inc()
	}
}

// critical tells whether an event goes out at once: a change of state, an XID of class F or R,
// or an SXid, which the kernel log's reader tells only where it is not harmless.
func critical(e gpu.Event) bool {
	code, isXID := e.XID.Get()
	return e.From != e.To || isXID && catalog.CriticalXID(code) || e.SXID != nil
}

// run works until ctx ends, then puts what is left into the spool.
func (o *outbox) run(ctx context.Context) {
	if o.pusher == nil {
		o.discard(ctx)
		return
	}
	delivering := make(chan struct{})
	go func() {
		defer close(delivering)
		if err := o.pusher.Run(ctx); err != nil {
			o.log.Error("the push ends", "err", err)
		}
	}()
	tick := time.NewTicker(o.interval)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case e := <-o.events:
			o.pushEvent(*e)
		case <-tick.C:
			if !o.eventsOnly {
				o.pushPage()
			}
		}
	}
	for len(o.events) > 0 {
		o.pushEvent(*<-o.events)
	}
	<-delivering
	if err := o.pusher.Close(); err != nil {
		o.log.Error("closing the spool", "err", err)
	}
}

// discard lets events go where there is no receiver: the page tells them all the same.
func (o *outbox) discard(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.events:
		}
	}
}

// tell logs that an event went out. What happened is the source's to log.
func (o *outbox) tell(e gpu.Event) {
	if e.SXID != nil {
		o.log.Debug("a critical event", "nvswitch", e.SXID.Switch, "sxid", e.SXID.Code, "reason", e.Reason)
		return
	}
	if e.Unlisted {
		o.log.Debug("a critical event", "pci_address", e.GPU.PCIAddress, "reason", e.Reason)
		return
	}
	attributes := []any{"gpu", e.GPU.Index, "uuid", e.GPU.UUID, "serial", e.GPU.Serial, "reason", e.Reason}
	if code, ok := e.XID.Get(); ok {
		attributes = append(attributes, "xid", code)
	}
	if e.From != e.To {
		attributes = append(attributes, "from", string(e.From), "to", string(e.To))
	}
	o.log.Debug("a critical event", attributes...)
}

func (o *outbox) pushPage() {
	families, err := o.page.Gather()
	if err != nil {
		o.log.Error("a part of the page is missing in the push", "err", err)
	}
	o.hand(push.Samples(families, o.scraped, o.now()), o.pusher.Push)
}

func (o *outbox) pushEvent(e gpu.Event) {
	o.tell(e)
	o.hand(o.eventSamples(e), o.pusher.PushNow)
}

func (o *outbox) hand(samples []push.Sample, to func(push.Batch)) {
	batch, err := push.NewBatch(samples)
	if err != nil {
		o.log.Error("samples cannot be pushed", "err", err)
		return
	}
	to(batch)
}

// eventSamples tells an event as the page would show it, with the event's own time.
func (o *outbox) eventSamples(e gpu.Event) []push.Sample {
	base := append([]push.Label{
		{Name: catalog.LabelHost, Value: o.labels.Host}, {Name: catalog.LabelVantage, Value: o.labels.Vantage},
	}, o.scraped...)
	if e.SXID != nil {
		return sxidSamples(e, base)
	}
	if e.Unlisted {
		return strangerSamples(e, base)
	}
	base = append(base, push.Label{Name: catalog.LabelUUID, Value: e.GPU.UUID}, push.Label{Name: catalog.LabelGPU, Value: strconv.Itoa(e.GPU.Index)})
	var samples []push.Sample
	add := func(name string, value float64, own ...push.Label) {
		labels := append(append([]push.Label(nil), base...), own...)
		samples = append(samples, push.Sample{Name: name, Labels: labels, Value: value, At: e.At})
	}
	if e.From != e.To {
		for _, state := range gpu.States {
			value := 0.0
			if state == e.To {
				value = 1
			}
			add(catalog.StateName, value, push.Label{Name: "state", Value: string(state)})
		}
		add(catalog.StateSinceName, float64(o.since(e).UnixMilli())/1000)
	}
	if code, ok := e.XID.Get(); ok {
		label := push.Label{Name: "xid", Value: strconv.FormatUint(code, 10)}
		add(catalog.XIDErrorsName, float64(o.xidCount(e, code)), label)
		add(catalog.XIDLastName, float64(e.At.UnixMilli())/1000, label)
	}
	return samples
}

// sxidSamples tells an error of an NVSwitch, which is no GPU's.
func sxidSamples(e gpu.Event, base []push.Label) []push.Sample {
	labels := append(base, push.Label{Name: "nvswitch", Value: e.SXID.Switch},
		push.Label{Name: "sxid", Value: strconv.FormatUint(e.SXID.Code, 10)}, push.Label{Name: "severity", Value: e.SXID.Severity})
	return []push.Sample{
		{Name: catalog.SXIDErrorsName, Labels: labels, Value: float64(e.XIDCount), At: e.At},
		{Name: catalog.SXIDLastName, Labels: labels, Value: float64(e.At.UnixMilli()) / 1000, At: e.At},
	}
}

// strangerSamples tells an XID of a GPU of which only the address is known.
func strangerSamples(e gpu.Event, base []push.Label) []push.Sample {
	code, _ := e.XID.Get()
	labels := append(base, push.Label{Name: "pci_address", Value: e.GPU.PCIAddress}, push.Label{Name: "xid", Value: strconv.FormatUint(code, 10)})
	return []push.Sample{
		{Name: catalog.UnlistedXIDErrorsName, Labels: labels, Value: float64(e.XIDCount), At: e.At},
		{Name: catalog.UnlistedXIDLastName, Labels: labels, Value: float64(e.Since.UnixMilli()) / 1000, At: e.At},
	}
}

// since is when the new state began: as the event says, else as the newest snapshot does
// where it has seen the change, else when the change was seen.
func (o *outbox) since(e gpu.Event) time.Time {
	if !e.Since.IsZero() {
		return e.Since
	}
	if g, ok := o.find(e.GPU.UUID); ok && g.Status.State == e.To && !g.Status.Since.IsZero() {
		return g.Status.Since
	}
	return e.At
}

// xidCount is how often the code was seen, this time included: as the event says, else as
// the newest snapshot does, which may or may not have seen this one yet.
func (o *outbox) xidCount(e gpu.Event, code uint64) uint64 {
	if e.XIDCount > 0 {
		return e.XIDCount
	}
	g, ok := o.find(e.GPU.UUID)
	if !ok {
		return 1
	}
	seen := g.Readings.XIDs[code]
	if seen.Last.Before(e.At) {
		seen.Count++
	}
	return seen.Count
}

// find returns a GPU of the newest snapshot.
func (o *outbox) find(uuid string) (gpu.GPU, bool) {
	for _, g := range o.source.Snapshot().GPUs {
		if g.Identity.UUID == uuid {
			return g, true
		}
	}
	return gpu.GPU{}, false
}
