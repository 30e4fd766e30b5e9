package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// bundle is what is known of a card that goes back to its maker.
type bundle struct {
	rma      rental.RMA
	made     rental.Millis
	version  string
	span     rental.Span // of the samples
	stays    []api.GPUStay
	leases   [][]string // who held it; only where tenants were asked for
	incident any        // nil where the case names none
	cardTrace
}

// maxStatesGap is the longest time between two samples of a card's state for which the earlier one
// is taken to hold; a longer one is told as unknown. It is the time after which Prometheus, too,
// takes a series that tells nothing to have ended.
const maxStatesGap = 5 * 60 * 1000

// readBundle collects a bundle. Names of tenants and leases are left out, and struck from what
// people wrote, unless q asks for them: the maker of a card has no business with them.
func (r rmas) readBundle(ctx context.Context, id string, q api.RMABundleQuery) (bundle, error) {
	rma, err := r.ledger.RMA(ctx, id)
	if err != nil {
		return bundle{}, err
	}
	var told *rental.Incident
	opened, now := rma.Acts[0].At, rental.At(r.now())
	began := opened
	if rma.Incident != "" {
		if told, err = r.ledger.Incident(ctx, rma.Incident); err != nil {
			return bundle{}, err
		}
		began = min(began, told.EvidenceAt)
	}
	span := rental.Span{Start: began - rental.Millis(cmp.Or(q.Days, 7))*24*millisPerHour, End: min(now, opened+24*millisPerHour)}
	b := bundle{rma: rma, made: now, version: r.version, span: span}
	if b.stays, err = (keeping{ledger: r.ledger}).GPUHistory(ctx, rma.GPU); err != nil {
		return b, err
	}
	if b.cardTrace, err = traceCard(ctx, r.samples, rma.GPU, span); err != nil {
		return b, fmt.Errorf("evidence of %s: %w", id, err)
	}
	if q.Tenants {
		if told != nil {
			told.Messages = nil // where they stand in a chat is nobody's evidence
			b.incident = told
		}
		b.leases, err = r.holders(ctx, rma.GPU)
		return b, err
	}
	strike, err := r.striker(ctx)
	if err != nil {
		return b, err
	}
	b.rma.Acts = slices.Clone(rma.Acts)
	for i := range b.rma.Acts {
		b.rma.Acts[i].Note = strike(b.rma.Acts[i].Note)
	}
	for i := range b.stays {
		b.stays[i].Why = strike(b.stays[i].Why)
	}
	if told != nil {
		b.incident = plainIncident(*told)
	}
	return b, nil
}

// holders returns which leases had the card or a part of it: lease, tenant, uuid, from, to.
func (r rmas) holders(ctx context.Context, uuid string) ([][]string, error) {
	all, err := r.ledger.AssignmentsAt(ctx, allOfTime)
	if err != nil {
		return nil, err
	}
	known, err := r.ledger.Leases(ctx)
	if err != nil {
		return nil, err
	}
	tenants := map[string]string{}
	for _, l := range known {
		tenants[l.ID] = l.Tenant
	}
	rows := [][]string{}
	for _, a := range all {
		if a.CardUUID() == uuid {
			rows = append(rows, []string{a.Lease, tenants[a.Lease], a.UUID, a.Span.Start.String(), a.Span.End.String()})
		}
	}
	slices.SortFunc(rows, func(a, b []string) int { return cmp.Or(cmp.Compare(a[3], b[3]), slices.Compare(a, b)) })
	return rows, nil
}

// plainIncident is an incident without who was touched by it and who was told: when it was what,
// and what its alerts say of the card.
func plainIncident(in rental.Incident) any {
	type alert struct {
		Labels   map[string]string `json:"labels"`
		StartsAt rental.Millis     `json:"starts_at"`
		EndsAt   rental.Millis     `json:"ends_at"`
	}
	type event struct {
		At   rental.Millis `json:"at"`
		Kind string        `json:"kind"`
	}
	out := struct {
		ID         string                `json:"id"`
		Status     rental.IncidentStatus `json:"status"`
		Severity   rental.Severity       `json:"severity"`
		EvidenceAt rental.Millis         `json:"evidence_at"`
		DetectedAt rental.Millis         `json:"detected_at"`
		OpenedAt   rental.Millis         `json:"opened_at"`
		AckedAt    rental.Millis         `json:"acked_at,omitempty"`
		ResolvedAt rental.Millis         `json:"resolved_at,omitempty"`
		Alerts     []alert               `json:"alerts"`
		Events     []event               `json:"events"`
	}{in.ID, in.Status, in.Severity, in.EvidenceAt, in.DetectedAt, in.OpenedAt, in.AckedAt, in.ResolvedAt, []alert{}, []event{}}
	for _, a := range in.Alerts {
		labels := map[string]string{}
		for _, name := range []string{"alertname", "severity", "host", "slot", "uuid", "serial", "model", "xid", "state"} {
			if v := a.Labels[name]; v != "" {
				labels[name] = v
			}
		}
		out.Alerts = append(out.Alerts, alert{labels, a.StartsAt, a.EndsAt})
	}
	for _, e := range in.Events {
		out.Events = append(out.Events, event{e.At, e.Kind})
	}
	return out
}

// files writes the bundle's files, the same for the same facts and moment.
func (b bundle) files() ([]zipFile, error) {
	card, err := indented(b.rma)
	if err != nil {
		return nil, err
	}
	stays := make([][]string, len(b.stays))
	for i, s := range b.stays {
		stays[i] = []string{s.At.String(), s.Host, strconv.Itoa(s.Slot), string(s.Life), s.Serial, s.By, s.Why}
	}
	files := []zipFile{{"README.txt", []byte(b.readme())}, {"case.json", card}}
	for _, table := range []struct {
		name, head string
		rows       [][]string
	}{
		{"inventory.csv", "at,host,slot,life,serial,by,why", stays},
		{"states.csv", "from,to,state", b.states},
		{"counters.csv", "at,metric,labels,value", b.changes},
		{"temperatures.csv", "hour,metric,lowest,highest,samples", b.temperatures},
		{"leases.csv", "lease,tenant,uuid,from,to", b.leases},
	} {
		if table.rows == nil && table.name == "leases.csv" {
			continue
		}
		text, err := csvText(table.head, table.rows)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", table.name, err)
		}
		files = append(files, zipFile{table.name, text})
	}
	if b.incident != nil {
		text, err := indented(b.incident)
		if err != nil {
			return nil, err
		}
		files = append(files, zipFile{"incident.json", text})
	}
	return files, nil
}

// readme says what the files are, to somebody who does not know the program.
func (b bundle) readme() string {
	return fmt.Sprintf(`Evidence on GPU %s, serial %s, case %s
Made %s by leasewatch %s. Samples from %s to %s. All times are UTC.

case.json         the case: who did what, when and why, and the card that came for it
inventory.csv     where the card sat and where it stood in its life, as it was recorded
states.csv        the card's state; unknown where no sample tells it
counters.csv      each change of XID errors, ECC errors, remapped rows, retired pages and the like; the first row of each is its value when the samples begin
temperatures.csv  the lowest and the highest temperature of each hour
incident.json     the incident that the case began with, where it names one
leases.csv        which leases held the card, only where that was asked for
SHA256SUMS        the hashes of these files: sha256sum -c SHA256SUMS
`, b.rma.GPU, b.rma.Serial, b.rma.ID, b.made, b.version, b.span.Start, b.span.End)
}

func indented(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return out.Bytes(), err
}

// csvText writes a table. A cell that a spreadsheet would run as a formula is kept from it.
func csvText(head string, rows [][]string) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	if err := w.Write(strings.Split(head, ",")); err != nil {
		return nil, err
	}
	for _, row := range rows {
		safe := slices.Clone(row)
		for i, cell := range safe {
			if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) && !isNumber(cell) {
				safe[i] = "'" + cell
			}
		}
		if err := w.Write(safe); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return out.Bytes(), w.Error()
}

func isNumber(cell string) bool {
	_, err := strconv.ParseFloat(cell, 64)
	return err == nil
}
