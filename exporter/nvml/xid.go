//go:build linux && cgo

package nvml

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// maxStrangers bounds the reports of XIDs that wait for a card of their address.
const maxStrangers = 256

// ReportXID takes what another witness than the driver's events saw. It may be called from
// any goroutine, and before the card has said its address: the report waits for that.
func (r *Reader) ReportXID(report gpu.XIDReport) {
	address, ok := gpu.PCIAddress(report.PCIAddress)
	if !ok {
		r.options.Logger.Warn("an XID of no PCI address", slog.Uint64("xid", report.Code), slog.String("address", report.PCIAddress))
		return
	}
	report.PCIAddress = address
	r.mu.Lock()
	card := r.at(address)
	if card == nil {
		if len(r.strangers) == maxStrangers {
			r.strangers = slices.Delete(r.strangers, 0, 1)
		}
		r.strangers = append(r.strangers, report)
		r.count(report)
	}
	r.mu.Unlock()
	if card == nil {
		// At the start the log is read before any card has said its address.
		r.options.Logger.Debug("an XID waits for the card of its address", slog.Uint64("xid", report.Code), slog.String("pci_address", address))
		return
	}
	r.see(card, report)
}

// at returns the card at a PCI address: of those that were ever seen there, the one that a
// slot is bound to, else the newest. The Reader's lock must be held.
func (r *Reader) at(address string) *card {
	for _, s := range r.slots {
		if s.card != nil && s.card.identity.PCIAddress == address {
			return s.card
		}
	}
	for _, c := range slices.Backward(r.cards) {
		if c.identity.PCIAddress == address {
			return c
		}
	}
	return nil
}

// introduce hands over what was reported of a card's address before the card said it.
func (r *Reader) introduce(c *card) {
	r.mu.Lock()
	var mine []gpu.XIDReport
	r.strangers = slices.DeleteFunc(r.strangers, func(report gpu.XIDReport) bool {
		if report.PCIAddress != c.identity.PCIAddress {
			return false
		}
		mine = append(mine, report)
		return true
	})
	maps.DeleteFunc(r.unclaimed, func(key gpu.StrangerXID, _ unclaimed) bool { return key.PCIAddress == c.identity.PCIAddress })
	r.mu.Unlock()
	for _, report := range mine {
		r.see(c, report)
	}
}

// seeXID takes an XID that a witness saw at a time that is sure.
func (r *Reader) seeXID(c *card, witness gpu.Witness, code uint64, at time.Time) {
	r.see(c, gpu.XIDReport{Witness: witness, Code: code, At: at})
}

// see counts an XID that was not known yet, passes it on, and has the card asked at once,
// errors and links too. What happened before the exporter began to look is counted only.
func (r *Reader) see(c *card, report gpu.XIDReport) {
	code, at := report.Code, report.At
	r.emitting.Lock()
	defer r.emitting.Unlock()
	if r.stopped {
		return
	}
	r.mu.Lock()
	fresh := c.xids.ReportWithin(report.Witness, code, at, report.Within)
	identity, count := c.identity, c.xids.Seen()[code].Count
	if fresh {
		for _, s := range r.slots {
			if s.card == c {
				s.urgent.Store(true)
				signal(s.wake)
			}
		}
	}
	r.mu.Unlock()
	if !fresh {
		return
	}
	r.publish()
	r.options.Logger.Warn("XID", slog.Uint64("xid", code), slog.Int("gpu", identity.Index), slog.String("uuid", identity.UUID),
		slog.String("witness", string(report.Witness)), slog.Time("at", at))
	if r.emit == nil || at.Before(r.start) {
		return
	}
	r.emit(gpu.Event{At: at, GPU: identity, XID: gpu.Some(code), XIDCount: count, Reason: fmt.Sprintf("XID %d", code)})
}
