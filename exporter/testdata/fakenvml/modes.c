// BAR1, modes, where a card sits, virtual GPUs.
#include "fake.h"

#include <stdio.h>
#include <string.h>

#define NUMBER(call, name) (&(call).card->number[NUM_##name])

#define UINT_ANSWER(function, type, name) \
	nvmlReturn_t function(nvmlDevice_t device, type *out) { \
		ENTER_DEVICE(function, device); \
		if (out == NULL) return NVML_ERROR_INVALID_ARGUMENT; \
		if (!NUMBER(call, name)->set) return NVML_ERROR_NOT_SUPPORTED; \
		*out = (type)NUMBER(call, name)->v; \
		return NVML_SUCCESS; \
	}

UINT_ANSWER(nvmlDeviceGetComputeMode, nvmlComputeMode_t, compute_mode)
UINT_ANSWER(nvmlDeviceGetVirtualizationMode, nvmlGpuVirtualizationMode_t, virtualization_mode)
UINT_ANSWER(nvmlDeviceGetModuleId, unsigned int, module_id)
UINT_ANSWER(nvmlDeviceGetMultiGpuBoard, unsigned int, multi_gpu_board)
UINT_ANSWER(nvmlDeviceGetBoardId, unsigned int, board_id)

nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device, nvmlBAR1Memory_t *memory) {
	ENTER_DEVICE(nvmlDeviceGetBAR1MemoryInfo, device);
	if (memory == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	if (!NUMBER(call, bar1_total)->set) return NVML_ERROR_NOT_SUPPORTED;
	memory->bar1Total = (unsigned long long)NUMBER(call, bar1_total)->v;
	memory->bar1Used = (unsigned long long)NUMBER(call, bar1_used)->v;
	memory->bar1Free = (unsigned long long)NUMBER(call, bar1_free)->v;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetInforomImageVersion(nvmlDevice_t device, char *version, unsigned int length) {
	ENTER_DEVICE(nvmlDeviceGetInforomImageVersion, device);
	const char *text = call.card->string[STR_inforom];
	if (version == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	if (text[0] == '\0') return NVML_ERROR_NOT_SUPPORTED;
	if (strlen(text) >= length) return NVML_ERROR_INSUFFICIENT_SIZE;
	strcpy(version, text);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceValidateInforom(nvmlDevice_t device) {
	ENTER_DEVICE(nvmlDeviceValidateInforom, device);
	return call.card->string[STR_inforom][0] == '\0' ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPlatformInfo(nvmlDevice_t device, nvmlPlatformInfo_t *info) {
	ENTER_DEVICE(nvmlDeviceGetPlatformInfo, device);
	if (info == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	if (info->version != nvmlPlatformInfo_v1 && info->version != nvmlPlatformInfo_v2) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (!NUMBER(call, platform_slot)->set) return NVML_ERROR_NOT_SUPPORTED;
	memset(info->chassisSerialNumber, 0, sizeof info->chassisSerialNumber);
	memcpy(info->chassisSerialNumber, call.card->string[STR_chassis], strnlen(call.card->string[STR_chassis], sizeof info->chassisSerialNumber));
	info->slotNumber = (unsigned char)NUMBER(call, platform_slot)->v;
	info->trayIndex = (unsigned char)NUMBER(call, platform_tray)->v;
	info->hostId = (unsigned char)NUMBER(call, platform_node)->v;
	info->moduleId = (unsigned char)NUMBER(call, platform_module)->v;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetConfComputeState(nvmlConfComputeSystemState_t *state) {
	ENTER_SYSTEM(nvmlSystemGetConfComputeState);
	if (state == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	if (!call.scenario->confidential.set) return NVML_ERROR_NOT_SUPPORTED;
	memset(state, 0, sizeof *state);
	state->ccFeature = (unsigned int)call.scenario->confidential.v;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetActiveVgpus(nvmlDevice_t device, unsigned int *count, nvmlVgpuInstance_t *instances) {
	ENTER_DEVICE(nvmlDeviceGetActiveVgpus, device);
	if (count == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	if (!NUMBER(call, vgpus)->set) return NVML_ERROR_NOT_SUPPORTED;
	unsigned int room = *count;
	*count = (unsigned int)NUMBER(call, vgpus)->v;
	if (room < *count) return NVML_ERROR_INSUFFICIENT_SIZE;
	for (unsigned int i = 0; i < *count; i++) instances[i] = 100 + i;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetGridLicensableFeatures_v4(nvmlDevice_t device, nvmlGridLicensableFeatures_t *features) {
	ENTER_DEVICE(nvmlDeviceGetGridLicensableFeatures_v4, device);
	if (features == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	memset(features, 0, sizeof *features);
	if (!NUMBER(call, license_state)->set) return NVML_SUCCESS; // and no licensing
	features->isGridLicenseSupported = 1;
	features->licensableFeaturesCount = 1;
	nvmlGridLicensableFeature_t *f = &features->gridLicensableFeatures[0];
	f->featureCode = NVML_GRID_LICENSE_FEATURE_CODE_NVIDIA_RTX;
	f->featureState = (unsigned int)NUMBER(call, license_state)->v;
	snprintf(f->productName, sizeof f->productName, "%s", call.card->string[STR_license_product]);
	f->licenseExpiry.status = NVML_GRID_LICENSE_EXPIRY_PERMANENT;
	if (NUMBER(call, license_expiry_year)->set) {
		f->licenseExpiry = (nvmlGridLicenseExpiry_t){.year = (unsigned int)NUMBER(call, license_expiry_year)->v, .month = 5, .day = 17,
			.hour = 11, .min = 22, .sec = 33, .status = NVML_GRID_LICENSE_EXPIRY_VALID};
	}
	return NVML_SUCCESS;
}
