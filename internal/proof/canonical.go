// Package proof makes what a lease's records say provable to whoever did not write them: records
// form a chain of hashes, each day's head is given away, and reports are signed. Everything here
// can be checked offline and by a second implementation; docs/proof.md is its specification.
package proof

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxInteger is the largest integer that every JSON reader keeps exact (RFC 8785, 3.2.2.3).
const maxInteger = 1<<53 - 1

// maxDepth bounds how deep a document may be nested.
const maxDepth = 64

// Canonical returns the one encoding of a JSON text that hashes and signatures are made over: RFC
// 8785 (JSON Canonicalization Scheme), restricted to integers of at most 53 bits, because nothing
// that is proven is a fraction. An object that names a member twice is refused, as are other
// numbers and text that is no JSON.
func Canonical(text []byte) ([]byte, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("found bytes that are no UTF-8, expected JSON")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var out bytes.Buffer
	if err := canonicalValue(dec, &out, 0); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("found more after the JSON value, expected its end")
	}
	return out.Bytes(), nil
}

// CanonicalOf is Canonical of a value's JSON.
func CanonicalOf(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	return Canonical(text)
}

func canonicalValue(dec *json.Decoder, out *bytes.Buffer, depth int) error {
	token, err := dec.Token()
	if err != nil {
		return fmt.Errorf("expected JSON: %w", err)
	}
	if depth > maxDepth {
		return fmt.Errorf("found values nested over %d deep", maxDepth)
	}
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			return canonicalObject(dec, out, depth)
		}
		return canonicalArray(dec, out, depth)
	case json.Number:
		n, err := strconv.ParseInt(v.String(), 10, 64)
		if err != nil || n > maxInteger || n < -maxInteger || strconv.FormatInt(n, 10) != v.String() {
			return fmt.Errorf("found the number %s, expected an integer of at most 53 bits", v)
		}
		out.WriteString(v.String())
	case string:
		canonicalString(out, v)
	case bool:
		out.WriteString(strconv.FormatBool(v))
	default:
		out.WriteString("null")
	}
	return nil
}

func canonicalArray(dec *json.Decoder, out *bytes.Buffer, depth int) error {
	out.WriteByte('[')
	for first := true; dec.More(); first = false {
		if !first {
			out.WriteByte(',')
		}
		if err := canonicalValue(dec, out, depth+1); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	_, err := dec.Token()
	return err
}

// member is one of an object's, with its name as RFC 8785 orders names: by UTF-16 code units.
type member struct {
	name  string
	units []uint16
	value []byte
}

func canonicalObject(dec *json.Decoder, out *bytes.Buffer, depth int) error {
	var members []member
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return fmt.Errorf("expected JSON: %w", err)
		}
		name, ok := token.(string)
		if !ok {
			return fmt.Errorf("found %v, expected the name of a member", token)
		}
		var value bytes.Buffer
		if err := canonicalValue(dec, &value, depth+1); err != nil {
			return err
		}
		members = append(members, member{name, utf16.Encode([]rune(name)), value.Bytes()})
	}
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("expected JSON: %w", err)
	}
	slices.SortFunc(members, func(a, b member) int { return slices.Compare(a.units, b.units) })
	out.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			if m.name == members[i-1].name {
				return fmt.Errorf("found the member %q twice, expected it once", m.name)
			}
			out.WriteByte(',')
		}
		canonicalString(out, m.name)
		out.WriteByte(':')
		out.Write(m.value)
	}
	out.WriteByte('}')
	return nil
}

// canonicalString escapes what RFC 8785 escapes and nothing else.
func canonicalString(out *bytes.Buffer, s string) {
	const short = "\b\t\n\f\r\"\\"
	const names = `btnfr"\`
	out.WriteByte('"')
	for _, r := range s {
		switch i := strings.IndexRune(short, r); {
		case i >= 0:
			out.WriteByte('\\')
			out.WriteByte(names[i])
		case r < ' ':
			fmt.Fprintf(out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
}
