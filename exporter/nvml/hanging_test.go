//go:build linux && cgo

package nvml

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// hangs wants the driver to be said to hang in a call.
func hangs(call string) func(s *gpu.Snapshot) error {
	return func(s *gpu.Snapshot) error {
		if s.Driver.Call != call {
			return fmt.Errorf("driver is %+v, want it to hang in %q", s.Driver, call)
		}
		return nil
	}
}

// saidOnce wants lines of the log with the text, none of them twice. Under a hurried clock a call
// that is merely slow is one that hangs: it has a line of its own, with its own time.
func (m *machine) saidOnce(t *testing.T, text string) {
	t.Helper()
	said := map[string]int{}
	for _, line := range m.said.of(text) {
		_, what, _ := strings.Cut(line, " level=")
		said[what]++
	}
	if len(said) == 0 {
		t.Errorf("%q is not logged", text)
	}
	for what, times := range said {
		if times != 1 {
			t.Errorf("%q is logged %d times", what, times)
		}
	}
}

// Nobody can be asked: what is known of the cards stays, and they are down.
func TestADriverThatHangsFromItsStartIsDownForAllCardsAfterAMinute(t *testing.T) {
	for _, call := range []string{"nvmlInit_v2", "nvmlDeviceGetCount_v2"} {
		t.Run(call, func(t *testing.T) {
			inChild(t, fakenvml.H100x8().DeviceCount(2).Delay(call, fakenvml.Forever), func(t *testing.T, m *machine) {
				options := quick()
				options.Now = hurried(40)
				options.Known = before(gpu.OK, gpu.OK)
				m.start(t, options)
				m.wait(t, hangs(call))
				s := m.wait(t, all(2, gpu.DriverDown))
				for i := range 2 {
					status := find(t, s, h100(i)).Status
					if status.Call != call || !strings.Contains(status.Reason, call+" has not returned since") {
						t.Errorf("GPU %d does not name the call: %+v", i, status)
					}
					if lasted := s.At.Sub(status.Since); lasted < gpu.UnresponsiveAfter {
						t.Errorf("GPU %d is down for %s: the state does not count from the call's beginning", i, lasted)
					}
				}
				m.waitChanges(t, h100(1), "ok>unknown unknown>driver_down")
				m.wait(t, driver(gpu.DriverInitFailed, call+" has not returned since"))
				m.saidOnce(t, `msg="a driver call does not return" call=`+call)
				m.saidOnce(t, `msg=driver state=init_failed reason="`+call)
				m.change(t, func(s *fakenvml.Scenario) { s.Unset(call + ".delay_ms") })
				m.wait(t, all(2, gpu.OK))
				if s = m.wait(t, hangs("")); s.Driver.State != gpu.DriverOK || s.GPUs[0].Status.Call != "" {
					t.Errorf("driver is %+v, GPU 0 %+v", s.Driver, s.GPUs[0].Status)
				}
			})
		})
	}
}

// Cards that still answer are not down because their number cannot be had.
func TestACountThatHangsInMidRunIsSaidOnceAndCostsNoCard(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		options := quick()
		options.Now = hurried(40)
		m.start(t, options)
		m.wait(t, all(8, gpu.OK))
		m.change(t, func(s *fakenvml.Scenario) { s.Delay("nvmlDeviceGetCount_v2", fakenvml.Forever) })
		began := m.wait(t, hangs("nvmlDeviceGetCount_v2")).At
		s := m.wait(t, func(s *gpu.Snapshot) error {
			if s.At.Sub(began) < 3*gpu.UnresponsiveAfter {
				return fmt.Errorf("three minutes are not over")
			}
			return nil
		})
		if err := all(8, gpu.OK)(s); err != nil || s.Driver.State != gpu.DriverOK {
			t.Errorf("%v; driver is %+v", err, s.Driver)
		}
		m.saidOnce(t, `msg="a driver call does not return" call=nvmlDeviceGetCount_v2`)
		m.change(t, func(s *fakenvml.Scenario) { s.Unset("nvmlDeviceGetCount_v2.delay_ms") })
		m.wait(t, hangs(""))
	})
}
