//go:build linux

package host

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs/sysfs"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// readInfiniBand reads each RDMA device by itself: one that does not answer hides no other.
func (m *machine) readInfiniBand() (func(*gpu.Host), error) {
	sys, err := m.sys()
	if err != nil {
		return nil, err
	}
	names, err := sys.InfiniBandClassDevices()
	if err != nil {
		return nil, absentIfMissing(err)
	}
	slices.Sort(names)
	var found []gpu.InfiniBand
	var failed []error
	for _, name := range names {
		read, err := sys.InfiniBandDevice(name)
		if err != nil {
			failed = append(failed, fmt.Errorf("RDMA device %s: %w", name, err))
			continue
		}
		device := m.sysPath("class", "infiniband", name, "device")
		d := gpu.InfiniBand{
			Device: name, Board: read.BoardID, Firmware: read.FirmwareVersion, HCAType: read.HCAType, NodeGUID: read.NodeGUID,
			PCIAddress: pciAddress(device), NUMANode: numaNode(device),
		}
		for _, p := range read.Ports {
			d.Ports = append(d.Ports, port(p))
		}
		slices.SortFunc(d.Ports, func(a, b gpu.InfiniBandPort) int { return cmp.Compare(a.Port, b.Port) })
		found = append(found, d)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: no RDMA device", errAbsent)
	}
	return func(h *gpu.Host) { h.InfiniBand = found }, errors.Join(failed...)
}

func port(p sysfs.InfiniBandPort) gpu.InfiniBandPort {
	c, hw := p.Counters, p.HwCounters
	out := gpu.InfiniBandPort{
		Port: strconv.FormatUint(uint64(p.Port), 10), LinkLayer: p.LinkLayer,
		State: strings.ToLower(p.State), PhysicalState: physicalState(p.PhysStateID, p.PhysState), BytesPerSec: float64(p.Rate),
		Traffic: map[gpu.NetworkCounter]float64{}, Errors: map[string]float64{}, Congestion: map[string]float64{},
		TransmitWait: present(c.PortXmitWait),
	}
	put(out.Traffic, gpu.NetworkCounter{Way: "receive", What: "bytes"}, cmp.Or(c.PortRcvData, c.LegacyPortRcvData64))
	put(out.Traffic, gpu.NetworkCounter{Way: "transmit", What: "bytes"}, cmp.Or(c.PortXmitData, c.LegacyPortXmitData64))
	put(out.Traffic, gpu.NetworkCounter{Way: "receive", What: "packets"}, cmp.Or(c.PortRcvPackets, c.LegacyPortRcvPackets64))
	put(out.Traffic, gpu.NetworkCounter{Way: "transmit", What: "packets"}, cmp.Or(c.PortXmitPackets, c.LegacyPortXmitPackets64))
	for kind, counter := range map[string]*uint64{
		"symbol": c.SymbolError, "link_recovery": c.LinkErrorRecovery, "link_downed": c.LinkDowned,
		"local_link_integrity": c.LocalLinkIntegrityErrors, "excessive_buffer_overrun": c.ExcessiveBufferOverrunErrors,
		"receive": c.PortRcvErrors, "receive_remote_physical": c.PortRcvRemotePhysicalErrors,
		"receive_switch_relay": c.PortRcvSwitchRelayErrors, "receive_constraint": c.PortRcvConstraintErrors,
		"receive_discards": c.PortRcvDiscards, "transmit_discards": c.PortXmitDiscards,
		"transmit_constraint": c.PortXmitConstraintErrors, "vl15_dropped": c.VL15Dropped,
		"out_of_buffer": hw.OutOfBuffer, "out_of_sequence": hw.OutOfSequence, "packet_sequence": hw.PacketSeqErr,
		"implied_nak_sequence": hw.ImpliedNakSeqErr, "duplicate_request": hw.DuplicateRequest,
		"local_ack_timeout": hw.LocalAckTimeoutErr, "rnr_nak_retry": hw.RnrNakRetryErr,
		"request_cqe": hw.ReqCqeError, "response_cqe": hw.RespCqeError, "response_local_length": hw.RespLocalLengthError,
		"request_remote_access": hw.ReqRemoteAccessErrors, "response_remote_access": hw.RespRemoteAccessErrors,
		"request_remote_invalid": hw.ReqRemoteInvalidRequest,
		"roce_retransmit":        hw.RoceAdpRetrans, "roce_retransmit_timeout": hw.RoceAdpRetransTo, "roce_slow_restart": hw.RoceSlowRestart,
	} {
		put(out.Errors, kind, counter)
	}
	for kind, counter := range map[string]*uint64{
		"ecn_marked": hw.NpEcnMarkedRocePackets, "cnp_sent": hw.NpCnpSent, "cnp_handled": hw.RpCnpHandled, "cnp_ignored": hw.RpCnpIgnored,
	} {
		put(out.Congestion, kind, counter)
	}
	return out
}

// physicalState is the page's word for the kernel's number, or the kernel's own word for a
// number that the page does not know.
func physicalState(id uint, word string) string {
	if id < uint(len(gpu.InfiniBandPhysicalStates)) {
		return gpu.InfiniBandPhysicalStates[id]
	}
	return word
}
