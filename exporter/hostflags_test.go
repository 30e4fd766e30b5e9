package exporter

import (
	"io"
	"slices"
	"testing"
	"time"
)

func TestWhichPartsOfTheMachineAreRead(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		on   bool
		off  []string
		kmsg bool
	}{
		{"all where the GPUs are real", nil, true, nil, true},
		{"none where they are simulated", []string{"--source=replay"}, false, nil, false},
		{"all where they are simulated and it is asked for", []string{"--source=replay", "--collector.host", "--collector.kmsg"}, true, nil, true},
		{"the kernel log alone where the rest is turned off", []string{"--no-collector.host"}, false, nil, true},
		{"all but those turned off", []string{"--no-collector.disk", "--no-collector.clock", "--no-collector.kmsg"}, true, []string{"clock", "disk"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := parse(test.args, io.Discard, io.Discard, Options{Sources: map[string]NewSource{"nvml": nil, "replay": nil}})
			if err != nil {
				t.Fatal(err)
			}
			options := f.host.options("/proc", 5*time.Second)
			if (options != nil) != test.on {
				t.Fatalf("options are %+v", options)
			}
			if f.host.kmsg != test.kmsg {
				t.Errorf("the kernel log is read: %v", f.host.kmsg)
			}
			if test.on && !slices.Equal(options.Off, test.off) {
				t.Errorf("off are %q, want %q", options.Off, test.off)
			}
		})
	}
}
