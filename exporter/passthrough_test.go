package exporter_test

import (
	"testing"

	"github.com/leasewatch/leasewatch/exporter/fakehost"
	"github.com/leasewatch/leasewatch/exporter/fakenvml"
)

// What sysfs says of the card's PCI function decides, and the flag whether it is asked.
func TestACardBoundToVFIOIsReleasedOnThePage(t *testing.T) {
	for state, args := range map[string][]string{"released": nil, "lost": {"--no-release.vfio"}} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			host, around := fakenvml.Install(t, fakenvml.H100x8()), fakehost.H100(t)
			p := startProgram(t, host.Env(), append(append(around.Flags(), "--no-collector.kmsg", "--no-collector.host"), args...)...)
			eventually(t, "all GPUs were read", func() bool { return readingsOf(p.page(t)) == 8 })
			around.Remove(t, "sys/bus/pci/devices/0000:61:00.0/driver")
			around.Write(t, "sys/bus/pci/devices/0000:61:00.0/driver", "-> ../../drivers/vfio-pci")
			host.Update(t, func(s *fakenvml.Scenario) { s.Order(0, 1, 2, 4, 5, 6, 7) })
			eventually(t, "the card is "+state, func() bool { return stateOf(p.page(t), uuidOf("3")) == state })
			if got := stateOf(p.page(t), uuidOf("4")); got != "ok" {
				t.Errorf("the next card is %s", got)
			}
		})
	}
}
