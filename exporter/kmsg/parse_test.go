package kmsg

import (
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// Spellings of XIDs by drivers of many years.
func TestXIDLines(t *testing.T) {
	for _, test := range []struct {
		name, message string
		address       string
		code          uint64
	}{
		{"off the bus", "NVRM: Xid (PCI:0000:1b:00): 79, pid=1234, name=python, GPU has fallen off the bus.", "0000:1b:00.0", 79},
		{"nobody knows whose", "NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.", "0000:1b:00.0", 79},
		{"without a process", "NVRM: Xid (PCI:0000:c1:00): 48, An uncorrectable double bit error (DBE) has been detected on GPU", "0000:c1:00.0", 48},
		{"a very old driver", "NVRM: Xid (0000:03:00): 13, 0001 00000000 000090c0 00001b0c 00000000 00000000", "0000:03:00.0", 13},
		{"an instance of MIG", "NVRM: Xid (PCI:0000:07:00 GPU-I:05): 94, pid=99, name=python, Contained: CE User Channel (0x9). RST: No, D-RST: No", "0000:07:00.0", 94},
		{"a domain that is not 0", "NVRM: Xid (PCI:0018:01:00): 119, pid=7, name=nvidia-smi, Timeout after 45s of waiting for RPC response from GPU0 GSP!", "0018:01:00.0", 119},
		{"a recovery action", "NVRM: Xid (PCI:0000:18:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)", "0000:18:00.0", 154},
		{"an NVLink of Blackwell", "NVRM: Xid (PCI:0001:00:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 00 (0x004505c6 0x00000000 0x00000000)", "0001:00:00.0", 149},
		{"with its function", "NVRM: Xid (PCI:0000:9d:00.0): 63, Row Remapper: New row marked for remapping", "0000:9d:00.0", 63},
		{"a code alone", "NVRM: Xid (PCI:0000:9d:00): 62", "0000:9d:00.0", 62},
		{"a code that nobody knows", "NVRM: Xid (PCI:0000:9d:00): 4711, what now", "0000:9d:00.0", 4711},
	} {
		t.Run(test.name, func(t *testing.T) {
			x, ok := parseXID([]byte(test.message))
			address, good := gpu.PCIAddress(x.address)
			if !ok || !good || address != test.address || x.code != test.code {
				t.Errorf("read %+v (%v) at %q (%v)", x, ok, address, good)
			}
			if _, ok := parseSXID([]byte(test.message)); ok {
				t.Error("it is read as an SXid too")
			}
		})
	}
}

func TestLinesThatAreNoXIDs(t *testing.T) {
	for _, test := range []struct{ name, message string }{
		{"another line about a card", "NVRM: GPU at PCI:0000:1b:00: GPU-6f1e2d3c-0000-4a5b-8c9d-000000000003"},
		{"its second line", "NVRM: GPU Board Serial Number: 1650224000000"},
		{"a program named like one, that crashes", "NVRM: Xid (PCI:[4242]: segfault at 0 ip 0 sp 0 error 4 in python"},
		{"text before it", "python: NVRM: Xid (PCI:0000:1b:00): 79, x"},
		{"another module", "nvidia: Xid (PCI:0000:1b:00): 79, x"},
		{"no code", "NVRM: Xid (PCI:0000:1b:00): , x"},
		{"a code with more behind it", "NVRM: Xid (PCI:0000:1b:00): 79x"},
		{"a code out of range", "NVRM: Xid (PCI:0000:1b:00): 99999999999, x"},
		{"an unfinished line", "NVRM: Xid (PCI:0000:1b"},
		{"an SXid's second line", "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Severity 0 Engine instance 46 Sub-engine instance 00"},
		{"an SXid's third line", "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Data {0x00140004, 0x00100000, 0x00140004}"},
		{"another line of a switch", "nvidia-nvswitch0: Probing device 0000:c1:00.0, Vendor Id = 0x10de"},
		{"nothing", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if x, ok := parseXID([]byte(test.message)); ok {
				t.Errorf("read XID %+v", x)
			}
			if x, ok := parseSXID([]byte(test.message)); ok {
				t.Errorf("read SXid %+v", x)
			}
		})
	}
}

func TestSXIDLines(t *testing.T) {
	for _, test := range []struct {
		name, message string
		want          gpu.SXID
	}{
		{"fatal", "nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 30 LTSSM Fault Up", gpu.SXID{Switch: "0000:06:00.0", Code: 20034, Severity: gpu.SXIDFatal}},
		{"not fatal", "nvidia-nvswitch3: SXid (PCI:0000:C1:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)", gpu.SXID{Switch: "0000:c1:00.0", Code: 12028, Severity: gpu.SXIDNonFatal}},
		{"a word that nobody knows", "nvidia-nvswitch11: SXid (PCI:0000:c1:00.0): 24007, Correctable, Link 46", gpu.SXID{Switch: "0000:c1:00.0", Code: 24007, Severity: gpu.SXIDUnknown}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, ok := parseSXID([]byte(test.message)); !ok || got != test.want {
				t.Errorf("read %+v (%v), want %+v", got, ok, test.want)
			}
		})
	}
}

func TestRecords(t *testing.T) {
	good := map[string]record{
		"6,1234,5000000,-;hello":              {0, 1234, 5 * time.Second, []byte("hello")},
		"12,5,1,-,caller=T77;from a user":     {1, 5, time.Microsecond, []byte("from a user")},
		"3,0,0,c;a;b":                         {0, 0, 0, []byte("a;b")},
		"4,18446744073709551615,9,-;last one": {0, 1<<64 - 1, 9 * time.Microsecond, []byte("last one")},
	}
	for line, want := range good {
		got, err := parseRecord([]byte(line))
		if err != nil || got.facility != want.facility || got.sequence != want.sequence || got.since != want.since || string(got.message) != string(want.message) {
			t.Errorf("%q is read as %+v, %v", line, got, err)
		}
	}
	for line, want := range map[string]string{
		"":                                 "semicolon",
		"6,1,2,-":                          "semicolon",
		"six,1,2,-;x":                      "priority",
		"6,-1,2,-;x":                       "sequence",
		"6,1,later,-;x":                    "time",
		"6,1;x":                            "sequence",
		"6,1,2;x":                          "time",
		"6,1,9223372036854775807,-;x":      "since boot",
		"6,99999999999999999999999,2,-;xx": "sequence",
	} {
		if got, err := parseRecord([]byte(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is read as %+v, %v: want an error about the %s", line, got, err, want)
		}
	}
}

func FuzzRecords(f *testing.F) {
	f.Add([]byte("4,1,2,-;NVRM: Xid (PCI:0000:1b:00): 79, pid=1, name=x, off the bus\n SUBSYSTEM=pci\n"))
	f.Add([]byte("4,1,2,-;nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 30\n5,3,"))
	f.Add([]byte("12,9,18446744073709551615,-;x\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		reported := 0
		r := New(Options{
			XID:    func(gpu.XIDReport) { reported++ },
			Uptime: func() time.Duration { return time.Hour },
			Now:    func() time.Time { return time.Unix(1_800_000_000, 0) },
		})
		r.emit = func(gpu.Event) {}
		rest := r.take(text, true)
		if strings.Contains(string(rest), "\n") {
			t.Errorf("%q is left of %q", rest, text)
		}
		if lines := strings.Count(string(text), "\n"); reported > lines || int(r.records.Get()+r.bad.Get()) > lines {
			t.Errorf("%d XIDs, %d records, %d bad ones in %d lines", reported, r.records.Get(), r.bad.Get(), lines)
		}
	})
}

func TestTheLogsClock(t *testing.T) {
	wall, up := time.Unix(1_800_000_000, 0), 100*24*time.Hour
	c := clock{now: func() time.Time { return wall }, uptime: func() time.Duration { return up }}
	pass := func(d time.Duration) { wall, up = wall.Add(d), up+d }
	date := func(since time.Duration) (ago, within time.Duration) {
		at, within := c.date(since)
		return wall.Sub(at), within
	}
	const behind = 4 * time.Minute // after a hundred days
	if ago, within := date(up - time.Hour - behind); ago != time.Hour+behind || within < behind {
		t.Errorf("before anything is learned: %s ago within %s, want to be off by no more than it says", ago, within)
	}
	c.learn(up - behind)
	if ago, within := date(up - behind); ago != 0 || within != 0 {
		t.Errorf("just now is %s ago within %s", ago, within)
	}
	if ago, within := date(up - time.Hour - behind); ago != time.Hour || within != 1800*time.Millisecond {
		t.Errorf("an hour ago is %s ago within %s", ago, within)
	}
	pass(time.Hour)
	c.learn(up - behind - time.Minute) // the reader itself was stopped for a minute
	if ago, _ := date(up - behind - time.Minute); ago != time.Minute {
		t.Errorf("a record that was read a minute late is dated %s ago", ago)
	}
	c.learn(up - behind - 500*time.Millisecond) // the clocks part further
	if ago, _ := date(up - behind - 500*time.Millisecond); ago != 0 {
		t.Errorf("just now is %s ago", ago)
	}
	if ago, _ := date(up + time.Hour); ago != 0 {
		t.Errorf("a record of the future is dated %s ago", ago)
	}
}
