package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// Kind is what happens at one moment of a script.
type Kind string

// The kinds of script events. Those that last go on until their `for` is over or a heal of
// the same GPU (or of the whole host) comes.
const (
	ThermalThrottle  Kind = "thermal_throttle"  // cooling fails: hot within a minute, then held back
	ECCUncorrectable Kind = "ecc_uncorrectable" // one uncorrectable memory error, XIDs 94 and 63, a remap pending
	XID              Kind = "xid"               // the code in `xid`; 79 takes the GPU with it
	Idle             Kind = "idle"              // no work
	Busy             Kind = "busy"              // full work
	Silent           Kind = "silent"            // the whole host stops answering
	Heal             Kind = "heal"              // ends whatever still lasts
	Lost             Kind = "lost"
	ResetRequired    Kind = "reset_required"
	Unresponsive     Kind = "unresponsive" // calls hang; the state follows a minute later
	DriverDown       Kind = "driver_down"
	FabricIncomplete Kind = "fabric_incomplete"
	Released         Kind = "released"
)

// answers tells what the simulated driver says while a kind lasts.
func answers(k Kind) (gpu.Answer, bool) {
	switch k {
	case Lost:
		return gpu.AnswerLost, true
	case ResetRequired:
		return gpu.AnswerResetRequired, true
	case Unresponsive:
		return gpu.AnswerTimeout, true
	case DriverDown:
		return gpu.AnswerDriverDown, true
	case FabricIncomplete:
		return gpu.AnswerFabricIncomplete, true
	case Released:
		return gpu.AnswerReleased, true
	default:
		return "", false
	}
}

// Event is one line of a script.
type Event struct {
	// At is the offset from Config.Zero; it may be negative, for history.
	At time.Duration
	// Host is the host it happens on; "" means every host that plays the script.
	Host string
	// GPU is the index of the GPU; nil means all of the host.
	GPU  *int
	Kind Kind
	// XID is the code of kind xid.
	XID uint64
	// For is how long it lasts; 0 means until healed.
	For time.Duration
}

// Script is a list of events, in the order of their times.
type Script []Event

// document is the script as YAML spells it.
type document struct {
	Events []struct {
		At   *duration `yaml:"at"`
		Host string    `yaml:"host"`
		GPU  *int      `yaml:"gpu"`
		Kind Kind      `yaml:"kind"`
		XID  uint64    `yaml:"xid"`
		For  duration  `yaml:"for"`
	} `yaml:"events"`
}

type duration time.Duration

// UnmarshalYAML reads a duration as Go spells it, "1m30s".
func (d *duration) UnmarshalYAML(node *yaml.Node) error {
	parsed, err := time.ParseDuration(node.Value)
	if err != nil {
		return fmt.Errorf("line %d: %q is no duration, want one like 90s or -36h", node.Line, node.Value)
	}
	*d = duration(parsed)
	return nil
}

// LoadScript reads a script file.
func LoadScript(path string) (Script, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the replay script: %w", err)
	}
	return ParseScript(path, raw)
}

// ParseScript reads a script. An error names the file and the line or the event.
func ParseScript(name string, raw []byte) (Script, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	var doc document
	if err := decoder.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	kinds := []Kind{ThermalThrottle, ECCUncorrectable, XID, Idle, Busy, Silent, Heal, Lost, ResetRequired, Unresponsive, DriverDown, FabricIncomplete, Released}
	script := make(Script, 0, len(doc.Events))
	for i, e := range doc.Events {
		place := fmt.Sprintf("%s: event %d", name, i+1)
		switch {
		case e.At == nil:
			return nil, fmt.Errorf("%s has no at: want the offset of its time, like 30s", place)
		case !slices.Contains(kinds, e.Kind):
			return nil, fmt.Errorf("%s: kind %q is not known, want one of %q", place, e.Kind, kinds)
		case (e.Kind == XID) != (e.XID != 0):
			return nil, fmt.Errorf("%s: kind xid and a code in xid go together", place)
		case e.Kind == Silent && e.GPU != nil:
			return nil, fmt.Errorf("%s: silent is for a whole host, not for a gpu", place)
		case e.GPU != nil && *e.GPU < 0:
			return nil, fmt.Errorf("%s: gpu is %d, want an index from 0", place, *e.GPU)
		case e.For < 0:
			return nil, fmt.Errorf("%s: for is negative", place)
		}
		script = append(script, Event{At: time.Duration(*e.At), Host: e.Host, GPU: e.GPU, Kind: e.Kind, XID: e.XID, For: time.Duration(e.For)})
	}
	script.sort()
	return script, nil
}

func (s Script) sort() {
	slices.SortStableFunc(s, func(a, b Event) int { return int(min(max(a.At-b.At, -1), 1)) })
}
