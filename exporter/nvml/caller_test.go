//go:build linux && cgo

package nvml

import (
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/VictoriaMetrics/metrics"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// brokenDevice answers its UUID; any other call panics.
type brokenDevice struct{ device }

func (brokenDevice) GetUUID() (string, nvml.Return) { return "GPU-broken", nvml.SUCCESS }

var _ device = brokenDevice{}

func TestAPanicOfOneGPUIsItsAnswerOnly(t *testing.T) {
	r, err := New(Options{Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	lib := &library{has: map[string]bool{"nvmlDeviceGetUUID": true}}
	for _, name := range plain {
		lib.has[name] = true
	}
	live := &session{lib: lib}
	s := newSlot(r, 0)
	s.device, s.healthy = brokenDevice{}, true
	s.caller.begin(lib)
	if _, answer, reason := s.round(live); answer != gpu.AnswerError || !strings.Contains(reason, "reading failed") {
		t.Errorf("the round says %s: %s", answer, reason)
	}
	if s.caller.current.Load() != nil {
		t.Error("the call still counts as out")
	}
}

func testCaller(now func() time.Time) *caller {
	c := newCaller(now, newTiming(metrics.NewSet()), time.Second)
	c.begin(&library{has: map[string]bool{"a": true, "b": true}})
	return c
}

func TestTheWorstAnswerOfARoundCounts(t *testing.T) {
	answers := func(rets ...nvml.Return) func(c *caller) {
		return func(c *caller) {
			for _, ret := range rets {
				c.ask("a", "a", func() nvml.Return { return ret })
			}
		}
	}
	tests := map[string]struct {
		calls  func(c *caller)
		want   gpu.Answer
		reason string
	}{
		"good calls are ok":                        {answers(nvml.SUCCESS, nvml.SUCCESS), gpu.AnswerOK, ""},
		"one refusal among good calls is ok":       {answers(nvml.SUCCESS, nvml.ERROR_UNKNOWN), gpu.AnswerOK, ""},
		"nothing but refusals is an error":         {answers(nvml.ERROR_UNKNOWN, nvml.ERROR_IN_USE), gpu.AnswerError, "a: unknown error"},
		"lost counts more than what answered":      {answers(nvml.SUCCESS, nvml.ERROR_GPU_IS_LOST), gpu.AnswerLost, "a: GPU is lost"},
		"lost ends the round":                      {answers(nvml.ERROR_GPU_IS_LOST, nvml.ERROR_RESET_REQUIRED), gpu.AnswerLost, "a: GPU is lost"},
		"a reset that is required":                 {answers(nvml.ERROR_UNKNOWN, nvml.ERROR_RESET_REQUIRED), gpu.AnswerResetRequired, "a: GPU requires a reset"},
		"a driver that is gone":                    {answers(nvml.SUCCESS, nvml.ERROR_UNINITIALIZED), gpu.AnswerDriverDown, "a: not initialized"},
		"a code that nobody knows is a refusal":    {answers(nvml.Return(4711)), gpu.AnswerError, "a: error 4711"},
		"nothing that is supported is an error":    {answers(nvml.ERROR_INVALID_ARGUMENT), gpu.AnswerError, "no call is answered"},
		"a function that is missing is not called": {func(c *caller) { c.ask("c", "c", func() nvml.Return { panic("called") }) }, gpu.AnswerError, "no call is answered"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := testCaller(time.Now)
			test.calls(c)
			if got, reason := c.verdict(); got != test.want || reason != test.reason && got != gpu.AnswerOK {
				t.Errorf("verdict is %s (%q), want %s (%q)", got, reason, test.want, test.reason)
			}
		})
	}
}

func TestACallOverItsBudgetEndsTheRound(t *testing.T) {
	clock := time.Unix(1_700_000_000, 0)
	c := testCaller(func() time.Time { return clock })
	c.ask("a", "a", func() nvml.Return { clock = clock.Add(45 * time.Second); return nvml.SUCCESS })
	if c.ask("b", "b", func() nvml.Return { return nvml.SUCCESS }) {
		t.Error("the round went on")
	}
	if answer, reason := c.verdict(); answer != gpu.AnswerTimeout || reason != "a took 45s" {
		t.Errorf("verdict is %s (%q)", answer, reason)
	}
	if !c.slow.Equal(time.Unix(1_700_000_000, 0)) {
		t.Errorf("slow since %v", c.slow)
	}
}

func TestEveryReturnCodeHasOurOwnWords(t *testing.T) {
	for code := nvml.Return(1); code <= nvml.ERROR_RESET_TYPE_NOT_SUPPORTED; code++ {
		if strings.HasPrefix(words(code), "error ") {
			t.Errorf("code %d has no words", int32(code))
		}
	}
}

func FuzzFieldValuesAreReadWithinTheirRange(f *testing.F) {
	f.Add(uint32(3), []byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Add(uint32(0), []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f}) // not a number
	f.Add(uint32(99), []byte{})
	f.Fuzz(func(t *testing.T, kind uint32, raw []byte) {
		value := nvml.FieldValue{FieldId: 83, ValueType: kind}
		copy(value.Value[:], raw)
		got, ok := decode(value)
		if !ok {
			return
		}
		c, r := testCaller(time.Now), gpu.Readings{}
		energy := batchOf([]field{{id: 83, high: 1e6, scale: 1, put: reading(func(r *gpu.Readings) *gpu.Maybe[float64] { return &r.EnergyJoulesTotal })}})
		if !energy.fields[0].take(c, value, &r) {
			t.Error("a field that was answered left the batch")
		}
		v, there := r.EnergyJoulesTotal.Get()
		if there && !(v >= 0 && v <= 1e6) {
			t.Errorf("%v is out of range", v)
		}
		if !there && c.dropped[fieldKey(83, scopeGPU)] != 1 {
			t.Error("dropped and not counted")
		}
		if got.wide && math.IsNaN(got.v) {
			t.Error("an integer is not a number")
		}
	})
}

func TestWhatACardSaysOfItselfIsPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"NVIDIA H100 80GB HBM3": "NVIDIA H100 80GB HBM3", "\x00\x01bad\n": "bad", "  ": "", "a\x7fb\u00ff": "ab",
	} {
		if got := clean(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
