package rental

import "errors"

// Code is the kind of an Error: what a caller, an exit code or an HTTP status depends on.
type Code string

// The kinds of errors.
const (
	// CodeNotFound: what was named does not exist.
	CodeNotFound Code = "not_found"
	// CodeInvalid: the input contradicts itself or names what does not exist.
	CodeInvalid Code = "invalid"
	// CodeConflict: the input contradicts what is recorded (two leases of one GPU).
	CodeConflict Code = "conflict"
	// CodeRefused: a policy forbids it (a closed month, a mass change, a second server).
	CodeRefused Code = "refused"
	// CodeUnavailable: the store cannot serve now (read-only, full, locked, unreachable).
	CodeUnavailable Code = "unavailable"
)

// ErrNotFound is what errors.Is finds in every Error of CodeNotFound.
var ErrNotFound = errors.New("not found")

// Error is an error that a person can act on: what was found, what was expected, what to do.
type Error struct {
	Code    Code
	Message string
	Cause   error // what lies beneath; may be nil
}

// Error returns the message, with its cause where there is one.
func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Message + ": " + e.Cause.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Is makes errors.Is(err, ErrNotFound) true for every Error of CodeNotFound.
func (e *Error) Is(target error) bool { return target == ErrNotFound && e.Code == CodeNotFound }

// CodeOf returns the Code of the first Error in err's chain; empty where there is none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
