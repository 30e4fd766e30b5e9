package rental

import "encoding/json"

// Head closes what had been recorded of a lease up to a moment. Heads form a chain: each names
// the hash of the one before, so that no record under an earlier head can change unseen.
type Head struct {
	Lease string `json:"lease"`
	// Number counts a lease's heads from 1, without gaps.
	Number int `json:"number"`
	// SealedAt is the moment up to which the records under this and the earlier heads were written.
	SealedAt Millis `json:"sealed_at"`
	// Records is how many records are under this head alone.
	Records int `json:"records"`
	// Previous is the hash of the head before, in hex; zeros for the first.
	Previous string `json:"previous"`
	// Root is the running hash after the last record.
	Root string `json:"root"`
	// Hash is that of all the other fields.
	Hash string `json:"hash"`
}

// SigningKey is a public key of whoever keeps a ledger, which reports are signed with.
type SigningKey struct {
	// ID is the first half of the SHA-256 of the public key, in hex.
	ID     string `json:"id"`
	Public []byte `json:"public"`
	// MadeAt is when it was made, RetiredAt when the next took its place; 0 while it signs.
	MadeAt    Millis `json:"made_at"`
	RetiredAt Millis `json:"retired_at,omitempty"`
	// EndorsedBy is the key before, whose signature over this one is Endorsement; empty for the first.
	EndorsedBy  string `json:"endorsed_by,omitempty"`
	Endorsement []byte `json:"endorsement,omitempty"`
}

// Recorded is what was recorded of a lease between two moments, as it held at the later one: the
// newest revision of every record that was added or changed, and nothing else.
type Recorded struct {
	// Usage is in order of start and uuid.
	Usage []UsageRecord
	// Downtimes are as they are stored, in order of start and id.
	Downtimes []json.RawMessage
	// Credits are the cases of credits as they are stored, by id.
	Credits []json.RawMessage
}

// Under returns what of it a head of so many records closed. Heads from before cases of credits
// were chained hold usage and downtimes alone.
func (r Recorded) Under(records int) Recorded {
	if records == len(r.Usage)+len(r.Downtimes) {
		r.Credits = nil
	}
	return r
}

// Empty tells whether nothing was recorded.
func (r Recorded) Empty() bool { return len(r.Usage)+len(r.Downtimes)+len(r.Credits) == 0 }
