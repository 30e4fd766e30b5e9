package exporter

import (
	"io"
	"slices"
	"testing"
)

func TestWhichPartsOfTheMachineAreRead(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		on   bool
		off  []string
	}{
		{"all where the GPUs are real", nil, true, nil},
		{"none where they are simulated", []string{"--source=replay"}, false, nil},
		{"all where they are simulated and it is asked for", []string{"--source=replay", "--collector.host"}, true, nil},
		{"none where it is turned off", []string{"--no-collector.host"}, false, nil},
		{"all but those turned off", []string{"--no-collector.disk", "--no-collector.clock"}, true, []string{"clock", "disk"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := parse(test.args, io.Discard, io.Discard, Options{Sources: map[string]NewSource{"nvml": nil, "replay": nil}})
			if err != nil {
				t.Fatal(err)
			}
			options := f.host.options("/proc")
			if (options != nil) != test.on {
				t.Fatalf("options are %+v", options)
			}
			if test.on && !slices.Equal(options.Off, test.off) {
				t.Errorf("off are %q, want %q", options.Off, test.off)
			}
		})
	}
}
