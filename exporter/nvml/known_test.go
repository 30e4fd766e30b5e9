//go:build linux && cgo

package nvml

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// before is what an exporter knew of the host h100x8 a while ago, each GPU in this state.
func before(states ...gpu.State) *gpu.Snapshot {
	then := time.Now().Add(-time.Minute).Truncate(time.Millisecond)
	s := &gpu.Snapshot{At: then, Driver: gpu.Driver{State: gpu.DriverOK, Version: "580.65.06", CUDAVersion: "13.0", NVMLVersion: "13.580.65.06", Listed: len(states)}}
	for i, state := range states {
		s.GPUs = append(s.GPUs, gpu.GPU{
			Identity: gpu.Identity{Index: i, UUID: h100(i), Serial: fmt.Sprintf("165132400000%d", i), PCIAddress: fmt.Sprintf("0000:0%d:00.0", i)},
			Status:   gpu.Status{State: state, Since: then.Add(-time.Hour), Until: then, Reason: "as told then", Seconds: map[gpu.State]float64{state: 3600}},
			Readings: gpu.Readings{At: then, XIDs: map[uint64]gpu.XID{79: {Count: 1, Last: then}}},
		})
	}
	return s
}

// changes returns the changes of a GPU that were told.
func (m *machine) changes(uuid string) string {
	var changes []string
	for _, e := range m.told() {
		if e.GPU.UUID == uuid && e.From != e.To {
			changes = append(changes, string(e.From)+">"+string(e.To))
		}
	}
	return strings.Join(changes, " ")
}

// waitChanges waits until these changes of a GPU were told. A snapshot with a change may be
// there before the change is told.
func (m *machine) waitChanges(t *testing.T, uuid, want string) {
	t.Helper()
	m.wait(t, func(*gpu.Snapshot) error {
		if got := m.changes(uuid); got != want {
			return fmt.Errorf("of GPU %s was told %q, want %q", uuid, got, want)
		}
		return nil
	})
}

func TestAGPUThatIsMissingAfterARestartIsLost(t *testing.T) {
	inChild(t, fakenvml.H100x8().Order(0, 1, 3), func(t *testing.T, m *machine) {
		options := quick()
		options.Known = before(gpu.OK, gpu.Lost, gpu.OK, gpu.Lost)
		then := options.Known.At
		m.start(t, options)
		s := m.wait(t, one(h100(2), gpu.Lost))
		m.waitChanges(t, h100(2), "ok>unknown unknown>lost")
		missing := find(t, s, h100(2))
		if missing.Identity.Serial != "1651324000002" || missing.Readings.XIDs[79].Count != 1 || !missing.Readings.At.Equal(then) {
			t.Errorf("the missing GPU is %+v, read at %s, with XIDs %v", missing.Identity, missing.Readings.At, missing.Readings.XIDs)
		}
		if missing.Status.Seconds[gpu.OK] != 3600 || missing.Status.Seconds[gpu.Unknown] < 60 {
			t.Errorf("the missing GPU's time is %v", missing.Status.Seconds)
		}
		for _, e := range m.told() {
			if e.GPU.UUID == h100(2) && e.To == gpu.Unknown && !e.Since.Equal(then) {
				t.Errorf("the missing GPU is unknown since %s, the exporter last knew at %s", e.Since, then)
			}
		}
		// The others were found again, and one that was lost before is not any more.
		m.waitChanges(t, h100(1), "lost>ok")
		if len(s.GPUs) != 4 || s.Driver.Changes != 0 {
			t.Errorf("%d GPUs, %d changes of the driver", len(s.GPUs), s.Driver.Changes)
		}
	})
}

func TestAGPUThatWasLostStaysLostOverARestart(t *testing.T) {
	s := fakenvml.H100x8().DeviceCount(4)
	s.GPU(2).Return("nvmlDeviceGetHandleByIndex_v2", fakenvml.GPUIsLost) // it cannot say who it is any more
	inChild(t, s, func(t *testing.T, m *machine) {
		options := quick()
		options.Known = before(gpu.OK, gpu.OK, gpu.Lost, gpu.OK)
		m.start(t, options)
		s := m.wait(t, one(h100(2), gpu.Lost))
		m.wait(t, func(s *gpu.Snapshot) error {
			if reason := find(t, s, h100(2)).Status.Reason; !strings.Contains(reason, "GPU is lost") {
				return fmt.Errorf("reason is %q", reason)
			}
			return nil
		})
		lost := find(t, s, h100(2))
		if since := options.Known.GPUs[2].Status.Since; len(s.GPUs) != 4 || !lost.Status.Since.Equal(since) {
			t.Errorf("%d GPUs; lost since %s, want %s", len(s.GPUs), lost.Status.Since, since)
		}
		if got := m.changes(h100(2)); got != "" {
			t.Errorf("of the lost GPU was told %q", got)
		}
	})
}

func TestWhatIsKnownIsShownBeforeTheDriverAnswers(t *testing.T) {
	inChild(t, fakenvml.H100x8().Delay("nvmlInit_v2", fakenvml.Forever), func(t *testing.T, m *machine) {
		options := quick()
		options.Known = before(gpu.OK, gpu.ResetRequired)
		m.start(t, options)
		s := m.reader.Snapshot()
		if err := one(h100(0), gpu.Unknown)(&gpu.Snapshot{GPUs: s.GPUs[:1]}); err != nil {
			t.Error(err) // that it works nobody knows
		}
		if err := one(h100(1), gpu.ResetRequired)(&gpu.Snapshot{GPUs: s.GPUs[1:]}); err != nil {
			t.Error(err)
		}
		m.change(t, func(s *fakenvml.Scenario) { s.Unset("nvmlInit_v2.delay_ms").DeviceCount(2) })
		m.wait(t, all(2, gpu.OK))
	})
}

// An exporter that was started anew: what the driver tells again was counted already.
func TestAnXIDToldAgainAfterARestartIsNotCountedAgain(t *testing.T) {
	s := fakenvml.H100x8().DeviceCount(2).Set("events_replay", 1).Event(0, 79).Event(1, 48)
	inChild(t, s, func(t *testing.T, m *machine) {
		options := quick()
		options.Known = before(gpu.OK, gpu.OK)
		m.start(t, options)
		if err := counted(0, 79, 1)(m.wait(t, counted(1, 48, 1))); err != nil {
			t.Error(err)
		}
		m.waitTold(t, "[48]") // this one happened while the exporter did not run
	})
}

func TestAnUpgradeOfTheDriverWhileTheExporterDidNotRunIsCounted(t *testing.T) {
	inChild(t, fakenvml.H100x8().DeviceCount(1).Set("driver.version", "580.82.07"), func(t *testing.T, m *machine) {
		options := quick()
		options.Known = before(gpu.OK)
		m.start(t, options)
		s := m.wait(t, all(1, gpu.OK))
		if s.Driver.Changes != 1 || s.Driver.Version != "580.82.07" {
			t.Errorf("driver is %+v", s.Driver)
		}
	})
}
