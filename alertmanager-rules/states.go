package alertmanagerrules

import (
	"fmt"
	"slices"
)

// Class is the kind of time that a state of a GPU makes, for availability.
type Class string

// The classes. The first four partition a period; ByContract leaves it to the contract.
const (
	Up         Class = "up"
	Down       Class = "down"
	Excluded   Class = "excluded"
	Unknown    Class = "unknown"
	ByContract Class = "contract"
)

// State is one state of a GPU: its class and how it is shown.
type State struct {
	Name string `yaml:"state"`
	// By says who tells it: "exporter" by gpu_state, or "server" by lease_gpu_state.
	By    string `yaml:"by"`
	Class Class  `yaml:"class"`
	// Glyph, Word and WordZH show the state, never colour alone.
	Glyph  string `yaml:"glyph"`
	Word   string `yaml:"word"`
	WordZH string `yaml:"word_zh"`
}

// States returns every state a GPU can be in, those of the exporter first.
func States() ([]State, error) { return parseStates("states.yaml", mustRead("states.yaml")) }

func parseStates(name string, data []byte) ([]State, error) {
	var file struct {
		States []State `yaml:"states"`
	}
	if err := decode(name, data, &file); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, s := range file.States {
		switch {
		case seen[s.Name]:
			return nil, fmt.Errorf("%s: state %q stands there twice, expected once", name, s.Name)
		case s.By != "exporter" && s.By != "server":
			return nil, fmt.Errorf("%s: state %q is told by %q, expected exporter or server", name, s.Name, s.By)
		case !slices.Contains([]Class{Up, Down, Excluded, Unknown, ByContract}, s.Class):
			return nil, fmt.Errorf("%s: state %q has class %q, expected up, down, excluded, unknown or contract", name, s.Name, s.Class)
		case s.Glyph == "" || s.Word == "" || s.WordZH == "":
			return nil, fmt.Errorf("%s: state %q lacks a glyph or a word, expected glyph, word and word_zh", name, s.Name)
		}
		seen[s.Name] = true
	}
	return file.States, nil
}
