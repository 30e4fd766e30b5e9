// Package oncall knows who is on call: rotations with their hand-overs, overrides, quiet hours,
// and the ladder of calls that a page climbs until somebody has it. All of it is pure: what a
// roster answers depends on the roster and the moment that is asked for.
package oncall
