package ledger

import (
	"database/sql"
	"fmt"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// AsOf returns the ledger as it was known at a moment: every read answers from the revisions that
// had been recorded by then, so that what is reckoned from it is what would have been reckoned
// then. It reads only, shares the store with l and needs no Close.
//
// How far a card's classes had been derived is not kept over time: where they went on at the
// moment, they reach up to it.
func (l *Ledger) AsOf(at rental.Millis) *Ledger {
	past := &Ledger{dialect: l.dialect, log: l.log, now: l.now, shared: true, crash: l.crash}
	past.read = pool{DB: l.read.DB, until: max(at, 1)}
	past.lines.cards = map[card]*line{}
	return past
}

// knower reads, and says up to which moment it knows what was recorded.
type knower interface {
	querier
	// known returns the condition on a column of moments of recording, to be added to a WHERE:
	// " AND column <= ...", or nothing where all is known.
	known(column string) string
	// atMost returns a moment, at most the last that is known.
	atMost(at rental.Millis) rental.Millis
}

// pool is what reads go through.
type pool struct {
	*sql.DB
	until rental.Millis // 0 where all is known
}

func (p pool) known(column string) string {
	if p.until == 0 {
		return ""
	}
	return fmt.Sprintf(" AND %s <= %d", column, int64(p.until))
}

func (p pool) atMost(at rental.Millis) rental.Millis {
	if p.until == 0 {
		return at
	}
	return min(at, p.until)
}

// A transaction decides by all that is known.
func (*txn) known(string) string                   { return "" }
func (*txn) atMost(at rental.Millis) rental.Millis { return at }
