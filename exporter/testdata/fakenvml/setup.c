// Which chip and firmware a card has, what is switched on, sessions of the video engines.
#include "fake.h"

#include <string.h>

#define NUMBER(call, name) (&(call).card->number[NUM_##name])

#define STATE_GETTER(function, type, name) \
	nvmlReturn_t function(nvmlDevice_t device, type *out) { \
		ENTER_DEVICE(function, device); \
		if (out == NULL) return NVML_ERROR_INVALID_ARGUMENT; \
		if (!NUMBER(call, name)->set) return NVML_ERROR_NOT_SUPPORTED; \
		*out = (type)NUMBER(call, name)->v; \
		return NVML_SUCCESS; \
	}

STATE_GETTER(nvmlDeviceGetAccountingMode, nvmlEnableState_t, accounting)
STATE_GETTER(nvmlDeviceGetDisplayActive, nvmlEnableState_t, display_active)
STATE_GETTER(nvmlDeviceGetDisplayMode, nvmlEnableState_t, display_attached)
STATE_GETTER(nvmlDeviceGetGpuMaxPcieLinkGeneration, unsigned int, pcie_generation_card_max)
STATE_GETTER(nvmlDeviceGetSupportedClocksEventReasons, unsigned long long, throttle_supported)
STATE_GETTER(nvmlDeviceGetSupportedClocksThrottleReasons, unsigned long long, throttle_supported)

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor) {
	ENTER_DEVICE(nvmlDeviceGetCudaComputeCapability, device);
	if (!NUMBER(call, compute_capability)->set) return NVML_ERROR_NOT_SUPPORTED;
	*major = (int)NUMBER(call, compute_capability)->v / 10; // 90 is 9.0
	*minor = (int)NUMBER(call, compute_capability)->v % 10;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetGspFirmwareMode(nvmlDevice_t device, unsigned int *enabled, unsigned int *by_default) {
	ENTER_DEVICE(nvmlDeviceGetGspFirmwareMode, device);
	if (!NUMBER(call, gsp)->set) return NVML_ERROR_NOT_SUPPORTED;
	*enabled = (unsigned int)NUMBER(call, gsp)->v;
	*by_default = 1;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetGspFirmwareVersion(nvmlDevice_t device, char *version) {
	ENTER_DEVICE(nvmlDeviceGetGspFirmwareVersion, device);
	const char *text = call.card->string[STR_gsp_firmware];
	if (text[0] == '\0') return NVML_ERROR_NOT_SUPPORTED;
	strcpy(version, text);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetInforomVersion(nvmlDevice_t device, nvmlInforomObject_t object, char *version, unsigned int length) {
	ENTER_DEVICE(nvmlDeviceGetInforomVersion, device);
	static const int names[] = {[NVML_INFOROM_OEM] = STR_inforom_oem, [NVML_INFOROM_ECC] = STR_inforom_ecc, [NVML_INFOROM_POWER] = STR_inforom_power};
	if (object > NVML_INFOROM_POWER) return NVML_ERROR_INVALID_ARGUMENT;
	const char *text = call.card->string[names[object]];
	if (text[0] == '\0') return NVML_ERROR_NOT_SUPPORTED;
	if (strlen(text) >= length) return NVML_ERROR_INSUFFICIENT_SIZE;
	strcpy(version, text);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetC2cModeInfoV(nvmlDevice_t device, nvmlC2cModeInfo_v1_t *info) {
	ENTER_DEVICE(nvmlDeviceGetC2cModeInfoV, device);
	if (!NUMBER(call, c2c)->set) return NVML_ERROR_NOT_SUPPORTED;
	info->isC2cEnabled = (unsigned int)NUMBER(call, c2c)->v;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetDefaultApplicationsClock(nvmlDevice_t device, nvmlClockType_t type, unsigned int *clock) {
	ENTER_DEVICE(nvmlDeviceGetDefaultApplicationsClock, device);
	const struct value *v = type == NVML_CLOCK_MEM ? NUMBER(call, clock_default_memory_mhz) : NUMBER(call, clock_default_graphics_mhz);
	if (type != NVML_CLOCK_MEM && type != NVML_CLOCK_GRAPHICS) return NVML_ERROR_NOT_SUPPORTED;
	if (!v->set) return NVML_ERROR_NOT_SUPPORTED;
	*clock = (unsigned int)v->v;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetEncoderStats(nvmlDevice_t device, unsigned int *sessions, unsigned int *fps, unsigned int *latency) {
	ENTER_DEVICE(nvmlDeviceGetEncoderStats, device);
	if (!NUMBER(call, encoder_sessions)->set) return NVML_ERROR_NOT_SUPPORTED;
	*sessions = (unsigned int)NUMBER(call, encoder_sessions)->v;
	*fps = 60 * *sessions;
	*latency = 2500 * *sessions;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetFBCStats(nvmlDevice_t device, nvmlFBCStats_t *stats) {
	ENTER_DEVICE(nvmlDeviceGetFBCStats, device);
	if (!NUMBER(call, fbc_sessions)->set) return NVML_ERROR_NOT_SUPPORTED;
	memset(stats, 0, sizeof *stats);
	stats->sessionsCount = (unsigned int)NUMBER(call, fbc_sessions)->v;
	stats->averageFPS = 30 * stats->sessionsCount;
	stats->averageLatency = 4000 * stats->sessionsCount;
	return NVML_SUCCESS;
}
