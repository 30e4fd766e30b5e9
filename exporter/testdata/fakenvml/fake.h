// A fake libnvidia-ml.so.1 for tests: it answers from a scenario file, so that a test can
// make any GPU say anything, refuse, hang, vanish and come back. See README.md for the file.
#ifndef LEASEWATCH_FAKENVML_H
#define LEASEWATCH_FAKENVML_H

#define NVML_NO_UNVERSIONED_FUNC_DEFS 1
#include <nvml.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_CARDS = 32, MAX_GENERATIONS = 64, MAX_LINKS = 18, MAX_FANS = 8, MAX_FIELDS = 320, MAX_SCOPED = 64, MAX_EVENTS = 512, MAX_STRING = 96 };
enum { MAX_GPM = 180 };                          // GPM metrics by their ids
enum { MAX_INSTANCES = 8, MAX_GPU_INSTANCES = 16 }; // MIG devices of a card, and the ids of their GPU instances

// Every function of the library. Those of the first list belong to the host, the rest to a GPU.
#define SYSTEM_FUNCTIONS(X) \
	X(nvmlInit_v2) X(nvmlInitWithFlags) X(nvmlShutdown) X(nvmlErrorString) \
	X(nvmlSystemGetDriverVersion) X(nvmlSystemGetNVMLVersion) X(nvmlSystemGetCudaDriverVersion_v2) \
	X(nvmlSystemGetConfComputeState) \
	X(nvmlDeviceGetCount_v2) X(nvmlDeviceGetHandleByIndex_v2) X(nvmlDeviceGetHandleByUUID) \
	X(nvmlEventSetCreate) X(nvmlEventSetWait_v2) X(nvmlEventSetFree)
#define DEVICE_FUNCTIONS(X) \
	X(nvmlDeviceGetUUID) X(nvmlDeviceGetSerial) X(nvmlDeviceGetName) X(nvmlDeviceGetBrand) \
	X(nvmlDeviceGetArchitecture) X(nvmlDeviceGetBoardPartNumber) X(nvmlDeviceGetVbiosVersion) \
	X(nvmlDeviceGetPciInfo_v3) X(nvmlDeviceGetPciInfo_v2) X(nvmlDeviceGetNumGpuCores) X(nvmlDeviceGetIndex) \
	X(nvmlDeviceGetMinorNumber) X(nvmlDeviceGetMigMode) X(nvmlDeviceGetEccMode) X(nvmlDeviceGetPersistenceMode) \
	X(nvmlDeviceGetUtilizationRates) X(nvmlDeviceGetEncoderUtilization) X(nvmlDeviceGetDecoderUtilization) \
	X(nvmlDeviceGetMemoryInfo) X(nvmlDeviceGetMemoryInfo_v2) X(nvmlDeviceGetTemperature) \
	X(nvmlDeviceGetMarginTemperature) X(nvmlDeviceGetTemperatureThreshold) X(nvmlDeviceGetPowerUsage) \
	X(nvmlDeviceGetPowerManagementLimit) X(nvmlDeviceGetPowerManagementDefaultLimit) \
	X(nvmlDeviceGetPowerManagementLimitConstraints) X(nvmlDeviceGetEnforcedPowerLimit) \
	X(nvmlDeviceGetTotalEnergyConsumption) X(nvmlDeviceGetClockInfo) X(nvmlDeviceGetMaxClockInfo) \
	X(nvmlDeviceGetCurrentClocksEventReasons) X(nvmlDeviceGetCurrentClocksThrottleReasons) \
	X(nvmlDeviceGetViolationStatus) X(nvmlDeviceGetTotalEccErrors) X(nvmlDeviceGetMemoryErrorCounter) \
	X(nvmlDeviceGetRetiredPages) X(nvmlDeviceGetRetiredPagesPendingStatus) X(nvmlDeviceGetRemappedRows) \
	X(nvmlDeviceGetCurrPcieLinkGeneration) X(nvmlDeviceGetMaxPcieLinkGeneration) \
	X(nvmlDeviceGetCurrPcieLinkWidth) X(nvmlDeviceGetMaxPcieLinkWidth) X(nvmlDeviceGetPcieReplayCounter) \
	X(nvmlDeviceGetNvLinkState) X(nvmlDeviceGetNvLinkErrorCounter) X(nvmlDeviceGetPerformanceState) \
	X(nvmlDeviceGetNumFans) X(nvmlDeviceGetFanSpeed) X(nvmlDeviceGetFanSpeed_v2) \
	X(nvmlDeviceGetComputeRunningProcesses) X(nvmlDeviceGetComputeRunningProcesses_v2) \
	X(nvmlDeviceGetComputeRunningProcesses_v3) X(nvmlDeviceGetGraphicsRunningProcesses) \
	X(nvmlDeviceGetGraphicsRunningProcesses_v2) X(nvmlDeviceGetGraphicsRunningProcesses_v3) \
	X(nvmlDeviceGetMPSComputeRunningProcesses) X(nvmlDeviceGetMPSComputeRunningProcesses_v2) \
	X(nvmlDeviceGetMPSComputeRunningProcesses_v3) \
	X(nvmlDeviceGetConfComputeMemSizeInfo) X(nvmlDeviceGetRunningProcessDetailList) \
	X(nvmlDeviceGetFieldValues) X(nvmlDeviceGetGpuFabricInfo) X(nvmlDeviceGetGpuFabricInfoV) \
	X(nvmlDeviceGetJpgUtilization) X(nvmlDeviceGetOfaUtilization) X(nvmlDeviceGetBAR1MemoryInfo) \
	X(nvmlDeviceGetMaxCustomerBoostClock) X(nvmlDeviceGetApplicationsClock) X(nvmlDeviceGetComputeMode) \
	X(nvmlDeviceGetVirtualizationMode) X(nvmlDeviceGetInforomImageVersion) X(nvmlDeviceValidateInforom) \
	X(nvmlDeviceGetModuleId) X(nvmlDeviceGetMultiGpuBoard) X(nvmlDeviceGetBoardId) X(nvmlDeviceGetPlatformInfo) \
	X(nvmlDeviceGetActiveVgpus) X(nvmlDeviceGetGridLicensableFeatures_v4) X(nvmlDeviceGetSramEccErrorStatus) \
	X(nvmlDeviceGetRowRemapperHistogram) X(nvmlDeviceGetRepairStatus) X(nvmlDeviceGetUnrepairableMemoryFlag_v1) \
	X(nvmlDeviceGetAccountingMode) X(nvmlDeviceGetDisplayActive) X(nvmlDeviceGetDisplayMode) \
	X(nvmlDeviceGetGpuMaxPcieLinkGeneration) X(nvmlDeviceGetSupportedClocksEventReasons) \
	X(nvmlDeviceGetSupportedClocksThrottleReasons) X(nvmlDeviceGetCudaComputeCapability) X(nvmlDeviceGetGspFirmwareMode) \
	X(nvmlDeviceGetGspFirmwareVersion) X(nvmlDeviceGetInforomVersion) X(nvmlDeviceGetC2cModeInfoV) \
	X(nvmlDeviceGetDefaultApplicationsClock) X(nvmlDeviceGetEncoderStats) X(nvmlDeviceGetFBCStats) \
	X(nvmlDeviceGetSupportedEventTypes) X(nvmlDeviceRegisterEvents)

// GPM: the calls of the host, and those of a GPU.
#define GPM_FUNCTIONS(X) \
	X(nvmlGpmSampleAlloc) X(nvmlGpmSampleFree) X(nvmlGpmMetricsGet) \
	X(nvmlGpmQueryDeviceSupport) X(nvmlGpmSampleGet) X(nvmlGpmMigSampleGet)

// MIG: the calls of a GPU, of one of its MIG devices, and of a GPU instance.
#define MIG_FUNCTIONS(X) \
	X(nvmlDeviceGetMaxMigDeviceCount) X(nvmlDeviceGetMigDeviceHandleByIndex) X(nvmlDeviceGetDeviceHandleFromMigDeviceHandle) \
	X(nvmlDeviceIsMigDeviceHandle) X(nvmlDeviceGetGpuInstanceId) X(nvmlDeviceGetComputeInstanceId) \
	X(nvmlDeviceGetAttributes) X(nvmlDeviceGetAttributes_v2) X(nvmlDeviceGetGpuInstanceById) X(nvmlGpuInstanceGetInfo)

// Every number of a MIG device. One that the scenario does not set is not supported.
#define INSTANCE_NUMBERS(X) \
	X(gi) X(ci) X(multiprocessors) X(gpu_slices) X(compute_slices) X(copy_engines) X(decoders) X(encoders) X(jpegs) X(ofas) \
	X(memory_total) X(memory_used) X(memory_free) X(memory_reserved) X(placement_start) X(placement_size)

// Every number of a GPU. One that the scenario does not set is not supported.
#define NUMBERS(X) \
	X(power_mw) X(power_limit_mw) X(power_limit_enforced_mw) X(power_limit_default_mw) X(power_limit_min_mw) \
	X(power_limit_max_mw) X(energy_mj) X(temperature_c) X(memory_temperature_c) X(temperature_margin_c) \
	X(threshold_shutdown_c) X(threshold_slowdown_c) X(threshold_memory_max_c) X(threshold_gpu_max_c) \
	X(util_gpu) X(util_memory) X(util_encoder) X(util_decoder) \
	X(memory_total) X(memory_used) X(memory_free) X(memory_reserved) \
	X(clock_graphics_mhz) X(clock_sm_mhz) X(clock_memory_mhz) X(clock_video_mhz) \
	X(clock_max_graphics_mhz) X(clock_max_sm_mhz) X(clock_max_memory_mhz) X(clock_max_video_mhz) \
	X(throttle_reasons) X(violation_power_ns) X(violation_thermal_ns) X(violation_sync_boost_ns) \
	X(violation_board_limit_ns) X(violation_low_utilization_ns) X(violation_reliability_ns) \
	X(retired_single_bit) X(retired_double_bit) X(retired_pending) \
	X(remapped_correctable) X(remapped_uncorrectable) X(remap_pending) X(remap_failure) X(recovery_action) \
	X(pcie_generation) X(pcie_generation_max) X(pcie_width) X(pcie_width_max) X(pcie_replays) \
	X(nvlink_replay) X(nvlink_recovery) X(nvlink_crc_flit) X(nvlink_crc_data) \
	X(gpm_supported) X(gpm_limit) \
	X(processes) X(graphics_processes) X(mps_processes) \
	X(process_first) X(process_memory) X(process_gpu_instance) X(process_compute_instance) X(process_shape) X(pstate) X(persistence) X(mig_mode) X(ecc_mode) \
	X(cores) X(architecture) X(brand) X(fabric_state) X(fabric_status) X(fabric_health) X(fabric_summary) X(fabric_clique) \
	X(util_jpeg) X(util_ofa) X(bar1_total) X(bar1_used) X(bar1_free) X(energy_flows) \
	X(clock_customer_graphics_mhz) X(clock_customer_sm_mhz) X(clock_customer_memory_mhz) X(clock_customer_video_mhz) \
	X(clock_application_graphics_mhz) X(clock_application_sm_mhz) X(clock_application_memory_mhz) X(clock_application_video_mhz) \
	X(compute_mode) X(virtualization_mode) X(mig_mode_pending) X(ecc_mode_pending) X(module_id) X(multi_gpu_board) X(board_id) \
	X(platform_slot) X(platform_tray) X(platform_node) X(platform_module) \
	X(sram_volatile_parity) X(sram_volatile_secded) X(sram_aggregate_parity) X(sram_aggregate_secded) \
	X(sram_l2) X(sram_sm) X(sram_pcie) X(sram_mcu) X(sram_other) X(sram_threshold_exceeded) \
	X(row_banks_max) X(row_banks_high) X(row_banks_partial) X(row_banks_low) X(row_banks_none) \
	X(channel_repair_pending) X(tpc_repair_pending) X(unrepairable_memory) \
	X(accounting) X(display_active) X(display_attached) X(pcie_generation_card_max) X(throttle_supported) \
	X(compute_capability) X(pci_device_id) X(pci_subsystem_id) X(gsp) X(c2c) X(clock_default_graphics_mhz) X(clock_default_memory_mhz) X(encoder_sessions) X(fbc_sessions) \
	X(vgpus) X(license_state) X(license_expiry_year) X(generation) X(field_limit)
#define STRINGS(X) X(uuid) X(serial) X(name) X(board_part) X(vbios) X(pci) X(inforom) X(chassis) X(license_product) X(fabric_cluster) \
	X(gsp_firmware) X(inforom_oem) X(inforom_ecc) X(inforom_power)

#define ENUM_FN(f) FN_##f,
enum function { SYSTEM_FUNCTIONS(ENUM_FN) DEVICE_FUNCTIONS(ENUM_FN) GPM_FUNCTIONS(ENUM_FN) MIG_FUNCTIONS(ENUM_FN) FN_COUNT };
#define ENUM_NUMBER(n) NUM_##n,
enum number { NUMBERS(ENUM_NUMBER) NUM_COUNT };
#define ENUM_INSTANCE(n) INST_##n,
enum instance_number { INSTANCE_NUMBERS(ENUM_INSTANCE) INST_COUNT };
#define ENUM_STRING(s) STR_##s,
enum string { STRINGS(ENUM_STRING) STR_COUNT };

// A number that may be unset.
struct value {
	int64_t v;
	int set;
};

// What a call answers and how long it takes; delay_ms -1 hangs until the scenario changes.
struct behaviour {
	struct value ret, delay_ms;
};

struct field {
	struct value value, ret, type;
};

// One GPM metric: its value, which need not be a number, and its return code.
struct gpm {
	double v;
	int set;
	struct value ret;
};

// A field's value in one scope other than 0: a link, or the module.
struct scoped {
	int64_t id, scope;
	struct field field;
};

// One MIG device; it is there if it has a uuid.
struct instance {
	char uuid[MAX_STRING], profile[MAX_STRING];
	struct value number[INST_COUNT];
	struct behaviour all, fn[FN_COUNT];
	struct gpm gpm[MAX_GPM];
};

enum { ECC_TOTAL = NVML_MEMORY_LOCATION_COUNT, ECC_LOCATIONS };

struct card {
	struct value number[NUM_COUNT];
	char string[STR_COUNT][MAX_STRING];
	struct behaviour all, fn[FN_COUNT];
	struct field field[MAX_FIELDS];
	struct scoped scoped[MAX_SCOPED];
	int scopes;
	struct value ecc[2][2][ECC_LOCATIONS]; // type, counter, location
	struct value link[MAX_LINKS];
	struct value fan[MAX_FANS];
	struct gpm gpm[MAX_GPM];
	struct instance instance[MAX_INSTANCES];
};

struct event {
	int64_t seq, card, xid, type;
};

struct scenario {
	char driver_version[MAX_STRING], nvml_version[MAX_STRING];
	int64_t cuda_version, driver_generation, events_replay;
	struct value confidential;
	struct behaviour all, fn[FN_COUNT];
	struct card card[MAX_CARDS];
	int order[MAX_CARDS], count;
	struct event event[MAX_EVENTS];
	int events;
};

struct nvmlDevice_st {
	int card, generation;
	int instance; // 1 and on for the MIG devices of the card, 0 for the card
};

// One call: refused with ret, or holding the scenario's read lock until it leaves.
struct call {
	nvmlReturn_t ret;
	const struct scenario *scenario;
	const struct card *card;
	const struct instance *instance; // of a MIG device's handle, else NULL
	int locked;
};

#define CLEANUP __attribute__((cleanup(fake_leave)))
#define ENTER_SYSTEM(f) \
	struct call call CLEANUP = fake_enter_system(FN_##f); \
	if (call.ret != NVML_SUCCESS) return call.ret
#define ENTER_DEVICE(f, device) \
	struct call call CLEANUP = fake_enter_device(FN_##f, device); \
	if (call.ret != NVML_SUCCESS) return call.ret

extern const char *const function_names[FN_COUNT];

struct call fake_enter_system(enum function f);
struct call fake_enter_device(enum function f, nvmlDevice_t device);
void fake_leave(struct call *call);
int fake_inside(void); // calls inside the library now

// scenario.c
const struct scenario *scenario_lock(void);
void scenario_unlock(void);
void scenario_recheck(void); // look at the file at the next call, not only when it is due
const char *scenario_path(void);
int scenario_parse(struct scenario *s, const char *path);

// device.c
int64_t fake_energy(const struct card *card);

// system.c
nvmlDevice_t fake_handle(const struct scenario *s, int card);
void fake_log(const char *line);

// mig.c
int mig_handle(const struct nvmlDevice_st *h);       // whether it is one of a MIG device
int mig_answers(enum function f, int is_mig_device); // whether a function answers while MIG is on
nvmlReturn_t mig_text(const struct call *call, enum function f, char *out, unsigned int length);
nvmlReturn_t mig_memory(const struct call *call, unsigned long long *total, unsigned long long *used,
                        unsigned long long *available, unsigned long long *reserved);
const struct instance *mig_of_gpu_instance(const struct card *c, int id); // the first of that GPU instance, or NULL

// gpm.c
void gpm_log_samples(void); // how many sample buffers there are, if there ever were any

#endif
