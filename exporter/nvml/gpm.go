//go:build linux && cgo

package nvml

import (
	"sync/atomic"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// The calls of GPM, the driver's interface to its performance counters.
const (
	gpmSupportCall = "nvmlGpmQueryDeviceSupport"
	gpmAllocCall   = "nvmlGpmSampleAlloc"
	gpmFreeCall    = "nvmlGpmSampleFree"
	gpmSampleCall  = "nvmlGpmSampleGet"
	gpmMetricsCall = "nvmlGpmMetricsGet"
	gpmTurn        = "nvmlGpmSampleGet(no turn)" // a sample that was not taken because another GPU's call hangs
)

// gpmShortest is the least time between two samples: the driver renews its counters that often
// (nvml.h at nvmlGpmSampleGet).
const gpmShortest = 100 * time.Millisecond

// gpmGate lets one goroutine at a time make GPM calls, whichever GPU they are for: calls that
// raced each other have brought kernels down.
type gpmGate struct {
	turn     chan struct{}
	patience time.Duration
	stuck    atomic.Bool // somebody waited in vain since the last turn ended

	// What belongs to whoever has the turn:
	metrics gpmMetrics
	asked   []*gpmMetric
}

// gpmMetrics asks the driver for the metrics between two samples.
type gpmMetrics interface {
	between(older, newest nvml.GpmSample, metrics []*gpmMetric) nvml.Return
	// answer returns what was said of the i-th of them.
	answer(i int) (nvml.Return, float64)
}

func newGPMGate(patience time.Duration, metrics gpmMetrics) *gpmGate {
	return &gpmGate{turn: make(chan struct{}, 1), patience: patience, metrics: metrics}
}

// enter waits for its turn. A call that hangs must cost its own GPU alone: after some time the
// others go without, and do not wait again before that call is back.
func (g *gpmGate) enter() bool {
	select {
	case g.turn <- struct{}{}:
		return true
	default:
	}
	if g.stuck.Load() {
		return false
	}
	patience := time.NewTimer(g.patience)
	defer patience.Stop()
	select {
	case g.turn <- struct{}{}:
		return true
	case <-patience.C:
		g.stuck.Store(true)
		return false
	}
}

func (g *gpmGate) leave() {
	g.stuck.Store(false)
	<-g.turn
}

// gpmReader reads the counters of one slot's card.
type gpmReader struct {
	window  gpmWindow
	asked   bool // whether the card has them, since its identity was read
	answers bool
	gone    []*migInstance // whose buffers wait to be given back
}

// readGPM reads what the counters say of the time since the last round, of the card into r and
// of its MIG devices into their readings.
func (s *slot) readGPM(live *session, r *gpu.Readings, instances []*migInstance) {
	c, gate := s.caller, s.reader.gpm
	if gate == nil || s.gpm.asked && !s.gpm.answers {
		return
	}
	if !gate.enter() {
		c.drop(gpmTurn)
		return
	}
	defer gate.leave()
	if !s.gpm.asked {
		s.gpm.asked, s.gpm.answers = true, hasGPM(c, s.device)
	}
	for _, i := range s.gpm.gone {
		i.window.free(c)
	}
	s.gpm.gone = nil
	if !s.gpm.answers {
		return
	}
	longest := 2 * s.reader.budget()
	r.GPM = s.gpm.window.read(c, live.lib.api, gate, longest, gpmQuestion{gpmSampleCall, s.device.GpmSampleGet, cardMetrics})
	for _, i := range instances {
		if i.whole() {
			i.Readings.GPM = i.window.read(c, live.lib.api, gate, longest, gpmQuestion{migGPMCall, s.sampleOf(i), instanceMetrics})
		}
	}
}

// sampleOf takes samples of a GPU instance. One that was destroyed a moment ago is no word
// about the call.
func (s *slot) sampleOf(i *migInstance) func(nvml.GpmSample) nvml.Return {
	return func(sample nvml.GpmSample) nvml.Return {
		ret := s.device.GpmMigSampleGet(i.GPUInstance, sample)
		if ret == nvml.ERROR_INVALID_ARGUMENT {
			return nvml.ERROR_NOT_FOUND
		}
		return ret
	}
}

// restartGPM forgets all samples of the slot.
func (s *slot) restartGPM() {
	s.gpm.window.restart()
	for _, i := range s.mig.known {
		i.window.restart()
	}
}

func hasGPM(c *caller, d device) bool {
	support, ok := value(c, gpmSupportCall, d.GpmQueryDeviceSupport)
	if ok && support.IsSupportedDevice == 0 {
		c.unsupported[gpmSupportCall] = true
		return false
	}
	return ok
}

// gpmWindow is the time between two samples of one GPU, or of one GPU instance. Both buffers
// are made once and change their places at each sample.
type gpmWindow struct {
	newest, older nvml.GpmSample
	at            time.Time // of newest; zero while there is none
	result        gpu.GPM
}

// restart forgets the samples: what comes next is another card, or a card after a reset.
func (w *gpmWindow) restart() { w.at, w.result = time.Time{}, gpu.GPM{} }

// read takes a sample and returns what the counters say of the time since the one before.
// Within gpmShortest it returns the result it has; after a pause of longer than longest, in
// which nobody looked, it begins anew.
func (w *gpmWindow) read(c *caller, api nvml.Interface, gate *gpmGate, longest time.Duration, ask gpmQuestion) gpu.GPM {
	now := c.now()
	age := now.Sub(w.at)
	if !w.at.IsZero() && age >= 0 && age < gpmShortest {
		return w.result
	}
	follows := !w.at.IsZero() && age > 0 && age <= longest
	w.restart()
	if !w.allocate(c, api) || !c.ask(ask.call, ask.call, func() nvml.Return { return ask.take(w.older) }) {
		return w.result
	}
	w.newest, w.older, w.at = w.older, w.newest, c.now() // after the call, so that no interval is shorter than it looks
	if follows {
		w.result = gate.between(c, w.older, w.newest, ask.metrics)
	}
	return w.result
}

// gpmQuestion is how a sample is taken, and which metrics are asked of two.
type gpmQuestion struct {
	call    string
	take    func(nvml.GpmSample) nvml.Return
	metrics []gpmMetric
}

func (w *gpmWindow) allocate(c *caller, api nvml.Interface) bool {
	for _, sample := range []*nvml.GpmSample{&w.newest, &w.older} {
		if *sample != nil {
			continue
		}
		fresh, ok := value(c, gpmAllocCall, api.GpmSampleAlloc)
		if !ok {
			return false
		}
		*sample = fresh
	}
	return true
}

// free gives the buffers back to the library that made them.
func (w *gpmWindow) free(c *caller) {
	for _, sample := range []*nvml.GpmSample{&w.newest, &w.older} {
		if *sample != nil && c.lib.has[gpmFreeCall] {
			c.timed(gpmFreeCall, (*sample).Free)
		}
		*sample = nil
	}
	w.restart()
}

// freeGPM gives the sample buffers of slots back, each in its turn like any GPM call.
func (r *Reader) freeGPM(c *caller, slots ...*slot) {
	if r.gpm == nil || !r.gpm.enter() {
		return
	}
	defer r.gpm.leave()
	for _, s := range slots {
		s.gpm.window.free(c)
		for _, i := range s.mig.known {
			i.window.free(c)
		}
		for _, i := range s.gpm.gone {
			i.window.free(c)
		}
		s.gpm.gone = nil
	}
}

// between asks for the metrics between two samples. Those that the card does not answer are
// left out from then on. A driver may refuse the whole call for one metric that came after its
// time: then each is asked for by itself, once.
func (g *gpmGate) between(c *caller, older, newest nvml.GpmSample, metrics []gpmMetric) (result gpu.GPM) {
	g.asked = g.asked[:0]
	for i := range metrics {
		if m := &metrics[i]; !c.unsupported[m.key] {
			g.asked = append(g.asked, m)
		}
	}
	if len(g.asked) == 0 || g.ask(c, older, newest, g.asked, &result) != nvml.ERROR_INVALID_ARGUMENT {
		return result
	}
	var unknown []string
	for i, m := range g.asked {
		delete(c.unsupported, gpmMetricsCall)
		if g.ask(c, older, newest, g.asked[i:i+1], &result) == nvml.ERROR_INVALID_ARGUMENT {
			unknown = append(unknown, m.key)
		}
	}
	if len(unknown) == len(g.asked) {
		return result // it is not about this metric or that: the call as a whole stays unsupported
	}
	delete(c.unsupported, gpmMetricsCall)
	for _, key := range unknown {
		c.unsupported[key] = true
	}
	return result
}

// ask makes one call and judges each metric's own return code.
func (g *gpmGate) ask(c *caller, older, newest nvml.GpmSample, metrics []*gpmMetric, result *gpu.GPM) nvml.Return {
	ret := nvml.ERROR_UNKNOWN
	if !c.ask(gpmMetricsCall, gpmMetricsCall, func() nvml.Return {
		ret = g.metrics.between(older, newest, metrics)
		return ret
	}) {
		return ret
	}
	for i, m := range metrics {
		ret, v := g.metrics.answer(i)
		switch judge(ret) {
		case fine:
			if v, ok := c.within(m.key, v, m.low, m.high).Get(); ok {
				m.to(result, min(v*m.scale, m.most))
			}
		case unsupported:
			c.unsupported[m.key] = true
		case cardFails, driverFails:
			c.note(answerOf(ret), says(m.key, ret))
		case refused:
			c.drop(m.key)
		}
	}
	return ret
}
