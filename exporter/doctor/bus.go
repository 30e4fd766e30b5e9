package doctor

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// OnBus is an NVIDIA GPU that the kernel sees on the PCI bus.
type OnBus struct {
	Address string // "0000:1b:00.0"
	Driver  string // the kernel driver bound to it, "" for none
}

// ReadBus lists the NVIDIA GPUs of a sysfs, by address.
func ReadBus(sys fs.FS) ([]OnBus, error) {
	const devices = "bus/pci/devices"
	entries, err := fs.ReadDir(sys, devices)
	if err != nil {
		return nil, err
	}
	var found []OnBus
	for _, entry := range entries {
		at := path.Join(devices, entry.Name())
		// Vendor NVIDIA; class display controller, VGA or 3D.
		if class := read(sys, at, "class"); read(sys, at, "vendor") != "0x10de" || !strings.HasPrefix(class, "0x0300") && !strings.HasPrefix(class, "0x0302") {
			continue
		}
		card := OnBus{Address: entry.Name()}
		if link, err := fs.ReadLink(sys, path.Join(at, "driver")); err == nil {
			card.Driver = path.Base(link)
		}
		found = append(found, card)
	}
	return found, nil
}

func read(sys fs.FS, dir, name string) string {
	raw, err := fs.ReadFile(sys, path.Join(dir, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// Bus compares what the driver lists with what the kernel sees on the bus.
func Bus(sys fs.FS, s *gpu.Snapshot) []Finding {
	found, err := ReadBus(sys)
	if err != nil {
		return []Finding{ok("bus", "cannot be read: %v", err).but(Note, "give the container the host's /sys to compare the driver's list with the bus")}
	}
	if len(found) == 0 {
		f := ok("bus", "shows no NVIDIA GPU")
		if len(s.GPUs) > 0 {
			return []Finding{f.but(Note, "")} // a container's or a guest's view
		}
		return []Finding{f.but(Warn, "no card sits in this host, or it is not powered or has fallen off: compare lspci with what was bought")}
	}
	listed := map[string]bool{}
	for i := range s.GPUs {
		listed[strings.ToLower(s.GPUs[i].Identity.PCIAddress)] = true
	}
	missing := slices.DeleteFunc(slices.Clone(found), func(c OnBus) bool { return listed[strings.ToLower(c.Address)] })
	if len(missing) == 0 {
		return []Finding{ok("bus", "the driver lists all %d NVIDIA GPUs on it", len(found))}
	}
	var findings []Finding
	for _, c := range missing {
		findings = append(findings, unlisted(c))
	}
	return findings
}

// unlisted judges a card on the bus that the driver does not list.
func unlisted(c OnBus) Finding {
	switch c.Driver {
	case "nvidia":
		return ok("bus", "%s is bound to the driver and not listed by it", c.Address).but(Warn,
			"read dmesg for NVRM lines of this address; in a container, give it this GPU too")
	case "vfio-pci":
		return ok("bus", "%s is bound to vfio-pci: passed through to a virtual machine", c.Address).but(Note,
			"run an exporter with --vantage=guest inside the machine to see it")
	case "":
		return ok("bus", "%s has no kernel driver", c.Address).but(Warn, "load the nvidia module; see whether its version knows this card")
	default:
		return ok("bus", "%s is bound to %s", c.Address, c.Driver).but(Warn, "unbind it and let the nvidia module have it")
	}
}
