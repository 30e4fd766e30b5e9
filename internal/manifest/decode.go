package manifest

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxNodes bounds how many values one document may hold once its aliases are followed, so
// that a few lines of nested aliases cannot fill the memory.
const maxNodes = 1_000_000

// decoder fills Go values from YAML nodes and remembers on which line each field stood.
type decoder struct {
	file  string
	lines map[string]int // by path from the document's root
	errs  Errors
	nodes int
	// untyped takes a scalar for whatever its field is: a table knows text only.
	untyped bool
}

func (d *decoder) fault(n *yaml.Node, path, found, expected string) {
	d.errs = append(d.errs, Error{File: d.file, Line: max(n.Line, 1), Field: path, Found: found, Expected: expected})
}

// decode fills v from n. path is how a person would name the place.
func (d *decoder) decode(n *yaml.Node, path string, v reflect.Value) {
	line := n.Line
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	d.lines[path] = line
	if d.nodes++; d.nodes > maxNodes {
		if d.nodes == maxNodes+1 {
			d.fault(n, path, "more than a million values behind aliases", "a document that says less")
		}
		return
	}
	if v.Kind() == reflect.Pointer {
		fresh := reflect.New(v.Type().Elem())
		d.decode(n, path, fresh.Elem())
		v.Set(fresh)
		return
	}
	if text, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		d.text(n, path, text)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.object(n, path, v)
	case reflect.Slice:
		d.list(n, path, v)
	case reflect.String:
		if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
			d.fault(n, path, describe(n), "text"+quoteHint(n))
			return
		}
		v.SetString(n.Value)
	case reflect.Bool:
		if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" && !(d.untyped && slices.Contains([]string{"true", "false"}, strings.ToLower(n.Value))) {
			d.fault(n, path, describe(n), "true or false")
			return
		}
		v.SetBool(strings.EqualFold(n.Value, "true"))
	case reflect.Int:
		whole, err := strconv.ParseInt(n.Value, 10, 32)
		if n.Kind != yaml.ScalarNode || n.Tag != "!!int" && !d.untyped || err != nil {
			d.fault(n, path, describe(n), "a whole number")
			return
		}
		v.SetInt(whole)
	default:
		panic(fmt.Sprintf("manifest: no way to read %s into %s", path, v.Type())) // a field of a new type in rental
	}
}

// text lets a type read the scalar itself, exactly as it was written: 2.490 stays 2.490.
func (d *decoder) text(n *yaml.Node, path string, v encoding.TextUnmarshaler) {
	kind := map[string]string{"Decimal": "a number such as 2.49", "Millis": "a time with an offset, such as 2026-05-01T00:00:00Z",
		"Duration": "a length of time such as 60s or 48h", "Date": "a day such as 2026-11-30"}[reflect.TypeOf(v).Elem().Name()]
	if n.Kind != yaml.ScalarNode || n.Value == "" || n.Tag == "!!null" {
		d.fault(n, path, describe(n), kind)
		return
	}
	if v.UnmarshalText([]byte(n.Value)) != nil {
		d.fault(n, path, describe(n), kind)
	}
}

func (d *decoder) list(n *yaml.Node, path string, v reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		d.fault(n, path, describe(n), "a list")
		return
	}
	items := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, item := range n.Content {
		d.decode(item, fmt.Sprintf("%s[%d]", path, i), items.Index(i))
	}
	v.Set(items)
}

func (d *decoder) object(n *yaml.Node, path string, v reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.fault(n, path, describe(n), "fields")
		return
	}
	fields := map[string]reflect.Value{}
	var known []string
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		if name != "" && name != "-" {
			fields[name] = v.Field(i)
			known = append(known, name)
		}
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		field := join(path, key.Value)
		to, ok := fields[key.Value]
		switch {
		case !ok:
			d.fault(key, path, "the unknown field "+strconv.Quote(key.Value), oneOf(known))
		case seen[key.Value]:
			d.fault(key, field, "it twice", "it once")
		default:
			seen[key.Value] = true
			d.decode(value, field, to)
		}
	}
}

func join(path, field string) string {
	if path == "" {
		return field
	}
	return path + "." + field
}

func oneOf(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// describe says what a node holds, in a few words.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "fields"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.Tag {
	case "!!null":
		return "nothing"
	case "!!int", "!!float":
		return "the number " + short(n.Value)
	case "!!bool":
		return n.Value
	}
	return strconv.Quote(short(n.Value))
}

func short(s string) string {
	if runes := []rune(s); len(runes) > 60 {
		return string(runes[:60]) + "..."
	}
	return s
}

func quoteHint(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		return " (put it in quotes)"
	}
	return ""
}
