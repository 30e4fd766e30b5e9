package manifest

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// maxIndex bounds the index of a list in a column's name.
const maxIndex = 999

// ReadCSV reads resources of one kind from a table: its first row names a column for each field as
// documents name it below spec ("sku", "plan.mode", "prices[0].from") and one "name" for the name,
// each other row is a resource. An empty cell leaves its field out. A cell of a list of words holds
// them with ";" between; the cards of a lease stand in one column "gpus" so, each as its uuid or as
// HOST/SLOT. It is checked as documents are, and errors name line and column. file is what errors
// call it.
func ReadCSV(file, kindName string, r io.Reader) (rental.Resources, Places, error) {
	in := newReader()
	of, known := kinds[kindName]
	if !known {
		in.errs = Errors{{File: file, Line: 1, Found: "the kind " + strconv.Quote(kindName), Expected: oneOf(kindNames)}}
		_, err := in.result()
		return rental.Resources{}, nil, err
	}
	if err := in.readTable(file, kindName, of.typ, r); err != nil {
		return rental.Resources{}, nil, err
	}
	resources, err := in.result()
	return resources, in.places, err
}

// KindNamed returns the kind that a word means in any case ("lease" is Lease), or false.
func KindNamed(word string) (string, bool) {
	i := slices.IndexFunc(kindNames, func(kind string) bool { return strings.EqualFold(kind, word) })
	if i < 0 {
		return "", false
	}
	return kindNames[i], true
}

// Kinds returns the names of all kinds, in the order in which they refer to each other.
func Kinds() []string { return slices.Clone(kindNames) }

func (in *reader) readTable(file, kindName string, typ reflect.Type, r io.Reader) error {
	limited := &io.LimitedReader{R: r, N: maxSize + 1}
	rows := csv.NewReader(limited)
	rows.FieldsPerRecord = -1
	fault := func(line int, field, found, expected string) {
		in.errs = append(in.errs, Error{File: file, Line: line, Field: field, Found: found, Expected: expected})
	}
	var columns []string
	for {
		row, err := rows.Read()
		if limited.N <= 0 {
			fault(1, "", "more than 32 MiB", "a smaller file; split it")
			return nil
		}
		var syntax *csv.ParseError
		switch {
		case errors.Is(err, io.EOF) && columns == nil:
			fault(1, "", "nothing", "a first row that names the columns")
			return nil
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &syntax):
			fault(max(syntax.Line, 1), "", "text that is no CSV ("+syntax.Err.Error()+")", "cells with commas between, in double quotes where they hold one")
			return nil
		case err != nil:
			return fmt.Errorf("manifest: %s: %w", file, err)
		}
		line, _ := rows.FieldPos(0)
		if columns == nil {
			if columns = in.header(file, line, row, typ); columns == nil {
				return nil
			}
			continue
		}
		if len(row) != len(columns) {
			fault(line, "", fmt.Sprintf("%d cells", len(row)), fmt.Sprintf("%d, one for each column", len(columns)))
			continue
		}
		in.row(file, kindName, line, columns, row, typ)
	}
}

// header checks the names of the columns; nil where one is wrong.
func (in *reader) header(file string, line int, row []string, typ reflect.Type) []string {
	before := len(in.errs)
	columns := make([]string, len(row))
	for i, name := range row {
		if i == 0 {
			name = strings.TrimPrefix(name, "\ufeff") // spreadsheets begin a file with it
		}
		name = strings.TrimSpace(name)
		expected := ""
		switch {
		case slices.Contains(columns[:i], name):
			expected = "each column once"
		case name != "name":
			expected = columnFault(typ, name)
		}
		if expected != "" {
			in.errs = append(in.errs, Error{File: file, Line: line, Found: "the column " + strconv.Quote(short(name)), Expected: expected})
		}
		columns[i] = name
	}
	if !slices.Contains(columns, "name") {
		in.errs = append(in.errs, Error{File: file, Line: line, Found: "no column name", Expected: `a column "name"`})
	}
	if len(in.errs) > before {
		return nil
	}
	return columns
}

var step = regexp.MustCompile(`^([a-z_]+)(?:\[(\d+)\])?$`)

// columnFault says what a column should be called, or "" where it names a field of the type.
func columnFault(typ reflect.Type, column string) string {
	for part := range strings.SplitSeq(column, ".") {
		m := step.FindStringSubmatch(part)
		if m == nil {
			return "the name of a field, such as sku or plan.prices[0].price"
		}
		typ = plainType(typ)
		field, names := fieldOf(typ, m[1])
		if field == nil {
			return oneOf(append([]string{"name"}, names...))
		}
		if typ = plainType(field); m[2] == "" {
			continue
		}
		if n, err := strconv.Atoi(m[2]); typ.Kind() != reflect.Slice || err != nil || n > maxIndex {
			return fmt.Sprintf("an index from 0 to %d, and one only where a list is", maxIndex)
		}
		typ = typ.Elem()
	}
	typ = plainType(typ)
	if scalar(typ) || typ.Kind() == reflect.Slice && (scalar(typ.Elem()) || typ.Elem() == reflect.TypeFor[rental.GPURef]()) {
		return ""
	}
	index := ""
	if typ.Kind() == reflect.Slice {
		typ, index = plainType(typ.Elem()), "[0]"
	}
	_, names := fieldOf(typ, "")
	return "a column for each of its fields: " + column + index + "." + oneOf(names)
}

// fieldOf returns the type of a field by its name in documents, and the names of all.
func fieldOf(typ reflect.Type, name string) (field reflect.Type, names []string) {
	if typ.Kind() != reflect.Struct || scalar(typ) {
		return nil, []string{"a field that holds fields"}
	}
	for i := range typ.NumField() {
		known, _, _ := strings.Cut(typ.Field(i).Tag.Get("yaml"), ",")
		if known == "" || known == "-" {
			continue
		}
		names = append(names, known)
		if known == name {
			field = typ.Field(i).Type
		}
	}
	return field, names
}

// row makes a document of a row and reads it as one.
func (in *reader) row(file, kindName string, line int, columns, cells []string, typ reflect.Type) {
	table := table{line: line}
	spec, name := table.fields(), ""
	for i, column := range columns {
		cell := strings.TrimSpace(cells[i])
		if column == "name" {
			name = cell
		} else if cell != "" {
			table.put(spec, typ, column, cell)
		}
	}
	head := table.fields()
	table.set(head, "name", table.word(name))
	root := table.fields()
	table.set(root, "apiVersion", table.word(APIVersion))
	table.set(root, "kind", table.word(kindName))
	table.set(root, "metadata", head)
	table.set(root, "spec", spec)
	in.untyped = true
	in.document(file, root)
}

// table makes the nodes of one row.
type table struct{ line int }

func (t table) word(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Line: t.line}
}

func (t table) fields() *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: t.line}
}

func (t table) set(fields *yaml.Node, name string, value *yaml.Node) {
	fields.Content = append(fields.Content, t.word(name), value)
}

// put lays a cell into the fields that its column leads through.
func (t table) put(fields *yaml.Node, typ reflect.Type, column, cell string) {
	first, rest, more := strings.Cut(column, ".")
	m := step.FindStringSubmatch(first)
	field, _ := fieldOf(plainType(typ), m[1])
	field = plainType(field)
	value := valueOf(fields, m[1])
	switch {
	case m[2] != "":
		if value == nil {
			value = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: t.line}
			t.set(fields, m[1], value)
		}
		n, _ := strconv.Atoi(m[2]) // the header was checked
		for len(value.Content) <= n {
			value.Content = append(value.Content, t.fields())
		}
		if !more {
			value.Content[n] = t.word(cell)
			return
		}
		t.put(value.Content[n], plainType(field.Elem()), rest, cell)
	case more:
		if value == nil {
			value = t.fields()
			t.set(fields, m[1], value)
		}
		t.put(value, field, rest, cell)
	case field.Kind() == reflect.Slice:
		t.set(fields, m[1], t.list(field.Elem(), cell))
	default:
		t.set(fields, m[1], t.word(cell))
	}
}

// list makes the items of a cell that holds several; a card is its uuid or HOST/SLOT.
func (t table) list(of reflect.Type, cell string) *yaml.Node {
	items := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: t.line}
	for item := range strings.SplitSeq(cell, ";") {
		item = strings.TrimSpace(item)
		node := t.word(item)
		if of == reflect.TypeFor[rental.GPURef]() {
			node = t.fields()
			if host, slot, placed := strings.Cut(item, "/"); placed {
				t.set(node, "host", t.word(host))
				t.set(node, "slot", t.word(slot))
			} else {
				t.set(node, "uuid", t.word(item))
			}
		}
		items.Content = append(items.Content, node)
	}
	return items
}

func valueOf(fields *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(fields.Content); i += 2 {
		if fields.Content[i].Value == name {
			return fields.Content[i+1]
		}
	}
	return nil
}
