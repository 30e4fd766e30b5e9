package rental

import "fmt"

// The objectives that clocks measure.
const (
	ObjectiveResponse   = "response"
	ObjectiveResolution = "resolution"
	ObjectiveRTO        = "rto"
	ObjectiveRPO        = "rpo"
)

// Values of Clocks.Starts: where the clock of an incident starts.
const (
	StartsAtEvidence  = "evidence"  // the first bad sample
	StartsAtDetection = "detection" // the first alert
	StartsAtReport    = "report"    // when the provider was told: by a delivered message, or by somebody
)

// Values of Clocks.Ends, of a resolution.
const (
	EndsResolved = "resolved" // the last alert ended
	EndsVerified = "verified" // and somebody said that it works
)

// Values of ClockLimit.Hours.
const (
	HoursAlways  = "always"  // 24 hours a day
	HoursWorking = "working" // the contract's calendar
)

// Clocks is how fast incidents are to be answered, or solved.
type Clocks struct {
	// Starts is evidence, detection or report.
	Starts string `json:"starts" yaml:"starts"`
	// Ends is resolved or verified; of a resolution only.
	Ends string `json:"ends,omitempty" yaml:"ends"`
	// TargetPercent is the share of a month's incidents that keep their limit; 100 is all of them.
	TargetPercent Decimal      `json:"target_percent" yaml:"target_percent"`
	Limits        []ClockLimit `json:"limits" yaml:"limits"`
}

// ClockLimit is the limit of one severity. Exactly the limit keeps it.
type ClockLimit struct {
	Severity Severity `json:"severity" yaml:"severity"` // page, ticket or notice
	Within   Duration `json:"within" yaml:"within"`
	Hours    string   `json:"hours" yaml:"hours"` // always or working
}

// Limit returns the limit of a severity; false where it has none.
func (c Clocks) Limit(severity Severity) (ClockLimit, bool) {
	for _, l := range c.Limits {
		if l.Severity == severity {
			return l, true
		}
	}
	return ClockLimit{}, false
}

// Recovery is how much work a failure may cost, and how long it may take to have it back.
type Recovery struct {
	// RTO bounds the time from a failure to the restore that was verified; 0 promises nothing.
	RTO Duration `json:"rto,omitempty" yaml:"rto"`
	// RPO bounds the time from the data of the backup that is restored to the failure; 0 promises nothing.
	RPO Duration `json:"rpo,omitempty" yaml:"rpo"`
}

func (c Contract) validateObjectives(f *faults) {
	working := false
	check := func(path string, clocks *Clocks, ends ...string) {
		if clocks == nil {
			return
		}
		working = clocks.validate(f, path, ends) || working
	}
	check(ObjectiveResponse, c.Response)
	check(ObjectiveResolution, c.Resolution, EndsResolved, EndsVerified)
	f.check(!working || c.Calendar != "", "calendar", "nothing", "the name of a Calendar: a limit counts working hours")
	if c.Recovery != nil {
		f.lengthOfTime("recovery.rto", c.Recovery.RTO)
		f.lengthOfTime("recovery.rpo", c.Recovery.RPO)
		f.check(c.Recovery.RTO+c.Recovery.RPO > 0, "recovery", "neither", "an rto, an rpo or both")
	}
}

// validate tells whether a limit counts working hours.
func (c Clocks) validate(f *faults, path string, ends []string) (working bool) {
	f.choice(path+".starts", c.Starts, StartsAtEvidence, StartsAtDetection, StartsAtReport)
	if len(ends) > 0 {
		f.choice(path+".ends", c.Ends, ends...)
	} else {
		f.check(c.Ends == "", path+".ends", quoted(c.Ends), "no such field: a person's answer ends it")
	}
	target := c.TargetPercent.Rat()
	f.check(c.TargetPercent.IsSet() && target.Sign() > 0 && target.Cmp(hundred) <= 0, path+".target_percent", c.TargetPercent.found(),
		"a percentage over 0 and at most 100 of the month's incidents")
	f.check(len(c.Limits) > 0, path+".limits", "nothing", "at least one limit")
	for i, l := range c.Limits {
		at := fmt.Sprintf("%s.limits[%d]", path, i)
		f.choice(at+".severity", string(l.Severity), string(Page), string(Ticket), string(Notice))
		f.lengthOfTime(at+".within", l.Within)
		f.check(l.Within > 0, at+".within", "nothing", "a length of time such as 15m")
		f.choice(at+".hours", l.Hours, HoursAlways, HoursWorking)
		for k, other := range c.Limits[:i] {
			f.check(l.Severity != other.Severity, at+".severity", quoted(string(l.Severity)), fmt.Sprintf("another severity than %s.limits[%d]", path, k))
		}
		working = working || l.Hours == HoursWorking
	}
	return working
}
