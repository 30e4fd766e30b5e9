package catalog

import "github.com/leasewatch/leasewatch/exporter/gpu"

const rdmaSource = "/sys/class/infiniband"

// ports walks over the ports of all RDMA devices.
func ports(get func(p *gpu.InfiniBandPort, emit func(value float64, own ...string))) func(*gpu.Snapshot, Emit) {
	return ofHost(func(h *gpu.Host, emit Emit) {
		for i := range h.InfiniBand {
			device := &h.InfiniBand[i]
			for j := range device.Ports {
				p := &device.Ports[j]
				get(p, func(value float64, own ...string) { emit(value, append([]string{device.Device, p.Port}, own...)...) })
			}
		}
	})
}

// portState is a state set; a word that the list does not have is one state more.
func portState(states []string, get func(*gpu.InfiniBandPort) string) func(*gpu.Snapshot, Emit) {
	return ports(func(p *gpu.InfiniBandPort, emit func(float64, ...string)) {
		known := false
		for _, state := range states {
			emit(number(get(p) == state), state)
			known = known || get(p) == state
		}
		if !known {
			emit(1, get(p))
		}
	})
}

func portEach(get func(*gpu.InfiniBandPort) map[string]float64) func(*gpu.Snapshot, Emit) {
	return ports(func(p *gpu.InfiniBandPort, emit func(float64, ...string)) {
		values := get(p)
		for _, key := range sortedKeys(values) {
			emit(values[key], key)
		}
	})
}

// infiniBandFamilies tell of RDMA ports, of InfiniBand and of RoCE alike.
func infiniBandFamilies() []Family {
	port := []string{"device", "port"}
	with := func(more string) []string { return []string{"device", "port", more} }
	families := []Family{
		{
			Name: "host_infiniband_info", Kind: Info, Labels: []string{"device", "board", "firmware", "hca_type", "node_guid", "pci_address", "numa_node"},
			Help: "An RDMA device: what it is and where it sits.", Source: rdmaSource,
			Host: ofHost(func(h *gpu.Host, emit Emit) {
				for _, d := range h.InfiniBand {
					emit(1, d.Device, d.Board, d.Firmware, d.HCAType, d.NodeGUID, d.PCIAddress, d.NUMANode)
				}
			}),
		},
		{
			Name: "host_infiniband_port_info", Kind: Info, Labels: with("link_layer"),
			Help: "A port, and what it runs on: InfiniBand, or Ethernet for RoCE.", Source: rdmaSource,
			Host: ports(func(p *gpu.InfiniBandPort, emit func(float64, ...string)) { emit(1, p.LinkLayer) }),
		},
		{
			Name: "host_infiniband_port_state", Kind: StateSet, Labels: with("state"),
			Help: "State of the port: 1 for the present one, 0 for the others. Work needs active.", Source: rdmaSource,
			Host: portState(gpu.InfiniBandStates, func(p *gpu.InfiniBandPort) string { return p.State }),
		},
		{
			Name: "host_infiniband_port_physical_state", Kind: StateSet, Labels: with("state"),
			Help: "State of the port's link: 1 for the present one, 0 for the others. Polling is a port without a peer.", Source: rdmaSource,
			Host: portState(gpu.InfiniBandPhysicalStates, func(p *gpu.InfiniBandPort) string { return p.PhysicalState }),
		},
		{
			Name: "host_infiniband_rate_bytes_per_second", Kind: Gauge, Unit: "bytes_per_second", Labels: port,
			Help: "Rate that the port's link negotiated.", Source: rdmaSource,
			Host: ports(func(p *gpu.InfiniBandPort, emit func(float64, ...string)) { emit(p.BytesPerSec) }),
		},
		{
			Name: "host_infiniband_errors_total", Kind: Counter, Labels: with("type"),
			Help:   "Errors of the port by type: those of the link (symbol, link_recovery, link_downed, ...), of packets (receive, transmit_discards, ...) and of the transport (out_of_sequence, local_ack_timeout, ...).",
			Source: rdmaSource, Hardware: "the transport's on Mellanox and NVIDIA adapters",
			Host: portEach(func(p *gpu.InfiniBandPort) map[string]float64 { return p.Errors }),
		},
		{
			Name: "host_infiniband_congestion_packets_total", Kind: Counter, Labels: with("type"),
			Help:   "Packets of RoCE's congestion control: ecn_marked received, cnp_sent for them, cnp_handled and cnp_ignored by the sender.",
			Source: rdmaSource, Hardware: "RoCE on Mellanox and NVIDIA adapters",
			Host: portEach(func(p *gpu.InfiniBandPort) map[string]float64 { return p.Congestion }),
		},
		{
			Name: "host_infiniband_transmit_wait_total", Kind: Counter, Labels: port,
			Help:   "Ticks in which the port had data and could not send it for want of credits. How long a tick is depends on the adapter.",
			Source: rdmaSource, Hardware: "InfiniBand",
			Host: ports(func(p *gpu.InfiniBandPort, emit func(float64, ...string)) {
				if v, ok := p.TransmitWait.Get(); ok {
					emit(v)
				}
			}),
		},
	}
	for _, way := range []struct{ key, verb string }{{"receive", "received"}, {"transmit", "sent"}} {
		for _, what := range []struct{ key, unit, help string }{
			{"bytes", "bytes", "Bytes " + way.verb + ": the port's words times four."},
			{"packets", "", "Packets " + way.verb + "."},
		} {
			key := gpu.NetworkCounter{Way: way.key, What: what.key}
			families = append(families, Family{
				Name: "host_infiniband_" + way.key + "_" + what.key + "_total", Kind: Counter, Unit: what.unit, Labels: port,
				Help: what.help, Source: rdmaSource,
				Host: ports(func(p *gpu.InfiniBandPort, emit func(float64, ...string)) {
					if v, ok := p.Traffic[key]; ok {
						emit(v)
					}
				}),
			})
		}
	}
	return families
}
