package metering

import "github.com/leasewatch/leasewatch/internal/rental"

// hostFirst leaves out what guests told of a card where the host told of it too: one card is read
// through two drivers then, whose counters and clocks differ, and the host is believed.
func hostFirst(copies []rental.Series) []rental.Series {
	var host []rental.Series
	for _, c := range copies {
		if c.Labels["vantage"] != rental.VantageGuest && len(c.Samples) > 0 {
			host = append(host, c)
		}
	}
	if len(host) == 0 {
		return copies
	}
	return host
}
