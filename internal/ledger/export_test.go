package ledger

import (
	"context"
	"fmt"
)

// LimitPages keeps a SQLite file from growing, as a full disk does.
func (l *Ledger) LimitPages(ctx context.Context, pages int) error {
	_, err := l.write.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages))
	return err
}
