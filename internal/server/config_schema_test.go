package server_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/leasewatch/leasewatch/internal/server"
	"github.com/leasewatch/leasewatch/internal/testenv"
)

// TestTheDocumentedConfigurationFitsItsSchemaAndAnUnknownFieldDoesNot holds the schema to the
// manual's example, which the reader is held to as well.
func TestTheDocumentedConfigurationFitsItsSchemaAndAnUnknownFieldDoesNot(t *testing.T) {
	text, err := json.Marshal(server.ConfigSchema())
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("configuration.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("configuration.json")
	if err != nil {
		t.Fatal(err)
	}
	manual, err := os.ReadFile(filepath.Join(testenv.Root(t), "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(manual), "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("docs/configuration.md shows no configuration")
	}
	read := func(text string) any {
		t.Helper()
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if err := schema.Validate(read(example)); err != nil {
		t.Error(err)
	}
	for _, wrong := range []string{"colour: red\n", "global: {scrape_intervall: 15s}\n", "approvals: {for: prices}\n", "access: {required: maybe}\n", "thresholds: [{nmae: idle_ratio}]\n"} {
		if schema.Validate(read(wrong)) == nil {
			t.Errorf("%q fits the schema", wrong)
		}
	}
}
