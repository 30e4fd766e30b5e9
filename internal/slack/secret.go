package slack

import "log/slog"

const hidden = "<secret>"

// Secret is a token. It prints as "<secret>" however it is printed, logged or marshalled.
type Secret string

// String returns "<secret>".
func (Secret) String() string { return hidden }

// GoString returns "<secret>".
func (Secret) GoString() string { return hidden }

// LogValue returns "<secret>".
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText returns "<secret>": a configuration that is shown never shows a token.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// MarshalYAML returns "<secret>".
func (Secret) MarshalYAML() (any, error) { return hidden, nil }
