package replay

import (
	"context"
	"math"
	"reflect"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

var start = time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)

func index(i int) *int { return &i }

func machine(t testing.TB, profile Profile, script ...Event) *Source {
	t.Helper()
	s, err := New(Config{Host: "gpu-a1", GPUs: 8, Profiles: []Profile{profile}, Start: start, Seed: 7, Script: script})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func value(t testing.TB, m gpu.Maybe[float64]) float64 {
	t.Helper()
	v, ok := m.Get()
	if !ok {
		t.Fatal("a reading is absent")
	}
	return v
}

func TestTheSameTimeGivesTheSameAnswer(t *testing.T) {
	script := Event{At: time.Hour, GPU: index(2), Kind: ThermalThrottle, For: time.Hour}
	a, b := machine(t, Training, script), machine(t, Training, script)
	b.At(start.Add(40 * time.Hour)) // another order of questions
	for _, after := range []time.Duration{0, 90 * time.Minute, 30 * time.Hour} {
		if x, y := a.At(start.Add(after)), b.At(start.Add(after)); !reflect.DeepEqual(x, y) {
			t.Errorf("two machines of one seed differ after %s", after)
		}
	}
	other, err := New(Config{Host: "gpu-a2", GPUs: 8, Start: start, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	if a.At(start).GPUs[0].Identity.UUID == other.At(start).GPUs[0].Identity.UUID {
		t.Error("two hosts of one seed share a uuid")
	}
}

func TestPowerAndTemperatureFollowTheLoad(t *testing.T) {
	s := machine(t, Unused, Event{At: time.Hour, Kind: Busy, For: time.Hour})
	read := func(after time.Duration) gpu.Readings { return s.At(start.Add(after)).GPUs[0].Readings }
	idle, rising, busy, cooling, cold := read(59*time.Minute), read(time.Hour+5*time.Second), read(90*time.Minute), read(2*time.Hour+5*time.Second), read(2*time.Hour+20*time.Minute)
	if u := value(t, idle.UtilizationRatio); u != 0 {
		t.Errorf("utilisation without work is %v", u)
	}
	if u := value(t, busy.UtilizationRatio); u < 0.9 || u > 1 {
		t.Errorf("utilisation at full work is %v", u)
	}
	if p := value(t, busy.PowerWatts); p < 600 || p > 700 {
		t.Errorf("an H100 at full work draws %v W, want 600 to 700", p)
	}
	if p := value(t, idle.PowerWatts); p < 60 || p > 80 {
		t.Errorf("an idle H100 draws %v W, want about 70", p)
	}
	temperatures := []float64{value(t, idle.TemperatureCelsius), value(t, rising.TemperatureCelsius), value(t, busy.TemperatureCelsius)}
	if !(temperatures[0] < temperatures[1] && temperatures[1] < temperatures[2]) || temperatures[2] > 80 {
		t.Errorf("temperatures %v: want them to rise with a lag, and under 80", temperatures)
	}
	if w, c := value(t, cooling.TemperatureCelsius), value(t, cold.TemperatureCelsius); w <= c {
		t.Errorf("five seconds after the work the card has %v °C, later %v: want it to cool with a lag", w, c)
	}
}

func TestFailingCoolingThrottles(t *testing.T) {
	s := machine(t, Training, Event{At: time.Hour, GPU: index(3), Kind: ThermalThrottle, For: 10 * time.Minute})
	g := s.At(start.Add(time.Hour + 5*time.Minute)).GPUs[3].Readings
	if c := value(t, g.TemperatureCelsius); c < g.TemperatureThresholds["slowdown"] {
		t.Errorf("%v °C, want at least the slowdown threshold %v", c, g.TemperatureThresholds["slowdown"])
	}
	if !g.ThrottleActive["sw_thermal"] || g.ThrottleSecondsTotal["sw_thermal"] != 260 {
		t.Errorf("active %v for %v s, want 260 s", g.ThrottleActive, g.ThrottleSecondsTotal["sw_thermal"])
	}
	if g.ClockHertz["sm"] >= 0.6*g.ClockMaxHertz["sm"] {
		t.Errorf("clock %v Hz while held back", g.ClockHertz["sm"])
	}
	after := s.At(start.Add(time.Hour + 20*time.Minute)).GPUs[3].Readings
	if after.ThrottleActive["sw_thermal"] || after.ThrottleSecondsTotal["sw_thermal"] != 560 {
		t.Errorf("after the fault: active %v, %v s, want off and 560 s", after.ThrottleActive, after.ThrottleSecondsTotal["sw_thermal"])
	}
	if other := s.At(start.Add(time.Hour + 5*time.Minute)).GPUs[4].Readings; other.ThrottleActive["sw_thermal"] {
		t.Error("another card is held back too")
	}
}

func TestAnXID79TakesTheGPUUntilItIsHealed(t *testing.T) {
	s := machine(t, Training,
		Event{At: time.Hour, GPU: index(1), Kind: XID, XID: 79},
		Event{At: 2 * time.Hour, GPU: index(1), Kind: Heal})
	lost := s.At(start.Add(90 * time.Minute)).GPUs[1]
	if lost.Status.State != gpu.Lost || !lost.Status.Since.Equal(start.Add(time.Hour)) || lost.Status.Seconds[gpu.Lost] != 1800 {
		t.Errorf("status %+v, want lost for 1800 s since one hour", lost.Status)
	}
	if _, ok := lost.Readings.TemperatureCelsius.Get(); ok || lost.Identity.Serial == "" || lost.Readings.XIDs[79].Count != 1 {
		t.Errorf("a lost GPU keeps who it is and its XIDs, and has no readings: %+v", lost)
	}
	healed := s.At(start.Add(3 * time.Hour)).GPUs[1]
	if healed.Status.State != gpu.OK || healed.Status.Seconds[gpu.Lost] != 3600 {
		t.Errorf("status %+v, want ok, and 3600 s lost", healed.Status)
	}
	events := s.Events(start.Add(time.Minute), start.Add(3*time.Hour))
	if len(events) != 3 {
		t.Fatalf("events %+v, want the XID, the loss and the healing", events)
	}
	if code, _ := events[0].XID.Get(); code != 79 || events[1].To != gpu.Lost || events[2].To != gpu.OK || !events[2].At.Equal(start.Add(2*time.Hour)) {
		t.Errorf("events %+v", events)
	}
}

func TestAnUncorrectableErrorLeavesARemapPendingUntilTheReset(t *testing.T) {
	s := machine(t, Training, Event{At: time.Hour, GPU: index(0), Kind: ECCUncorrectable}, Event{At: 2 * time.Hour, GPU: index(0), Kind: Heal})
	before, after := s.At(start.Add(90 * time.Minute)).GPUs[0], s.At(start.Add(3 * time.Hour)).GPUs[0]
	dram := func(g gpu.GPU, counter string) float64 {
		return g.Readings.ECCErrors[gpu.ECCKey{Type: "uncorrected", Counter: counter, Location: "dram"}]
	}
	if pending, _ := before.Readings.RemapPending.Get(); !pending || dram(before, "volatile") != 1 || before.Readings.XIDs[94].Count != 1 {
		t.Errorf("before the reset: %+v", before.Readings)
	}
	if pending, _ := after.Readings.RemapPending.Get(); pending || dram(after, "volatile") != 0 || dram(after, "aggregate") != 1 || after.Readings.RemappedRows["uncorrectable"] != 1 {
		t.Errorf("after the reset: %+v", after.Readings)
	}
}

func TestAnUnresponsiveGPUCountsFromTheHangingCall(t *testing.T) {
	s := machine(t, Training, Event{At: time.Hour, GPU: index(0), Kind: Unresponsive})
	if g := s.At(start.Add(time.Hour + 30*time.Second)).GPUs[0]; g.Status.State != gpu.OK {
		t.Errorf("after 30 s the state is %s, want ok", g.Status.State)
	}
	g := s.At(start.Add(time.Hour + 2*time.Minute)).GPUs[0]
	if g.Status.State != gpu.Unresponsive || !g.Status.Since.Equal(start.Add(time.Hour)) {
		t.Errorf("status %+v, want unresponsive since one hour", g.Status)
	}
}

func TestASilentHostIsSilentAndNothingElse(t *testing.T) {
	s := machine(t, Training, Event{At: time.Hour, Kind: Silent, For: time.Hour}, Event{At: time.Hour, Host: "gpu-b7", Kind: DriverDown})
	for after, want := range map[time.Duration]bool{59 * time.Minute: false, 61 * time.Minute: true, 121 * time.Minute: false} {
		if got := s.Silent(start.Add(after)); got != want {
			t.Errorf("silent after %s: %v, want %v", after, got, want)
		}
	}
	if state := s.At(start.Add(90 * time.Minute)).GPUs[0].Status.State; state != gpu.OK {
		t.Errorf("an event of another host made this one %s", state)
	}
}

func TestCountersNeverFall(t *testing.T) {
	s := machine(t, Training, Event{At: 3 * time.Hour, GPU: index(0), Kind: ThermalThrottle, For: time.Hour}, Event{At: 5 * time.Hour, Kind: Idle, For: time.Hour})
	rapid.Check(t, func(t *rapid.T) {
		from := time.Duration(rapid.IntRange(0, 48*3600).Draw(t, "from")) * time.Second
		step := time.Duration(rapid.IntRange(1, 7200).Draw(t, "step")) * time.Second
		a, b := s.At(start.Add(from)).GPUs[0].Readings, s.At(start.Add(from + step)).GPUs[0].Readings
		x, _ := a.EnergyJoulesTotal.Get()
		y, _ := b.EnergyJoulesTotal.Get()
		if watts := (y - x) / step.Seconds(); watts < 60 || watts > 710 {
			t.Fatalf("between %s and %s the card drew %v W by its counter", from, from+step, watts)
		}
		for reason, seconds := range a.ThrottleSecondsTotal {
			if d := b.ThrottleSecondsTotal[reason] - seconds; d < 0 || d > step.Seconds()+1e-6 {
				t.Fatalf("%s grew by %v s in %s", reason, d, step)
			}
		}
	})
}

func TestTrainingKeepsAHostBusyAndUnusedDoesNot(t *testing.T) {
	for _, test := range []struct {
		profile   Profile
		low, high float64
	}{{Training, 0.75, 1}, {Inference, 0.25, 0.6}, {Sparse, 0.02, 0.4}, {Unused, 0, 0}} {
		s := machine(t, test.profile)
		sum, n := 0.0, 0
		for at := time.Duration(0); at < 20*24*time.Hour; at += 47 * time.Minute {
			sum, n = sum+value(t, s.At(start.Add(at)).GPUs[n%8].Readings.UtilizationRatio), n+1
		}
		if mean := sum / float64(n); mean < test.low || mean > test.high || math.IsNaN(mean) {
			t.Errorf("%s: mean utilisation %v, want %v to %v", test.profile, mean, test.low, test.high)
		}
	}
}

func TestRunTellsEventsWithTheirOwnTimes(t *testing.T) {
	var mu sync.Mutex
	now := start
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(10 * time.Second)
		return now
	}
	s, err := New(Config{Host: "a", GPUs: 1, Start: start, Seed: 1, Now: clock, Interval: time.Millisecond,
		Script: Script{{At: 25 * time.Second, GPU: index(0), Kind: Lost}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	events := make(chan gpu.Event, 10)
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, func(e gpu.Event) { events <- e }) }()
	e := <-events
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run returned %v at the end of its context", err)
	}
	if !e.At.Equal(start.Add(25*time.Second)) || e.To != gpu.Lost || e.From != gpu.OK {
		t.Errorf("event %+v, want ok to lost at 25 s", e)
	}
	if len(s.Snapshot().GPUs) != 1 {
		t.Error("the newest snapshot has no GPU")
	}
}

func TestWrongMachinesAreRefused(t *testing.T) {
	for _, c := range []Config{{GPUs: 0}, {GPUs: 65}, {Host: "a", GPUs: 2, Script: Script{{GPU: index(2), Kind: Lost}}}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}
