package api

// Secret is a token or a password. It never prints: every way of formatting or encoding it
// gives "<secret>"; only Reveal returns what it holds. Secrets are not comparable by ==.
//
//nolint:recvcheck // reading a secret needs a pointer, showing it must not
type Secret struct {
	// value is a pointer because fmt prints the unexported fields of a struct without
	// asking their methods, and of a pointer inside one it prints the address.
	value *string
}

const redacted = "<secret>"

// NewSecret wraps the secret value.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{value: &value}
}

// Reveal returns the secret value, for the one place that sends or compares it.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsSet tells whether there is a secret.
func (s Secret) IsSet() bool { return s.value != nil }

// String returns "<secret>", or "" where none is set.
func (s Secret) String() string {
	if !s.IsSet() {
		return ""
	}
	return redacted
}

// GoString returns what String does, for %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalText writes what String returns.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the secret value.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = NewSecret(string(text))
	return nil
}
