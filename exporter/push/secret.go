package push

import (
	"fmt"
	"os"
	"strings"
)

// Secret is a string that never prints.
type Secret string

const hidden = "<secret>"

// String hides the secret.
func (Secret) String() string { return hidden }

// GoString hides the secret from %#v.
func (Secret) GoString() string { return hidden }

// MarshalText hides the secret from JSON, YAML and log/slog.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// ReadToken reads the bearer token; no file is no token.
func ReadToken(path string) (Secret, error) {
	if path == "" {
		return "", nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading the bearer token: %w", err)
	}
	token := strings.TrimSpace(string(raw))
	if token == "" || strings.ContainsAny(token, "\r\n") {
		return "", fmt.Errorf("the bearer token file %s holds no token: want one line", path)
	}
	return Secret(token), nil
}
