//go:build linux && cgo

package nvml

import (
	"sync/atomic"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// inCall is a call that has not returned yet.
type inCall struct {
	name  string
	since time.Time
}

// caller makes the driver calls of one goroutine. It calls nothing that the library lacks or
// the card refused before, takes the time, and judges the answers of a round. Only current
// may be used by another goroutine.
type caller struct {
	lib    *library
	now    func() time.Time
	timing *timing
	budget time.Duration // a call that takes longer ends the round

	current atomic.Pointer[inCall]

	unsupported map[string]bool // only grows until forget
	dropped     map[string]uint64
	drops       uint64 // of all calls together

	// Of this round:
	answer   gpu.Answer
	reason   string
	answered int       // calls that succeeded
	ended    bool      // nothing more is to be asked in this round
	slow     time.Time // when the call began that ended it by its time
	hung     string    // that call
	driver   nvml.Return
	at       string // the call that told of the driver's failure
}

func newCaller(now func() time.Time, timing *timing, budget time.Duration) *caller {
	return &caller{
		now: now, timing: timing, budget: budget,
		unsupported: map[string]bool{}, dropped: map[string]uint64{},
	}
}

// begin starts a round.
func (c *caller) begin(lib *library) {
	c.lib = lib
	c.answer, c.reason = gpu.AnswerOK, ""
	c.answered, c.ended, c.slow, c.hung = 0, false, time.Time{}, ""
	c.driver, c.at = nvml.SUCCESS, ""
}

// forget lets calls that were not supported be tried again.
func (c *caller) forget() { c.unsupported = map[string]bool{} }

// ask makes a call, if it is to be made, and tells whether it gave a value. call is the
// function's name; key tells calls of one function apart that are supported each on their own.
func (c *caller) ask(call, key string, f func() nvml.Return) bool {
	if c.ended || c.unsupported[key] {
		return false
	}
	if !c.lib.has[call] {
		c.unsupported[key] = true
		return false
	}
	ret := c.timed(call, f)
	switch judge(ret) {
	case fine:
		c.answered++
		return true
	case unsupported:
		c.unsupported[key] = true
	case cardFails:
		c.ended = true
		c.note(answerOf(ret), says(call, ret))
	case driverFails:
		c.ended, c.driver, c.at = true, ret, call
		c.note(gpu.AnswerDriverDown, says(call, ret))
	case refused:
		c.drop(key)
		c.refuse(says(call, ret))
	}
	return false
}

// timed makes the call and ends the round if it took longer than the budget: the next call
// would likely hang as well, and the round is as old as its first answer.
func (c *caller) timed(call string, f func() nvml.Return) nvml.Return {
	began := c.now()
	c.current.Store(&inCall{call, began})
	defer c.current.Store(nil) // also if f panics
	ret := f()
	took := c.now().Sub(began)
	c.timing.observe(call, took)
	if took > c.budget {
		c.ended, c.slow, c.hung = true, began, call
		c.note(gpu.AnswerTimeout, call+" took "+took.Round(time.Second).String())
	}
	return ret
}

// note keeps the answer that counts most.
func (c *caller) note(answer gpu.Answer, reason string) {
	if c.answer != answer && gpu.Worse(c.answer, answer) == answer {
		c.answer, c.reason = answer, reason
	}
}

// refuse remembers the first refusal, which counts only if nothing else answers.
func (c *caller) refuse(reason string) {
	if c.reason == "" {
		c.reason = reason
	}
}

// verdict is the round's answer. One call that is refused says nothing of the card; if no
// call answered at all, nothing can be said.
func (c *caller) verdict() (gpu.Answer, string) {
	if c.answer != gpu.AnswerOK {
		return c.answer, c.reason
	}
	if c.answered == 0 && c.reason == "" {
		return gpu.AnswerError, "no call is answered"
	}
	if c.answered == 0 {
		return gpu.AnswerError, c.reason
	}
	return gpu.AnswerOK, ""
}

// within returns v if it lies in its possible range. What lies outside, among it all of the
// driver's "not available" values, is dropped and counted.
func (c *caller) within(key string, v, low, high float64) gpu.Maybe[float64] {
	if !(v >= low && v <= high) { // NaN is outside as well
		c.drop(key)
		return gpu.Maybe[float64]{}
	}
	return gpu.Some(v)
}

// drop counts a reading that was thrown away.
func (c *caller) drop(key string) {
	c.dropped[key]++
	c.drops++
}

// value makes a call that returns one value.
func value[T any](c *caller, call string, f func() (T, nvml.Return)) (T, bool) {
	return keyed(c, call, call, f)
}

// keyed is value for a call that is supported or not by its argument.
func keyed[T any](c *caller, call, key string, f func() (T, nvml.Return)) (T, bool) {
	var v T
	ok := c.ask(call, key, func() (ret nvml.Return) {
		v, ret = f()
		return ret
	})
	return v, ok
}

// with binds a getter's argument.
func with[A, T any](f func(A) (T, nvml.Return), argument A) func() (T, nvml.Return) {
	return func() (T, nvml.Return) { return f(argument) }
}

type integer interface {
	~int | ~int32 | ~uint32 | ~uint64
}

// number makes a call that returns one number, and scales it to its base unit.
func number[T integer](c *caller, call string, f func() (T, nvml.Return), low, high, scale float64) gpu.Maybe[float64] {
	return keyedNumber(c, call, call, f, low, high, scale)
}

func keyedNumber[T integer](c *caller, call, key string, f func() (T, nvml.Return), low, high, scale float64) gpu.Maybe[float64] {
	v, ok := keyed(c, call, key, f)
	if !ok {
		return gpu.Maybe[float64]{}
	}
	m := c.within(key, float64(v), low, high)
	if n, ok := m.Get(); ok {
		return gpu.Some(n * scale)
	}
	return m
}
