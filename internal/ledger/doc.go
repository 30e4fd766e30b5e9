// Package ledger keeps what happened, and never forgets or changes it: providers, tenants,
// hardware, contracts, leases and who held which card when; downtime; the classes and the use
// of every card; incidents and what people were told about them.
//
// Tables of facts are only ever added to; triggers in the database refuse anything else. What
// holds now is the newest revision of each fact. A few tables hold operational state (the
// outbox, totals, marks): each can be derived again, or only says who has still to be told.
//
// The store is SQLite (one file, one writing process) or PostgreSQL (one leader); both are
// held to the same tests. Moments are milliseconds in UTC and spans are half-open.
package ledger
