//go:build linux && cgo

package nvml

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

const mib = 1 << 20

func some(v float64) gpu.Maybe[float64] { return gpu.Some(v) }

// flowing is more energy than a card draws while a test looks at it.
const flowing = 1e6

// near compares readings by their parts: sums of floats are not exact to the last bit, and
// energy flows.
func near(t *testing.T, got, want gpu.Readings) {
	t.Helper()
	got.At = want.At
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		name := g.Type().Field(i).Name
		a, b := g.Field(i).Interface(), w.Field(i).Interface()
		if x, ok := a.(gpu.Maybe[float64]); ok {
			gv, gok := x.Get()
			wv, wok := b.(gpu.Maybe[float64]).Get()
			if name == "EnergyJoulesTotal" && gv >= wv && gv < wv+flowing {
				gv = wv
			}
			if gok != wok || math.Abs(gv-wv) > 1e-9*math.Max(1, math.Abs(wv)) {
				t.Errorf("%s is %v (%v), want %v (%v)", name, gv, gok, wv, wok)
			}
			continue
		}
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%s is\n %v, want\n %v", name, a, b)
		}
	}
}

func noECC(locations ...string) map[gpu.ECCKey]float64 {
	m := map[gpu.ECCKey]float64{}
	for _, kind := range []string{"corrected", "uncorrected"} {
		for _, counter := range []string{"volatile", "aggregate"} {
			for _, location := range append([]string{"total"}, locations...) {
				m[gpu.ECCKey{Type: kind, Counter: counter, Location: location}] = 0
			}
		}
	}
	return m
}

func sram(parity float64) gpu.SRAM {
	return gpu.SRAM{
		ErrorsTotal: map[gpu.SRAMKey]float64{{Counter: "volatile", Cause: "parity"}: 0, {Counter: "volatile", Cause: "secded"}: 0,
			{Counter: "aggregate", Cause: "parity"}: parity, {Counter: "aggregate", Cause: "secded"}: 0},
		UnitErrorsTotal:   map[string]float64{"l2": 0, "sm": parity, "pcie": 0, "microcontroller": 0, "other": 0},
		ThresholdExceeded: gpu.Some(false),
	}
}

func pcieErrors(bad float64) map[string]float64 {
	return map[string]float64{"correctable": 0, "non_fatal": 0, "fatal": 0, "unsupported_request": 0, "receiver": 0, "bad_tlp": bad, "bad_dllp": 0,
		"lcrc": 0, "lane": 0, "nak_received": 0, "nak_sent": bad, "recovery": 0, "replay_rollover": 0}
}

// linksUp are so many links that are up; one of them has errors of a kind, if any.
func linksUp(count, with int, kind string, errors float64) []gpu.NVLink {
	links := make([]gpu.NVLink, count)
	for i := range links {
		links[i] = gpu.NVLink{Number: i, Up: true}
		if i == with && errors > 0 {
			links[i].Errors = map[string]float64{kind: errors}
		}
	}
	return links
}

func throttle(active string) map[string]bool {
	m := map[string]bool{}
	for name := range throttleBits {
		m[name] = name == active
	}
	return m
}

func TestEightDataCentreGPUsAreReadInBaseUnits(t *testing.T) {
	inChild(t, fakenvml.H100x8(), func(t *testing.T, m *machine) {
		options := quick()
		options.NoGPM = true // its figures come an interval later and have a test of their own
		m.start(t, options)
		s := m.wait(t, all(8, gpu.OK))
		if want := (gpu.Driver{State: gpu.DriverOK, Version: "580.65.06", CUDAVersion: "13.0", NVMLVersion: "13.580.65.06", Listed: 8}); s.Driver != want {
			t.Errorf("driver is %+v, want %+v", s.Driver, want)
		}
		buses := []string{"1b", "43", "52", "61", "9d", "c3", "d1", "df"}
		for i, g := range s.GPUs {
			n := float64(i)
			if want := (gpu.Identity{
				Index: i, UUID: h100(i), Serial: fmt.Sprintf("165132400000%d", i), Name: "NVIDIA H100 80GB HBM3",
				Brand: "nvidia", Architecture: "hopper", BoardPart: "692-2G520-0200-000", VBIOS: "96.00.89.00.01",
				PCIAddress: "0000:" + buses[i] + ":00.0", Cores: some(16896), MIGMode: "disabled", ECCMode: "enabled",
				Board: gpu.Board{InfoROM: "G520.0200.00.05", Minor: fmt.Sprint(i), Module: fmt.Sprint(i + 1)},
				Make:  h100Make,
			}); g.Identity != want {
				t.Errorf("identity is %+v, want %+v", g.Identity, want)
			}
			near(t, g.Readings, gpu.Readings{
				Setup: h100Setup(), Video: h100Video(i % 2),
				UtilizationRatio: some((90 + n) / 100), MemoryUtilizationRatio: some((40 + n) / 100), EncoderRatio: some(0), DecoderRatio: some(0),
				MemoryTotalBytes: some(81559 * mib), MemoryUsedBytes: some((60000 + n) * mib),
				MemoryFreeBytes: some((81559 - 551 - 60000 - n) * mib), MemoryReservedBytes: some(551 * mib),
				TemperatureCelsius: some(58 + n), MemoryTemperatureCelsius: some(66 + n), TemperatureMarginCelsius: some(29 - n),
				TemperatureThresholds: map[string]float64{"shutdown": 95, "slowdown": 92, "memory_max": 95, "gpu_max": 87},
				PowerWatts:            some(612 + n),
				PowerLimits:           map[string]float64{"enforced": 700, "management": 700, "default": 700, "min": 200, "max": 700},
				EnergyJoulesTotal:     some(5e6 + n/1000),
				ClockHertz:            map[string]float64{"graphics": 1755e6, "sm": 1755e6, "memory": 2619e6, "video": 1545e6},
				ClockMaxHertz:         map[string]float64{"graphics": 1980e6, "sm": 1980e6, "memory": 2619e6, "video": 1545e6},
				ThrottleActive:        throttle("sw_power_cap"),
				ThrottleSecondsTotal: map[string]float64{"sw_power_cap": 3600, "sync_boost": 0,
					"sw_thermal": 1.5, "hw_thermal": 0, "hw_power_brake": 0.25},
				ECCErrors:    noECC("dram", "sram"),
				RetiredPages: map[string]float64{}, RemappedRows: map[string]float64{"correctable": 0, "uncorrectable": 0},
				RemapPending: gpu.Some(false), RemapFailure: gpu.Some(false), RecoveryAction: some(0),
				PCIeGeneration: some(5), PCIeGenerationMax: some(5), PCIeWidth: some(16), PCIeWidthMax: some(16), PCIeReplaysTotal: some(n),
				NVLinkActive: some(18), NVLinkExpected: some(18),
				NVLinkErrors: map[string]float64{"crc_flit": n, "crc_data": 0, "replay": 0, "recovery": 0, "ecc_data": 0},
				Processes:    some(1), PerformanceState: some(0), Persistence: gpu.Some(true),
				JPEGRatio: some(0), OFARatio: some(0),
				BAR1:               gpu.BAR1{TotalBytes: some(131072 * mib), UsedBytes: some((4 + n) * mib), FreeBytes: some((131072 - 4 - n) * mib)},
				TemperatureOffsets: map[string]float64{"shutdown": -8, "slowdown": -2, "memory_max": 0, "gpu_max": 0},
				PowerAverageWatts:  some(612 + n), PowerInstantWatts: some(608 + n),
				ClockCustomerMaxHertz: map[string]float64{"graphics": 1980e6, "memory": 2619e6},
				ClockApplicationHertz: map[string]float64{"graphics": 1980e6, "memory": 2619e6},
				SRAM:                  sram(n),
				Repair: gpu.Repair{
					RowBanks:       map[string]float64{"max": 2560, "high": n, "partial": 0, "low": 0, "none": 0},
					ChannelPending: gpu.Some(false), TPCPending: gpu.Some(false), UnrepairableMemory: gpu.Some(false),
				},
				PCIeErrors:     pcieErrors(n),
				PCIeBytesTotal: map[string]float64{"tx": 40e9 + n, "rx": 90e9 + n},
				NVLink: gpu.NVLinks{
					Links:            linksUp(18, 5, "crc", n),
					SpeedBytesPerSec: some(26562e6),
					BytesTotal:       map[string]float64{"tx": (7e6 + n) * 1024, "rx": (8e6 + n) * 1024},
				},
				Fabric: gpu.Fabric{State: gpu.FabricCompleted, Status: some(0), Problems: map[string]bool{"degraded_bandwidth": false}, Health: gpu.FabricHealthy},
				Modes: gpu.Modes{ECC: gpu.Some(true), ECCPending: gpu.Some(true), MIG: gpu.Some(false), MIGPending: gpu.Some(false),
					Compute: "default", Virtualization: "none", Confidential: gpu.Some(false)},
				InfoROMValid: gpu.Some(true),
			})
			if len(g.Dropped) != 0 {
				t.Errorf("dropped %v", g.Dropped)
			}
		}
	})
}

func TestAConsumerCardIsReadAsFarAsItAnswers(t *testing.T) {
	inChild(t, fakenvml.ConsumerCard(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		g := m.wait(t, all(1, gpu.OK)).GPUs[0]
		if g.Identity.Serial != "" || g.Identity.ECCMode != "" || g.Identity.MIGMode != "" || g.Identity.Brand != "geforce" || g.Identity.Architecture != "ada" {
			t.Errorf("identity is %+v", g.Identity)
		}
		near(t, g.Readings, gpu.Readings{
			UtilizationRatio: some(0.37), MemoryUtilizationRatio: some(0.12), EncoderRatio: some(0.05), DecoderRatio: some(0.03),
			MemoryTotalBytes: some(24564 * mib), MemoryUsedBytes: some(8000 * mib),
			MemoryFreeBytes: some((24564 - 346 - 8000) * mib), MemoryReservedBytes: some(346 * mib),
			TemperatureCelsius: some(54), TemperatureMarginCelsius: some(36), TemperatureThresholds: map[string]float64{},
			PowerWatts: some(180.5), PowerLimits: map[string]float64{"enforced": 450, "management": 450, "default": 450, "min": 10, "max": 600},
			EnergyJoulesTotal: some(77000),
			ClockHertz:        map[string]float64{"graphics": 2520e6, "sm": 2520e6, "memory": 10501e6, "video": 1965e6},
			ClockMaxHertz:     map[string]float64{"graphics": 3120e6, "sm": 3120e6, "memory": 10501e6, "video": 2415e6},
			ThrottleActive:    throttle("gpu_idle"), ThrottleSecondsTotal: map[string]float64{},
			RetiredPages: map[string]float64{}, RemappedRows: map[string]float64{},
			PCIeGeneration: some(1), PCIeGenerationMax: some(4), PCIeWidth: some(16), PCIeWidthMax: some(16), PCIeReplaysTotal: some(0),
			Processes: some(3), FanRatio: []float64{0.31, 0.30}, PerformanceState: some(2), Persistence: gpu.Some(false),
			JPEGRatio: some(0.02), OFARatio: some(0.01), BAR1: gpu.BAR1{TotalBytes: some(256 * mib), UsedBytes: some(21 * mib), FreeBytes: some(235 * mib)},
			TemperatureOffsets: map[string]float64{"shutdown": -7, "slowdown": -2, "memory_max": 0, "gpu_max": 0},
			PowerAverageWatts:  some(180.5), PowerInstantWatts: some(171.2),
			Modes: gpu.Modes{Compute: "default", Virtualization: "none"}, InfoROMValid: gpu.Some(true),
		})
		want := []string{
			"nvmlDeviceGetApplicationsClock(graphics)", "nvmlDeviceGetApplicationsClock(memory)", "nvmlDeviceGetApplicationsClock(sm)", "nvmlDeviceGetApplicationsClock(video)",
			"nvmlDeviceGetBoardPartNumber", "nvmlDeviceGetEccMode",
			"nvmlDeviceGetFieldValues(138)", "nvmlDeviceGetFieldValues(139)",
			"nvmlDeviceGetFieldValues(142)", "nvmlDeviceGetFieldValues(143)", "nvmlDeviceGetFieldValues(144)", "nvmlDeviceGetFieldValues(145)",
			"nvmlDeviceGetFieldValues(169)", "nvmlDeviceGetFieldValues(173)", "nvmlDeviceGetFieldValues(174)", "nvmlDeviceGetFieldValues(175)",
			"nvmlDeviceGetFieldValues(176)", "nvmlDeviceGetFieldValues(177)", "nvmlDeviceGetFieldValues(178)", "nvmlDeviceGetFieldValues(179)",
			"nvmlDeviceGetFieldValues(180)", "nvmlDeviceGetFieldValues(181)", "nvmlDeviceGetFieldValues(182)", "nvmlDeviceGetFieldValues(183)",
			"nvmlDeviceGetFieldValues(185,scope 1)", "nvmlDeviceGetFieldValues(186,scope 1)", "nvmlDeviceGetFieldValues(187,scope 1)", "nvmlDeviceGetFieldValues(188,scope 1)",
			"nvmlDeviceGetFieldValues(189,scope 1)", "nvmlDeviceGetFieldValues(190,scope 1)", "nvmlDeviceGetFieldValues(191,scope 1)", "nvmlDeviceGetFieldValues(192,scope 1)",
			"nvmlDeviceGetFieldValues(197)", "nvmlDeviceGetFieldValues(198)", "nvmlDeviceGetFieldValues(230)",
			"nvmlDeviceGetFieldValues(251)", "nvmlDeviceGetFieldValues(252)", "nvmlDeviceGetFieldValues(253)",
			"nvmlDeviceGetFieldValues(269)", "nvmlDeviceGetFieldValues(270)", "nvmlDeviceGetFieldValues(271)",
			"nvmlDeviceGetFieldValues(29)", "nvmlDeviceGetFieldValues(30)",
			"nvmlDeviceGetFieldValues(301)", "nvmlDeviceGetFieldValues(302)", "nvmlDeviceGetFieldValues(303)", "nvmlDeviceGetFieldValues(304)",
			"nvmlDeviceGetFieldValues(305)", "nvmlDeviceGetFieldValues(306)", "nvmlDeviceGetFieldValues(307)",
			"nvmlDeviceGetFieldValues(31)", "nvmlDeviceGetFieldValues(74)", "nvmlDeviceGetFieldValues(75)", "nvmlDeviceGetFieldValues(76)", "nvmlDeviceGetFieldValues(77)",
			"nvmlDeviceGetFieldValues(79)", "nvmlDeviceGetFieldValues(82)", "nvmlDeviceGetFieldValues(91)", "nvmlDeviceGetFieldValues(95)",
			"nvmlDeviceGetGpuFabricInfo", "nvmlDeviceGetGpuFabricInfoV(2)", "nvmlDeviceGetGpuFabricInfoV(3)",
			"nvmlDeviceGetMPSComputeRunningProcesses",
			"nvmlDeviceGetMaxCustomerBoostClock(graphics)", "nvmlDeviceGetMaxCustomerBoostClock(memory)", "nvmlDeviceGetMaxCustomerBoostClock(sm)", "nvmlDeviceGetMaxCustomerBoostClock(video)",
			"nvmlDeviceGetMigMode", "nvmlDeviceGetNvLinkState(0)", "nvmlDeviceGetPlatformInfo", "nvmlDeviceGetRemappedRows",
			"nvmlDeviceGetRepairStatus", "nvmlDeviceGetRowRemapperHistogram", "nvmlDeviceGetSerial",
			"nvmlDeviceGetTemperatureThreshold(gpu_max)", "nvmlDeviceGetTemperatureThreshold(memory_max)",
			"nvmlDeviceGetTemperatureThreshold(shutdown)", "nvmlDeviceGetTemperatureThreshold(slowdown)",
			"nvmlDeviceGetUnrepairableMemoryFlag_v1",
			"nvmlDeviceGetViolationStatus(board_limit)", "nvmlDeviceGetViolationStatus(reliability)", "nvmlDeviceGetViolationStatus(sw_power_cap)",
			"nvmlDeviceGetViolationStatus(sync_boost)", "nvmlDeviceGetViolationStatus(thermal)",
			"nvmlGpmQueryDeviceSupport",
			"nvmlSystemGetConfComputeState",
			"nvmlDeviceGetAccountingMode", "nvmlDeviceGetC2cModeInfoV", "nvmlDeviceGetCudaComputeCapability",
			"nvmlDeviceGetDefaultApplicationsClock(graphics)", "nvmlDeviceGetDefaultApplicationsClock(memory)",
			"nvmlDeviceGetDefaultApplicationsClock(sm)", "nvmlDeviceGetDefaultApplicationsClock(video)",
			"nvmlDeviceGetDisplayActive", "nvmlDeviceGetDisplayMode", "nvmlDeviceGetEncoderStats", "nvmlDeviceGetFBCStats",
			"nvmlDeviceGetGpuMaxPcieLinkGeneration", "nvmlDeviceGetGspFirmwareMode", "nvmlDeviceGetGspFirmwareVersion",
			"nvmlDeviceGetInforomVersion(ecc)", "nvmlDeviceGetInforomVersion(oem)", "nvmlDeviceGetInforomVersion(power)",
			"nvmlDeviceGetSupportedClocksEventReasons", "nvmlDeviceGetSupportedClocksThrottleReasons",
		}
		slices.Sort(want)
		if !reflect.DeepEqual(g.Unsupported, want) {
			t.Errorf("unsupported is\n%q, want\n%q", g.Unsupported, want)
		}
	})
}

func TestAnOldDriverWithoutTheNewerFunctionsIsRead(t *testing.T) {
	inChild(t, fakenvml.OldDriver(), func(t *testing.T, m *machine) {
		m.start(t, quick())
		s := m.wait(t, all(4, gpu.OK))
		for i, g := range s.GPUs {
			n := float64(i)
			if g.Identity.Architecture != "volta" || g.Identity.ECCMode != "enabled" || g.Identity.Cores != (gpu.Maybe[float64]{}) {
				t.Errorf("identity is %+v", g.Identity)
			}
			near(t, g.Readings, gpu.Readings{
				UtilizationRatio: some((70 + n) / 100), MemoryUtilizationRatio: some(0.2), EncoderRatio: some(0), DecoderRatio: some(0),
				MemoryTotalBytes: some(32510 * mib), MemoryUsedBytes: some(16000 * mib), MemoryFreeBytes: some(16510 * mib),
				TemperatureCelsius: some(61 + n), MemoryTemperatureCelsius: some(58 + n),
				TemperatureThresholds: map[string]float64{"shutdown": 90, "slowdown": 87, "memory_max": 85, "gpu_max": 83},
				PowerWatts:            some(240 + n/1000),
				PowerLimits:           map[string]float64{"enforced": 300, "management": 300, "default": 300, "min": 150, "max": 300},
				EnergyJoulesTotal:     some(900000 + n/1000),
				ClockHertz:            map[string]float64{"graphics": 1530e6, "sm": 1530e6, "memory": 877e6, "video": 1372e6},
				ClockMaxHertz:         map[string]float64{"graphics": 1530e6, "sm": 1530e6, "memory": 877e6, "video": 1372e6},
				ThrottleActive:        throttle("sw_thermal"), ThrottleSecondsTotal: map[string]float64{"sw_power_cap": 1, "thermal": 2},
				ECCErrors:    noECC("l1", "l2", "dram", "register_file", "texture", "cbu"),
				RetiredPages: map[string]float64{"single_bit": 0, "double_bit": 1}, RetiredPagesPending: gpu.Some(false),
				RemappedRows:   map[string]float64{},
				PCIeGeneration: some(3), PCIeGenerationMax: some(3), PCIeWidth: some(16), PCIeWidthMax: some(16), PCIeReplaysTotal: some(0),
				NVLinkActive: some(6), NVLinkExpected: some(6),
				NVLinkErrors: map[string]float64{"crc_flit": 0, "crc_data": 0, "replay": 0, "recovery": 0},
				Processes:    some(2), PerformanceState: some(0), Persistence: gpu.Some(true),
				BAR1:                  gpu.BAR1{TotalBytes: some(32768 * mib), UsedBytes: some(6 * mib), FreeBytes: some(32762 * mib)},
				ClockCustomerMaxHertz: map[string]float64{"graphics": 1530e6},
				ClockApplicationHertz: map[string]float64{"graphics": 1290e6, "memory": 877e6},
				NVLink:                gpu.NVLinks{Links: linksUp(6, 0, "", 0)},
				Modes:                 gpu.Modes{ECC: gpu.Some(true), ECCPending: gpu.Some(true), Compute: "exclusive_process", Virtualization: "none"},
				InfoROMValid:          gpu.Some(true),
			})
			for _, call := range []string{"nvmlDeviceGetMarginTemperature", "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetNumGpuCores",
				"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetMPSComputeRunningProcesses"} {
				if !slices.Contains(g.Unsupported, call) {
					t.Errorf("%s is not listed as unsupported: %v", call, g.Unsupported)
				}
			}
		}
	})
}

func TestImpossibleReadingsAreDroppedAndCounted(t *testing.T) {
	s := fakenvml.H100x8().DeviceCount(1)
	const notAvailable = uint64(1<<64 - 1)
	s.GPU(0).Set("power_mw", 0xFFFFFFFF).Set("util_gpu", 250).Set("temperature_c", 0xFFFFFFFF).
		Set("memory_temperature_c", 0).Set("energy_mj", notAvailable).Set("memory_used", notAvailable).
		Set("clock_sm_mhz", 0xFFFFFFFF).Set("pcie_replays", 0xFFFFFFFF).Set("ecc.uncorrected.volatile.dram", notAvailable).
		Set("pstate", 32).Set("remapped_correctable", 0xFFFFFFFF).Set("temperature_margin_c", 0x7FFFFFFF)
	inChild(t, s, func(t *testing.T, m *machine) {
		m.start(t, quick())
		g := m.wait(t, all(1, gpu.OK)).GPUs[0]
		r := g.Readings
		absent := map[string]gpu.Maybe[float64]{
			"nvmlDeviceGetPowerUsage": r.PowerWatts, "nvmlDeviceGetUtilizationRates": r.UtilizationRatio,
			"nvmlDeviceGetTemperature": r.TemperatureCelsius, "nvmlDeviceGetFieldValues(82)": r.MemoryTemperatureCelsius,
			"nvmlDeviceGetFieldValues(83)": r.EnergyJoulesTotal, "nvmlDeviceGetMemoryInfo_v2": r.MemoryUsedBytes,
			"nvmlDeviceGetPcieReplayCounter": r.PCIeReplaysTotal, "nvmlDeviceGetPerformanceState": r.PerformanceState,
			"nvmlDeviceGetMarginTemperature": r.TemperatureMarginCelsius,
		}
		for call, reading := range absent {
			if v, there := reading.Get(); there {
				t.Errorf("%s gave %v", call, v)
			}
			if g.Dropped[call] == 0 {
				t.Errorf("%s is not counted as dropped", call)
			}
		}
		if _, there := r.ClockHertz["sm"]; there || g.Dropped["nvmlDeviceGetClockInfo(sm)"] == 0 {
			t.Errorf("the SM clock is %v, dropped %v", r.ClockHertz, g.Dropped)
		}
		key := gpu.ECCKey{Type: "uncorrected", Counter: "volatile", Location: "dram"}
		if _, there := r.ECCErrors[key]; there || g.Dropped["nvmlDeviceGetMemoryErrorCounter(uncorrected,volatile,dram)"] == 0 {
			t.Errorf("ECC is %v, dropped %v", r.ECCErrors, g.Dropped)
		}
		if _, there := r.RemappedRows["correctable"]; there || g.Dropped["nvmlDeviceGetFieldValues(142)"] == 0 {
			t.Errorf("remapped rows are %v, dropped %v", r.RemappedRows, g.Dropped)
		}
		if v, ok := r.MemoryTotalBytes.Get(); !ok || v != 81559*mib {
			t.Errorf("the rest of a call goes with its bad part: total memory %v %v", v, ok)
		}
	})
}

func TestThrottleCountersAreFoundUnderTheirOlderIDs(t *testing.T) {
	s := fakenvml.H100x8().DeviceCount(2)
	// GPU 0: a driver where the newer ids are power smoothing settings of 32 bits.
	s.GPU(0).Set("field.269", 1).Set("field.269.type", 1).Set("field.270", 0).Set("field.270.type", 1).Set("field.271", 3).Set("field.271.type", 1).
		Set("field.251", 2_000_000_000).Set("field.252", 3_000_000_000).Set("field.253", 4_000_000_000)
	// GPU 1: neither; the combined counter is what there is.
	s.GPU(1).Unset("field.269").Unset("field.270").Unset("field.271").Set("violation_thermal_ns", 7_000_000_000)
	inChild(t, s, func(t *testing.T, m *machine) {
		m.start(t, quick())
		got := m.wait(t, all(2, gpu.OK)).GPUs
		want := []map[string]float64{
			{"sw_power_cap": 3600, "sync_boost": 0, "sw_thermal": 2, "hw_thermal": 3, "hw_power_brake": 4},
			{"sw_power_cap": 3600, "sync_boost": 0, "thermal": 7},
		}
		for i, w := range want {
			if fmt.Sprint(got[i].Readings.ThrottleSecondsTotal) != fmt.Sprint(w) {
				t.Errorf("GPU %d: %v, want %v", i, got[i].Readings.ThrottleSecondsTotal, w)
			}
		}
	})
}

func TestAFieldThatTheDriverDoesNotKnowDoesNotTakeTheOthersAlong(t *testing.T) {
	s := fakenvml.H100x8().DeviceCount(1)
	s.GPU(0).Set("field_limit", 200) // before recovery action and slowdown counters
	inChild(t, s, func(t *testing.T, m *machine) {
		m.start(t, quick())
		g := m.wait(t, all(1, gpu.OK)).GPUs[0]
		if v, _ := g.Readings.MemoryTemperatureCelsius.Get(); v != 66 {
			t.Errorf("memory temperature is %v", v)
		}
		if _, there := g.Readings.RecoveryAction.Get(); there || !slices.Contains(g.Unsupported, "nvmlDeviceGetFieldValues(230)") {
			t.Errorf("recovery action: %v, unsupported %v", there, g.Unsupported)
		}
		if v := g.Readings.ThrottleSecondsTotal; v["sw_power_cap"] != 3600 || len(v) != 3 {
			t.Errorf("throttle times are %v", v)
		}
	})
}

func TestWithoutTheNewerAnswersTheOlderCallsServe(t *testing.T) {
	s := fakenvml.H100x8().DeviceCount(1)
	s.GPU(0).Return("nvmlDeviceGetMemoryInfo_v2", fakenvml.ArgumentVersion).Return("nvmlDeviceGetFieldValues", fakenvml.NotSupported)
	inChild(t, s, func(t *testing.T, m *machine) {
		m.start(t, quick())
		r := m.wait(t, all(1, gpu.OK)).GPUs[0].Readings
		if v, _ := r.MemoryUsedBytes.Get(); v != (60000+551)*mib {
			t.Errorf("memory used is %v", v)
		}
		if _, there := r.MemoryReservedBytes.Get(); there {
			t.Error("the first version of the memory call tells no reserved memory")
		}
		if v, _ := r.EnergyJoulesTotal.Get(); v < 5e6 || v > 5e6+flowing {
			t.Errorf("energy is %v", v)
		}
		if v := r.RemappedRows["correctable"]; v != 0 || len(r.RemappedRows) != 2 {
			t.Errorf("remapped rows are %v", r.RemappedRows)
		}
		if v, _ := r.NVLinkActive.Get(); v != 18 || len(r.NVLinkErrors) != 4 {
			t.Errorf("NVLink: %v up, %v", v, r.NVLinkErrors)
		}
		if len(r.ThrottleSecondsTotal) != 3 {
			t.Errorf("throttle times are %v", r.ThrottleSecondsTotal)
		}
	})
}
