package proof

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// The first lines of what is hashed, so that a hash of one thing is never one of another.
const (
	recordDomain = "leasewatch-record/1\n"
	headDomain   = "leasewatch-head/1\n"
)

// Start is what the first head of a lease names as the one before: zeros.
var Start = strings.Repeat("0", 2*sha256.Size)

// Link is a record in its place in the chain.
type Link struct {
	// Record is one JSON object, whose "kind" says what it is: usage/1, downtime/1 or credit/1.
	Record json.RawMessage `json:"record"`
	// Hash is the running hash after the record, in hex.
	Hash string `json:"hash"`
}

// Sealed is a head with the records under it, which may be left out where they are not needed.
type Sealed struct {
	rental.Head

	Links []Link `json:"links,omitempty"`
}

// Records returns what a chain holds of recorded facts, in its order: usage first, then
// downtime, then cases of credits.
func Records(in rental.Recorded) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, 0, len(in.Usage)+len(in.Downtimes)+len(in.Credits))
	for _, r := range in.Usage {
		text, err := CanonicalOf(usageRecord(r))
		if err != nil {
			return nil, fmt.Errorf("usage of %s from %s: %w", r.UUID, r.Span.Start, err)
		}
		out = append(out, text)
	}
	for _, body := range in.Downtimes {
		text, err := CanonicalOf(record{Kind: KindDowntime, Downtime: body})
		if err != nil {
			return nil, fmt.Errorf("downtime %s: %w", body, err)
		}
		out = append(out, text)
	}
	for _, body := range in.Credits {
		text, err := CanonicalOf(record{Kind: KindCredit, Credit: body})
		if err != nil {
			return nil, fmt.Errorf("credit %s: %w", body, err)
		}
		out = append(out, text)
	}
	return out, nil
}

// Seal chains records behind a lease's last head and closes them with the next; the zero Head is
// that of a lease that has none yet.
func Seal(last rental.Head, lease string, at rental.Millis, records []json.RawMessage) (Sealed, error) {
	head := rental.Head{Lease: lease, Number: last.Number + 1, SealedAt: at, Records: len(records), Previous: Start}
	if last.Number > 0 {
		head.Previous = last.Hash
	}
	out := Sealed{Links: make([]Link, 0, len(records))}
	head.Root = head.Previous
	for _, r := range records {
		hash, err := hashRecord(head.Root, r)
		if err != nil {
			return out, err
		}
		out.Links = append(out.Links, Link{Record: r, Hash: hash})
		head.Root = hash
	}
	var err error
	head.Hash, err = HashHead(head)
	out.Head = head
	return out, err
}

// hashRecord returns the running hash after a record.
func hashRecord(before string, record json.RawMessage) (string, error) {
	text, err := Canonical(record)
	if err != nil {
		return "", fmt.Errorf("record: %w", err)
	}
	sum := sha256.New()
	sum.Write([]byte(recordDomain + before + "\n"))
	sum.Write(text)
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// HashHead returns the hash of a head: of all its fields but the hash itself.
func HashHead(h rental.Head) (string, error) {
	text, err := CanonicalOf(struct {
		Lease    string        `json:"lease"`
		Number   int           `json:"number"`
		SealedAt rental.Millis `json:"sealed_at"`
		Records  int           `json:"records"`
		Previous string        `json:"previous"`
		Root     string        `json:"root"`
	}{h.Lease, h.Number, h.SealedAt, h.Records, h.Previous, h.Root})
	if err != nil {
		return "", fmt.Errorf("head %d: %w", h.Number, err)
	}
	sum := sha256.Sum256(append([]byte(headDomain), text...))
	return hex.EncodeToString(sum[:]), nil
}
