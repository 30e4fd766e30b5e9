package proof

import (
	"encoding/json"
	"fmt"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// The kinds of records. What a kind holds never changes: a record with more fields is another kind.
const (
	KindUsage    = "usage/1"
	KindDowntime = "downtime/1"
	KindCredit   = "credit/1"
)

// record is one record as it is hashed.
type record struct {
	Kind     string          `json:"kind"`
	Usage    *usage1         `json:"usage,omitempty"`
	Downtime json.RawMessage `json:"downtime,omitempty"`
	Credit   json.RawMessage `json:"credit,omitempty"`
}

// usage1 is how one card of one lease spent a span within one hour of UTC, as usage/1 tells it.
// It is written out here, and not taken from rental, so that a field more there changes no hash.
type usage1 struct {
	Lease       string        `json:"lease"`
	UUID        string        `json:"uuid"`
	Start       rental.Millis `json:"start"`
	End         rental.Millis `json:"end"`
	Revision    int           `json:"revision"`
	AllocatedMS int64         `json:"allocated_ms"`
	MeasuredMS  int64         `json:"measured_ms"`
	BusyMS      int64         `json:"busy_ms"`
	UsedUS      int64         `json:"used_us"`
	HeldKnownMS int64         `json:"held_known_ms"`
	HeldMS      int64         `json:"held_ms"`
	UpMS        int64         `json:"up_ms"`
	DownMS      int64         `json:"down_ms"`
	ExcludedMS  int64         `json:"excluded_ms"`
	UnknownMS   int64         `json:"unknown_ms"`
	EnergyMJ    int64         `json:"energy_mj"`
}

func usageRecord(r rental.UsageRecord) record {
	return record{Kind: KindUsage, Usage: &usage1{
		Lease: r.Lease, UUID: r.UUID, Start: r.Span.Start, End: r.Span.End, Revision: r.Revision,
		AllocatedMS: r.AllocatedMS, MeasuredMS: r.MeasuredMS, BusyMS: r.BusyMS, UsedUS: r.UsedMicros,
		HeldKnownMS: r.HeldKnownMS, HeldMS: r.HeldMS, UpMS: r.UpMS, DownMS: r.DownMS,
		ExcludedMS: r.ExcludedMS, UnknownMS: r.UnknownMS, EnergyMJ: r.EnergyMilliJoules,
	}}
}

// Content is what one record says: exactly one of its fields is set.
type Content struct {
	Usage    *rental.UsageRecord
	Downtime *rental.Downtime
	Credit   *rental.CreditCase
}

// Read returns what a record says. A kind that this program does not know is an error.
func Read(text json.RawMessage) (Content, error) {
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return Content{}, fmt.Errorf("record: %w", err)
	}
	switch {
	case r.Kind == KindUsage && r.Usage != nil:
		u := r.Usage
		return Content{Usage: &rental.UsageRecord{
			Lease: u.Lease, UUID: u.UUID, Span: rental.Span{Start: u.Start, End: u.End}, Revision: u.Revision,
			AllocatedMS: u.AllocatedMS, MeasuredMS: u.MeasuredMS, BusyMS: u.BusyMS, UsedMicros: u.UsedUS,
			HeldKnownMS: u.HeldKnownMS, HeldMS: u.HeldMS, UpMS: u.UpMS, DownMS: u.DownMS,
			ExcludedMS: u.ExcludedMS, UnknownMS: u.UnknownMS, EnergyMilliJoules: u.EnergyMJ,
		}}, nil
	case r.Kind == KindDowntime && len(r.Downtime) > 0:
		var d rental.Downtime
		if err := json.Unmarshal(r.Downtime, &d); err != nil {
			return Content{}, fmt.Errorf("record of a downtime: %w", err)
		}
		return Content{Downtime: &d}, nil
	case r.Kind == KindCredit && len(r.Credit) > 0:
		var c rental.CreditCase
		if err := json.Unmarshal(r.Credit, &c); err != nil {
			return Content{}, fmt.Errorf("record of a credit: %w", err)
		}
		return Content{Credit: &c}, nil
	}
	return Content{}, fmt.Errorf("record of kind %q: expected %s, %s or %s", r.Kind, KindUsage, KindDowntime, KindCredit)
}

// Name says which record it is, for people: "usage of GPU-1, 2026-05-14T03:00:00Z to 2026-05-14T04:00:00Z".
func Name(text json.RawMessage) string {
	c, err := Read(text)
	switch {
	case err != nil:
		return "a record that cannot be read"
	case c.Usage != nil:
		return fmt.Sprintf("usage of %s, %s to %s", c.Usage.UUID, c.Usage.Span.Start, c.Usage.Span.End)
	case c.Credit != nil:
		return fmt.Sprintf("credit %s with %d acts", c.Credit.ID(), len(c.Credit.Acts))
	}
	return fmt.Sprintf("downtime %s, %s to %s", c.Downtime.ID, c.Downtime.Span.Start, c.Downtime.Span.End)
}
