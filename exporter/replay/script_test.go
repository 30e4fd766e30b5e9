package replay

import (
	"strings"
	"testing"
	"time"
)

func TestScriptsAreRead(t *testing.T) {
	got, err := ParseScript("faults.yaml", []byte(`
events:
  - {at: 30s, host: a, gpu: 3, kind: xid, xid: 79}
  - {at: -36h, kind: idle, for: 4h}
  - {at: 1m, kind: silent}
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || got[0].Kind != Idle || got[0].At != -36*time.Hour || got[0].For != 4*time.Hour || got[0].GPU != nil {
		t.Errorf("got %+v, want the events in the order of their times", got)
	}
	if got[1].XID != 79 || *got[1].GPU != 3 || got[1].Host != "a" {
		t.Errorf("got %+v, want XID 79 on GPU 3 of a", got[1])
	}
}

func TestWrongScriptsSayWhere(t *testing.T) {
	for name, test := range map[string]struct{ yaml, want string }{
		"an unknown field":         {"events:\n  - {at: 1s, kind: idle, gpus: 1}", "line 2"},
		"an unknown kind":          {"events:\n  - {at: 1s, kind: explode}", `event 1: kind "explode" is not known`},
		"no time":                  {"events:\n  - {kind: idle}", "event 1 has no at"},
		"a time that is none":      {"events:\n  - {at: soon, kind: idle}", "line 2"},
		"a code without xid":       {"events:\n  - {at: 1s, kind: lost, xid: 79}", "go together"},
		"xid without a code":       {"events:\n  - {at: 1s, kind: xid}", "go together"},
		"a silent GPU":             {"events:\n  - {at: 1s, kind: silent, gpu: 1}", "whole host"},
		"a negative GPU":           {"events:\n  - {at: 1s, kind: lost, gpu: -1}", "index from 0"},
		"a negative length":        {"events:\n  - {at: 1s, kind: lost, for: -1s}", "negative"},
		"something that is no map": {"- 1", "line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseScript("faults.yaml", []byte(test.yaml))
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "faults.yaml") {
				t.Errorf("error %v, want the file and %q", err, test.want)
			}
		})
	}
}

func FuzzParseScript(f *testing.F) {
	f.Add([]byte("events:\n  - {at: 30s, host: a, gpu: 3, kind: xid, xid: 79}\n"))
	f.Add([]byte("events: [{at: 1s, kind: silent, for: 2h}]"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		script, err := ParseScript("f", raw)
		if err != nil {
			return
		}
		for i := 1; i < len(script); i++ {
			if script[i].At < script[i-1].At {
				t.Fatal("events are out of order")
			}
		}
	})
}
