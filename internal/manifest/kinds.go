package manifest

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// kind reads a spec and adds it to the resources.
type kind struct {
	add func(d *decoder, to *rental.Resources, name string, root, spec *yaml.Node)
	typ reflect.Type
}

// validator is what rental's resources have that can be wrong by themselves.
type validator interface {
	Validate() []rental.FieldError
}

// kindNames are the kinds in the order in which they refer to each other.
var kindNames = []string{rental.KindProvider, rental.KindTenant, rental.KindSite, rental.KindSKU, rental.KindHost,
	rental.KindGPU, rental.KindMIG, rental.KindCalendar, rental.KindContract, rental.KindLease, rental.KindMaintenance,
	rental.KindConsumption, rental.KindAdjustment}

var kinds = map[string]kind{
	rental.KindProvider: of(func(r *rental.Resources, name string, v rental.Provider) *rental.Provider {
		v.Name = name
		return push(&r.Providers, v)
	}),
	rental.KindTenant: of(func(r *rental.Resources, name string, v rental.Tenant) *rental.Tenant {
		v.Name = name
		return push(&r.Tenants, v)
	}),
	rental.KindSite: of(func(r *rental.Resources, name string, v rental.Site) *rental.Site {
		v.Name = name
		return push(&r.Sites, v)
	}),
	rental.KindHost: of(func(r *rental.Resources, name string, v rental.Host) *rental.Host {
		v.Name = name
		return push(&r.Hosts, v)
	}),
	rental.KindSKU: of(func(r *rental.Resources, name string, v rental.SKU) *rental.SKU {
		v.Name = name
		return push(&r.SKUs, v)
	}),
	rental.KindGPU: of(func(r *rental.Resources, name string, v rental.GPU) *rental.GPU {
		if v.UUID == "" {
			v.UUID = name
		}
		return push(&r.GPUs, v)
	}),
	rental.KindMIG: of(func(r *rental.Resources, name string, v rental.MIGInstance) *rental.MIGInstance {
		if v.UUID == "" {
			v.UUID = name
		}
		return push(&r.MIGInstances, v)
	}),
	rental.KindCalendar: of(func(r *rental.Resources, name string, v rental.Calendar) *rental.Calendar {
		v.Name = name
		return push(&r.Calendars, v)
	}),
	rental.KindContract: of(func(r *rental.Resources, name string, v rental.Contract) *rental.Contract {
		v.Name = name
		return push(&r.Contracts, v)
	}),
	rental.KindLease: of(func(r *rental.Resources, name string, v rental.Lease) *rental.Lease {
		v.ID = name
		if v.End == 0 {
			v.End = rental.Forever
		}
		return push(&r.Leases, v)
	}),
	rental.KindMaintenance: of(func(r *rental.Resources, name string, v rental.Maintenance) *rental.Maintenance {
		v.ID = name
		return push(&r.Maintenances, v)
	}),
	rental.KindConsumption: of(func(r *rental.Resources, name string, v rental.Consumption) *rental.Consumption {
		v.ID = name
		return push(&r.Consumptions, v)
	}),
	rental.KindAdjustment: of(func(r *rental.Resources, name string, v rental.Adjustment) *rental.Adjustment {
		v.ID = name
		return push(&r.Adjustments, v)
	}),
}

func push[T any](list *[]T, v T) *T {
	*list = append(*list, v)
	return &(*list)[len(*list)-1]
}

// of makes the kind of one Go type. put names the value, adds it and returns where it is.
func of[T any](put func(*rental.Resources, string, T) *T) kind {
	return kind{typ: reflect.TypeFor[T](), add: func(d *decoder, to *rental.Resources, name string, root, spec *yaml.Node) {
		var v T
		if spec == nil {
			spec = &yaml.Node{Kind: yaml.MappingNode, Line: root.Line}
		}
		before := len(d.errs)
		d.decode(spec, "spec", reflect.ValueOf(&v).Elem())
		placed := put(to, name, v)
		if g, ok := any(placed).(*rental.GPU); ok && g.UUID != name {
			d.fault(at(root, d.lines["metadata.name"]), "metadata.name", found(name), "the card's uuid "+g.UUID)
		}
		if m, ok := any(placed).(*rental.MIGInstance); ok && m.UUID != name {
			d.fault(at(root, d.lines["metadata.name"]), "metadata.name", found(name), "the MIG instance's uuid "+m.UUID)
		}
		if len(d.errs) > before {
			return // what could not be read would be found missing
		}
		if whole, ok := any(*placed).(validator); ok {
			d.validate(root, whole)
		}
	}}
}

// validate notes what is wrong with a value by itself.
func (d *decoder) validate(root *yaml.Node, whole validator) {
	for _, f := range whole.Validate() {
		path := join("spec", f.Path)
		d.fault(at(root, d.lineOf(path)), path, f.Found, f.Expected)
	}
}

// lineOf returns the line of a field, or of the nearest thing around it that was written.
func (d *decoder) lineOf(path string) int { return nearest(d.lines, path) }

func nearest(lines map[string]int, path string) int {
	for path != "" {
		if line, ok := lines[path]; ok {
			return line
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return 0
}
