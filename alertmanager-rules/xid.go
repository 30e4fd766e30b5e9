package alertmanagerrules

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// XIDClass says what a code of NVIDIA's XID table asks for.
type XIDClass string

// The classes of XID codes. F and R page.
const (
	XIDFatal       XIDClass = "F"      // hardware-fatal: act on the node
	XIDReset       XIDClass = "R"      // the GPU needs a reset
	XIDApplication XIDClass = "A"      // an application died
	XIDInformation XIDClass = "I"      // for information
	XIDDecode      XIDClass = "decode" // the code alone does not decide
)

// Fault says whose fault a code points at. It is undetermined wherever the vendor says to investigate.
type Fault string

// The faults a code may point at.
const (
	FaultHardware     Fault = "hardware"
	FaultSoftware     Fault = "software"
	FaultTenant       Fault = "tenant"
	FaultUndetermined Fault = "undetermined"
)

// Told says which tenants are told that results may be suspect.
type Told string

// Who is told: nobody, the tenant of the GPU instance, or every tenant of the card.
const (
	ToldNone     Told = "none"
	ToldInstance Told = "instance"
	ToldCard     Told = "card"
)

// XID is one code of the table.
type XID struct {
	XIDEntry

	Code uint64
}

// XIDEntry is what the table says of a code. An XID alone is never downtime.
type XIDEntry struct {
	Class XIDClass `yaml:"class"`
	// Escalate is the class after a reset did not help, "" where it stays.
	Escalate XIDClass `yaml:"escalate"`
	// Pending is the class at the next maintenance window, "" where there is none.
	Pending XIDClass `yaml:"pending"`
	// As is the code that this one stands for where that one was not seen, 0 for none.
	As uint64 `yaml:"as"`
	// Ticket says that the code opens a ticket for the operator.
	Ticket    bool   `yaml:"ticket"`
	Fault     Fault  `yaml:"fault"`
	Told      Told   `yaml:"told"`
	Meaning   string `yaml:"meaning"`
	MeaningZH string `yaml:"meaning_zh"`
	// Action is the first act, one sentence for a person.
	Action   string `yaml:"action"`
	ActionZH string `yaml:"action_zh"`
}

// Pages tells whether the code wakes somebody: class F or R, or standing for such a code.
func (x XID) Pages() bool { return x.Class == XIDFatal || x.Class == XIDReset || x.As != 0 }

// XIDTable returns the table in the program, sorted by code. A code that is not in it opens a
// ticket and is shown as a number.
func XIDTable() ([]XID, error) { return ParseXIDTable("xid.yaml", mustRead("xid.yaml")) }

// ParseXIDTable reads a table in the form of xid.yaml, such as a site's own; name stands in errors.
func ParseXIDTable(name string, data []byte) ([]XID, error) {
	var file struct {
		Codes []struct {
			XIDEntry `yaml:",inline"`

			XIDs []uint64 `yaml:"xids"`
		} `yaml:"codes"`
	}
	if err := decode(name, data, &file); err != nil {
		return nil, err
	}
	seen := map[uint64]bool{}
	var table []XID
	for _, entry := range file.Codes {
		for _, code := range entry.XIDs {
			x := XID{Code: code, XIDEntry: entry.XIDEntry}
			if seen[code] {
				return nil, fmt.Errorf("%s: XID %d stands there twice, expected once", name, code)
			}
			if err := x.check(); err != nil {
				return nil, fmt.Errorf("%s: XID %d: %w", name, code, err)
			}
			seen[code] = true
			table = append(table, x)
		}
	}
	slices.SortFunc(table, func(a, b XID) int { return cmp.Compare(a.Code, b.Code) })
	return table, nil
}

func (x XID) check() error {
	classes := []XIDClass{XIDFatal, XIDReset, XIDApplication, XIDInformation, XIDDecode}
	faults := []Fault{FaultHardware, FaultSoftware, FaultTenant, FaultUndetermined}
	switch {
	case !slices.Contains(classes, x.Class):
		return fmt.Errorf("class %q, expected one of %v", x.Class, classes)
	case x.Escalate != "" && !slices.Contains(classes, x.Escalate):
		return fmt.Errorf("escalate %q, expected one of %v", x.Escalate, classes)
	case x.Pending != "" && !slices.Contains(classes, x.Pending):
		return fmt.Errorf("pending %q, expected one of %v", x.Pending, classes)
	case !slices.Contains(faults, x.Fault):
		return fmt.Errorf("fault %q, expected one of %v", x.Fault, faults)
	case !slices.Contains([]Told{ToldNone, ToldInstance, ToldCard}, x.Told):
		return fmt.Errorf("told %q, expected none, instance or card", x.Told)
	case x.Meaning == "" || x.MeaningZH == "" || x.Action == "" || x.ActionZH == "":
		return errors.New("a text is missing, expected meaning, meaning_zh, action and action_zh")
	}
	return nil
}
