package manifest

import (
	"encoding"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Write writes resources as documents that Read reads back as they are, in the order in which
// they refer to each other.
func Write(w io.Writer, r rental.Resources) error {
	if r.Len() == 0 {
		return nil // the encoder cannot end a stream that never began
	}
	out := yaml.NewEncoder(w)
	out.SetIndent(2)
	write := func(kind, name string, spec any) error {
		node, err := encode(reflect.ValueOf(spec))
		if err != nil {
			return fmt.Errorf("manifest: %s %q: %w", kind, name, err)
		}
		return out.Encode(mapping("apiVersion", text(APIVersion), "kind", text(kind), "metadata", mapping("name", text(name)), "spec", node))
	}
	err := firstError(
		each(r.Providers, func(v rental.Provider) error { return write(rental.KindProvider, v.Name, v) }),
		each(r.Tenants, func(v rental.Tenant) error { return write(rental.KindTenant, v.Name, v) }),
		each(r.Sites, func(v rental.Site) error { return write(rental.KindSite, v.Name, v) }),
		each(r.SKUs, func(v rental.SKU) error { return write(rental.KindSKU, v.Name, v) }),
		each(r.Hosts, func(v rental.Host) error { return write(rental.KindHost, v.Name, v) }),
		each(r.GPUs, func(v rental.GPU) error { return write(rental.KindGPU, v.UUID, v) }),
		each(r.MIGInstances, func(v rental.MIGInstance) error { return write(rental.KindMIG, v.UUID, v) }),
		each(r.Calendars, func(v rental.Calendar) error { return write(rental.KindCalendar, v.Name, v) }),
		each(r.Contracts, func(v rental.Contract) error { return write(rental.KindContract, v.Name, v) }),
		each(r.Leases, func(v rental.Lease) error { return write(rental.KindLease, v.ID, v) }),
		each(r.Maintenances, func(v rental.Maintenance) error { return write(rental.KindMaintenance, v.ID, v) }),
		each(r.Consumptions, func(v rental.Consumption) error { return write(rental.KindConsumption, v.ID, v) }),
		each(r.Adjustments, func(v rental.Adjustment) error { return write(rental.KindAdjustment, v.ID, v) }),
	)
	if err != nil {
		return err
	}
	return out.Close()
}

// each returns a step that writes every item.
func each[T any](items []T, write func(T) error) func() error {
	return func() error {
		for _, item := range items {
			if err := write(item); err != nil {
				return err
			}
		}
		return nil
	}
}

func firstError(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// text is a scalar that is quoted where YAML would read it as something else.
func text(value string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(value)
	return n
}

func plain(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

func mapping(pairs ...any) *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := 0; i < len(pairs); i += 2 {
		m.Content = append(m.Content, text(pairs[i].(string)), pairs[i+1].(*yaml.Node))
	}
	return m
}

// encode turns a value into a node. What is empty and need not be said is left out (nil).
func encode(v reflect.Value) (*yaml.Node, error) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil, nil
		}
		return encode(v.Elem())
	}
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		written, err := m.MarshalText()
		if err != nil || len(written) == 0 || v.IsZero() {
			return nil, err
		}
		return text(string(written)), nil
	}
	switch v.Kind() {
	case reflect.String:
		return text(v.String()), nil
	case reflect.Bool:
		return plain("!!bool", strconv.FormatBool(v.Bool())), nil
	case reflect.Int:
		return plain("!!int", strconv.FormatInt(v.Int(), 10)), nil
	case reflect.Slice:
		return encodeList(v)
	case reflect.Struct:
		return encodeObject(v)
	}
	return nil, fmt.Errorf("no way to write a %s", v.Type())
}

func encodeList(v reflect.Value) (*yaml.Node, error) {
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for i := range v.Len() {
		item, err := encode(v.Index(i))
		if err != nil {
			return nil, err
		}
		if item != nil {
			list.Content = append(list.Content, item)
		}
	}
	return list, nil
}

func encodeObject(v reflect.Value) (*yaml.Node, error) {
	object := mapping()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		optional := strings.Contains(field.Tag.Get("json"), ",omitempty")
		if name == "" || name == "-" || (optional && v.Field(i).IsZero()) {
			continue
		}
		value, err := encode(v.Field(i))
		if err != nil {
			return nil, err
		}
		if value != nil {
			object.Content = append(object.Content, text(name), value)
		}
	}
	return object, nil
}
