//go:build linux

package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/procfs/sysfs"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// physical picks the interfaces with a device behind them, without the virtual functions that
// are handed to guests. Where there is none, as in most containers, it picks all but the
// loopback.
func (m *machine) physical(names []string) []string {
	slices.Sort(names)
	physical := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, device := os.Lstat(m.sysPath("class", "net", name, "device"))
		_, function := os.Lstat(m.sysPath("class", "net", name, "device", "physfn"))
		return device != nil || function == nil
	})
	if len(physical) > 0 {
		return physical
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "lo" })
}

// readLinks tells what the interfaces are and how their links do.
func (m *machine) readLinks() (func(*gpu.Host), error) {
	sys, err := m.sys()
	if err != nil {
		return nil, err
	}
	names, err := sys.NetClassDevices()
	if err != nil {
		return nil, err
	}
	var found []gpu.Link
	var failed []error
	for _, name := range m.physical(names) {
		class, err := m.class(name)
		if err != nil {
			failed = append(failed, fmt.Errorf("interface %s: %w", name, err))
			continue
		}
		device := m.sysPath("class", "net", name, "device")
		l := gpu.Link{
			Device: name, Address: class.Address, Driver: linkName(filepath.Join(device, "driver")),
			PCIAddress: pciAddress(device), NUMANode: numaNode(device),
			MTU: present(class.MTU), Changes: present(class.CarrierChanges),
		}
		if class.Speed != nil && *class.Speed > 0 { // -1, or nothing, where there is no link
			l.BytesPerSec = gpu.Some(float64(*class.Speed) * 1e6 / 8)
		}
		if class.Carrier != nil {
			l.Carrier = gpu.Some(*class.Carrier == 1)
		} else if class.OperState == "down" { // an interface that is switched off does not tell
			l.Carrier = gpu.Some(false)
		}
		found = append(found, l)
	}
	return func(h *gpu.Host) { h.Links = found }, errors.Join(failed...)
}

// class reads what is told of an interface, and no more: some of its other files ask the
// adapter, which takes milliseconds.
func (m *machine) class(name string) (sysfs.NetClassIface, error) {
	var class sysfs.NetClassIface
	for _, attribute := range []string{"address", "carrier", "carrier_changes", "mtu", "operstate", "speed"} {
		if err := sysfs.ParseNetClassAttribute(m.sysPath("class", "net", name), attribute, &class); err != nil {
			return class, err
		}
	}
	return class, nil
}

// pciAddress is the place on the PCI bus that a device's link leads to, "" for any other bus.
func pciAddress(device string) string {
	name := linkName(device)
	if strings.Count(name, ":") == 2 && strings.Contains(name, ".") {
		return name
	}
	return ""
}
