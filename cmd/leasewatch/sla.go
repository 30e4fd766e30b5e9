package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/leasewatch/leasewatch/internal/api"
)

// printSLA says the verdict first, then what it rests on.
func printSLA(w io.Writer, lease string, answer api.SLA) error {
	var b strings.Builder
	v := answer.Verdict
	if v == nil {
		fmt.Fprintf(&b, "lease %s: its contract has no availability objective\n", lease)
		_, err := io.WriteString(w, b.String())
		return err
	}
	fmt.Fprintf(&b, "lease %s, %s to %s (%s): %s\n", lease, v.Period.Start, v.Period.End, answer.TimeZone,
		strings.ReplaceAll(string(v.Outcome), "_", " "))
	if v.Open {
		fmt.Fprintln(&b, "the period has not ended: this is provisional")
	}
	fmt.Fprintf(&b, "%s\n", v.Arithmetic)
	if answer.AvailabilityLow != nil && answer.AvailabilityHigh != nil {
		fmt.Fprintf(&b, "availability: low bound %s %%, high bound %s %%, target %s %%\n",
			answer.AvailabilityLow.Percent, answer.AvailabilityHigh.Percent, v.Target)
	}
	for _, d := range answer.Downtimes {
		fmt.Fprintf(&b, "down: %s to %s, %s, cause %s, %s\n", d.Span.Start, d.Span.End, d.Reason, d.Cause, strings.Join(d.UUIDs, " "))
	}
	for _, c := range answer.Credits {
		provisional := ""
		if c.Provisional {
			provisional = " (provisional)"
		}
		fmt.Fprintf(&b, "credit%s: %s\n", provisional, c.Arithmetic)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
