//go:build linux && cgo

package nvml

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

func TestABlackwellTrayTellsItsModuleItsPlaceAndItsLinks(t *testing.T) {
	inChild(t, fakenvml.GB200(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		for i, g := range m.wait(t, all(4, gpu.OK)).GPUs {
			n, r := float64(i), g.Readings
			place := gpu.Board{InfoROM: "G548.0200.01.02", Minor: fmt.Sprint(i), Module: fmt.Sprint(i + 1), ID: []string{"80100", "81100"}[i/2],
				Chassis: "1820825190041", Slot: "7", Tray: "6", Node: "1"}
			if g.Identity.Board != place {
				t.Errorf("board is %+v, want %+v", g.Identity.Board, place)
			}
			if v, _ := r.Module.EnergyJoulesTotal.Get(); v != 12e6+n/1000 {
				t.Errorf("the module's energy is %v", v)
			}
			r.Module.EnergyJoulesTotal = gpu.Maybe[float64]{}
			same(t, "module", r.Module, gpu.Module{PowerAverageWatts: some(1300 + n), PowerInstantWatts: some(1310 + n),
				PowerLimits: map[string]float64{"enforced": 1600 + n, "requested": 1600 + n, "default": 1600 + n, "min": 400 + n, "max": 1700 + n}})
			same(t, "limits as margins", r.TemperatureOffsets, map[string]float64{"shutdown": -5, "slowdown": -2, "memory_max": 0, "gpu_max": 0})
			same(t, "limits as temperatures", r.TemperatureThresholds, map[string]float64{})
			same(t, "NVLink", r.NVLink, gpu.NVLinks{Links: linksUp(18, 3, "symbol", 40+n), SpeedBytesPerSec: some(53125e6),
				BytesTotal: map[string]float64{"tx": 18 * (1e9 + n), "rx": 18 * (2e9 + n)}})
			same(t, "NVLink errors", r.NVLinkErrors, map[string]float64{"malformed_packet": 0, "buffer_overrun": 0, "receive": 0, "receive_remote": 0,
				"receive_general": 0, "link_integrity": 0, "transmit_discard": 0, "recovery": 0, "recovery_succeeded": 0, "recovery_failed": 0,
				"effective": 0, "symbol": 40 + n})
			same(t, "fabric", r.Fabric, gpu.Fabric{State: gpu.FabricCompleted, Status: some(0), Health: gpu.FabricHealthy,
				Cluster: "7261636b-2d37-2d6e-766c-37322d613031", Clique: "32766", Configuration: some(1),
				Problems: map[string]bool{"degraded_bandwidth": false, "route_recovery": false, "route_unhealthy": false, "access_timeout_recovery": false,
					"incorrect_configuration": false, "no_partition": false, "manager_disconnected": false}})
			same(t, "repair", r.Repair, gpu.Repair{RowBanks: map[string]float64{"max": 4095, "high": 1, "partial": 0, "low": 0, "none": 0},
				InactiveRows: map[string]float64{"correctable": 0, "uncorrectable": 1}, Banks: map[string]float64{"active": 2, "inactive": 0},
				BankGroups: map[string]float64{"max": 511, "none": 0}, BankPending: gpu.Some(false),
				ChannelPending: gpu.Some(false), TPCPending: gpu.Some(false), UnrepairableMemory: gpu.Some(false)})
			same(t, "modes", r.Modes, gpu.Modes{ECC: gpu.Some(true), ECCPending: gpu.Some(true), MIG: gpu.Some(false), MIGPending: gpu.Some(true),
				Compute: "default", Virtualization: "none", Confidential: gpu.Some(true)})
			if len(g.Dropped) > 0 {
				t.Errorf("dropped %v", g.Dropped)
			}
		}
	})
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestACounterOf32BitsThatMovesFastIsNotTaken(t *testing.T) {
	inChild(t, fakenvml.ConsumerCard(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		g := m.wait(t, all(1, gpu.OK)).GPUs[0]
		if len(g.Readings.PCIeBytesTotal) > 0 || !slices.Contains(g.Unsupported, "nvmlDeviceGetFieldValues(197)") {
			t.Errorf("PCIe bytes are %v, unsupported %v", g.Readings.PCIeBytesTotal, g.Unsupported)
		}
	})
}

func TestALinkThatIsDownIsToldAndTakesNoSumBack(t *testing.T) {
	s := fakenvml.GB200().DeviceCount(1)
	s.GPU(0).Set("nvlink.0", 0).Set("field.202@0", 0).Set("field.202@0.return", fakenvml.NotSupported).
		Set("field.221@0", 0).Set("field.221@0.return", fakenvml.UnknownError)
	inChild(t, s, func(t *testing.T, m *machine) {
		m.start(t, quick())
		g := m.wait(t, all(1, gpu.OK)).GPUs[0]
		r := g.Readings
		if up, _ := r.NVLinkActive.Get(); up != 17 || r.NVLink.Links[0].Up {
			t.Errorf("%v links are up, the first among them: %v", up, r.NVLink.Links[0].Up)
		}
		if _, there := r.NVLink.BytesTotal["tx"]; there || r.NVLink.BytesTotal["rx"] != 18*2e9 {
			t.Errorf("bytes are %v: want none sent, because a link does not tell", r.NVLink.BytesTotal)
		}
		if _, there := r.NVLinkErrors["symbol"]; there || r.NVLink.Links[3].Errors["symbol"] != 40 || len(r.NVLinkErrors) != 11 {
			t.Errorf("errors are %v, of link 3 %v", r.NVLinkErrors, r.NVLink.Links[3].Errors)
		}
		if n := g.Dropped["nvmlDeviceGetFieldValues(221)"]; n > 0 {
			t.Errorf("what a link that is down does not say is counted as dropped: %v", g.Dropped)
		}
	})
}

func TestFabricProblemsAreToldEachOnItsOwn(t *testing.T) {
	for _, test := range []struct {
		name          string
		mask          uint32
		problems      map[string]bool
		configuration gpu.Maybe[float64]
	}{
		{"nothing is told", 0, map[string]bool{}, gpu.Maybe[float64]{}},
		{"bandwidth is degraded", 1, map[string]bool{"degraded_bandwidth": true}, gpu.Maybe[float64]{}},
		{"a route is in recovery and one is unhealthy", 1<<2 | 1<<4, map[string]bool{"route_recovery": true, "route_unhealthy": true}, gpu.Maybe[float64]{}},
		{"an access timeout is over", 2 << 6, map[string]bool{"access_timeout_recovery": false}, gpu.Maybe[float64]{}},
		{"there are too few links", 5 << 8, map[string]bool{"incorrect_configuration": true}, some(5)},
		{"no partition, no manager", 2<<12 | 2<<14, map[string]bool{"no_partition": true, "manager_disconnected": true}, gpu.Maybe[float64]{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			problems, configuration := fabricProblems(test.mask)
			same(t, "problems", problems, test.problems)
			same(t, "configuration", configuration, test.configuration)
		})
	}
}

func TestAHostOfVirtualGPUsCountsThemAndAGuestTellsItsLicence(t *testing.T) {
	s := fakenvml.ConsumerCard().DeviceCount(3)
	for i, mode := range []int{3, 2, 2} { // the host, a licensed guest, one whose licence does not end
		s.GPU(i).Set("uuid", fmt.Sprintf("GPU-%d", i)).Set("pci", fmt.Sprintf("0000:0%d:00.0", i+1)).Set("virtualization_mode", mode).
			Set("util_gpu", 1).Set("temperature_c", 40)
	}
	s.GPU(0).Set("vgpus", 5)
	s.GPU(1).Set("license_state", 1).Set("license_expiry_year", 2027).Set("license_product", "NVIDIA RTX Virtual Workstation")
	s.GPU(2).Set("license_state", 0).Set("license_product", "NVIDIA RTX Virtual Workstation")
	inChild(t, s, func(t *testing.T, m *machine) {
		m.start(t, quick())
		got := m.wait(t, all(3, gpu.OK)).GPUs
		const product = "NVIDIA RTX Virtual Workstation"
		same(t, "host", got[0].Readings.VGPU, gpu.VGPU{Instances: some(5)})
		same(t, "guest", got[1].Readings.VGPU, gpu.VGPU{Licenses: []gpu.License{{Feature: "rtx", Product: product, Licensed: true,
			Expires: time.Date(2027, 5, 17, 11, 22, 33, 0, time.UTC)}}})
		same(t, "guest without licence", got[2].Readings.VGPU, gpu.VGPU{Licenses: []gpu.License{{Feature: "rtx", Product: product}}})
	})
}

func TestACorruptedInfoROMIsAnAnswer(t *testing.T) {
	s := fakenvml.H100x8().DeviceCount(2)
	s.GPU(0).Return("nvmlDeviceValidateInforom", fakenvml.CorruptedInfoROM)
	s.GPU(1).Return("nvmlDeviceValidateInforom", fakenvml.UnknownError)
	inChild(t, s, func(t *testing.T, m *machine) {
		m.start(t, quick())
		got := m.wait(t, all(2, gpu.OK)).GPUs
		same(t, "corrupted", got[0].Readings.InfoROMValid, gpu.Some(false))
		same(t, "not told", got[1].Readings.InfoROMValid, gpu.Maybe[bool]{})
		if got[0].Dropped["nvmlDeviceValidateInforom"] > 0 || got[1].Dropped["nvmlDeviceValidateInforom"] == 0 {
			t.Errorf("dropped are %v and %v", got[0].Dropped, got[1].Dropped)
		}
	})
}

// newer are the calls of this file's families, with what of the readings they give.
var newer = []struct {
	call string
	gone func(g gpu.GPU) bool
}{
	{"nvmlDeviceGetJpgUtilization", func(g gpu.GPU) bool { return absent(g.Readings.JPEGRatio) }},
	{"nvmlDeviceGetOfaUtilization", func(g gpu.GPU) bool { return absent(g.Readings.OFARatio) }},
	{"nvmlDeviceGetBAR1MemoryInfo", func(g gpu.GPU) bool { return g.Readings.BAR1 == gpu.BAR1{} }},
	{"nvmlDeviceGetMaxCustomerBoostClock", func(g gpu.GPU) bool { return len(g.Readings.ClockCustomerMaxHertz) == 0 }},
	{"nvmlDeviceGetApplicationsClock", func(g gpu.GPU) bool { return len(g.Readings.ClockApplicationHertz) == 0 }},
	{"nvmlDeviceGetComputeMode", func(g gpu.GPU) bool { return g.Readings.Modes.Compute == "" }},
	{"nvmlDeviceGetVirtualizationMode", func(g gpu.GPU) bool { return g.Readings.Modes.Virtualization == "" }},
	{"nvmlDeviceGetInforomImageVersion", func(g gpu.GPU) bool { return g.Identity.Board.InfoROM == "" }},
	{"nvmlDeviceValidateInforom", func(g gpu.GPU) bool { return absent(g.Readings.InfoROMValid) }},
	{"nvmlDeviceGetMinorNumber", func(g gpu.GPU) bool { return g.Identity.Board.Minor == "" }},
	{"nvmlDeviceGetMultiGpuBoard", func(g gpu.GPU) bool { return g.Identity.Board.ID == "" }},
	{"nvmlDeviceGetBoardId", func(g gpu.GPU) bool { return g.Identity.Board.ID == "" }},
	{"nvmlDeviceGetPlatformInfo", func(g gpu.GPU) bool { return g.Identity.Board.Chassis+g.Identity.Board.Slot == "" }},
	{"nvmlDeviceGetSramEccErrorStatus", func(g gpu.GPU) bool {
		return len(g.Readings.SRAM.ErrorsTotal) == 0 && absent(g.Readings.SRAM.ThresholdExceeded)
	}},
	{"nvmlDeviceGetRowRemapperHistogram", func(g gpu.GPU) bool { return len(g.Readings.Repair.RowBanks) == 0 }},
	{"nvmlDeviceGetRepairStatus", func(g gpu.GPU) bool {
		return absent(g.Readings.Repair.ChannelPending) && absent(g.Readings.Repair.TPCPending)
	}},
	{"nvmlDeviceGetUnrepairableMemoryFlag_v1", func(g gpu.GPU) bool { return absent(g.Readings.Repair.UnrepairableMemory) }},
	{"nvmlDeviceGetMigMode", func(g gpu.GPU) bool { return absent(g.Readings.Modes.MIG) && absent(g.Readings.Modes.MIGPending) }},
}

func absent[T any](m gpu.Maybe[T]) bool {
	_, there := m.Get()
	return !there
}

// Four cards, each of which refuses all of these calls in its own way.
func TestEachRefusalLeavesItsReadingsOutAndIsNamed(t *testing.T) {
	ways := []struct {
		name string
		code int
	}{{"unsupported", fakenvml.NotSupported}, {"version mismatch", fakenvml.ArgumentVersion}, {"no permission", fakenvml.NoPermission}, {"error", fakenvml.UnknownError}}
	s := fakenvml.GB200()
	for i, way := range ways {
		for _, n := range newer {
			s.GPU(i).Return(n.call, way.code)
		}
	}
	inChild(t, s, func(t *testing.T, m *machine) {
		m.start(t, quick())
		got := m.wait(t, all(4, gpu.OK)).GPUs
		for i, way := range ways {
			named := func(call string) bool {
				return slices.ContainsFunc(got[i].Unsupported, func(key string) bool { return strings.HasPrefix(key, call) })
			}
			if way.code == fakenvml.UnknownError {
				named = func(call string) bool {
					for key := range got[i].Dropped {
						if strings.HasPrefix(key, call) {
							return true
						}
					}
					return false
				}
			}
			for _, n := range newer {
				if !n.gone(got[i]) {
					t.Errorf("%s: %s left readings behind: %+v", way.name, n.call, got[i].Readings)
				}
				if n.call != "nvmlDeviceGetBoardId" && !named(n.call) { // which is not asked without nvmlDeviceGetMultiGpuBoard
					t.Errorf("%s: %s is not named; unsupported %v, dropped %v", way.name, n.call, got[i].Unsupported, got[i].Dropped)
				}
			}
		}
	})
}

func TestImpossibleAnswersOfTheNewerCallsAreDroppedAndCounted(t *testing.T) {
	s := fakenvml.GB200().DeviceCount(1)
	const notAvailable = uint64(1<<64 - 1)
	for _, key := range []string{"util_jpeg", "util_ofa", "bar1_used", "clock_application_graphics_mhz", "clock_customer_graphics_mhz", "compute_mode",
		"virtualization_mode", "mig_mode", "mig_mode_pending", "sram_volatile_parity", "sram_threshold_exceeded", "row_banks_max",
		"channel_repair_pending", "unrepairable_memory"} {
		s.GPU(0).Set(key, notAvailable)
	}
	for _, field := range []string{"185", "186", "185@1", "173", "197", "202", "206", "301", "193"} {
		s.GPU(0).Set("field."+field, notAvailable).Set("field."+field+".type", 3)
	}
	inChild(t, s, func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, func(s *gpu.Snapshot) error {
			if err := all(1, gpu.OK)(s); err != nil {
				return err
			}
			r := s.GPUs[0].Readings
			there := map[string]bool{
				"nvmlDeviceGetJpgUtilization": !absent(r.JPEGRatio), "nvmlDeviceGetOfaUtilization": !absent(r.OFARatio),
				"nvmlDeviceGetBAR1MemoryInfo":                  !absent(r.BAR1.UsedBytes),
				"nvmlDeviceGetApplicationsClock(graphics)":     r.ClockApplicationHertz["graphics"] != 0,
				"nvmlDeviceGetMaxCustomerBoostClock(graphics)": r.ClockCustomerMaxHertz["graphics"] != 0,
				"nvmlDeviceGetComputeMode":                     r.Modes.Compute != "", "nvmlDeviceGetVirtualizationMode": r.Modes.Virtualization != "",
				"nvmlDeviceGetMigMode":              !absent(r.Modes.MIG) || !absent(r.Modes.MIGPending),
				"nvmlDeviceGetSramEccErrorStatus":   len(r.SRAM.ErrorsTotal) != 3 || !absent(r.SRAM.ThresholdExceeded),
				"nvmlDeviceGetRowRemapperHistogram": len(r.Repair.RowBanks) != 4, "nvmlDeviceGetRepairStatus": !absent(r.Repair.ChannelPending),
				"nvmlDeviceGetUnrepairableMemoryFlag_v1": !absent(r.Repair.UnrepairableMemory),
				"nvmlDeviceGetFieldValues(185)":          !absent(r.PowerAverageWatts), "nvmlDeviceGetFieldValues(186)": !absent(r.PowerInstantWatts),
				"nvmlDeviceGetFieldValues(185,scope 1)": !absent(r.Module.PowerAverageWatts),
				"nvmlDeviceGetFieldValues(173)":         has(r.PCIeErrors, "correctable"), "nvmlDeviceGetFieldValues(197)": has(r.PCIeBytesTotal, "tx"),
				"nvmlDeviceGetFieldValues(202)": has(r.NVLink.BytesTotal, "tx"), "nvmlDeviceGetFieldValues(206)": has(r.NVLinkErrors, "malformed_packet"),
				"nvmlDeviceGetFieldValues(301)": has(r.Repair.InactiveRows, "correctable"), "nvmlDeviceGetFieldValues(193)": has(r.TemperatureOffsets, "shutdown"),
			}
			for call, given := range there {
				if given {
					return fmt.Errorf("%s gave a reading: %+v", call, r)
				}
				if s.GPUs[0].Dropped[call] == 0 {
					return errors.New(call + " is not counted as dropped")
				}
			}
			return nil
		})
	})
}

func has(m map[string]float64, key string) bool {
	_, there := m[key]
	return there
}
