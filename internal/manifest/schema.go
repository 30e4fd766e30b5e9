package manifest

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// draft names the version of JSON Schema that is written.
const draft = "https://json-schema.org/draft/2020-12/schema"

// object is a JSON object.
type object = map[string]any

// Schema returns the JSON Schema of the documents of one kind, or of all where kind is "", made from
// the types that the reader fills: what it does not know is no property. Which words a field takes,
// and what fits together, the reader says.
func Schema(kind string) (map[string]any, error) {
	if kind != "" {
		of, known := kinds[kind]
		if !known {
			return nil, fmt.Errorf("kind %q: expected %s", kind, oneOf(kindNames))
		}
		schema := document(kind, of.typ)
		schema["$schema"] = draft
		return schema, nil
	}
	all := make([]any, len(kindNames))
	for i, name := range kindNames {
		all[i] = document(name, kinds[name].typ)
	}
	return object{"$schema": draft, "title": "Leasewatch resources", "oneOf": all}, nil
}

func document(kind string, typ reflect.Type) object {
	return object{
		"title": "Leasewatch " + kind, "type": "object", "additionalProperties": false,
		"required": []string{"apiVersion", "kind", "metadata", "spec"},
		"properties": object{
			"apiVersion": object{"const": APIVersion},
			"kind":       object{"const": kind},
			"metadata": object{
				"type": "object", "additionalProperties": false, "required": []string{"name"},
				"properties": object{"name": object{"type": "string", "pattern": nameForm.String(), "maxLength": maxName}},
			},
			"spec": SchemaOf(typ),
		},
	}
}

// SchemaOf returns the JSON Schema of a type as its yaml tags have it. A type that reads its own
// text is text or, where YAML would make a number of it, a number; what has no fields is anything.
func SchemaOf(typ reflect.Type) map[string]any {
	typ = plainType(typ)
	if scalar(typ) {
		switch typ.Kind() {
		case reflect.Bool:
			return object{"type": "boolean"}
		case reflect.Int, reflect.Int64:
			if !readsText(typ) {
				return object{"type": "integer"}
			}
		case reflect.Float64:
			return object{"type": "number"}
		case reflect.String:
			return object{"type": "string"}
		}
		return object{"type": []string{"string", "number"}}
	}
	switch typ.Kind() {
	case reflect.Slice:
		return object{"type": "array", "items": SchemaOf(typ.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": SchemaOf(typ.Elem())}
	case reflect.Struct:
	default:
		return object{}
	}
	properties := object{}
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("yaml"), ",")
		if name != "" && name != "-" {
			properties[name] = SchemaOf(typ.Field(i).Type)
		}
	}
	if len(properties) == 0 {
		return object{}
	}
	return object{"type": "object", "additionalProperties": false, "properties": properties}
}

func plainType(typ reflect.Type) reflect.Type {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	return typ
}

func readsText(typ reflect.Type) bool {
	pointer := reflect.PointerTo(typ)
	return pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) || pointer.Implements(reflect.TypeFor[yaml.Unmarshaler]())
}

// scalar tells whether a value of the type is one word of a document.
func scalar(typ reflect.Type) bool {
	typ = plainType(typ)
	switch typ.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64:
		return true
	}
	return readsText(typ)
}
