package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/leasewatch/leasewatch/internal/proof"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// Signed is a report as a file: its content, byte for byte as it was signed but for white space,
// and the signature over it.
type Signed struct {
	Report    json.RawMessage `json:"report"`
	Signature proof.Signature `json:"signature"`
}

// Signer signs a document's bytes; *proof.Ring is one.
type Signer interface {
	Sign(content []byte) (proof.Signature, error)
}

var _ Signer = (*proof.Ring)(nil)

// Sign returns the signed file of a document.
func Sign(d Document, by Signer) ([]byte, error) {
	content, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	signature, err := by.Sign(content)
	if err != nil {
		return nil, fmt.Errorf("report of lease %s: %w", d.Lease.ID, err)
	}
	file, err := json.Marshal(Signed{Report: content, Signature: signature})
	return append(file, '\n'), err
}

// Read reads a signed file without checking it. Errors: no such file, or a format that this
// program does not know.
func Read(file []byte) (Signed, Document, error) {
	var s Signed
	var d Document
	if err := json.Unmarshal(file, &s); err != nil || len(s.Report) == 0 {
		return s, d, errors.New("found no report: expected the JSON that leasewatch report --format json writes")
	}
	if err := json.Unmarshal(s.Report, &d); err != nil {
		return s, d, fmt.Errorf("report: %w", err)
	}
	if d.Format != Format {
		return s, d, fmt.Errorf("found format %q, expected %s: use a newer program", d.Format, Format)
	}
	return s, d, nil
}

// ReadHeads reads heads that somebody kept: the answer of leasewatch proof heads, or an earlier
// report, whose heads carry records.
func ReadHeads(file []byte) ([]proof.Sealed, error) {
	var kept struct {
		Heads []proof.Sealed `json:"heads"`
	}
	if _, d, err := Read(file); err == nil {
		return d.Chain, nil
	}
	if err := json.Unmarshal(file, &kept); err != nil || kept.Heads == nil {
		return nil, errors.New("found no heads: expected what leasewatch proof heads writes, or an earlier report")
	}
	return kept.Heads, nil
}

// Result is what Verify found.
type Result struct {
	Document Document
	// Faults are what does not hold, the worst first; none where all holds.
	Faults []proof.Fault
	// Notes are what the reader should know though nothing is wrong.
	Notes []string
}

// Verify checks a signed file offline: the signature, the chain, the chain against the reader's own
// heads, and every figure by working it out anew with the functions that made it. trusted are keys
// that the reader has from elsewhere, own are heads; either may be empty, which a note tells. The
// error tells of a file that is no report.
func Verify(file []byte, trusted []proof.Key, own []proof.Sealed) (Result, error) {
	signed, d, err := Read(file)
	if err != nil {
		return Result{}, err
	}
	out := Result{Document: d}
	add := func(f *proof.Fault) {
		if f != nil {
			out.Faults = append(out.Faults, *f)
		}
	}
	add(proof.CheckSigned(signed.Report, signed.Signature, trusted))
	if len(trusted) == 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("the signature is by key %s, which the report itself brings: compare it with the provider's, or give --key", signed.Signature.Key))
	}
	add(proof.Check(d.Lease.ID, d.Chain))
	if len(own) > 0 {
		add(proof.CheckOwn(d.Lease.ID, d.Chain, own))
	} else {
		out.Notes = append(out.Notes, "no heads of your own were given (--head): records that were rewritten and signed again would not be seen")
	}
	for _, f := range d.arithmetic() {
		add(&f)
	}
	out.Notes = append(out.Notes, d.notes()...)
	return out, nil
}

// notes says what the chain leaves open.
func (d Document) notes() []string {
	var out []string
	if n := len(d.Unsealed); n > 0 {
		out = append(out, fmt.Sprintf("no head closes %d of the records yet: only the signature vouches for them", n))
	}
	if d.Bill != nil && d.Bill.Invoice != nil {
		out = append(out, fmt.Sprintf("the bill was closed as %s at %s: its lines are what was known then, and were added up; what was learnt later corrects the next bill", d.Bill.Invoice.Number, d.Bill.Invoice.ClosedAt))
	}
	later := 0
	for _, s := range d.Chain {
		if s.Links == nil && s.SealedAt > d.Period.End+linksAfter {
			later++
		}
	}
	if later > 0 {
		out = append(out, fmt.Sprintf("%d later heads come without their records: ask for a new report to see what they changed", later))
	}
	return out
}

// arithmetic works every figure out anew.
func (d Document) arithmetic() []proof.Fault {
	var faults []proof.Fault
	fault := func(where, format string, args ...any) {
		faults = append(faults, proof.Fault{Check: proof.CheckArithmetic, Where: where, Found: fmt.Sprintf(format, args...)})
	}
	for _, s := range d.Chain {
		if s.Links == nil && s.Records > 0 && WantsRecords(d.Period, s.Head) {
			fault(fmt.Sprintf("head %d of %s", s.Number, s.SealedAt), "its %d records are left out, though they may be of the period", s.Records)
		}
	}
	d.clockFaults(fault)
	records, err := d.records()
	if err != nil {
		fault("records", "%s", err)
		return faults
	}
	d.checkVerdict(fault)
	d.checkUse(records, fault)
	d.checkDowntimes(records, fault)
	d.checkTimelines(records, fault)
	d.checkCredits(records, fault)
	d.checkBill(fault)
	return faults
}

type faulter func(where, format string, args ...any)

// judgeInput is what the verdict was judged from.
func (d Document) judgeInput() rental.JudgeInput {
	return rental.JudgeInput{
		Facts:     rental.Facts{Contract: d.Contract, Lease: d.Lease, Assignments: d.Facts.Assignments, Downtimes: d.Facts.Downtimes, Maintenances: d.Facts.Maintenances},
		Timelines: d.Facts.Timelines, Period: d.Period, Now: d.Facts.Known, Language: d.Language,
	}
}

func (d Document) checkVerdict(fault faulter) {
	v, err := rental.Judge(d.judgeInput())
	if err != nil {
		fault("verdict", "it cannot be judged: %s", err)
		return
	}
	if !same(v, d.Verdict) {
		fault("verdict", "worked out anew it is %s (%s), the report says %s (%s)", v.Outcome, v.Arithmetic, d.Verdict.Outcome, d.Verdict.Arithmetic)
	}
}

// same compares two values by their canonical JSON.
func same(a, b any) bool {
	x, err := proof.CanonicalOf(a)
	if err != nil {
		return false
	}
	y, err := proof.CanonicalOf(b)
	return err == nil && bytes.Equal(x, y)
}

func (d Document) checkUse(records held, fault faulter) {
	cards, total := useOf(records.usage, d.Period)
	if !same(total, d.Total) {
		fault("use", "its records sum to %+v, the report says %+v", total, d.Total)
	}
	if !same(cards, d.Use) {
		fault("use by GPU", "it is not what the records sum to")
	}
}

// checkDowntimes holds the downtimes that the verdict rests on against the records of them.
func (d Document) checkDowntimes(records held, fault faulter) {
	shown := map[string]rental.Downtime{}
	for _, fact := range d.Facts.Downtimes {
		shown[fact.ID] = fact
		if !fact.Span.Overlaps(d.Period) || fact.RecordedAt < d.Period.Start {
			continue
		}
		switch recorded, ok := records.downtimes[fact.ID]; {
		case !ok:
			fault("downtime "+fact.ID, "no record of it is in the chain")
		case !same(recorded, fact):
			fault("downtime "+fact.ID, "it is not what its last record says")
		}
	}
	ids := make([]string, 0, len(records.downtimes))
	for id := range records.downtimes {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		if _, ok := shown[id]; !ok && records.downtimes[id].Span.Overlaps(d.Period) {
			fault("downtime "+id, "a record of it is in the chain and the report leaves it out")
		}
	}
}

// checkTimelines holds what samples said, on which the verdict rests, against the records: hour by
// hour each class must have the same milliseconds. Late samples may have changed an hour that is
// not metered anew yet, so of what is not settled nothing is said.
func (d Document) checkTimelines(records held, fault faulter) {
	settled := d.MadeAt - linksAfter
	for _, r := range records.usage {
		if !d.Period.Contains(r.Span.Start) || r.AllocatedMS == 0 || r.Span.End > settled {
			continue
		}
		got := map[rental.Class]int64{}
		for _, iv := range d.Facts.Timelines[r.UUID] {
			got[iv.Class] += iv.Span.Clip(r.Span).Duration()
		}
		if got[rental.Up] != r.UpMS || got[rental.Down] != r.DownMS || got[rental.Excluded] != r.ExcludedMS {
			fault(fmt.Sprintf("usage of %s, %s to %s", r.UUID, r.Span.Start, r.Span.End),
				"the verdict takes %d ms for up and %d for down, the record says %d and %d", got[rental.Up], got[rental.Down], r.UpMS, r.DownMS)
		}
	}
}
