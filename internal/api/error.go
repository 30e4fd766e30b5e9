package api

import (
	"fmt"
	"net/http"
	"strings"
)

// Error is what the API answers instead of a result: problem+json (RFC 9457) on the wire,
// and the error of every call of Client. What serves the API returns it too, so that its
// status reaches the caller; any other error becomes 500 without its text.
type Error struct {
	// Status is the HTTP status; 0 where no answer came.
	Status int `json:"status"`
	// Title is the status in words, Detail what happened and what to do.
	Title  string `json:"title"`
	Detail string `json:"detail"`
	// Fields names what in the request was wrong, one entry a place.
	Fields []FieldError `json:"errors,omitempty"`
	// RetryAfterSeconds is the server's own word on when to try again; 0 where it gave none.
	RetryAfterSeconds int `json:"-"`
}

// FieldError is one thing that was wrong in a request.
type FieldError struct {
	// Location is a path ("query.month", "body.tenant") or, for a file, "file:line".
	Location string `json:"location,omitempty"`
	Message  string `json:"message"`
	Value    any    `json:"value,omitempty"`
}

// Error says the detail and each field's message, in one line.
func (e *Error) Error() string {
	var b strings.Builder
	switch {
	case e.Detail != "":
		b.WriteString(e.Detail)
	case e.Title != "":
		b.WriteString(e.Title)
	default:
		fmt.Fprintf(&b, "HTTP status %d", e.Status)
	}
	for i, f := range e.Fields {
		b.WriteString(map[bool]string{true: ": ", false: "; "}[i == 0])
		if f.Location != "" {
			b.WriteString(f.Location + ": ")
		}
		b.WriteString(f.Message)
	}
	return b.String()
}

// Is makes errors.Is match two API errors by their status, so that
// errors.Is(err, api.ErrNotFound) holds for every 404.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Status == e.Status
}

// The errors that callers tell apart; compare with errors.Is.
var (
	ErrInvalid         error = &Error{Status: http.StatusUnprocessableEntity, Title: "Unprocessable Entity"}
	ErrUnauthenticated error = &Error{Status: http.StatusUnauthorized, Title: "Unauthorized"}
	ErrForbidden       error = &Error{Status: http.StatusForbidden, Title: "Forbidden"}
	ErrNotFound        error = &Error{Status: http.StatusNotFound, Title: "Not Found"}
	ErrConflict        error = &Error{Status: http.StatusConflict, Title: "Conflict"}
	ErrUnavailable     error = &Error{Status: http.StatusServiceUnavailable, Title: "Service Unavailable"}
)

// Errorf returns an error of the HTTP status with a detail that says what was found, what
// was expected and what to do.
func Errorf(status int, format string, args ...any) *Error {
	return &Error{Status: status, Title: http.StatusText(status), Detail: fmt.Sprintf(format, args...)}
}

// NotFound says that a thing does not exist, or not for the one who asks.
func NotFound(kind, name string) *Error {
	return Errorf(http.StatusNotFound, "%s %q: no such %s", kind, name, kind)
}
