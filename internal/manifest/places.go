package manifest

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Places knows where in the input each resource and each of its fields was written, so that what
// the ledger finds wrong later (a name that is not known, a card that another lease has) can be
// told with its place too.
type Places map[string]place // by kind and name, as messages name them: `Lease "L-1"`

type place struct {
	file  string
	line  int
	lines map[string]int // by field: "spec.gpus[0]"
}

// ReadPlaced does what ReadPaths does, and tells where each resource was written.
func ReadPlaced(paths []string, stdin io.Reader) (rental.Resources, Places, error) {
	in := newReader()
	if err := in.readPaths(paths, stdin); err != nil {
		return rental.Resources{}, nil, err
	}
	r, err := in.result()
	return r, in.places, err
}

// Error returns err with the place before each line that names a resource of the input, as
// "file:line: ". What is not in the input keeps its text; errors.As and errors.Is see err itself.
func (p Places) Error(err error) error {
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		lines[i] = p.of(line) + line
	}
	return placedError{text: strings.Join(lines, "\n"), error: err}
}

type placedError struct {
	text  string
	error error
}

func (e placedError) Error() string { return e.text }
func (e placedError) Unwrap() error { return e.error }

var (
	oneThing  = regexp.MustCompile(`^([A-Z][A-Za-z]* "(?:[^"\\]|\\.)*"): (?:([a-z_]+(?:\[\d+\])?(?:\.[a-z_]+(?:\[\d+\])?)*): )?`)
	twoLeases = regexp.MustCompile(`^leases ("(?:[^"\\]|\\.)*") and ("(?:[^"\\]|\\.)*") both claim `)
)

// of returns the place of what a message is about, with ": " behind it; empty where it is unknown.
func (p Places) of(message string) string {
	if m := oneThing.FindStringSubmatch(message); m != nil {
		return p.at(m[1], "spec."+m[2])
	}
	if m := twoLeases.FindStringSubmatch(message); m != nil {
		if second := p.at(rental.KindLease+" "+m[2], "spec.gpus"); second != "" {
			return second
		}
		return p.at(rental.KindLease+" "+m[1], "spec.gpus")
	}
	return ""
}

func (p Places) at(key, field string) string {
	where, ok := p[key]
	if !ok {
		return ""
	}
	line := where.line
	if known := nearest(where.lines, field); known > 0 {
		line = known
	}
	return fmt.Sprintf("%s:%d: ", where.file, line)
}

func keyOf(kind, name string) string { return kind + " " + strconv.Quote(name) }
