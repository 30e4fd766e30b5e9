package gpu

import "encoding/json"

// MarshalJSON spells an absent reading null.
func (m Maybe[T]) MarshalJSON() ([]byte, error) {
	if !m.set {
		return []byte("null"), nil
	}
	return json.Marshal(m.value)
}

// UnmarshalJSON reads null as an absent reading.
func (m *Maybe[T]) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		*m = Maybe[T]{}
		return nil
	}
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	*m = Some(v)
	return nil
}
