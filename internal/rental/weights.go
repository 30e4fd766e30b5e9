package rental

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
)

// weights tells which share of the priced unit one card is.
type weights struct {
	plan  Plan
	lease int64
	// hosts counts, by host, the seats whose sessions begin there; seats are those beginnings.
	hosts map[string]int64
	seats [][]Assignment
	// shares are, by seat, the part of a card that a MIG instance is.
	shares []*big.Rat
}

// newWeights counts the cards that one price buys: a price per lease is spread evenly over its
// seats, a price per instance or host over the seats that the host has in the lease. A replacement
// takes the place of the card before it, on whichever host it sits: it makes no second instance.
func newWeights(in ChargeInput, seats []seat) (weights, error) {
	w := weights{plan: in.Contract.Plan, lease: int64(len(seats)), hosts: map[string]int64{}}
	for _, s := range seats {
		seen := map[string]bool{}
		var begun []Assignment
		for i, part := range s.parts {
			if i > 0 && part.Reason == ReasonRMA {
				continue
			}
			begun = append(begun, part)
			if !seen[part.Host] {
				seen[part.Host] = true
				w.hosts[part.Host]++
			}
		}
		w.seats = append(w.seats, begun)
		if w.plan.Unit != UnitSlice {
			continue
		}
		share, err := in.sliceOf(s)
		if err != nil {
			return w, err
		}
		w.shares = append(w.shares, share)
	}
	return w, nil
}

// of returns the share of the priced unit that the card in a seat is at a moment.
func (w weights) of(seat int, at Millis) *big.Rat {
	switch {
	case w.plan.Unit == UnitSlice:
		return w.shares[seat]
	case w.plan.Unit == UnitLease:
		return big.NewRat(1, max(w.lease, 1))
	case w.plan.byHost():
		return big.NewRat(1, max(w.hosts[w.hostAt(seat, at)], 1))
	default:
		return big.NewRat(1, 1)
	}
}

// hostAt returns the host on which the session that runs in a seat at a moment began.
func (w weights) hostAt(seat int, at Millis) string {
	host := ""
	for i, part := range w.seats[seat] {
		if i == 0 || part.Span.Start <= at {
			host = part.Host
		}
	}
	return host
}

// sliceOf returns what share of a card a seat is. A replacement is as large as what it replaces.
func (in ChargeInput) sliceOf(s seat) (*big.Rat, error) {
	profile := ""
	for _, part := range s.parts {
		for _, ref := range in.Lease.GPUs {
			if ref.UUID == part.UUID && ref.Profile != "" && profile == "" {
				profile = ref.Profile
			}
		}
	}
	if len(s.parts) == 0 {
		return new(big.Rat), nil
	}
	share, err := in.Contract.Plan.Slices.Share(profile)
	if err != nil {
		return nil, fmt.Errorf("lease %s: GPU %s: %w", in.Lease.ID, s.name(0), err)
	}
	return share, nil
}

var profileForm = regexp.MustCompile(`^(?:([0-9])c\.)?([0-9])g\.([0-9]{1,3})gb(?:\+[a-z.]+)?$`)

// Share returns what part of a card a MIG profile such as 3g.40gb is, exactly. A compute instance
// within one, such as 1c.3g.40gb, is its compute slices' part of that. The parts of all instances
// of a card and what is left idle sum to 1.
func (s Slices) Share(profile string) (*big.Rat, error) {
	m := profileForm.FindStringSubmatch(profile)
	if m == nil {
		return nil, fmt.Errorf("MIG profile %q: expected one such as 3g.40gb", profile)
	}
	figure := m[2]
	if s.By == SlicesByMemory {
		figure = m[3]
	}
	n, err := strconv.Atoi(figure)
	if err != nil {
		return nil, fmt.Errorf("MIG profile %q: %w", profile, err)
	}
	if n == 0 || n > s.Of {
		return nil, fmt.Errorf("MIG profile %q: found %d by %s, expected 1 to the card's %d", profile, n, s.By, s.Of)
	}
	share := big.NewRat(int64(n), int64(s.Of))
	if m[1] == "" {
		return share, nil
	}
	part, whole := int64(m[1][0]-'0'), int64(m[2][0]-'0') // a digit each, by the form
	if part == 0 || part > whole {
		return nil, fmt.Errorf("MIG profile %q: found %d compute slices, expected 1 to its GPU instance's %d", profile, part, whole)
	}
	return share.Mul(share, big.NewRat(part, whole)), nil
}
