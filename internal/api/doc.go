// Package api holds what goes over the wire of Leasewatch's HTTP API (/api/v1) and the Go
// client that speaks it. It depends on the standard library and on internal/rental only, so
// that the command line, the portal and the Grafana plugin share one client and one error.
//
// Conventions of the wire: times are RFC 3339 in UTC ("open" where there is no end), spans
// are half-open, money is minor units with a decimal copy for show, a share of time is two
// integers, and a figure that nobody measured is null, never 0.
package api
