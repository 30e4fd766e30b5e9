//go:build !linux

package host

// newCollectors has nothing to read from where there is no procfs.
func newCollectors(Options) []collector { return nil }
