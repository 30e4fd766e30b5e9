package catalog

import "github.com/leasewatch/leasewatch/exporter/gpu"

// link is one number of each interface that may be absent.
func link(get func(*gpu.Link) gpu.Maybe[float64]) func(*gpu.Snapshot, Emit) {
	return ofHost(func(h *gpu.Host, emit Emit) {
		for i := range h.Links {
			if v, ok := get(&h.Links[i]).Get(); ok {
				emit(v, h.Links[i].Device)
			}
		}
	})
}

// networkFamilies tell of physical interfaces; where there is none, as in most containers,
// of all but the loopback.
func networkFamilies() []Family {
	device := []string{"device"}
	families := []Family{
		{
			Name: "host_network_info", Kind: Info, Labels: []string{"device", "address", "driver", "pci_address", "numa_node"},
			Help: "A network interface: its MAC, kernel driver and place.", Source: "/sys/class/net",
			Host: ofHost(func(h *gpu.Host, emit Emit) {
				for _, n := range h.Links {
					emit(1, n.Device, n.Address, n.Driver, n.PCIAddress, n.NUMANode)
				}
			}),
		},
		{
			Name: "host_network_carrier", Kind: Gauge, Labels: device,
			Help: "1 where the link has a carrier.", Source: "/sys/class/net/*/carrier",
			Host: ofHost(func(h *gpu.Host, emit Emit) {
				for _, n := range h.Links {
					if v, ok := n.Carrier.Get(); ok {
						emit(number(v), n.Device)
					}
				}
			}),
		},
		{
			Name: "host_network_carrier_changes_total", Kind: Counter, Labels: device,
			Help: "How often the carrier came or went since boot.", Source: "/sys/class/net/*/carrier_changes",
			Host: link(func(n *gpu.Link) gpu.Maybe[float64] { return n.Changes }),
		},
		{
			Name: "host_network_speed_bytes_per_second", Kind: Gauge, Unit: "bytes_per_second", Labels: device,
			Help: "Rate that the link negotiated.", Source: "/sys/class/net/*/speed", Hardware: "interfaces that tell it; virtual ones often do not",
			Host: link(func(n *gpu.Link) gpu.Maybe[float64] { return n.BytesPerSec }),
		},
		{
			Name: "host_network_mtu_bytes", Kind: Gauge, Unit: "bytes", Labels: device,
			Help: "Largest packet of the interface.", Source: "/sys/class/net/*/mtu",
			Host: link(func(n *gpu.Link) gpu.Maybe[float64] { return n.MTU }),
		},
	}
	for _, way := range []struct{ key, verb string }{{"receive", "received"}, {"transmit", "sent"}} {
		for _, what := range []struct{ key, unit, help string }{
			{"bytes", "bytes", "Bytes " + way.verb + "."},
			{"packets", "", "Packets " + way.verb + "."},
			{"errors", "", "Packets that could not be " + way.verb + " because of an error."},
			{"drops", "", "Packets dropped that should have been " + way.verb + "."},
		} {
			key := gpu.NetworkCounter{Way: way.key, What: what.key}
			families = append(families, Family{
				Name: "host_network_" + way.key + "_" + what.key + "_total", Kind: Counter, Unit: what.unit, Labels: device,
				Help: what.help, Source: "/proc/net/dev",
				Host: ofHost(func(h *gpu.Host, emit Emit) {
					for _, n := range h.Networks {
						if v, ok := n.Counters[key]; ok {
							emit(v, n.Device)
						}
					}
				}),
			})
		}
	}
	return families
}
