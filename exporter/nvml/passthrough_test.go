//go:build linux && cgo

package nvml

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// given says that GPU 2 of h100x8 is with a virtual machine, while it is set.
type given struct{ atomic.Bool }

func (g *given) at(address string) bool { return g.Load() && address == "0000:52:00.0" }

// As libvirt detaches a card by itself: nobody told the exporter.
func TestACardThatWasPassedThroughWithoutARelease(t *testing.T) {
	t.Run("is_released_while_it_is_away_and_ok_when_it_is_back", func(t *testing.T) {
		inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
			var away given
			options := quick()
			options.PassedThrough = away.at
			m.start(t, options)
			m.wait(t, all(8, gpu.OK))
			away.Store(true)
			m.change(t, func(s *fakenvml.Scenario) { s.Order(0, 1, 3, 4, 5, 6, 7) })
			m.wait(t, one(h100(2), gpu.Released))
			// Another one that is no longer listed is lost all the same.
			m.change(t, func(s *fakenvml.Scenario) { s.Order(0, 1, 3, 5, 6, 7) })
			s := m.wait(t, func(s *gpu.Snapshot) error {
				if find(t, s, h100(4)).Status.State != gpu.Lost {
					return errors.New("GPU 4 is not lost")
				}
				return nil
			})
			if got := find(t, s, h100(2)).Status; got.State != gpu.Released || got.Reason != passedReason {
				t.Errorf("the card is %+v", got)
			}
			m.change(t, func(s *fakenvml.Scenario) { s.DeviceCount(8) })
			m.wait(t, all(8, gpu.OK))
			away.Store(false)
			m.waitChanges(t, h100(2), "unknown>ok ok>released released>ok")
		})
	})
	t.Run("is_lost_once_the_machine_has_let_go_of_it_and_the_driver_does_not_list_it", func(t *testing.T) {
		inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
			var away given
			options := quick()
			options.PassedThrough = away.at
			m.start(t, options)
			m.wait(t, all(8, gpu.OK))
			away.Store(true)
			m.change(t, func(s *fakenvml.Scenario) { s.Order(0, 1, 3, 4, 5, 6, 7) })
			m.wait(t, one(h100(2), gpu.Released))
			away.Store(false)
			m.wait(t, one(h100(2), gpu.Lost))
		})
	})
	t.Run("is_released_after_a_restart_and_asked_again_when_it_is_back", func(t *testing.T) {
		inChild(t, fakenvml.H100x8().Order(0, 1, 3), func(t *testing.T, m *machine) {
			var away given
			away.Store(true)
			options := quick()
			options.PassedThrough = away.at
			options.Known = before(gpu.OK, gpu.OK, gpu.Released, gpu.OK)
			options.Known.GPUs[2].Status.Reason = passedReason
			options.Known.GPUs[2].Identity.PCIAddress = "0000:52:00.0"
			m.start(t, options)
			m.wait(t, one(h100(2), gpu.Released))
			m.change(t, func(s *fakenvml.Scenario) { s.DeviceCount(4) })
			m.wait(t, all(4, gpu.OK))
		})
	})
	t.Run("is_not_down_with_the_driver", func(t *testing.T) {
		inChild(t, fakenvml.H100x8().Return("nvmlInit_v2", fakenvml.DriverNotLoaded), func(t *testing.T, m *machine) {
			var away given
			away.Store(true)
			options := quick()
			options.PassedThrough = away.at
			options.Known = before(gpu.OK, gpu.OK, gpu.OK)
			options.Known.GPUs[2].Identity.PCIAddress = "0000:52:00.0"
			m.start(t, options)
			m.wait(t, func(s *gpu.Snapshot) error { return all(2, gpu.DriverDown)(&gpu.Snapshot{GPUs: s.GPUs[:2]}) })
			m.wait(t, func(s *gpu.Snapshot) error { return all(1, gpu.Released)(&gpu.Snapshot{GPUs: s.GPUs[2:]}) })
		})
	})
}
