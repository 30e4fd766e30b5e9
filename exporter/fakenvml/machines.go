package fakenvml

import "fmt"

const mib = 1 << 20

// H100x8 is a host of eight H100 SXM5 behind NVSwitches, on a current driver, all of them at
// work. Each GPU's numbers differ a little, so that a mix-up shows.
func H100x8() *Scenario {
	s := New().
		Set("driver.version", "580.65.06").
		Set("driver.nvml", "13.580.65.06").
		Set("driver.cuda", 13000).
		Set("driver.confidential", 0).
		DeviceCount(8)
	buses := []string{"1b", "43", "52", "61", "9d", "c3", "d1", "df"}
	for i, bus := range buses {
		h100(s.GPU(i), i, bus)
	}
	return s
}

func h100(c Card, i int, bus string) {
	c.Set("uuid", fmt.Sprintf("GPU-6f1e2d3c-0000-4a5b-8c9d-%012d", i)).
		Set("serial", fmt.Sprintf("165132400000%d", i)).
		Set("name", "NVIDIA H100 80GB HBM3").Set("brand", 14).Set("architecture", 9).
		Set("board_part", "692-2G520-0200-000").Set("vbios", "96.00.89.00.01").
		Set("pci", "0000:"+bus+":00.0").Set("cores", 16896).
		Set("inforom", "G520.0200.00.05").Set("module_id", i+1).Set("multi_gpu_board", 0)
	c.Set("util_gpu", 90+i).Set("util_memory", 40+i).Set("util_encoder", 0).Set("util_decoder", 0).Set("util_jpeg", 0).Set("util_ofa", 0).
		Set("bar1_total", 131072*mib).Set("bar1_used", (4+i)*mib).Set("bar1_free", (131072-4-i)*mib).
		Set("memory_total", 81559*mib).Set("memory_reserved", 551*mib).
		Set("memory_used", (60000+i)*mib).Set("memory_free", (81559-551-60000-i)*mib).
		Set("processes", 1).Set("graphics_processes", 0).Set("mps_processes", 0)
	c.Set("temperature_c", 58+i).Set("memory_temperature_c", 66+i).Set("temperature_margin_c", 29-i).
		Set("threshold_shutdown_c", 95).Set("threshold_slowdown_c", 92).
		Set("threshold_memory_max_c", 95).Set("threshold_gpu_max_c", 87)
	offsets(c, -8, -2, 0, 0)
	c.Set("power_mw", 612000+1000*i).Set("power_limit_mw", 700000).Set("power_limit_enforced_mw", 700000).
		Set("power_limit_default_mw", 700000).Set("power_limit_min_mw", 200000).Set("power_limit_max_mw", 700000).
		Set("energy_mj", 5_000_000_000+i).Set("energy_flows", 1)
	powerFields(c, 612000+1000*i, 608000+1000*i)
	c.Set("clock_graphics_mhz", 1755).Set("clock_sm_mhz", 1755).Set("clock_memory_mhz", 2619).Set("clock_video_mhz", 1545).
		Set("clock_max_graphics_mhz", 1980).Set("clock_max_sm_mhz", 1980).
		Set("clock_max_memory_mhz", 2619).Set("clock_max_video_mhz", 1545).
		Set("clock_customer_graphics_mhz", 1980).Set("clock_customer_memory_mhz", 2619).
		Set("clock_application_graphics_mhz", 1980).Set("clock_application_memory_mhz", 2619).
		Set("compute_mode", 0).Set("virtualization_mode", 0).
		Set("pstate", 0).Set("persistence", 1).Set("mig_mode", 0).Set("ecc_mode", 1)
	c.Set("throttle_reasons", 4). // software power cap
					Set("violation_power_ns", 3_600_000_000_000).Set("violation_thermal_ns", 0).Set("violation_sync_boost_ns", 0).
					Set("field.269", 1_500_000_000).Set("field.270", 0).Set("field.271", 250_000_000)
	c.Set("compute_capability", 90).Set("pci_device_id", 0x233010de).Set("pci_subsystem_id", 0x16c110de).Set("gsp", 1).Set("gsp_firmware", "580.65.06").Set("c2c", 0).
		Set("inforom_oem", "2.1").Set("inforom_ecc", "7.16").
		Set("accounting", 0).Set("display_active", 0).Set("display_attached", 1).
		Set("pcie_generation_card_max", 5).Set("throttle_supported", 0x1ff).
		Set("clock_default_graphics_mhz", 1980).Set("clock_default_memory_mhz", 2619).
		Set("encoder_sessions", i%2).Set("fbc_sessions", 0)
	ecc(c, "dram", "sram")
	c.Set("remapped_correctable", 0).Set("remapped_uncorrectable", 0).Set("remap_pending", 0).Set("remap_failure", 0).
		Set("recovery_action", 0).
		Set("row_banks_max", 2560).Set("row_banks_high", i).Set("row_banks_partial", 0).Set("row_banks_low", 0).Set("row_banks_none", 0).
		Set("channel_repair_pending", 0).Set("tpc_repair_pending", 0).Set("unrepairable_memory", 0).
		Set("sram_volatile_parity", 0).Set("sram_volatile_secded", 0).Set("sram_aggregate_parity", i).Set("sram_aggregate_secded", 0).
		Set("sram_l2", 0).Set("sram_sm", i).Set("sram_pcie", 0).Set("sram_mcu", 0).Set("sram_other", 0).Set("sram_threshold_exceeded", 0)
	c.Set("pcie_generation", 5).Set("pcie_generation_max", 5).Set("pcie_width", 16).Set("pcie_width_max", 16).Set("pcie_replays", i)
	pcieErrors(c, i)
	for link := range nvlinks {
		c.Set(fmt.Sprintf("nvlink.%d", link), 1)
	}
	c.Set("nvlink_replay", 0).Set("nvlink_recovery", 0).Set("nvlink_crc_flit", i).Set("nvlink_crc_data", 0).
		Set("fabric_state", 3).Set("fabric_status", 0).Set("fabric_health", 2).Set("fabric_summary", 1).
		Set("field.90", 26562).Set("field.90.type", 1).
		Set("field.138@4294967295", 7_000_000+i).Set("field.138@4294967295.type", ulonglong).
		Set("field.139@4294967295", 8_000_000+i).Set("field.139@4294967295.type", ulonglong).
		Set("field.160", 0).Set("field.161", 0).Set("field.162", 0).Set("field.163", 0).Set("field.163@5", i)
	gpm(c, i)
}

// Types of a field's value, nvmlValueType_t.
const (
	uintValue = 1
	ulonglong = 3
	intValue  = 5
)

// offsets are the limits of temperature as margins that are left.
func offsets(c Card, shutdown, slowdown, memory, gpu int) {
	for i, degrees := range []int{shutdown, slowdown, memory, gpu} {
		id := fmt.Sprintf("field.%d", 193+i)
		c.Set(id, degrees).Set(id+".type", intValue)
	}
}

func powerFields(c Card, average, instant int) {
	c.Set("field.185", average).Set("field.185.type", uintValue).Set("field.186", instant).Set("field.186.type", uintValue)
}

// pcieErrors are the counters of PCIe: the n-th card has received n bad packets, which it
// asked for again.
func pcieErrors(c Card, n int) {
	for _, id := range []int{95, 169, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183} {
		count := 0
		if id == 176 || id == 177 { // bad packets, refusals sent
			count = n
		}
		c.Set(fmt.Sprintf("field.%d", id), count).Set(fmt.Sprintf("field.%d.type", id), uintValue)
	}
	c.Set("field.197", 40_000_000_000+n).Set("field.198", 90_000_000_000+n)
}

// nvlinks is how many links an H100 SXM5 has.
const nvlinks = 18

func ecc(c Card, locations ...string) {
	for _, kind := range []string{"corrected", "uncorrected"} {
		for _, counter := range []string{"volatile", "aggregate"} {
			for _, location := range append(locations, "total") {
				c.Set("ecc."+kind+"."+counter+"."+location, 0)
			}
		}
	}
}

// ConsumerCard is a desktop host with one RTX 4090: no ECC, no NVLink, no serial number, no
// throttle counters, about half of the calls unsupported.
func ConsumerCard() *Scenario {
	s := New().
		Set("driver.version", "550.54.15").
		Set("driver.nvml", "12.550.54.15").
		Set("driver.cuda", 12040).
		DeviceCount(1)
	s.GPU(0).
		Set("uuid", "GPU-9a8b7c6d-1111-4e5f-9a0b-000000000000").
		Set("name", "NVIDIA GeForce RTX 4090").Set("brand", 5).Set("architecture", 8).
		Set("vbios", "95.02.18.80.87").Set("pci", "0000:01:00.0").Set("cores", 16384).
		Set("inforom", "G002.0000.00.03").Set("module_id", 0).Set("multi_gpu_board", 0).Set("compute_mode", 0).Set("virtualization_mode", 0).
		Set("util_gpu", 37).Set("util_memory", 12).Set("util_encoder", 5).Set("util_decoder", 3).Set("util_jpeg", 2).Set("util_ofa", 1).
		Set("bar1_total", 256*mib).Set("bar1_used", 21*mib).Set("bar1_free", 235*mib).
		Set("memory_total", 24564*mib).Set("memory_reserved", 346*mib).
		Set("memory_used", 8000*mib).Set("memory_free", (24564-346-8000)*mib).
		Set("temperature_c", 54).Set("temperature_margin_c", 36).
		Set("power_mw", 180500).Set("power_limit_mw", 450000).Set("power_limit_enforced_mw", 450000).
		Set("power_limit_default_mw", 450000).Set("power_limit_min_mw", 10000).Set("power_limit_max_mw", 600000).
		Set("energy_mj", 77_000_000).Set("energy_flows", 1).
		Set("clock_graphics_mhz", 2520).Set("clock_sm_mhz", 2520).Set("clock_memory_mhz", 10501).Set("clock_video_mhz", 1965).
		Set("clock_max_graphics_mhz", 3120).Set("clock_max_sm_mhz", 3120).
		Set("clock_max_memory_mhz", 10501).Set("clock_max_video_mhz", 2415).
		Set("throttle_reasons", 1).Set("pstate", 2).Set("persistence", 0).
		Set("pcie_generation", 1).Set("pcie_generation_max", 4).Set("pcie_width", 16).Set("pcie_width_max", 16).
		Set("pcie_replays", 0).Set("fan.0", 31).Set("fan.1", 30).
		Set("processes", 1).Set("graphics_processes", 3)
	offsets(s.GPU(0), -7, -2, 0, 0)
	powerFields(s.GPU(0), 180500, 171200)
	// This driver counts PCIe bytes in 32 bits.
	s.GPU(0).Set("field.197", 4_000_000_000).Set("field.197.type", uintValue).Set("field.198", 1_000_000_000).Set("field.198.type", uintValue)
	return s
}

// OldDriver is a host of four V100 SXM2 on a driver of 2021, whose library lacks the functions
// that came later (Install leaves them out).
func OldDriver() *Scenario {
	s := New().
		Set("driver.version", "470.57.02").
		Set("driver.nvml", "11.470.57.02").
		Set("driver.cuda", 11040).
		DeviceCount(4)
	for i, bus := range []string{"15", "16", "3a", "3b"} {
		v100(s.GPU(i), i, bus)
	}
	return s.Without(
		"nvmlDeviceGetMarginTemperature",
		"nvmlDeviceGetCurrentClocksEventReasons",
		"nvmlDeviceGetGpuFabricInfo",
		"nvmlDeviceGetGpuFabricInfoV",
		"nvmlDeviceGetMemoryInfo_v2",
		"nvmlDeviceGetNumGpuCores",
		"nvmlDeviceGetComputeRunningProcesses_v3",
		"nvmlDeviceGetGraphicsRunningProcesses_v3",
		"nvmlDeviceGetMPSComputeRunningProcesses",
		"nvmlDeviceGetMPSComputeRunningProcesses_v2",
		"nvmlDeviceGetMPSComputeRunningProcesses_v3",
		"nvmlDeviceGetRemappedRows",
		"nvmlDeviceGetRowRemapperHistogram",
		"nvmlDeviceGetRepairStatus",
		"nvmlDeviceGetUnrepairableMemoryFlag_v1",
		"nvmlDeviceGetSramEccErrorStatus",
		"nvmlDeviceGetJpgUtilization",
		"nvmlDeviceGetOfaUtilization",
		"nvmlDeviceGetModuleId",
		"nvmlDeviceGetPlatformInfo",
		"nvmlSystemGetConfComputeState",
		"nvmlInitWithFlags",
	)
}

func v100(c Card, i int, bus string) {
	c.Set("uuid", fmt.Sprintf("GPU-1a2b3c4d-2222-4444-8888-%012d", i)).
		Set("serial", fmt.Sprintf("032291700000%d", i)).
		Set("name", "Tesla V100-SXM2-32GB").Set("brand", 2).Set("architecture", 5).
		Set("board_part", "900-2G503-0010-000").Set("vbios", "88.00.80.00.01").Set("pci", "0000:"+bus+":00.0").
		Set("inforom", "G503.0201.00.04").Set("multi_gpu_board", 0).Set("compute_mode", 3).Set("virtualization_mode", 0).
		Set("field_limit", 167) // newer ids are refused, with all that are asked for together with them
	c.Set("util_gpu", 70+i).Set("util_memory", 20).Set("util_encoder", 0).Set("util_decoder", 0).
		Set("bar1_total", 32768*mib).Set("bar1_used", 6*mib).Set("bar1_free", 32762*mib).
		Set("memory_total", 32510*mib).Set("memory_reserved", 0).Set("memory_used", 16000*mib).Set("memory_free", 16510*mib).
		Set("processes", 2).Set("graphics_processes", 0)
	c.Set("temperature_c", 61+i).Set("memory_temperature_c", 58+i).
		Set("threshold_shutdown_c", 90).Set("threshold_slowdown_c", 87).Set("threshold_memory_max_c", 85).Set("threshold_gpu_max_c", 83)
	c.Set("power_mw", 240000+i).Set("power_limit_mw", 300000).Set("power_limit_enforced_mw", 300000).
		Set("power_limit_default_mw", 300000).Set("power_limit_min_mw", 150000).Set("power_limit_max_mw", 300000).
		Set("energy_mj", 900_000_000+i).Set("energy_flows", 1)
	c.Set("clock_graphics_mhz", 1530).Set("clock_sm_mhz", 1530).Set("clock_memory_mhz", 877).Set("clock_video_mhz", 1372).
		Set("clock_max_graphics_mhz", 1530).Set("clock_max_sm_mhz", 1530).
		Set("clock_max_memory_mhz", 877).Set("clock_max_video_mhz", 1372).
		Set("clock_customer_graphics_mhz", 1530).Set("clock_application_graphics_mhz", 1290).Set("clock_application_memory_mhz", 877).
		Set("throttle_reasons", 0x20). // software thermal slowdown
		Set("violation_power_ns", 1_000_000_000).Set("violation_thermal_ns", 2_000_000_000).
		Set("pstate", 0).Set("persistence", 1).Set("ecc_mode", 1)
	ecc(c, "l1", "l2", "dram", "register_file", "texture", "cbu")
	c.Set("retired_single_bit", 0).Set("retired_double_bit", 1).Set("retired_pending", 0)
	c.Set("pcie_generation", 3).Set("pcie_generation_max", 3).Set("pcie_width", 16).Set("pcie_width_max", 16).Set("pcie_replays", 0)
	for link := range 6 {
		c.Set(fmt.Sprintf("nvlink.%d", link), 1)
	}
	c.Set("nvlink_replay", 0).Set("nvlink_recovery", 0).Set("nvlink_crc_flit", 0).Set("nvlink_crc_data", 0)
}
