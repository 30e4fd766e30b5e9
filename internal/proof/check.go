package proof

import (
	"fmt"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// The checks that a Fault can come from.
const (
	CheckSignature  = "signature"
	CheckChain      = "chain"
	CheckHeads      = "heads"
	CheckArithmetic = "arithmetic"
)

// Fault is one thing that does not hold.
type Fault struct {
	Check string `json:"check"`
	// Where names the record, the head or the figure.
	Where string `json:"where"`
	// Found says what was found and what was expected.
	Found string `json:"found"`
}

// String says the fault in one line.
func (f Fault) String() string { return fmt.Sprintf("%s: %s: %s", f.Check, f.Where, f.Found) }

func headName(h rental.Head) string { return fmt.Sprintf("head %d of %s", h.Number, h.SealedAt) }

// Check follows a lease's chain from its first head. Where records are given they must lead to
// their head's root; where they are left out the head stands by its hash. It returns the first
// thing that does not hold, because all behind it hangs on it; nil where all holds.
func Check(lease string, chain []Sealed) *Fault {
	previous := rental.Head{Hash: Start}
	for _, s := range chain {
		h := s.Head
		switch {
		case h.Lease != lease:
			return &Fault{CheckChain, headName(h), fmt.Sprintf("it is of lease %q, expected %q", h.Lease, lease)}
		case h.Number != previous.Number+1:
			return &Fault{CheckChain, headName(h), fmt.Sprintf("expected head %d: heads are missing or out of order", previous.Number+1)}
		case h.Previous != previous.Hash:
			return &Fault{CheckChain, headName(h), fmt.Sprintf("it follows %s, expected %s, the hash of the head before", h.Previous, previous.Hash)}
		case h.SealedAt <= previous.SealedAt:
			return &Fault{CheckChain, headName(h), "it was sealed no later than the one before"}
		}
		if f := checkLinks(s); f != nil {
			return f
		}
		hash, err := HashHead(h)
		if err != nil || hash != h.Hash {
			return &Fault{CheckChain, headName(h), fmt.Sprintf("its fields hash to %s, it says %s", hash, h.Hash)}
		}
		previous = h
	}
	return nil
}

// checkLinks follows the records under one head.
func checkLinks(s Sealed) *Fault {
	if s.Links == nil {
		return nil
	}
	running := s.Previous
	for _, link := range s.Links {
		hash, err := hashRecord(running, link.Record)
		if err != nil {
			return &Fault{CheckChain, headName(s.Head), err.Error()}
		}
		if hash != link.Hash {
			return &Fault{CheckChain, Name(link.Record), fmt.Sprintf("it was changed: it hashes to %s, the chain says %s (%s)", hash, link.Hash, headName(s.Head))}
		}
		running = hash
	}
	if len(s.Links) != s.Records {
		return &Fault{CheckChain, headName(s.Head), fmt.Sprintf("found %d records, expected %d", len(s.Links), s.Records)}
	}
	if running != s.Root {
		return &Fault{CheckChain, headName(s.Head), fmt.Sprintf("its records lead to %s, it says %s", running, s.Root)}
	}
	return nil
}

// CheckOwn sets a chain against heads that somebody kept from earlier: whoever rewrote a record,
// and every hash and signature after it, cannot rewrite those. It returns the first difference,
// with the record where both sides have the records under the head; nil where there is none. Own
// heads must be of the chain's lease; their order does not matter.
func CheckOwn(lease string, chain, own []Sealed) *Fault {
	byNumber := map[int]Sealed{}
	for _, s := range chain {
		byNumber[s.Number] = s
	}
	var first *Fault
	at := 0
	for _, mine := range own {
		if first != nil && mine.Number >= at {
			continue
		}
		if f := checkOne(lease, byNumber, mine); f != nil {
			first, at = f, mine.Number
		}
	}
	return first
}

func checkOne(lease string, chain map[int]Sealed, mine Sealed) *Fault {
	hash, err := HashHead(mine.Head)
	theirs, there := chain[mine.Number]
	switch {
	case mine.Lease != lease:
		return &Fault{CheckHeads, headName(mine.Head), fmt.Sprintf("your copy is of lease %q, the report of %q", mine.Lease, lease)}
	case err != nil || hash != mine.Hash:
		return &Fault{CheckHeads, headName(mine.Head), "your copy is damaged: its fields do not lead to its hash"}
	case !there:
		return &Fault{CheckHeads, headName(mine.Head), "you were given this head and the report does not hold it: it is older, or its chain was cut"}
	case theirs.Hash == mine.Hash:
		return nil
	}
	for i := range min(len(mine.Links), len(theirs.Links)) {
		if mine.Links[i].Hash != theirs.Links[i].Hash {
			return &Fault{CheckHeads, Name(mine.Links[i].Record), fmt.Sprintf("the report holds another record in its place than you were given (%s)", headName(mine.Head))}
		}
	}
	return &Fault{CheckHeads, headName(mine.Head), fmt.Sprintf("the report says %s, you were given %s: what had been recorded by then was rewritten", theirs.Hash, mine.Hash)}
}
