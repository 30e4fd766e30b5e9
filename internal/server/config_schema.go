package server

import (
	"reflect"

	"github.com/leasewatch/leasewatch/internal/manifest"
)

// ConfigSchema returns the JSON Schema of the configuration file, made from the types that it is
// read into: what the reader does not know is no property.
func ConfigSchema() map[string]any {
	schema := manifest.SchemaOf(reflect.TypeFor[Config]())
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["title"] = "Leasewatch configuration"
	return schema
}
