package gpu

import (
	"errors"
	"fmt"
	"strconv"
)

// Reasons why a GPU that was named cannot be acted on.
var (
	// ErrNotFound: no GPU has that name.
	ErrNotFound = errors.New("no such GPU")
	// ErrAmbiguous: several GPUs have that name.
	ErrAmbiguous = errors.New("several GPUs have had this place: name one by its uuid")
	// ErrRefused: the GPU is in no state for that.
	ErrRefused = errors.New("refused")
)

// ErrAnew is why a Source's Run returned by itself: what is needed cannot be had in this process
// any more, a new one can have it.
var ErrAnew = errors.New("a new process is needed")

// Find returns the GPU that a person means by its uuid, its index or its PCI address. Where a
// card that is lost had the place of one that is there now, the one that is there is meant.
func (s *Snapshot) Find(name string) (*GPU, error) {
	address, isAddress := PCIAddress(name)
	index, err := strconv.Atoi(name)
	isIndex := err == nil && index >= 0
	var found, lost []*GPU
	for i := range s.GPUs {
		g := &s.GPUs[i]
		id := &g.Identity
		switch {
		case id.UUID != "" && id.UUID == name:
			return g, nil
		case !(isAddress && id.PCIAddress == address) && !(isIndex && id.Index == index):
		case g.Status.State == Lost:
			lost = append(lost, g)
		default:
			found = append(found, g)
		}
	}
	if len(found) == 0 {
		found = lost
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%w: %q is no uuid, index or PCI address of the %d GPUs of this host", ErrNotFound, name, len(s.GPUs))
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("%w: %s and %s were at %s", ErrAmbiguous, found[0].Identity.UUID, found[1].Identity.UUID, name)
}
