package rental

import (
	"testing"
	"time"
)

func TestObjectivesThatContradictThemselvesAreRefused(t *testing.T) {
	whole := func() Contract {
		c := promised(t, StartsAtReport)
		c.Recovery = &Recovery{RTO: Duration(time.Hour), RPO: Duration(24 * time.Hour)}
		return c
	}
	if faults := whole().Validate(); len(faults) > 0 {
		t.Fatal(faults)
	}
	for path, spoil := range map[string]func(*Contract){
		"response.starts":             func(c *Contract) { c.Response.Starts = "" },
		"response.ends":               func(c *Contract) { c.Response.Ends = EndsResolved },
		"response.target_percent":     func(c *Contract) { c.Response.TargetPercent = dec(t, "100.1") },
		"response.limits":             func(c *Contract) { c.Response.Limits = nil },
		"response.limits[0].severity": func(c *Contract) { c.Response.Limits[0].Severity = "critical" },
		"response.limits[0].within":   func(c *Contract) { c.Response.Limits[0].Within = 0 },
		"response.limits[0].hours":    func(c *Contract) { c.Response.Limits[0].Hours = "" },
		"response.limits[1].severity": func(c *Contract) { c.Response.Limits = append(c.Response.Limits, c.Response.Limits[0]) },
		"resolution.ends":             func(c *Contract) { c.Resolution.Ends = "" },
		"calendar":                    func(c *Contract) { c.Resolution.Limits[0].Hours = HoursWorking },
		"recovery":                    func(c *Contract) { c.Recovery = &Recovery{} },
		"recovery.rpo":                func(c *Contract) { c.Recovery.RPO = Duration(time.Nanosecond) },
	} {
		c := whole()
		spoil(&c)
		if faults := c.Validate(); len(faults) != 1 || faults[0].Path != path {
			t.Errorf("%s: got %v", path, faults)
		}
	}
}
