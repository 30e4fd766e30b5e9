package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/leasewatch/leasewatch/internal/incident"
	"github.com/leasewatch/leasewatch/internal/oncall"
	"github.com/leasewatch/leasewatch/internal/portal"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// linkKeyFile holds the key that links to acknowledge are signed with, in the storage path. Without
// it a new one is made, and the links of before are no more taken.
const linkKeyFile = "ack-links.key"

// openLinks reads the key of the links; at the first start it makes it.
func (a *App) openLinks() error {
	path := filepath.Join(a.opts.StoragePath, linkKeyFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = newLinkKey(path)
	}
	if err != nil {
		return fmt.Errorf("key of the links to acknowledge: %w", err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		return fmt.Errorf("%s: found no hexadecimal key: put the file back from a backup, or remove it for a new one", path)
	}
	if a.links, err = oncall.NewLinks(key); err != nil {
		return fmt.Errorf("%s: %w: put the file back from a backup, or remove it for a new one", path, err)
	}
	return nil
}

// newLinkKey writes a new key for its owner alone. The file is whole or not there.
func newLinkKey(path string) ([]byte, error) {
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	text := []byte(hex.EncodeToString(key) + "\n")
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return nil, err
	}
	return text, os.Rename(path+".new", path)
}

// ackLink makes the address at which whoever is reached by a receiver acknowledges an incident: in
// the name of the person whose ladder alone has the receiver, else of the receiver.
func (a *App) ackLink(inc rental.Incident, receiver string) string {
	by, person := receiver, false
	if r := a.roster.Load(); r != nil {
		if owner, one := r.Owner(receiver); one {
			by, person = nameOf(r, owner), true
		}
	}
	text, err := a.links.Sign(inc.ID, by, person, incident.Opened(inc), rental.At(a.now()))
	if err != nil {
		a.log.Error("a message goes out without a link to acknowledge", "incident", inc.ID, "error", err)
		return ""
	}
	return strings.TrimRight(a.externalURL(), "/") + portal.AckPath + text
}

// nameOf is what the ledger records of a person on call: the id where the roster has it, else how
// people read the name, as for those under slack.people.
func nameOf(r *oncall.Roster, person string) string {
	if rental.IsPersonID(person) {
		return person
	}
	return r.ShownAs(person)
}

// ackLinks reads and uses links for whoever has them.
type ackLinks struct{ a *App }

var _ portal.Links = ackLinks{}

// Look reads a link; one that would do nothing any more is an error.
func (l ackLinks) Look(ctx context.Context, text string) (rental.Incident, string, error) {
	link, err := l.read(text)
	if err != nil {
		return rental.Incident{}, "", err
	}
	inc, err := l.a.ledger.Incident(ctx, link.Incident)
	if err != nil {
		return rental.Incident{}, "", linkError(err)
	}
	return l.shown(*inc), l.a.shown(link.By), incident.LinkStands(*inc, link.ID, link.Opened)
}

// Use acknowledges by a link.
func (l ackLinks) Use(ctx context.Context, text string) (rental.Incident, string, error) {
	link, err := l.read(text)
	if err != nil {
		return rental.Incident{}, "", err
	}
	inc, err := l.a.engine.AckByLink(ctx, link.Incident, link.By, link.ID, link.Opened, link.Person)
	return l.shown(inc), l.a.shown(link.By), linkError(err)
}

func (l ackLinks) read(text string) (oncall.Link, error) {
	link, err := l.a.links.Read(text, rental.At(l.a.now()))
	switch {
	case errors.Is(err, oncall.ErrForged):
		return link, portal.ErrLinkForged
	case errors.Is(err, oncall.ErrExpired):
		return link, portal.ErrLinkExpired
	}
	return link, err
}

// shown names who has the incident.
func (l ackLinks) shown(inc rental.Incident) rental.Incident {
	inc.AckedBy = l.a.shown(inc.AckedBy)
	return inc
}

// linkError tells a link to an incident that is not there as none of this server.
func linkError(err error) error {
	if errors.Is(err, incident.ErrNotFound) {
		return portal.ErrLinkForged
	}
	return err
}
