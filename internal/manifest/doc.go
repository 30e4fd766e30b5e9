// Package manifest reads and writes what the ledger records as YAML, in the shape that
// Kubernetes has made familiar: apiVersion, kind, metadata and spec, many documents a file.
//
// Reading is strict. A field that is not known, a value of another type, a name that comes
// twice: each is an error with file, line, field, what was found and what was expected, and
// all errors of the input are told at once.
package manifest

// APIVersion is the only version that is read and written.
const APIVersion = "leasewatch.dev/v1"
