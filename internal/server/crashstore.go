package server

import (
	"context"
	"time"

	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/paging"
)

// pagingStore keeps silences and notification state in the ledger, each change as it is made;
// tests end the process before and after one.
type pagingStore struct {
	*ledger.Ledger
	crashPoint func(name string)
}

var _ paging.Store = pagingStore{}

// The points at which the crash hook is called around a change of silences or notifications.
const (
	entryBefore = "paging-entry-before"
	entryAfter  = "paging-entry-after"
)

// SaveEntry writes one change.
func (s pagingStore) SaveEntry(ctx context.Context, kind, key string, body []byte, expires time.Time) error {
	if s.crashPoint == nil {
		return s.Ledger.SaveEntry(ctx, kind, key, body, expires)
	}
	s.crashPoint(entryBefore)
	err := s.Ledger.SaveEntry(ctx, kind, key, body, expires)
	s.crashPoint(entryAfter)
	return err
}
