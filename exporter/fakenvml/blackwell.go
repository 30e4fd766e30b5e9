package fakenvml

import "fmt"

// GB200 is a tray of a rack-scale system: four Blackwell GPUs, two to a module with a CPU,
// NVLink of the fifth generation, and a driver that knows their newer figures and no longer
// answers the older ones.
func GB200() *Scenario {
	s := New().
		Set("driver.version", "580.65.06").
		Set("driver.nvml", "13.580.65.06").
		Set("driver.cuda", 13000).
		Set("driver.confidential", 1).
		DeviceCount(4)
	for i, domain := range []string{"0008:01", "0009:01", "0018:01", "0019:01"} {
		gb200(s.GPU(i), i, domain)
	}
	return s
}

func gb200(c Card, i int, bus string) {
	c.Set("uuid", fmt.Sprintf("GPU-5c4b3a29-3333-4d5e-8f60-%012d", i)).
		Set("serial", fmt.Sprintf("176132500000%d", i)).
		Set("name", "NVIDIA GB200").Set("brand", 14).Set("architecture", 10).
		Set("board_part", "699-2G548-0200-800").Set("vbios", "97.00.88.00.0B").Set("pci", bus+":00.0").Set("cores", 18944).
		Set("inforom", "G548.0200.01.02").Set("module_id", i+1).Set("multi_gpu_board", 1).Set("board_id", 0x80100+0x1000*(i/2)).
		Set("chassis", "1820825190041").Set("platform_slot", 7).Set("platform_tray", 6).Set("platform_node", 1).Set("platform_module", i+1)
	c.Set("util_gpu", 97).Set("util_memory", 51+i).Set("util_encoder", 0).Set("util_decoder", 0).Set("util_jpeg", 0).Set("util_ofa", 0).
		Set("bar1_total", 262144*mib).Set("bar1_used", 8*mib).Set("bar1_free", (262144-8)*mib).
		Set("memory_total", 189471*mib).Set("memory_reserved", 655*mib).
		Set("memory_used", (160000+i)*mib).Set("memory_free", (189471-655-160000-i)*mib).
		Set("processes", 1).Set("graphics_processes", 0).Set("mps_processes", 0)
	c.Set("temperature_c", 55+i).Set("memory_temperature_c", 61+i).Set("temperature_margin_c", 32-i)
	offsets(c, -5, -2, 0, 0)
	c.Set("power_mw", 1010000+1000*i).Set("power_limit_mw", 1200000).Set("power_limit_enforced_mw", 1200000).
		Set("power_limit_default_mw", 1200000).Set("power_limit_min_mw", 200000).Set("power_limit_max_mw", 1200000).
		Set("energy_mj", 9_000_000_000+i).Set("energy_flows", 1)
	powerFields(c, 1010000+1000*i, 1020000+1000*i)
	for id, watts := range map[int]int{185: 1300, 186: 1310, 187: 400, 188: 1700, 189: 1600, 190: 1600, 192: 1600} {
		key := fmt.Sprintf("field.%d@1", id)
		c.Set(key, 1000*(watts+i)).Set(key+".type", uintValue)
	}
	c.Set("field.191@1", 12_000_000_000+i)
	c.Set("clock_graphics_mhz", 1965).Set("clock_sm_mhz", 1965).Set("clock_memory_mhz", 3996).Set("clock_video_mhz", 1890).
		Set("clock_max_graphics_mhz", 2062).Set("clock_max_sm_mhz", 2062).
		Set("clock_max_memory_mhz", 3996).Set("clock_max_video_mhz", 2062).
		Set("compute_mode", 0).Set("virtualization_mode", 0).
		Set("pstate", 0).Set("persistence", 1).Set("mig_mode", 0).Set("mig_mode_pending", 1).Set("ecc_mode", 1).
		Set("throttle_reasons", 0).Set("field.74", 0).Set("field.76", 0).
		Set("field.269", 0).Set("field.270", 0).Set("field.271", 0)
	ecc(c, "dram", "sram")
	c.Set("remapped_correctable", 0).Set("remapped_uncorrectable", 1).Set("remap_pending", 0).Set("remap_failure", 0).
		Set("recovery_action", 0).
		Set("row_banks_max", 4095).Set("row_banks_high", 1).Set("row_banks_partial", 0).Set("row_banks_low", 0).Set("row_banks_none", 0).
		Set("channel_repair_pending", 0).Set("tpc_repair_pending", 0).Set("unrepairable_memory", 0).
		Set("sram_volatile_parity", 0).Set("sram_volatile_secded", 0).Set("sram_aggregate_parity", 0).Set("sram_aggregate_secded", 0).
		Set("sram_l2", 0).Set("sram_sm", 0).Set("sram_pcie", 0).Set("sram_mcu", 0).Set("sram_other", 0).Set("sram_threshold_exceeded", 0)
	for id, count := range map[int]int{301: 0, 302: 1, 303: 2, 304: 0, 305: 511, 306: 0, 307: 0} {
		c.Set(fmt.Sprintf("field.%d", id), count).Set(fmt.Sprintf("field.%d.type", id), uintValue)
	}
	c.Set("pcie_generation", 6).Set("pcie_generation_max", 6).Set("pcie_width", 16).Set("pcie_width_max", 16).Set("pcie_replays", 0)
	pcieErrors(c, i)
	for link := range nvlinks {
		c.Set(fmt.Sprintf("nvlink.%d", link), 1)
	}
	for id := 206; id <= 215; id++ { // errors and recoveries by link: none
		c.Set(fmt.Sprintf("field.%d", id), 0)
	}
	c.Set("field.219", 0).Set("field.221", 0).Set("field.221@3", 40+i). // symbols of link 3 that were corrected
										Set("field.202", 1_000_000_000+i).Set("field.204", 2_000_000_000+i).
										Set("field.90", 53125).Set("field.90.type", uintValue)
	c.Set("fabric_state", 3).Set("fabric_status", 0).Set("fabric_clique", 32766).Set("fabric_cluster", "rack-7-nvl72-a01").
		// No bandwidth degraded, no route in recovery or unhealthy, no timeout, configured well.
		Set("fabric_health", 2|2<<2|2<<4|2<<6|1<<8|1<<12|1<<14).Set("fabric_summary", 1)
	gpm(c, i)
}
