package httpapi

import (
	"context"
	"reflect"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Facts hold ids of people. Every answer shows their names in these fields, whatever type has them;
// programs, and names that older ledgers recorded, stay as they are.
var whoFields = map[string]bool{
	"By": true, "ApprovedBy": true, "EnteredBy": true, "DecidedBy": true, "RejectedBy": true,
	"DisputedBy": true, "AckedBy": true, "ClosedBy": true, "PlacedBy": true, "ReleasedBy": true, "ReportedBy": true, "VerifiedBy": true,
}

// documents are handed out and reproduced to the byte: they hold ids, whoever was erased since.
var documents = map[reflect.Type]bool{
	reflect.TypeFor[rental.Bill](): true,
}

// named returns the answer with names in the place of people's ids. The answer may share memory
// with what the server keeps, so it is copied where it changes.
func named[O any](ctx context.Context, v view, out *O) (*O, error) {
	n := naming{tells: map[reflect.Type]bool{}}
	if out == nil || !n.tellsWho(reflect.TypeFor[O]()) {
		return out, nil
	}
	var err error
	if n.names, err = v.deps.People.Names(ctx, v.tenantOnly()); err != nil || len(n.names) == 0 {
		return out, err
	}
	shown, _ := n.with(reflect.ValueOf(out)).Interface().(*O)
	return shown, nil
}

// naming puts names in one answer.
type naming struct {
	names rental.Names
	// tells are the types that are known to have, or not to have, a field that says who.
	tells map[reflect.Type]bool
}

// tellsWho tells whether a type has a field that says who, in whatever depth.
func (n naming) tellsWho(t reflect.Type) bool {
	if tells, known := n.tells[t]; known {
		return tells
	}
	n.tells[t] = false // while it is looked at: a type within itself adds nothing
	tells := false
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		tells = n.tellsWho(t.Elem())
	case reflect.Struct:
		for i := 0; i < t.NumField() && !tells && !documents[t]; i++ {
			f := t.Field(i)
			tells = f.IsExported() && (saysWho(f) || n.tellsWho(f.Type))
		}
	}
	n.tells[t] = tells
	return tells
}

func saysWho(f reflect.StructField) bool { return f.Type.Kind() == reflect.String && whoFields[f.Name] }

// with copies a value down to each field that says who.
func (n naming) with(v reflect.Value) reflect.Value {
	t := v.Type()
	switch {
	case !n.tellsWho(t):
		return v
	case t.Kind() == reflect.Struct:
		to := reflect.New(t).Elem()
		to.Set(v)
		for i := range t.NumField() {
			switch f := t.Field(i); {
			case !f.IsExported():
			case saysWho(f):
				to.Field(i).SetString(n.names.Of(v.Field(i).String()))
			default:
				to.Field(i).Set(n.with(v.Field(i)))
			}
		}
		return to
	case v.IsNil():
		return v
	case t.Kind() == reflect.Pointer:
		to := reflect.New(t.Elem())
		to.Elem().Set(n.with(v.Elem()))
		return to
	case t.Kind() == reflect.Slice:
		to := reflect.MakeSlice(t, v.Len(), v.Len())
		for i := range v.Len() {
			to.Index(i).Set(n.with(v.Index(i)))
		}
		return to
	}
	to := reflect.MakeMapWithSize(t, v.Len())
	for key, value := range v.Seq2() {
		to.SetMapIndex(key, n.with(value))
	}
	return to
}
