package inventory

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// sameTime is how close, in milliseconds, the newest samples of two hosts must be for both to
// claim a card now; it is the lookback of the store. Further apart, the card has moved.
const sameTime = 60_000

// report is one card as one host tells it.
type report struct {
	uuid, serial, host, model, brand string
	slot                             int
	at                               rental.Millis
	conflict                         string
}

// reports reads gpu_info: the newest word on each card, by host and slot. A card that two
// hosts claim at once, and two cards that claim one slot, carry a conflict.
func reports(series []rental.Series) []report {
	newest := map[string]report{}
	for _, s := range series {
		r, ok := readReport(s)
		if !ok {
			continue
		}
		other, seen := newest[r.uuid]
		switch {
		case !seen:
			newest[r.uuid] = r
		case other.host == r.host:
			if r.at > other.at {
				newest[r.uuid] = r
			}
		case max(r.at, other.at)-min(r.at, other.at) <= sameTime:
			if r.host < other.host {
				r, other = other, r
			}
			other.conflict = fmt.Sprintf("hosts %q and %q both report GPU %s: expected one; find which of them is wrong", other.host, r.host, r.uuid)
			newest[r.uuid] = other
		case r.at > other.at:
			newest[r.uuid] = r
		}
	}
	all := make([]report, 0, len(newest))
	for _, r := range newest {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b report) int {
		return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.slot, b.slot), cmp.Compare(a.uuid, b.uuid))
	})
	for i := 1; i < len(all); i++ {
		if a, b := &all[i-1], &all[i]; a.host == b.host && a.slot == b.slot {
			text := fmt.Sprintf("GPUs %s and %s are both reported in slot %d of host %q: expected one; read again when its driver has settled", a.uuid, b.uuid, a.slot, a.host)
			a.conflict, b.conflict = cmp.Or(a.conflict, text), cmp.Or(b.conflict, text)
		}
	}
	return all
}

// readReport reads one series; a MIG slice and a series without card, host or index are none.
func readReport(s rental.Series) (report, bool) {
	r := report{uuid: s.Labels["uuid"], serial: s.Labels["serial"], host: s.Labels["host"], model: Model(s.Labels["name"]), brand: s.Labels["brand"]}
	slot, err := strconv.Atoi(s.Labels["gpu"])
	if err != nil || slot < 0 || r.uuid == "" || r.host == "" {
		return r, false
	}
	if card := s.Labels["gpu_uuid"]; card != "" && card != r.uuid {
		return r, false
	}
	r.slot = slot
	if n := len(s.Samples); n > 0 {
		r.at = s.Samples[n-1].At
	}
	return r, true
}
