package oncall

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// LinkLife is how long a link to acknowledge works.
const LinkLife = 24 * time.Hour

// Why a link is not taken.
var (
	// ErrForged says that the text is no link that was signed with this key.
	ErrForged = errors.New("this is no link to acknowledge of this server")
	// ErrExpired says that the link is older than LinkLife.
	ErrExpired = errors.New("the link has expired")
)

// Link is what a link to acknowledge is bound to.
type Link struct {
	// ID is new for every link, and kept with the incident once it was used.
	ID       string `json:"id"`
	Incident string `json:"incident"`
	// By is in whose name it acknowledges.
	By string `json:"by"`
	// Person tells that By is one person, and not a receiver that reaches several.
	Person bool `json:"person,omitempty"`
	// Opened is when the incident was opened, or opened again: a link is for that opening alone.
	Opened rental.Millis `json:"opened"`
	Until  rental.Millis `json:"until"`
}

// Links signs links to acknowledge. Its key is a secret and appears nowhere.
type Links struct{ key []byte }

// leastKey is the least length of a key in bytes: that of the hash.
const leastKey = sha256.Size

// NewLinks returns a signer with the key, of 32 random bytes or more.
func NewLinks(key []byte) (*Links, error) {
	if len(key) < leastKey {
		return nil, fmt.Errorf("key of the links to acknowledge: found %d bytes, expected %d or more", len(key), leastKey)
	}
	return &Links{key: key}, nil
}

// Sign returns the text of a new link, which fits into an address.
func (l *Links) Sign(incident, by string, person bool, opened, now rental.Millis) (string, error) {
	id := make([]byte, 12)
	if _, err := rand.Read(id); err != nil {
		return "", fmt.Errorf("link to acknowledge: %w", err)
	}
	body, err := json.Marshal(Link{ID: hex.EncodeToString(id), Incident: incident, By: by, Person: person, Opened: opened, Until: now + rental.Millis(LinkLife.Milliseconds())})
	if err != nil {
		return "", fmt.Errorf("link to acknowledge: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(body) + "." + base64.RawURLEncoding.EncodeToString(l.sum(body)), nil
}

// Read returns what a link is bound to, where this key signed it and it still works at the moment.
func (l *Links) Read(text string, now rental.Millis) (Link, error) {
	var link Link
	first, second, _ := strings.Cut(text, ".")
	body, err := base64.RawURLEncoding.Strict().DecodeString(first)
	sum, errSum := base64.RawURLEncoding.Strict().DecodeString(second)
	if err != nil || errSum != nil || !hmac.Equal(sum, l.sum(body)) || json.Unmarshal(body, &link) != nil {
		return Link{}, ErrForged
	}
	if now >= link.Until {
		return link, ErrExpired
	}
	return link, nil
}

// sum is the mark of the body; its first words keep it apart from other uses of a key.
func (l *Links) sum(body []byte) []byte {
	mac := hmac.New(sha256.New, l.key)
	mac.Write([]byte("leasewatch link to acknowledge, 1\n"))
	mac.Write(body)
	return mac.Sum(nil)
}
