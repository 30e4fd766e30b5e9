package manifest

import (
	"io"
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Kind is a kind of documents that another room than the ledger keeps.
type Kind struct {
	Name string
	// New returns a pointer to the empty value that a document of this name is read into. A value
	// that can be wrong by itself has Validate() []rental.FieldError.
	New func(name string) any
}

// ReadKinds reads documents of these kinds, as strictly as Read reads those of the ledger, and
// tells where each was written. An error is Errors (CodeInvalid), sorted by line.
func ReadKinds(name string, r io.Reader, of []Kind) (Places, error) {
	in := reader{places: Places{}, kinds: map[string]kind{}}
	for _, k := range of {
		in.names = append(in.names, k.Name)
		in.kinds[k.Name] = kind{add: func(d *decoder, _ *rental.Resources, name string, root, spec *yaml.Node) {
			if spec == nil {
				spec = &yaml.Node{Kind: yaml.MappingNode, Line: root.Line}
			}
			value, before := k.New(name), len(d.errs)
			d.decode(spec, "spec", reflect.ValueOf(value).Elem())
			if whole, ok := value.(validator); ok && len(d.errs) == before {
				d.validate(root, whole)
			}
		}}
	}
	if err := in.read(name, r); err != nil {
		return nil, err
	}
	if len(in.errs) > 0 {
		return nil, in.errs.sorted()
	}
	return in.places, nil
}
