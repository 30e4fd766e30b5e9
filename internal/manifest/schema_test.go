package manifest_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/leasewatch/leasewatch/internal/manifest"
	"github.com/leasewatch/leasewatch/internal/testenv"
)

func compiled(t *testing.T, kind string) *jsonschema.Schema {
	t.Helper()
	schema, err := manifest.Schema(kind)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("leasewatch.json", document); err != nil {
		t.Fatal(err)
	}
	whole, err := c.Compile("leasewatch.json")
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// asJSON reads one document as an editor would. Times stay text, as they are written.
func asJSON(t *testing.T, n *yaml.Node) any {
	t.Helper()
	switch n.Kind {
	case yaml.DocumentNode:
		return asJSON(t, n.Content[0])
	case yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			out[n.Content[i].Value] = asJSON(t, n.Content[i+1])
		}
		return out
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, item := range n.Content {
			out[i] = asJSON(t, item)
		}
		return out
	}
	if n.Tag == "!!timestamp" {
		return n.Value
	}
	var v any
	if err := n.Decode(&v); err != nil {
		t.Fatal(err)
	}
	if whole, ok := v.(int); ok {
		return float64(whole)
	}
	return v
}

// documents are the YAML blocks of the manual and the reader's own example.
func documents(t *testing.T) []any {
	t.Helper()
	manual, err := os.ReadFile(filepath.Join(testenv.Root(t), "docs", "leases.md"))
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(filepath.Join("testdata", "good.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{string(good)}
	for i, part := range strings.Split(string(manual), "```") {
		if i%2 == 1 && strings.HasPrefix(part, "yaml\n") {
			texts = append(texts, strings.TrimPrefix(part, "yaml\n"))
		}
	}
	var all []any
	for _, text := range texts {
		decoder := yaml.NewDecoder(strings.NewReader(text))
		for {
			var n yaml.Node
			if err := decoder.Decode(&n); err != nil {
				break
			}
			if d := asJSON(t, &n); d != nil { // an empty document is none
				all = append(all, d)
			}
		}
	}
	return all
}

func TestEveryDocumentedExampleFitsTheSchema(t *testing.T) {
	whole := compiled(t, "")
	all := documents(t)
	if len(all) < 20 {
		t.Fatalf("found %d documents, expected the manual's and the example's", len(all))
	}
	seen := map[string]bool{}
	for _, d := range all {
		kind, _ := d.(map[string]any)["kind"].(string)
		seen[kind] = true
		if err := whole.Validate(d); err != nil {
			t.Errorf("%s by the schema of all: %v", kind, err)
		}
		if err := compiled(t, kind).Validate(d); err != nil {
			t.Errorf("%s by its own schema: %v", kind, err)
		}
	}
	for _, kind := range manifest.Kinds() {
		if !seen[kind] {
			t.Errorf("no example of %s was checked", kind)
		}
	}
}

func TestAFieldThatTheReaderDoesNotKnowFitsNoSchema(t *testing.T) {
	for _, d := range documents(t) {
		document := d.(map[string]any)
		kind := document["kind"].(string)
		schema := compiled(t, kind)
		spec, _ := document["spec"].(map[string]any)
		if spec == nil {
			continue
		}
		spec["colour"] = "red"
		if schema.Validate(d) == nil {
			t.Errorf("%s: spec.colour fits", kind)
		}
		delete(spec, "colour")
		document["kind"] = "Wage"
		if schema.Validate(d) == nil {
			t.Errorf("%s: another kind fits", kind)
		}
	}
	if _, err := manifest.Schema("Wage"); err == nil || !strings.Contains(err.Error(), "expected Provider") {
		t.Errorf("%v, expected it to name the kinds", err)
	}
}
