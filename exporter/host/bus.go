//go:build linux

package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// NVIDIA's number on the PCI bus, and the class of display controllers, which GPUs without a
// display are of too.
const (
	vendorNVIDIA = "0x10de"
	classDisplay = "0x03"
)

// passthrough is the kernel driver that holds a PCI function for a virtual machine.
const passthrough = "vfio-pci"

// PassedThrough tells whether a PCI function was given to a virtual machine, by the sysfs at a
// path. One that no driver holds and that is meant for it is on its way there.
func PassedThrough(sys, address string) bool {
	device := filepath.Join(sys, "bus", "pci", "devices", address)
	switch linkName(device + "/driver") {
	case passthrough:
		return true
	case "":
		return line(device+"/driver_override") == passthrough
	}
	return false
}

// bus lists the GPUs that the PCI bus has, whether the driver answers for them or not. A bus
// may have hundreds of devices: each is asked once what it is.
type bus struct {
	*machine
	devices map[string]string // address -> device id of a GPU, "" for anything else
}

func (c *bus) read() (func(*gpu.Host), error) {
	entries, err := os.ReadDir(c.sysPath("bus", "pci", "devices"))
	if err != nil {
		return nil, absentIfMissing(err)
	}
	devices := make(map[string]string, len(entries))
	var found []gpu.PCIGPU
	for _, entry := range entries {
		address := entry.Name()
		id, known := c.devices[address]
		if !known {
			id = c.identify(address)
		}
		devices[address] = id
		if id == "" {
			continue
		}
		device := c.sysPath("bus", "pci", "devices", address)
		found = append(found, gpu.PCIGPU{PCIAddress: address, DeviceID: id, Driver: linkName(device + "/driver"), NUMANode: numaNode(device)})
	}
	c.devices = devices
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: no NVIDIA GPU on the PCI bus", errAbsent)
	}
	return func(h *gpu.Host) { h.PCIGPUs = found }, nil
}

// identify returns vendor and device of a GPU, "" for any other device.
func (c *bus) identify(address string) string {
	device := c.sysPath("bus", "pci", "devices", address)
	if line(device+"/vendor") != vendorNVIDIA || !strings.HasPrefix(line(device+"/class"), classDisplay) {
		return ""
	}
	return strings.TrimPrefix(vendorNVIDIA, "0x") + ":" + strings.TrimPrefix(line(device+"/device"), "0x")
}
