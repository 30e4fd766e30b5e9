// The getters of one GPU.
#include "fake.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define NUMBER(call, name) (&(call).card->number[NUM_##name])

static nvmlReturn_t put_uint(const struct value *v, unsigned int *out) {
	if (out == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	if (!v->set) return NVML_ERROR_NOT_SUPPORTED;
	*out = (unsigned int)v->v;
	return NVML_SUCCESS;
}

static nvmlReturn_t put_ull(const struct value *v, unsigned long long *out) {
	if (out == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	if (!v->set) return NVML_ERROR_NOT_SUPPORTED;
	*out = (unsigned long long)v->v;
	return NVML_SUCCESS;
}

static nvmlReturn_t put_text(const char *text, char *out, unsigned int length) {
	if (out == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	if (text[0] == '\0') return NVML_ERROR_NOT_SUPPORTED;
	if (strlen(text) >= length) return NVML_ERROR_INSUFFICIENT_SIZE;
	strcpy(out, text);
	return NVML_SUCCESS;
}

#define UINT_GETTER(function, name) \
	nvmlReturn_t function(nvmlDevice_t device, unsigned int *out) { \
		ENTER_DEVICE(function, device); \
		return put_uint(NUMBER(call, name), out); \
	}
#define ULL_GETTER(function, name) \
	nvmlReturn_t function(nvmlDevice_t device, unsigned long long *out) { \
		ENTER_DEVICE(function, device); \
		return put_ull(NUMBER(call, name), out); \
	}
#define TEXT_GETTER(function, name) \
	nvmlReturn_t function(nvmlDevice_t device, char *out, unsigned int length) { \
		ENTER_DEVICE(function, device); \
		if (call.instance != NULL) return mig_text(&call, FN_##function, out, length); \
		return put_text(call.card->string[STR_##name], out, length); \
	}

UINT_GETTER(nvmlDeviceGetNumGpuCores, cores)
UINT_GETTER(nvmlDeviceGetArchitecture, architecture)
UINT_GETTER(nvmlDeviceGetPowerUsage, power_mw)
UINT_GETTER(nvmlDeviceGetPowerManagementLimit, power_limit_mw)
UINT_GETTER(nvmlDeviceGetPowerManagementDefaultLimit, power_limit_default_mw)
UINT_GETTER(nvmlDeviceGetEnforcedPowerLimit, power_limit_enforced_mw)
ULL_GETTER(nvmlDeviceGetCurrentClocksEventReasons, throttle_reasons)
ULL_GETTER(nvmlDeviceGetCurrentClocksThrottleReasons, throttle_reasons)
UINT_GETTER(nvmlDeviceGetCurrPcieLinkGeneration, pcie_generation)
UINT_GETTER(nvmlDeviceGetMaxPcieLinkGeneration, pcie_generation_max)
UINT_GETTER(nvmlDeviceGetCurrPcieLinkWidth, pcie_width)
UINT_GETTER(nvmlDeviceGetMaxPcieLinkWidth, pcie_width_max)
UINT_GETTER(nvmlDeviceGetPcieReplayCounter, pcie_replays)
TEXT_GETTER(nvmlDeviceGetUUID, uuid)
TEXT_GETTER(nvmlDeviceGetSerial, serial)
TEXT_GETTER(nvmlDeviceGetName, name)
TEXT_GETTER(nvmlDeviceGetVbiosVersion, vbios)
TEXT_GETTER(nvmlDeviceGetBoardPartNumber, board_part)

nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t *type) {
	ENTER_DEVICE(nvmlDeviceGetBrand, device);
	return put_uint(NUMBER(call, brand), (unsigned int *)type);
}

nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t *mode) {
	ENTER_DEVICE(nvmlDeviceGetPersistenceMode, device);
	return put_uint(NUMBER(call, persistence), (unsigned int *)mode);
}

nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, nvmlPstates_t *state) {
	ENTER_DEVICE(nvmlDeviceGetPerformanceState, device);
	return put_uint(NUMBER(call, pstate), (unsigned int *)state);
}

static int64_t now_ms(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t loaded_ms;

__attribute__((constructor)) static void note_load(void) { loaded_ms = now_ms(); }

// fake_energy is the counter; where energy_flows is set, it grows since the library was loaded.
int64_t fake_energy(const struct card *card) {
	int64_t energy = card->number[NUM_energy_mj].v;
	if (!card->number[NUM_energy_flows].set || energy < 0) return energy;
	return energy + (now_ms() - loaded_ms) * card->number[NUM_power_mw].v / 1000;
}

nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long *energy) {
	ENTER_DEVICE(nvmlDeviceGetTotalEnergyConsumption, device);
	if (!NUMBER(call, energy_mj)->set) return NVML_ERROR_NOT_SUPPORTED;
	*energy = (unsigned long long)fake_energy(call.card);
	return NVML_SUCCESS;
}

static nvmlReturn_t both(const struct value *v, const struct value *then, unsigned int *current, unsigned int *pending) {
	nvmlReturn_t ret = put_uint(v, current);
	return ret != NVML_SUCCESS ? ret : put_uint(then->set ? then : v, pending);
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *current, unsigned int *pending) {
	ENTER_DEVICE(nvmlDeviceGetMigMode, device);
	return both(NUMBER(call, mig_mode), NUMBER(call, mig_mode_pending), current, pending);
}

nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, nvmlEnableState_t *current, nvmlEnableState_t *pending) {
	ENTER_DEVICE(nvmlDeviceGetEccMode, device);
	return both(NUMBER(call, ecc_mode), NUMBER(call, ecc_mode_pending), (unsigned int *)current, (unsigned int *)pending);
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index) {
	ENTER_DEVICE(nvmlDeviceGetIndex, device);
	for (int i = 0; i < call.scenario->count; i++)
		if (call.scenario->order[i] == device.handle->card) {
			*index = (unsigned int)i;
			return NVML_SUCCESS;
		}
	return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int *minor) {
	ENTER_DEVICE(nvmlDeviceGetMinorNumber, device);
	*minor = (unsigned int)device.handle->card;
	return NVML_SUCCESS;
}

static nvmlReturn_t pci_info(const struct call *call, nvmlPciInfo_t *pci) {
	if (pci == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	unsigned int domain, bus, device, function;
	if (sscanf(call->card->string[STR_pci], "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4) return NVML_ERROR_NOT_SUPPORTED;
	memset(pci, 0, sizeof *pci);
	pci->domain = domain;
	pci->bus = bus;
	pci->device = device;
	pci->pciDeviceId = (unsigned int)call->card->number[NUM_pci_device_id].v;
	pci->pciSubSystemId = (unsigned int)call->card->number[NUM_pci_subsystem_id].v;
	snprintf(pci->busId, sizeof pci->busId, "%08X:%02X:%02X.%X", domain, bus, device, function);
	snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "%04X:%02X:%02X.%X", domain & 0xffff, bus & 0xff, device & 0xff, function & 0xf);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci) {
	ENTER_DEVICE(nvmlDeviceGetPciInfo_v3, device);
	return pci_info(&call, pci);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t *pci) {
	ENTER_DEVICE(nvmlDeviceGetPciInfo_v2, device);
	return pci_info(&call, pci);
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *rates) {
	ENTER_DEVICE(nvmlDeviceGetUtilizationRates, device);
	if (rates == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	nvmlReturn_t ret = put_uint(NUMBER(call, util_gpu), &rates->gpu);
	return ret != NVML_SUCCESS ? ret : put_uint(NUMBER(call, util_memory), &rates->memory);
}

nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned int *utilization, unsigned int *period) {
	ENTER_DEVICE(nvmlDeviceGetEncoderUtilization, device);
	*period = 167000;
	return put_uint(NUMBER(call, util_encoder), utilization);
}

nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned int *utilization, unsigned int *period) {
	ENTER_DEVICE(nvmlDeviceGetDecoderUtilization, device);
	*period = 167000;
	return put_uint(NUMBER(call, util_decoder), utilization);
}

nvmlReturn_t nvmlDeviceGetJpgUtilization(nvmlDevice_t device, unsigned int *utilization, unsigned int *period) {
	ENTER_DEVICE(nvmlDeviceGetJpgUtilization, device);
	*period = 167000;
	return put_uint(NUMBER(call, util_jpeg), utilization);
}

nvmlReturn_t nvmlDeviceGetOfaUtilization(nvmlDevice_t device, unsigned int *utilization, unsigned int *period) {
	ENTER_DEVICE(nvmlDeviceGetOfaUtilization, device);
	*period = 167000;
	return put_uint(NUMBER(call, util_ofa), utilization);
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
	ENTER_DEVICE(nvmlDeviceGetMemoryInfo, device);
	if (call.instance != NULL) {
		unsigned long long reserved = 0;
		nvmlReturn_t ret = mig_memory(&call, &memory->total, &memory->used, &memory->free, &reserved);
		memory->used += reserved;
		return ret;
	}
	if (!NUMBER(call, memory_total)->set) return NVML_ERROR_NOT_SUPPORTED;
	// The first version counts what is reserved as used.
	memory->total = (unsigned long long)NUMBER(call, memory_total)->v;
	memory->free = (unsigned long long)NUMBER(call, memory_free)->v;
	memory->used = (unsigned long long)(NUMBER(call, memory_used)->v + NUMBER(call, memory_reserved)->v);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory) {
	ENTER_DEVICE(nvmlDeviceGetMemoryInfo_v2, device);
	if (memory == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	if (memory->version != nvmlMemory_v2) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (call.instance != NULL) return mig_memory(&call, &memory->total, &memory->used, &memory->free, &memory->reserved);
	if (!NUMBER(call, memory_total)->set) return NVML_ERROR_NOT_SUPPORTED;
	memory->total = (unsigned long long)NUMBER(call, memory_total)->v;
	memory->free = (unsigned long long)NUMBER(call, memory_free)->v;
	memory->used = (unsigned long long)NUMBER(call, memory_used)->v;
	memory->reserved = (unsigned long long)NUMBER(call, memory_reserved)->v;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor, unsigned int *temperature) {
	ENTER_DEVICE(nvmlDeviceGetTemperature, device);
	if (sensor != NVML_TEMPERATURE_GPU) return NVML_ERROR_INVALID_ARGUMENT;
	return put_uint(NUMBER(call, temperature_c), temperature);
}

nvmlReturn_t nvmlDeviceGetMarginTemperature(nvmlDevice_t device, nvmlMarginTemperature_t *margin) {
	ENTER_DEVICE(nvmlDeviceGetMarginTemperature, device);
	if (margin == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	if (margin->version != nvmlMarginTemperature_v1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	return put_uint(NUMBER(call, temperature_margin_c), (unsigned int *)&margin->marginTemperature);
}

nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device, nvmlTemperatureThresholds_t type, unsigned int *temperature) {
	ENTER_DEVICE(nvmlDeviceGetTemperatureThreshold, device);
	switch (type) {
	case NVML_TEMPERATURE_THRESHOLD_SHUTDOWN: return put_uint(NUMBER(call, threshold_shutdown_c), temperature);
	case NVML_TEMPERATURE_THRESHOLD_SLOWDOWN: return put_uint(NUMBER(call, threshold_slowdown_c), temperature);
	case NVML_TEMPERATURE_THRESHOLD_MEM_MAX: return put_uint(NUMBER(call, threshold_memory_max_c), temperature);
	case NVML_TEMPERATURE_THRESHOLD_GPU_MAX: return put_uint(NUMBER(call, threshold_gpu_max_c), temperature);
	default: return NVML_ERROR_INVALID_ARGUMENT;
	}
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t device, unsigned int *min, unsigned int *max) {
	ENTER_DEVICE(nvmlDeviceGetPowerManagementLimitConstraints, device);
	nvmlReturn_t ret = put_uint(NUMBER(call, power_limit_min_mw), min);
	return ret != NVML_SUCCESS ? ret : put_uint(NUMBER(call, power_limit_max_mw), max);
}

static nvmlReturn_t clock_of(const struct call *call, int first, nvmlClockType_t type, unsigned int *clock) {
	static const int offset[] = {[NVML_CLOCK_GRAPHICS] = 0, [NVML_CLOCK_SM] = 1, [NVML_CLOCK_MEM] = 2, [NVML_CLOCK_VIDEO] = 3};
	if (type > NVML_CLOCK_VIDEO) return NVML_ERROR_INVALID_ARGUMENT;
	return put_uint(&call->card->number[first + offset[type]], clock);
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int *clock) {
	ENTER_DEVICE(nvmlDeviceGetClockInfo, device);
	return clock_of(&call, NUM_clock_graphics_mhz, type, clock);
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int *clock) {
	ENTER_DEVICE(nvmlDeviceGetMaxClockInfo, device);
	return clock_of(&call, NUM_clock_max_graphics_mhz, type, clock);
}

nvmlReturn_t nvmlDeviceGetMaxCustomerBoostClock(nvmlDevice_t device, nvmlClockType_t type, unsigned int *clock) {
	ENTER_DEVICE(nvmlDeviceGetMaxCustomerBoostClock, device);
	return clock_of(&call, NUM_clock_customer_graphics_mhz, type, clock);
}

nvmlReturn_t nvmlDeviceGetApplicationsClock(nvmlDevice_t device, nvmlClockType_t type, unsigned int *clock) {
	ENTER_DEVICE(nvmlDeviceGetApplicationsClock, device);
	return clock_of(&call, NUM_clock_application_graphics_mhz, type, clock);
}

nvmlReturn_t nvmlDeviceGetNumFans(nvmlDevice_t device, unsigned int *count) {
	ENTER_DEVICE(nvmlDeviceGetNumFans, device);
	for (*count = 0; *count < MAX_FANS && call.card->fan[*count].set; (*count)++) {}
	return *count > 0 ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t nvmlDeviceGetFanSpeed(nvmlDevice_t device, unsigned int *speed) {
	ENTER_DEVICE(nvmlDeviceGetFanSpeed, device);
	return put_uint(&call.card->fan[0], speed);
}

nvmlReturn_t nvmlDeviceGetFanSpeed_v2(nvmlDevice_t device, unsigned int fan, unsigned int *speed) {
	ENTER_DEVICE(nvmlDeviceGetFanSpeed_v2, device);
	if (fan >= MAX_FANS) return NVML_ERROR_INVALID_ARGUMENT;
	return put_uint(&call.card->fan[fan], speed);
}

nvmlReturn_t nvmlDeviceGetViolationStatus(nvmlDevice_t device, nvmlPerfPolicyType_t policy, nvmlViolationTime_t *time) {
	ENTER_DEVICE(nvmlDeviceGetViolationStatus, device);
	if (time == NULL || policy > NVML_PERF_POLICY_RELIABILITY) return NVML_ERROR_INVALID_ARGUMENT;
	static const int number[] = {
		[NVML_PERF_POLICY_POWER] = NUM_violation_power_ns, [NVML_PERF_POLICY_THERMAL] = NUM_violation_thermal_ns,
		[NVML_PERF_POLICY_SYNC_BOOST] = NUM_violation_sync_boost_ns, [NVML_PERF_POLICY_BOARD_LIMIT] = NUM_violation_board_limit_ns,
		[NVML_PERF_POLICY_LOW_UTILIZATION] = NUM_violation_low_utilization_ns, [NVML_PERF_POLICY_RELIABILITY] = NUM_violation_reliability_ns,
	};
	time->referenceTime = 0;
	return put_ull(&call.card->number[number[policy]], &time->violationTime);
}
