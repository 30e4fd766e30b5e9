package metering

import "github.com/leasewatch/leasewatch/internal/rental"

// kept returns the records of one hour of a card with the use that was measured before, where the
// store tells nothing of it any more: samples end by their retention or are lost with a disk, and
// metering such an hour again, as a change in the lease's past asks for, must not turn measured
// use into time that nobody measured. What the ledger itself knows, the classes of time, is told anew.
func kept(now, before []rental.UsageRecord) []rental.UsageRecord {
	for i, r := range now {
		for _, b := range before {
			if b.Span == r.Span && b.AllocatedMS == r.AllocatedMS && measured(b) && !measured(r) {
				b.UpMS, b.DownMS, b.ExcludedMS, b.UnknownMS = r.UpMS, r.DownMS, r.ExcludedMS, r.UnknownMS
				now[i] = b
			}
		}
	}
	return now
}

// measured tells whether samples told anything of the record's time.
func measured(r rental.UsageRecord) bool {
	return r.MeasuredMS > 0 || r.WorkingKnownMS > 0 || r.EnergyKnownMS > 0 || r.HeldKnownMS > 0
}
