package gpu

import (
	"errors"
	"strings"
	"testing"
)

func TestAGPUIsFoundByAnyOfItsNames(t *testing.T) {
	one := func(index int, uuid, address string, state State) GPU {
		return GPU{Identity: Identity{Index: index, UUID: uuid, PCIAddress: address}, Status: Status{State: state}}
	}
	s := &Snapshot{GPUs: []GPU{
		one(0, "GPU-a", "0000:1b:00.0", OK),
		one(1, "GPU-b", "0000:43:00.0", Lost), // sent back; c is in its slot
		one(1, "GPU-c", "0000:43:00.0", Released),
		one(2, "GPU-d", "0000:52:00.0", Lost),
		one(3, "GPU-e", "0000:61:00.0", OK), // moved up while f was passed through
		one(3, "GPU-f", "0000:61:00.0", Released),
		one(4, "", "", Lost), // never said who it is
	}}
	for name, want := range map[string]string{
		"GPU-a": "GPU-a", "0": "GPU-a", "1B:00.0": "GPU-a", "GPU-b": "GPU-b", "GPU-c": "GPU-c", "1": "GPU-c", "0000:43:00.0": "GPU-c",
		"2": "GPU-d", "52:00.0": "GPU-d", "GPU-f": "GPU-f",
	} {
		if g, err := s.Find(name); err != nil || g.Identity.UUID != want {
			t.Errorf("%s is %+v, %v, want %s", name, g, err, want)
		}
	}
	if g, err := s.Find("4"); err != nil || g.Identity.Index != 4 {
		t.Errorf("4 is %+v, %v", g, err)
	}
	for _, name := range []string{"3", "61:00.0"} {
		if _, err := s.Find(name); !errors.Is(err, ErrAmbiguous) || !strings.Contains(err.Error(), "GPU-e and GPU-f") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	for _, name := range []string{"", "5", "-1", "GPU-", "0000:ff:00.0", "0x1"} {
		if _, err := s.Find(name); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: error is %v", name, err)
		}
	}
}
