package gpu

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// said is one report, at seconds after the log's start.
type said struct {
	by   Witness
	code uint64
	at   float64
}

func after(start time.Time, seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

func TestWhatTwoWitnessesSeeOfAnXIDIsOne(t *testing.T) {
	start := time.UnixMilli(1_760_000_000_000)
	tests := map[string]struct {
		said []said
		want uint64  // of code 79
		last float64 // seconds after the start
	}{
		"the driver alone counts":                               {[]said{{WitnessDriver, 79, 10}}, 1, 10},
		"the kernel log alone counts":                           {[]said{{WitnessKernel, 79, 10}}, 1, 10},
		"both are one, and the first to tell gives the time":    {[]said{{WitnessDriver, 79, 10.2}, {WitnessKernel, 79, 10}}, 1, 10.2},
		"the kernel may be first":                               {[]said{{WitnessKernel, 79, 10}, {WitnessDriver, 79, 10.2}}, 1, 10},
		"the driver's event may come after a stall of 45 s":     {[]said{{WitnessKernel, 79, 10}, {WitnessDriver, 79, 56}}, 1, 10},
		"and the log may be read after such a stall":            {[]said{{WitnessDriver, 79, 56}, {WitnessKernel, 79, 10}}, 1, 56},
		"clocks may differ by seconds":                          {[]said{{WitnessDriver, 79, 10}, {WitnessKernel, 79, 14}}, 1, 10},
		"a later line is another XID":                           {[]said{{WitnessDriver, 79, 10}, {WitnessKernel, 79, 16}}, 2, 16},
		"a much later event is another XID":                     {[]said{{WitnessKernel, 79, 10}, {WitnessDriver, 79, 71}}, 2, 71},
		"two of one witness are two, however close":             {[]said{{WitnessDriver, 79, 10}, {WitnessDriver, 79, 10}}, 2, 10},
		"two of both are two":                                   {[]said{{WitnessDriver, 79, 10}, {WitnessKernel, 79, 10}, {WitnessDriver, 79, 11}, {WitnessKernel, 79, 11}}, 2, 11},
		"two of both are two in any order":                      {[]said{{WitnessDriver, 79, 10}, {WitnessDriver, 79, 11}, {WitnessKernel, 79, 10}, {WitnessKernel, 79, 11}}, 2, 11},
		"what one witness missed is counted by the other":       {[]said{{WitnessDriver, 79, 10}, {WitnessKernel, 79, 10}, {WitnessKernel, 79, 10.5}}, 2, 10.5},
		"another code is another XID":                           {[]said{{WitnessDriver, 79, 10}, {WitnessKernel, 48, 10}}, 1, 10},
		"lines from before the start count where nothing knows": {[]said{{WitnessKernel, 79, -300}, {WitnessKernel, 79, -200}}, 2, -200},
		"such lines may be close to each other":                 {[]said{{WitnessKernel, 79, -300}, {WitnessKernel, 79, -299}}, 2, -299},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := NewXIDLog(start, nil)
			for _, s := range test.said {
				l.Report(s.by, s.code, after(start, s.at))
			}
			if got := l.Seen()[79]; got.Count != test.want || !got.Last.Equal(after(start, test.last)) {
				t.Errorf("counted %d, last at %s, want %d at %s", got.Count, got.Last, test.want, after(start, test.last))
			}
		})
	}
}

func TestAnXIDThatIsToldAgainIsNotCountedAgain(t *testing.T) {
	start := time.UnixMilli(1_760_000_000_000)
	known := map[uint64]XID{79: {Count: 2, Last: after(start, -100)}}
	tests := map[string]struct {
		said []said
		want uint64
	}{
		"nothing was told": {nil, 2},
		"the driver tells both again when it is asked":        {[]said{{WitnessDriver, 79, 1}, {WitnessDriver, 79, 1.1}}, 2},
		"a third one is new":                                  {[]said{{WitnessDriver, 79, 1}, {WitnessDriver, 79, 1.1}, {WitnessDriver, 79, 1.2}}, 3},
		"one that comes later is new":                         {[]said{{WitnessDriver, 79, 7}}, 3},
		"the log is read from its beginning again":            {[]said{{WitnessKernel, 79, -500}, {WitnessKernel, 79, -100.3}}, 2},
		"a line from the time when nobody looked is new":      {[]said{{WitnessKernel, 79, -500}, {WitnessKernel, 79, -50}}, 3},
		"that line and the event that is told again are one":  {[]said{{WitnessKernel, 79, -50}, {WitnessDriver, 79, 1}}, 3},
		"a line that is new while the driver tells old ones":  {[]said{{WitnessDriver, 79, 1}, {WitnessDriver, 79, 1.1}, {WitnessKernel, 79, 1}}, 3},
		"an unknown code among them is new, and does no harm": {[]said{{WitnessDriver, 4711, 1}}, 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := NewXIDLog(start, known)
			l.EventsAsked(start)
			for _, s := range test.said {
				l.Report(s.by, s.code, after(start, s.at))
			}
			if got := l.Seen()[79].Count; got != test.want {
				t.Errorf("counted %d, want %d", got, test.want)
			}
			if known[79].Count != 2 || len(known) != 1 {
				t.Errorf("what was known became %v", known)
			}
		})
	}
}

func TestNoWitnessMakesAnXIDCountTwiceOrVanish(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := time.UnixMilli(1_760_000_000_000)
		l := NewXIDLog(start, nil)
		driver, kernel := uint64(0), uint64(0)
		at := 0.0
		for range rapid.IntRange(1, 60).Draw(t, "reports") {
			at += rapid.Float64Range(0, 0.05).Draw(t, "pause")
			if rapid.Bool().Draw(t, "kernel") {
				kernel++
				l.Report(WitnessKernel, 48, after(start, at))
			} else {
				driver++
				l.Report(WitnessDriver, 48, after(start, at))
			}
		}
		got := l.Seen()[48].Count
		if got < max(driver, kernel) || got > driver+kernel {
			t.Fatalf("%d events and %d lines are %d XIDs", driver, kernel, got)
		}
	})
}

func TestAStormOfOneCodeKeepsTheLogSmall(t *testing.T) {
	start := time.UnixMilli(1_760_000_000_000)
	l := NewXIDLog(start, nil)
	for i := range 10_000 {
		l.Report(WitnessDriver, 13, after(start, float64(i)/1000))
	}
	if got := l.Seen()[13].Count; got != 10_000 {
		t.Errorf("counted %d", got)
	}
	if got := len(l.waiting[13]); got > maxSightings {
		t.Errorf("%d sightings wait", got)
	}
}

func TestAPCIAddressIsReadInEverySpelling(t *testing.T) {
	for text, want := range map[string]string{
		"0000:1b:00.0": "0000:1b:00.0", "PCI:0000:1b:00": "0000:1b:00.0", "00000000:1B:00.0": "0000:1b:00.0",
		"1b:00.0": "0000:1b:00.0", "PCI:1b:00": "0000:1b:00.0", "0001:C3:1f.0": "0001:c3:1f.0", "00010000:01:00.0": "10000:01:00.0",
		"": "", "3": "", "GPU-6f1e2d3c": "", "0000:1b:00.1": "", "0000:1b:20.0": "", "0000:1b": "", "0000:1b:00.0\n": "", "PCI:": "",
	} {
		got, ok := PCIAddress(text)
		if got != want || ok != (want != "") {
			t.Errorf("%q became %q, %v, want %q", text, got, ok, want)
		}
	}
}

func FuzzPCIAddressesAreStable(f *testing.F) {
	f.Add("PCI:0000:1b:00")
	f.Add("00000000:FF:1F.0")
	f.Fuzz(func(t *testing.T, text string) {
		first, ok := PCIAddress(text)
		if !ok {
			return
		}
		if again, ok := PCIAddress(first); !ok || again != first {
			t.Errorf("%q became %q and then %q", text, first, fmt.Sprint(again))
		}
	})
}

func TestHistoryWhoseTimesAreUncertainIsNotCountedTwice(t *testing.T) {
	start := time.UnixMilli(1_760_000_000_000)
	known := map[uint64]XID{79: {Count: 2, Last: after(start, -1000)}}
	for _, test := range []struct {
		name string
		at   float64 // seconds after the start
		want uint64
	}{
		{"the log's clock is behind", -1030, 2},
		{"the log's clock is ahead, as far as it can be", -940, 2},
		{"further ahead than it can be, the line is another one", -900, 3},
		{"a line from after the start is another one", 10, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := NewXIDLog(start, known)
			l.ReportWithin(WitnessKernel, 79, after(start, test.at), time.Minute)
			if got := l.Seen()[79].Count; got != test.want {
				t.Errorf("counted %d, want %d", got, test.want)
			}
		})
	}
	t.Run("lines of one reading are as many as they are", func(t *testing.T) {
		l := NewXIDLog(start, nil)
		for _, at := range []float64{-1000, -990, -980} {
			l.ReportWithin(WitnessKernel, 79, after(start, at), time.Minute)
		}
		if got := l.Seen()[79].Count; got != 3 {
			t.Errorf("counted %d, want 3", got)
		}
	})
}
