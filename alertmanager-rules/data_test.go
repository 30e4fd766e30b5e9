package alertmanagerrules

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/exporter/catalog"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

func xids(t *testing.T) []XID {
	t.Helper()
	table, err := XIDTable()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestFatalAndResetCodesAreThoseThatTheExporterPushes(t *testing.T) {
	ofClass := func(class XIDClass) []uint64 {
		var found []uint64
		for _, x := range xids(t) {
			if x.Class == class {
				found = append(found, x.Code)
			}
		}
		return found
	}
	if got, want := ofClass(XIDFatal), catalog.FatalXIDs(); !slices.Equal(got, want) {
		t.Errorf("class F in xid.yaml is %v, in the catalogue %v", got, want)
	}
	if got, want := ofClass(XIDReset), catalog.ResetXIDs(); !slices.Equal(got, want) {
		t.Errorf("class R in xid.yaml is %v, in the catalogue %v", got, want)
	}
}

func TestXIDsThatPageNobody(t *testing.T) {
	byCode := map[uint64]XID{}
	for _, x := range xids(t) {
		byCode[x.Code] = x
	}
	for _, code := range []uint64{13, 31, 43, 45} {
		if x := byCode[code]; x.Pages() || x.Ticket {
			t.Errorf("XID %d is %+v, expected neither page nor ticket", code, x)
		}
	}
	contained := byCode[94]
	if contained.Pages() || !contained.Ticket || contained.Fault != FaultHardware || contained.Told != ToldInstance {
		t.Errorf("XID 94 is %+v, expected a ticket, hardware, told to the tenant of the instance", contained)
	}
	if x := byCode[171]; !x.Pages() || x.As != 48 {
		t.Errorf("XID 171 is %+v, expected to page as 48", x)
	}
}

func TestFaultIsUndeterminedWhereTheVendorSaysInvestigate(t *testing.T) {
	for _, x := range xids(t) {
		if slices.Contains([]uint64{32, 69, 80, 110, 119, 120, 155}, x.Code) && x.Fault != FaultUndetermined {
			t.Errorf("XID %d has fault %s, expected undetermined", x.Code, x.Fault)
		}
	}
}

func TestEveryTextThatTellsToResetOrRestartDrainsFirst(t *testing.T) {
	for _, x := range xids(t) {
		if x.Pages() && x.Code != 95 && x.Code != 151 && !strings.Contains(x.Action, "rain ") {
			t.Errorf("XID %d: %q does not drain first", x.Code, x.Action)
		}
	}
}

func TestStatesAreThoseOfTheExporterAndThoseTheServerDerives(t *testing.T) {
	states, err := States()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Class{
		"ok": Up, "lost": Down, "reset_required": Down, "unresponsive": Down, "driver_down": Down,
		"fabric_incomplete": Down, "host_down": Down, "maintenance": Excluded, "stopped": Excluded,
		"degraded": ByContract, "released": Unknown, "opaque": Unknown, "unknown": Unknown,
	}
	var told []gpu.State
	for _, s := range states {
		if want[s.Name] != s.Class {
			t.Errorf("state %s has class %s, expected %s", s.Name, s.Class, want[s.Name])
		}
		if s.By == "exporter" {
			told = append(told, gpu.State(s.Name))
		}
	}
	if len(states) != len(want) {
		t.Errorf("%d states, expected %d", len(states), len(want))
	}
	if !slices.Equal(told, gpu.States) {
		t.Errorf("the exporter tells %v, expected %v", told, gpu.States)
	}
}

func TestARunbookIsFoundByItsNameOnly(t *testing.T) {
	if page, err := Runbook("gpu-lost"); err != nil || len(page) == 0 {
		t.Errorf("gpu-lost: %d bytes, %v", len(page), err)
	}
	for _, name := range []string{"", "nothing", "../xid.yaml", "gpu-lost.md", "/etc/passwd", "GPU-LOST", "gpu-lost\x00"} {
		if _, err := Runbook(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("runbook %q: %v, expected that there is none", name, err)
		}
	}
}

func TestABadTableIsRefusedWithItsPlace(t *testing.T) {
	const texts = `meaning: m, meaning_zh: m, action: a, action_zh: a`
	for name, c := range map[string]struct{ data, want string }{
		"a code twice":         {"codes:\n- {xids: [8, 8], class: A, fault: tenant, told: none, " + texts + "}", "XID 8 stands there twice"},
		"an unknown class":     {"codes:\n- {xids: [8], class: Q, fault: tenant, told: none, " + texts + "}", `XID 8: class "Q", expected one of`},
		"an unknown fault":     {"codes:\n- {xids: [8], class: A, fault: mine, told: none, " + texts + "}", `fault "mine"`},
		"an unknown recipient": {"codes:\n- {xids: [8], class: A, fault: tenant, told: all, " + texts + "}", `told "all"`},
		"a missing text":       {"codes:\n- {xids: [8], class: A, fault: tenant, told: none}", "a text is missing"},
		"an unknown field":     {"codes:\n- {xids: [8], klass: A}", "line 2: field klass not found"},
		"no number":            {"codes:\n- {xids: [eight]}", "line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseXIDTable("site.yaml", []byte(c.data))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "site.yaml: ") {
				t.Errorf("error is %v, expected site.yaml: ... %s", err, c.want)
			}
		})
	}
}

func FuzzParseXIDTable(f *testing.F) {
	f.Add(mustRead("xid.yaml"))
	f.Add([]byte("codes:\n- {xids: [8]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := ParseXIDTable("fuzz.yaml", data)
		if err != nil {
			return
		}
		for i := 1; i < len(table); i++ {
			if table[i-1].Code >= table[i].Code {
				t.Errorf("codes %d and %d are out of order", table[i-1].Code, table[i].Code)
			}
		}
	})
}
