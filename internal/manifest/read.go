package manifest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// maxSize bounds one input in bytes; ten thousand GPUs need about two million.
const maxSize = 32 << 20

// Read reads all documents of one input. name is what errors call it. An error is Errors
// (CodeInvalid), sorted by line, and no resources come with it.
func Read(name string, r io.Reader) (rental.Resources, error) {
	in := newReader()
	if err := in.read(name, r); err != nil {
		return rental.Resources{}, err
	}
	return in.result()
}

// ReadPaths reads files, all *.yaml and *.yml files of directories with what lies below them,
// and stdin where a path is "-", as one input: a name may come once in all of them.
func ReadPaths(paths []string, stdin io.Reader) (rental.Resources, error) {
	r, _, err := ReadPlaced(paths, stdin)
	return r, err
}

func (in *reader) readPaths(paths []string, stdin io.Reader) error {
	for _, path := range paths {
		if path == "-" {
			if err := in.read("stdin", stdin); err != nil {
				return err
			}
			continue
		}
		files, err := filesOf(path)
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := in.readFile(file); err != nil {
				return err
			}
		}
	}
	return nil
}

// filesOf lists the manifest files that a path means, in order.
func filesOf(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("manifest: expected a file, a directory or - for stdin: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name)) {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("manifest: directory %s holds no .yaml or .yml file: expected at least one", path)
	}
	return files, nil
}

// reader gathers resources and faults over several inputs.
type reader struct {
	resources rental.Resources
	errs      Errors
	places    Places // where each name was first
	untyped   bool   // all scalars are text, as a table has them
	kinds     map[string]kind
	names     []string // of the kinds, in the order in which they are told
}

// newReader returns a reader of the ledger's kinds.
func newReader() reader { return reader{places: Places{}, kinds: kinds, names: kindNames} }

func (in *reader) readFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	defer f.Close()
	return in.read(name, f)
}

func (in *reader) result() (rental.Resources, error) {
	if len(in.errs) > 0 {
		return rental.Resources{}, in.errs.sorted()
	}
	return in.resources, nil
}

// read adds the documents of one input. Only a failing reader is an error here.
func (in *reader) read(name string, r io.Reader) error {
	limited := &io.LimitedReader{R: r, N: maxSize + 1}
	documents := yaml.NewDecoder(limited)
	for {
		var root yaml.Node
		err := documents.Decode(&root)
		if limited.N <= 0 {
			in.errs = append(in.errs, Error{File: name, Line: 1, Found: "more than 32 MiB", Expected: "a smaller file; split it"})
			return nil
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			in.errs = append(in.errs, syntaxError(name, err))
			return nil // after a syntax error the place of the next document is a guess
		}
		if len(root.Content) == 1 && root.Content[0].Tag != "!!null" {
			in.document(name, root.Content[0])
		}
	}
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

func syntaxError(name string, err error) Error {
	e := Error{File: name, Line: 1, Found: err.Error(), Expected: "YAML"}
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			e.Line = n
		}
		e.Found = "text that is no YAML (" + strings.TrimSpace(m[2]) + ")"
	}
	return e
}

// envelope is what every document has in common.
type envelope struct {
	APIVersion string    `yaml:"apiVersion"`
	Kind       string    `yaml:"kind"`
	Metadata   metadata  `yaml:"metadata"`
	Spec       *specNode `yaml:"spec"`
}

type metadata struct {
	Name string `yaml:"name"`
}

// specNode is filled in a second step, when the kind is known.
type specNode struct{}

// document decodes one document into the resource that its kind names.
func (in *reader) document(file string, root *yaml.Node) {
	d := &decoder{file: file, lines: map[string]int{}, untyped: in.untyped}
	defer func() { in.errs = append(in.errs, d.errs...) }()
	if root.Kind != yaml.MappingNode {
		d.fault(root, "", describe(root), "a document with apiVersion, kind, metadata and spec")
		return
	}
	var head envelope
	spec := takeSpec(root)
	d.object(root, "", reflect.ValueOf(&head).Elem())
	if head.APIVersion != APIVersion {
		d.fault(at(root, d.lines["apiVersion"]), "apiVersion", found(head.APIVersion), APIVersion)
	}
	kind, known := in.kinds[head.Kind]
	if !known {
		d.fault(at(root, d.lines["kind"]), "kind", found(head.Kind), oneOf(in.names))
		return
	}
	name := at(root, d.lines["metadata.name"])
	if head.Metadata.Name == "" {
		d.fault(name, "metadata.name", "nothing", "a name")
		return
	}
	if expected := nameFault(head.Kind, head.Metadata.Name); expected != "" {
		d.fault(name, "metadata.name", found(head.Metadata.Name), expected)
	}
	key := keyOf(head.Kind, head.Metadata.Name)
	if first, again := in.places[key]; again {
		d.fault(name, "metadata.name", key+" again", fmt.Sprintf("it once (the first is at %s:%d)", first.file, first.line))
	} else {
		in.places[key] = place{file: file, line: name.Line, lines: d.lines}
	}
	kind.add(d, &in.resources, head.Metadata.Name, root, spec)
}

// takeSpec cuts the spec out of a document's fields, leaving an empty one in its place.
func takeSpec(root *yaml.Node) *yaml.Node {
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "spec" {
			spec := root.Content[i+1]
			root.Content[i+1] = &yaml.Node{Kind: yaml.MappingNode, Line: spec.Line}
			return spec
		}
	}
	return nil
}

// at is a place for a fault: the line, or the document's first where there is none.
func at(root *yaml.Node, line int) *yaml.Node {
	if line == 0 {
		line = root.Line
	}
	return &yaml.Node{Line: line}
}

func found(value string) string {
	if value == "" {
		return "nothing"
	}
	return strconv.Quote(short(value))
}
