package httpapi

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// describeNulls corrects the description of fields that may be null. huma says so of plain
// pointers; a pointer to a struct it describes as the struct alone, though "not measured" is
// null on this wire too.
func describeNulls(schemas huma.Registry) {
	for name, schema := range schemas.Map() {
		t := schemas.TypeFromRef("#/components/schemas/" + name)
		for t != nil && t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t == nil || t.Kind() != reflect.Struct {
			continue
		}
		for _, field := range reflect.VisibleFields(t) {
			key, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			property := schema.Properties[key]
			if field.Type.Kind() != reflect.Pointer || strings.Contains(options, "omitempty") || property == nil || property.Ref == "" {
				continue
			}
			schema.Properties[key] = &huma.Schema{
				Description: property.Description,
				AnyOf:       []*huma.Schema{{Ref: property.Ref}, {Type: "null"}},
			}
		}
	}
}
