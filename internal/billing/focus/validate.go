package focus

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Fault is one thing that is wrong in a file.
type Fault struct {
	Line     int // of the file, the header is 1
	Column   string
	Found    string
	Expected string
}

// Error returns "line: column: found X, expected Y".
func (f Fault) Error() string {
	return fmt.Sprintf("line %d: %s: found %s, expected %s", f.Line, f.Column, f.Found, f.Expected)
}

// maxField bounds what of a value is told.
const maxField = 60

// Validate reads a CSV file of a version and tells every fault to report, row by row; it returns
// how many rows there were. Only a file that cannot be read as CSV is an error.
func Validate(r io.Reader, version string, report func(Fault)) (rows int, err error) {
	cols, err := of(version)
	if err != nil {
		return 0, err
	}
	in := csv.NewReader(r)
	in.FieldsPerRecord = -1
	in.ReuseRecord = true
	header, err := in.Read()
	if err != nil {
		return 0, fmt.Errorf("FOCUS %s: header: %w", version, err)
	}
	c := checker{version: version, report: report, columns: map[string]column{}, known: map[string]string{}, header: slices.Clone(header)}
	if len(c.header) > 0 {
		c.header[0] = strings.TrimPrefix(c.header[0], "\ufeff")
	}
	for _, col := range cols {
		c.columns[col.name] = col
	}
	c.checkHeader(cols)
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, fmt.Errorf("FOCUS %s: after %d rows: %w", version, rows, err)
		}
		rows++
		c.line, _ = in.FieldPos(0)
		c.checkRow(record)
	}
}

// checker checks one file.
type checker struct {
	version string
	report  func(Fault)
	columns map[string]column
	header  []string
	line    int
	values  map[string]string // of the row, what is not null
	known   map[string]string // of the file, by column and id: what must be alike in all rows
}

func (c *checker) fault(column, found, expected string) {
	c.report(Fault{Line: c.line, Column: column, Found: found, Expected: expected})
}

func (c *checker) checkHeader(cols []column) {
	c.line = 1
	seen := map[string]bool{}
	for _, name := range c.header {
		if seen[name] {
			c.fault(name, "the column twice", "it once")
		}
		seen[name] = true
		if _, known := c.columns[name]; !known && !strings.HasPrefix(name, "x_") {
			c.fault(short(name), "a column that FOCUS "+c.version+" does not have", "a name of the specification, or one with x_ before it")
		}
	}
	for _, col := range cols {
		if col.mandatory && !seen[col.name] {
			c.fault(col.name, "no such column", "it: the column is mandatory")
		}
	}
}

func (c *checker) checkRow(record []string) {
	if len(record) != len(c.header) {
		c.fault("the row", fmt.Sprintf("%d values", len(record)), fmt.Sprintf("%d, as the header has", len(c.header)))
		return
	}
	c.values = map[string]string{}
	for i, value := range record {
		col, known := c.columns[c.header[i]]
		if !known {
			continue
		}
		if placeholder(value) {
			c.fault(col.name, "the text "+short(value), "an empty value where there is none")
			value = ""
		}
		if value == "" {
			if col.required {
				c.fault(col.name, "nothing", "a value in every row")
			}
			continue
		}
		if c.checkValue(col, value) {
			c.values[col.name] = value
		}
	}
	c.checkPeriods()
	c.checkCosts()
	c.checkConsumed()
	c.checkCommitment()
	c.checkPairs()
}

var (
	numberForm = regexp.MustCompile(`^-?[0-9]{1,40}(\.[0-9]{1,40})?$`)
	momentForm = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`)
)

// checkValue checks one value by itself and tells whether the row's rules may rely on it.
func (c *checker) checkValue(col column, value string) bool {
	fail := func(expected string) bool {
		c.fault(col.name, short(value), expected)
		return false
	}
	switch {
	case col.allowed != nil:
		if !slices.Contains(col.allowed, value) {
			return fail(strings.Join(col.allowed, ", "))
		}
	case col.kind == number:
		if !numberForm.MatchString(value) {
			return fail("a decimal number such as 12.5")
		}
	case col.kind == moment:
		if _, err := time.Parse(time.RFC3339, value); err != nil || !momentForm.MatchString(value) {
			return fail("a time in UTC such as 2026-05-01T00:00:00Z")
		}
	case col.kind == currency:
		if _, err := rental.Currency(value).MinorDigits(); err != nil {
			return fail("an ISO 4217 code such as USD")
		}
	case col.kind == pairs:
		var tags map[string]any
		if err := json.Unmarshal([]byte(value), &tags); err != nil || tags == nil {
			return fail(`a JSON object such as {"team": "vision"}`)
		}
		if key, twice := repeated(value); twice {
			return fail("the key " + short(key) + " once")
		}
		for key, v := range tags {
			switch v.(type) {
			case map[string]any, []any:
				return fail("text, a number, true, false or null under " + short(key))
			}
		}
	}
	return true
}

// placeholder tells whether a text stands for no value.
func placeholder(value string) bool {
	switch strings.ToUpper(value) {
	case "NULL", "N/A", "NONE", "NOT APPLICABLE":
		return true
	}
	return value != "" && strings.TrimSpace(value) == ""
}

// repeated returns a key that a JSON object holds twice.
func repeated(object string) (string, bool) {
	in := json.NewDecoder(strings.NewReader(object))
	seen := map[string]bool{}
	if _, err := in.Token(); err != nil { // the brace
		return "", false
	}
	for in.More() {
		key, err := in.Token()
		name, ok := key.(string)
		if err != nil || !ok {
			return "", false
		}
		if seen[name] {
			return name, true
		}
		seen[name] = true
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return "", false
		}
	}
	return "", false
}

func (c *checker) has(column string) bool { return slices.Contains(c.header, column) }

func rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return new(big.Rat)
	}
	return r
}

func short(s string) string {
	s = fmt.Sprintf("%q", s)
	if runes := []rune(s); len(runes) > maxField {
		return string(runes[:maxField]) + "…"
	}
	return s
}
