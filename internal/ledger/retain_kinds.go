package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// overBefore is the condition on incidents that were over before a moment. What became of an unknown
// one is not known; it counts from its start.
const overBefore = ` i.status NOT IN ('open', 'acked') AND (CASE WHEN i.resolved_ms > 0 THEN i.resolved_ms ELSE i.opened_ms END) < $1`

// about reads a thing that is about an incident: whose body says which leases and tenants it touched.
func about(rows *sql.Rows) (aged, error) {
	var id int64
	var body string
	if err := rows.Scan(&id, &body); err != nil {
		return aged{}, err
	}
	var touched struct{ Leases, Tenants []string }
	err := json.Unmarshal([]byte(body), &touched)
	return aged{key: []any{id}, leases: touched.Leases, tenants: touched.Tenants, rows: 1}, err
}

func agedTexts(ctx context.Context, q knower, a age) ([]aged, error) {
	return collect(ctx, q, about, `SELECT i.id, i.body FROM incidents i WHERE`+overBefore+` AND (i.body LIKE '%"annotations":{%'
		OR EXISTS (SELECT 1 FROM incident_events e WHERE e.incident = i.id AND e.note <> '')) ORDER BY i.id`, int64(a.before))
}

func dropTexts(ctx context.Context, t *txn, key []any, _ age) error {
	inc, err := oneIncident(ctx, t, `WHERE id = $1`, key...)
	if err != nil {
		return err
	}
	for i := range inc.Alerts {
		inc.Alerts[i].Annotations = nil
	}
	inc.Events = nil
	body, err := json.Marshal(inc)
	if err != nil {
		return fmt.Errorf("incident %s: %w", inc.ID, err)
	}
	if _, err := t.ExecContext(ctx, `UPDATE incidents SET body = $2 WHERE id = $1`, key[0], string(body)); err != nil {
		return fmt.Errorf("incident %s: %w", inc.ID, err)
	}
	_, err = t.ExecContext(ctx, `UPDATE incident_events SET note = '' WHERE incident = $1 AND note <> ''`, key[0])
	return err
}

func agedDeliveries(ctx context.Context, q knower, a age) ([]aged, error) {
	return collect(ctx, q, about, `SELECT o.id, i.body FROM outbox o JOIN incidents i ON o.incident = '`+incidentPrefix+`' || CAST(i.id AS TEXT)
		WHERE o.state <> 'pending' AND`+overBefore+` ORDER BY o.id`, int64(a.before))
}

func dropDelivery(ctx context.Context, t *txn, key []any, _ age) error {
	_, err := t.ExecContext(ctx, `DELETE FROM outbox WHERE id = $1 AND state <> 'pending'`, key...)
	return err
}

func agedTokens(ctx context.Context, q knower, a age) ([]aged, error) {
	return collect(ctx, q, func(rows *sql.Rows) (aged, error) {
		var hash, lease, tenant string
		err := rows.Scan(&hash, &lease, &tenant)
		return aged{key: []any{hash}, leases: []string{lease}, tenants: []string{tenant}, rows: 1}, err
	}, `SELECT t.hash, t.lease, t.tenant FROM tokens t LEFT JOIN token_revocations r ON r.hash = t.hash WHERE r.at_ms < $1
		OR t.role = 'enroll' AND t.expires_ms < $1 AND NOT EXISTS (SELECT 1 FROM token_enrolments e WHERE e.hash = t.hash) ORDER BY t.hash`, int64(a.before))
}

// dropToken ends a token that nobody can use: a secret that is not known is refused like a revoked one.
func dropToken(ctx context.Context, t *txn, key []any, _ age) error {
	for _, table := range []string{"token_enrolments", "token_revocations", "tokens"} {
		if _, err := t.ExecContext(ctx, `DELETE FROM `+table+` WHERE hash = $1`, key...); err != nil {
			return err
		}
	}
	return nil
}

// eventsKeptMark is the moment before which schedulers are no longer heard: what they said may have
// ended, and saying it again would give a card a second time.
const eventsKeptMark = "scheduler events kept"

// agedSessions finds sessions that have ended in time whose bills are closed.
func agedSessions(ctx context.Context, q knower, a age) ([]aged, error) {
	tenants, err := tenantsOf(ctx, q)
	if err != nil {
		return nil, err
	}
	return collect(ctx, q, func(rows *sql.Rows) (aged, error) {
		var lease, session string
		var n int64
		err := rows.Scan(&lease, &session, &n)
		return aged{key: []any{lease, session}, leases: []string{lease}, tenants: []string{tenants[lease]}, rows: n}, err
	}, `SELECT e.lease, e.session, count(*) FROM assignment_events e GROUP BY e.lease, e.session
		HAVING max(e.at_ms) < $1 AND max(e.event_ms) < $1
		AND (sum(CASE WHEN e.kind = 'start' THEN 1 ELSE 0 END) <= sum(CASE WHEN e.kind = 'stop' THEN 1 ELSE 0 END)
		OR sum(CASE WHEN e.kind = 'stop' AND e.uuid = '' THEN 1 ELSE 0 END) > 0)
		AND max(e.event_ms) <= (SELECT max(c.end_ms) FROM closed_months c WHERE c.lease = e.lease) ORDER BY e.lease, e.session`, int64(a.before))
}

func dropSession(ctx context.Context, t *txn, key []any, a age) error {
	if _, err := t.ExecContext(ctx, `DELETE FROM assignment_events WHERE lease = $1 AND session = $2`, key...); err != nil {
		return err
	}
	return t.advanceMark(ctx, eventsKeptMark, a.before)
}

// advanceMark moves a mark on, and never back.
func (t *txn) advanceMark(ctx context.Context, name string, at rental.Millis) error {
	_, err := t.ExecContext(ctx, `INSERT INTO marks (name, at_ms) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE
		SET at_ms = CASE WHEN excluded.at_ms > marks.at_ms THEN excluded.at_ms ELSE marks.at_ms END`, name, int64(at))
	return err
}

func tenantsOf(ctx context.Context, q knower) (map[string]string, error) {
	leases, err := list[rental.Lease](ctx, q, rental.KindLease)
	tenants := make(map[string]string, len(leases))
	for _, l := range leases {
		tenants[l.ID] = l.Tenant
	}
	return tenants, err
}

// agedUsage finds the hours of a card in months that are closed, past dispute and under a head. What
// was recorded of them after that head stays until a later one: the next month's report needs it.
func agedUsage(ctx context.Context, q knower, a age) ([]aged, error) {
	leases, err := list[rental.Lease](ctx, q, rental.KindLease)
	if err != nil {
		return nil, err
	}
	var out []aged
	for _, lease := range leases {
		months, err := settledMonths(ctx, q, lease, a)
		if err != nil {
			return nil, err
		}
		if len(months) == 0 {
			continue
		}
		until := months[len(months)-1].End
		var sealed sql.NullInt64
		if err := q.QueryRowContext(ctx, `SELECT max(sealed_ms) FROM heads WHERE lease = $1 AND sealed_ms <= $2`, lease.ID, int64(until)).Scan(&sealed); err != nil {
			return nil, err
		}
		for _, month := range months {
			cards, err := collect(ctx, q, func(rows *sql.Rows) (aged, error) {
				var uuid string
				thing := aged{leases: []string{lease.ID}, tenants: []string{lease.Tenant}}
				err := rows.Scan(&uuid, &thing.rows)
				thing.key = []any{lease.ID, uuid, int64(month.Start), int64(month.End), sealed.Int64, int64(until)}
				return thing, err
			}, `SELECT uuid, count(*) FROM usage_records WHERE lease = $1 AND start_ms >= $2 AND start_ms < $3 AND at_ms <= $4 GROUP BY uuid ORDER BY uuid`,
				lease.ID, int64(month.Start), int64(month.End), sealed.Int64)
			if err != nil {
				return nil, err
			}
			out = append(out, cards...)
		}
	}
	return out, nil
}

// settledMonths returns the closed months of a lease, from its first on, that are old enough, past
// dispute, and without a downtime or a claim that waits for a decision.
func settledMonths(ctx context.Context, q knower, lease rental.Lease, a age) ([]rental.Span, error) {
	closed, err := closedMonths(ctx, q, `WHERE lease = $1`, lease.ID)
	if err != nil || len(closed) == 0 {
		return nil, err
	}
	contract, _, err := get[rental.Contract](ctx, q, rental.KindContract, lease.Contract)
	if err != nil {
		return nil, err
	}
	downtimes, err := downtimesWhere(ctx, q, `AND d.lease = $1`, lease.ID)
	if err != nil {
		return nil, err
	}
	cases, err := creditCases(ctx, q, lease.ID)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(closed, func(x, y rental.ClosedMonth) int { return cmp.Compare(x.Span.Start, y.Span.Start) })
	var months []rental.Span
	for _, c := range closed {
		open := slices.ContainsFunc(downtimes, func(d rental.Downtime) bool { return d.Undecided() && d.Span.Overlaps(c.Span) }) ||
			slices.ContainsFunc(cases, func(one rental.CreditCase) bool { return claimWaits(one, c.Span, contract.TimeZone) })
		if c.Span.End > a.before || contract.DisputableUntil(c.Span) > a.now || open {
			break
		}
		months = append(months, c.Span)
	}
	return months, nil
}

// claimWaits tells whether a claim of a month in the span was not decided; one of a month that cannot
// be read waits.
func claimWaits(one rental.CreditCase, span rental.Span, zone string) bool {
	if n := len(one.Acts); n == 0 || one.Acts[n-1].Kind != rental.ActClaimed {
		return false
	}
	month, err := rental.ParseMonth(one.Month)
	if err != nil {
		return true
	}
	within, err := month.Span(zone)
	return err != nil || within.Overlaps(span)
}

func dropUsage(ctx context.Context, t *txn, key []any, _ age) error {
	if _, err := t.ExecContext(ctx, `DELETE FROM usage_records WHERE lease = $1 AND uuid = $2 AND start_ms >= $3 AND start_ms < $4 AND at_ms <= $5`, key[:5]...); err != nil {
		return err
	}
	lease, _ := key[0].(string)
	until, _ := key[5].(int64)
	return t.advanceMark(ctx, rental.UsageKeptMark(lease), rental.Millis(until))
}
