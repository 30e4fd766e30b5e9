package compat

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"pgregory.net/rapid"

	"github.com/leasewatch/leasewatch/exporter/catalog"
	"github.com/leasewatch/leasewatch/exporter/gpu"
	"github.com/leasewatch/leasewatch/internal/testenv"
)

var update = flag.Bool("update", false, "write the table in docs/dcgm.md anew")

// card is a GPU that answers what the aliases need.
func card() gpu.GPU {
	some := gpu.Some[float64]
	return gpu.GPU{
		Identity: gpu.Identity{Index: 3, UUID: "GPU-3", Name: "NVIDIA H100 80GB HBM3", PCIAddress: "0000:1b:00.0"},
		Status:   gpu.Status{State: gpu.OK},
		Readings: gpu.Readings{
			At: time.Unix(99, 0), UtilizationRatio: some(0.29), MemoryUsedBytes: some(60000 << 20), EnergyJoulesTotal: some(1234.5),
			ClockHertz:           map[string]float64{"sm": 1755e6, "memory": 2619e6},
			ThrottleActive:       map[string]bool{"sw_power_cap": true, "sw_thermal": true, "gpu_idle": false},
			ThrottleSecondsTotal: map[string]float64{"sw_power_cap": 1.5, "sw_thermal": 3, "hw_thermal": 4},
			XIDs:                 map[uint64]gpu.XID{13: {Count: 5, Last: time.Unix(90, 0)}, 79: {Count: 1, Last: time.Unix(98, 0)}, 94: {Count: 1}},
		},
	}
}

func maker(t testing.TB) *Maker {
	t.Helper()
	m, err := NewMaker("gpu-a1", DCGM())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// values gives the aliases of the first GPU.
func values(t testing.TB, gpus ...gpu.GPU) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for _, f := range maker(t).Families(&gpu.Snapshot{GPUs: gpus}) {
		out[f.GetName()] = f.Metric[0].Untyped.GetValue()
	}
	return out
}

func TestAliasesSpeakDCGMsUnits(t *testing.T) {
	got := values(t, card())
	for name, want := range map[string]float64{
		"DCGM_FI_DEV_SM_CLOCK": 1755, "DCGM_FI_DEV_MEM_CLOCK": 2619, "DCGM_FI_DEV_GPU_UTIL": 29, "DCGM_FI_DEV_FB_USED": 60000,
		"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": 1234500, "DCGM_FI_DEV_POWER_VIOLATION": 1.5e9,
		"DCGM_FI_DEV_THERMAL_VIOLATION":      4e9,        // the longer of two that overlap
		"DCGM_FI_DEV_CLOCK_THROTTLE_REASONS": 0x4 | 0x20, // nvml.h
		"DCGM_FI_DEV_CLOCKS_EVENT_REASONS":   0x24,
		"DCGM_FI_DEV_XID_ERRORS":             79, // the last one, not the most frequent
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s = %v (there: %v), want %v", name, v, ok, want)
		}
	}
	for _, absent := range []string{"DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_ROW_REMAP_FAILURE"} {
		if v, ok := got[absent]; ok {
			t.Errorf("%s = %v for a card that does not answer it: want it absent", absent, v)
		}
	}
}

func TestWithoutAnyXIDTheLastCodeIsZero(t *testing.T) {
	g := card()
	g.Readings.XIDs = nil
	if v, ok := values(t, g)["DCGM_FI_DEV_XID_ERRORS"]; !ok || v != 0 {
		t.Errorf("%v (there: %v), want 0", v, ok)
	}
}

func TestALostCardKeepsItsXIDAndLosesItsReadings(t *testing.T) {
	g := card()
	g.Status.State = gpu.Lost
	got := values(t, g)
	if len(got) != 1 || got["DCGM_FI_DEV_XID_ERRORS"] != 79 {
		t.Errorf("%v, want the XID alone", got)
	}
}

func TestLabelsAreDCGMsOwn(t *testing.T) {
	s := &gpu.Snapshot{Driver: gpu.Driver{Version: "580.65.06"}, GPUs: []gpu.GPU{card()}}
	want := map[string]string{"gpu": "3", "UUID": "GPU-3", "pci_bus_id": "00000000:1B:00.0", "device": "nvidia3",
		"modelName": "NVIDIA H100 80GB HBM3", "Hostname": "gpu-a1", "DCGM_FI_DRIVER_VERSION": "580.65.06"}
	for _, f := range maker(t).Families(s) {
		pairs := f.Metric[0].Label
		if !slices.IsSortedFunc(pairs, func(a, b *dto.LabelPair) int { return strings.Compare(a.GetName(), b.GetName()) }) {
			t.Fatalf("%s: labels are not sorted", f.GetName())
		}
		got := map[string]string{}
		for _, p := range pairs {
			got[p.GetName()] = p.GetValue()
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%s: labels %v, want %v", f.GetName(), got, want)
		}
	}
}

func TestMIGDevicesCarryTheCardsUUIDAndTheirInstance(t *testing.T) {
	some := gpu.Some[float64]
	g := card()
	g.Readings.MemoryUsedBytes = gpu.Maybe[float64]{}
	part := gpu.Instance{UUID: "MIG-1", GPUInstance: 7, Profile: "1c.3g.40gb", Readings: gpu.InstanceReadings{MemoryUsedBytes: some(512 << 20), GPM: gpu.GPM{SMActive: some(0.25)}}}
	twin := part
	twin.UUID, twin.ComputeInstance = "MIG-2", 1
	g.Instances = []gpu.Instance{part, twin}
	found := map[string][]string{}
	for _, f := range maker(t).Families(&gpu.Snapshot{GPUs: []gpu.GPU{g}}) {
		for _, metric := range f.Metric {
			labels := map[string]string{}
			for _, p := range metric.Label {
				labels[p.GetName()] = p.GetValue()
			}
			if labels["UUID"] != "GPU-3" {
				t.Errorf("%s has UUID %s, want the card's", f.GetName(), labels["UUID"])
			}
			if id, ok := labels["GPU_I_ID"]; ok {
				found[f.GetName()] = append(found[f.GetName()], fmt.Sprint(id, " ", labels["GPU_I_PROFILE"], " ", metric.Untyped.GetValue()))
			}
		}
	}
	want := map[string][]string{"DCGM_FI_DEV_FB_USED": {"7 3g.40gb 512"}, "DCGM_FI_PROF_SM_ACTIVE": {"7 3g.40gb 0.25"}}
	if fmt.Sprint(found) != fmt.Sprint(want) {
		t.Errorf("series of MIG devices: %v, want %v", found, want)
	}
}

func TestALicenceIsThereWhereAnyVirtualGPUHasOne(t *testing.T) {
	g := card()
	if v, ok := values(t, g)["DCGM_FI_DEV_VGPU_LICENSE_STATUS"]; ok {
		t.Errorf("%v for a card without virtual GPUs, want it absent", v)
	}
	g.Readings.VGPU.Licenses = []gpu.License{{Product: "a"}, {Product: "b", Licensed: true}}
	if v, ok := values(t, g)["DCGM_FI_DEV_VGPU_LICENSE_STATUS"]; !ok || v != 1 {
		t.Errorf("%v (there: %v), want 1", v, ok)
	}
}

func TestATotalNeedsAllItsParts(t *testing.T) {
	g := card()
	g.Readings.GPM.NVLinkSent = gpu.Some(3e9)
	if v, ok := values(t, g)["DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"]; ok {
		t.Errorf("%v of one direction alone, want it absent", v)
	}
	g.Readings.GPM.NVLinkReceived = gpu.Some(2e9)
	if v := values(t, g)["DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"]; v != 5000 {
		t.Errorf("%v MB/s, want 5000", v)
	}
}

func TestHostileNamesAndTwinsDoNotSpoilThePage(t *testing.T) {
	g := card()
	g.Identity.Name, g.Identity.PCIAddress = "\xff\"}", "nonsense"
	families := maker(t).Families(&gpu.Snapshot{GPUs: []gpu.GPU{g, g}})
	if len(families) == 0 {
		t.Fatal("no families")
	}
	for _, f := range families {
		if len(f.Metric) != 1 {
			t.Errorf("%s: %d series of one card told twice, want 1", f.GetName(), len(f.Metric))
		}
	}
}

// Whatever a card says, an alias of one series is that series times its factor: there where
// it is there, and nowhere else.
func TestEveryAliasIsAFunctionOfOurOwnSeries(t *testing.T) {
	families := map[string]catalog.Family{}
	for _, f := range catalog.All() {
		families[f.Name] = f
	}
	m := maker(t)
	rapid.Check(t, func(t *rapid.T) {
		g := drawCard(t)
		got := map[string]float64{}
		for _, f := range m.Families(&gpu.Snapshot{GPUs: []gpu.GPU{g}}) {
			got[f.GetName()] = f.Metric[0].Untyped.GetValue()
		}
		for _, a := range DCGM() {
			if len(a.Terms) > 1 || a.Join == Newest || a.Join == Any {
				continue
			}
			term, want, there := a.Terms[0], 0.0, false
			if f := families[term.Family]; f.Stays || catalog.Answers(g.Status.State) {
				f.GPU(&g, func(v float64, labels ...string) {
					if slices.Equal(labels, term.Labels) {
						want, there = v*a.Unit.Times/a.Unit.Over, true
					}
				})
			}
			if v, ok := got[a.Name]; ok != there || math.Abs(v-want) > want*1e-12+a.Unit.slack() {
				t.Fatalf("%s is %v (there: %v), ours gives %v (there: %v)", a.Name, v, ok, want, there)
			}
		}
	})
}

// slack is what rounding to a step may change.
func (u Unit) slack() float64 {
	if u.Steps == 0 {
		return 0
	}
	return 0.5 / u.Steps
}

func drawCard(t *rapid.T) gpu.GPU {
	number := rapid.Float64Range(0, 1e15)
	maybe := func(label string) gpu.Maybe[float64] {
		if !rapid.Bool().Draw(t, label+" answers") {
			return gpu.Maybe[float64]{}
		}
		return gpu.Some(number.Draw(t, label))
	}
	some := func(label string, keys ...string) map[string]float64 {
		return rapid.MapOf(rapid.SampledFrom(keys), number).Draw(t, label)
	}
	g := gpu.GPU{Identity: gpu.Identity{UUID: "GPU-1"}, Status: gpu.Status{State: rapid.SampledFrom(gpu.States).Draw(t, "state")}}
	r := &g.Readings
	r.UtilizationRatio, r.MemoryUtilizationRatio, r.EncoderRatio, r.DecoderRatio = maybe("use"), maybe("memory use"), maybe("encoder"), maybe("decoder")
	r.MemoryTotalBytes, r.MemoryUsedBytes, r.MemoryFreeBytes, r.MemoryReservedBytes = maybe("total"), maybe("used"), maybe("free"), maybe("reserved")
	r.TemperatureCelsius, r.MemoryTemperatureCelsius, r.PowerWatts, r.EnergyJoulesTotal = maybe("heat"), maybe("memory heat"), maybe("power"), maybe("energy")
	r.TemperatureThresholds = some("thresholds", "slowdown", "shutdown", "gpu_max", "memory_max")
	r.PowerLimits = some("limits", "enforced", "management", "default", "min", "max")
	r.ClockHertz, r.ClockMaxHertz = some("clocks", "sm", "memory", "video"), some("highest clocks", "sm", "memory")
	r.ThrottleSecondsTotal = some("throttled", "sw_power_cap", "sync_boost")
	r.RetiredPages, r.RemappedRows = some("pages", "single_bit", "double_bit"), some("rows", "correctable", "uncorrectable")
	r.NVLinkErrors = some("links", "crc_flit", "crc_data", "replay", "recovery")
	r.PCIeReplaysTotal, r.PCIeGeneration, r.PerformanceState = maybe("replays"), maybe("generation"), maybe("pstate")
	return g
}

func TestAliasesNeedFamiliesThatAreThere(t *testing.T) {
	for wrong, aliases := range map[string][]Alias{
		"no family of a GPU": {one("DCGM_X", "x.", number, of("gpu_nothing"))},
		"the name is taken":  {one("DCGM_X", "x.", watts, of("gpu_power_watts")), one("DCGM_X", "x.", watts, of("gpu_power_watts"))},
	} {
		if _, err := NewMaker("a", aliases); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("error %v, want %q", err, wrong)
		}
	}
}

// table is docs/dcgm.md's list of aliases.
func table(m *Maker) string {
	var b strings.Builder
	b.WriteString("| name | unit | made from |\n|---|---|---|\n")
	for _, a := range m.aliases {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", a.Name, a.Unit.Name, a.Formula())
	}
	return b.String()
}

func TestTheDocumentationListsTheAliases(t *testing.T) {
	path := filepath.Join(testenv.Root(t), "docs", "dcgm.md")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	place := regexp.MustCompile(`(?s)(<!-- aliases -->\n).*(<!-- /aliases -->)`)
	if !place.Match(raw) {
		t.Fatal("docs/dcgm.md has no place for the list of aliases")
	}
	want := place.ReplaceAllString(string(raw), "${1}"+strings.ReplaceAll(table(maker(t)), "$", "$$")+"${2}")
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(raw) {
		t.Error("the list in docs/dcgm.md is not the one of the code: run go test ./exporter/compat -run Documentation -update")
	}
}
