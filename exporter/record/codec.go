package record

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"
)

// encoding/json refuses a type with a map whose keys are structs, even where the map is empty.
// A snapshot has several and gets more; here such a key is spelled as its fields with slashes
// between them, and everything else as encoding/json has it.

// encode spells a value as JSON.
func encode(v any) ([]byte, error) {
	tree, err := toTree(reflect.ValueOf(v))
	if err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

// toTree turns a value into what encoding/json takes.
func toTree(v reflect.Value) (any, error) {
	if _, spells := v.Interface().(json.Marshaler); spells && !nilPointer(v) {
		return v.Interface(), nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil, nil
		}
		return toTree(v.Elem())
	case reflect.Struct:
		fields := make(map[string]any, v.NumField())
		for i := range v.NumField() {
			if nilPointer(v.Field(i)) || !v.Type().Field(i).IsExported() {
				continue
			}
			if err := put(fields, v.Type().Field(i).Name, v.Field(i)); err != nil {
				return nil, err
			}
		}
		return fields, nil
	case reflect.Slice:
		if v.IsNil() {
			return nil, nil
		}
		list := make([]any, v.Len())
		for i := range list {
			element, err := toTree(v.Index(i))
			if err != nil {
				return nil, err
			}
			list[i] = element
		}
		return list, nil
	case reflect.Map:
		if v.IsNil() {
			return nil, nil
		}
		entries := make(map[string]any, v.Len())
		for _, key := range v.MapKeys() {
			text, err := spell(key)
			if err != nil {
				return nil, err
			}
			if err := put(entries, text, v.MapIndex(key)); err != nil {
				return nil, err
			}
		}
		return entries, nil
	default:
		return v.Interface(), nil
	}
}

func nilPointer(v reflect.Value) bool { return v.Kind() == reflect.Pointer && v.IsNil() }

func put(into map[string]any, name string, v reflect.Value) error {
	below, err := toTree(v)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	into[name] = below
	return nil
}

// decode reads what encode spells into what v points to. Fields that v does not have are left out.
func decode(raw []byte, v any) error { return fromTree(raw, reflect.ValueOf(v).Elem()) }

func fromTree(raw json.RawMessage, v reflect.Value) error {
	if _, reads := v.Addr().Interface().(json.Unmarshaler); reads {
		return json.Unmarshal(raw, v.Addr().Interface())
	}
	if string(raw) == "null" {
		v.SetZero()
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return fromTree(raw, v.Elem())
	case reflect.Struct:
		return eachEntry(raw, func(name string, below json.RawMessage) error {
			field := v.FieldByName(name)
			if !field.IsValid() || !field.CanSet() {
				return nil
			}
			return fromTree(below, field)
		})
	case reflect.Slice:
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return err
		}
		v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
		for i, below := range list {
			if err := fromTree(below, v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		return eachEntry(raw, func(name string, below json.RawMessage) error {
			key, entry := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			if err := unspell(name, key); err != nil {
				return err
			}
			if err := fromTree(below, entry); err != nil {
				return err
			}
			v.SetMapIndex(key, entry)
			return nil
		})
	default:
		return json.Unmarshal(raw, v.Addr().Interface())
	}
}

func eachEntry(raw json.RawMessage, do func(name string, below json.RawMessage) error) error {
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(raw, &entries); err != nil {
		return err
	}
	for name, below := range entries {
		if err := do(name, below); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// spell writes the key of a map as text.
func spell(key reflect.Value) (string, error) {
	switch key.Kind() {
	case reflect.String:
		return key.String(), nil
	case reflect.Int, reflect.Int64:
		return strconv.FormatInt(key.Int(), 10), nil
	case reflect.Uint32, reflect.Uint64:
		return strconv.FormatUint(key.Uint(), 10), nil
	case reflect.Struct:
		parts := make([]string, key.NumField())
		for i := range parts {
			part, err := spell(key.Field(i))
			if err != nil {
				return "", err
			}
			parts[i] = url.PathEscape(part)
		}
		return strings.Join(parts, "/"), nil
	default:
		return "", fmt.Errorf("a map by %s: want text, whole numbers, or a struct of them", key.Type())
	}
}

// unspell reads the key of a map.
func unspell(text string, key reflect.Value) error {
	switch key.Kind() {
	case reflect.String:
		key.SetString(text)
		return nil
	case reflect.Struct:
		parts := strings.Split(text, "/")
		if len(parts) != key.NumField() {
			return fmt.Errorf("the key %q has %d parts, want %d with a slash between them", text, len(parts), key.NumField())
		}
		for i, part := range parts {
			plain, err := url.PathUnescape(part)
			if err != nil {
				return fmt.Errorf("the key %q: %w", text, err)
			}
			if err := unspell(plain, key.Field(i)); err != nil {
				return err
			}
		}
		return nil
	default:
		return json.Unmarshal([]byte(text), key.Addr().Interface())
	}
}
