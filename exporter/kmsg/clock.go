package kmsg

import "time"

// The clock that dates the log ticks from boot and is not corrected by the time service, so it
// goes apart from the others: by seconds a day, by minutes on a host that has been up for months.
const (
	// driftPerSecond is the most that it can: the kernel corrects its other clocks by no more
	// than 500 parts in a million (MAXFREQ in its timekeeping).
	driftPerSecond = 500e-6
	// readLate is how late a record may be read that came while the reader waited for it.
	readLate = time.Second
)

// clock turns the log's times into wall-clock times.
type clock struct {
	now    func() time.Time
	uptime func() time.Duration // since boot, by the clock that is corrected

	behind time.Duration // how far the log's clock is behind uptime
	known  time.Duration // the uptime at which that was learned last; 0 for never
}

// learn takes the time of a record that was read as soon as it came.
func (c *clock) learn(since time.Duration) {
	uptime := c.uptime()
	behind := uptime - since
	if behind <= c.behind+readLate+drift(uptime-c.known) { // more, and the reader was late itself
		c.behind, c.known = behind, uptime
	}
}

// date returns when a record was written, and by how much that may be wrong.
func (c *clock) date(since time.Duration) (at time.Time, within time.Duration) {
	uptime, now := c.uptime(), c.now()
	age := max(0, uptime-since-c.behind)
	within = drift(since) // the clocks parted since boot
	if c.known > 0 {
		within = min(within, drift(age)) // or, better, only since the record was written
	}
	return now.Add(-age), within
}

func drift(over time.Duration) time.Duration {
	return time.Duration(float64(over) * driftPerSecond)
}
