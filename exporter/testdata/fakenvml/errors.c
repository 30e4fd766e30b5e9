// ECC, retired pages, remapped rows, NVLink, fabric.
#include "fake.h"

#define NUMBER(call, name) (&(call).card->number[NUM_##name])

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t type, nvmlEccCounterType_t counter, unsigned long long *out) {
	ENTER_DEVICE(nvmlDeviceGetTotalEccErrors, device);
	if (out == NULL || type > 1 || counter > 1) return NVML_ERROR_INVALID_ARGUMENT;
	const struct value *v = &call.card->ecc[type][counter][ECC_TOTAL];
	if (!v->set) return NVML_ERROR_NOT_SUPPORTED;
	*out = (unsigned long long)v->v;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t device, nvmlMemoryErrorType_t type, nvmlEccCounterType_t counter,
                                             nvmlMemoryLocation_t location, unsigned long long *out) {
	ENTER_DEVICE(nvmlDeviceGetMemoryErrorCounter, device);
	if (out == NULL || type > 1 || counter > 1 || location >= NVML_MEMORY_LOCATION_COUNT) return NVML_ERROR_INVALID_ARGUMENT;
	const struct value *v = &call.card->ecc[type][counter][location];
	if (!v->set) return NVML_ERROR_NOT_SUPPORTED;
	*out = (unsigned long long)v->v;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetRetiredPages(nvmlDevice_t device, nvmlPageRetirementCause_t cause, unsigned int *count, unsigned long long *addresses) {
	ENTER_DEVICE(nvmlDeviceGetRetiredPages, device);
	const struct value *v = cause == NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR ? NUMBER(call, retired_double_bit) : NUMBER(call, retired_single_bit);
	if (!v->set) return NVML_ERROR_NOT_SUPPORTED;
	unsigned int room = *count;
	*count = (unsigned int)v->v;
	if (room < *count) return NVML_ERROR_INSUFFICIENT_SIZE;
	for (unsigned int i = 0; i < *count && addresses != NULL; i++) addresses[i] = i << 12;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetRetiredPagesPendingStatus(nvmlDevice_t device, nvmlEnableState_t *pending) {
	ENTER_DEVICE(nvmlDeviceGetRetiredPagesPendingStatus, device);
	if (!NUMBER(call, retired_pending)->set) return NVML_ERROR_NOT_SUPPORTED;
	*pending = (nvmlEnableState_t)NUMBER(call, retired_pending)->v;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t device, unsigned int *correctable, unsigned int *uncorrectable,
                                       unsigned int *pending, unsigned int *failure) {
	ENTER_DEVICE(nvmlDeviceGetRemappedRows, device);
	if (!NUMBER(call, remapped_correctable)->set) return NVML_ERROR_NOT_SUPPORTED;
	*correctable = (unsigned int)NUMBER(call, remapped_correctable)->v;
	*uncorrectable = (unsigned int)NUMBER(call, remapped_uncorrectable)->v;
	*pending = (unsigned int)NUMBER(call, remap_pending)->v;
	*failure = (unsigned int)NUMBER(call, remap_failure)->v;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link, nvmlEnableState_t *active) {
	ENTER_DEVICE(nvmlDeviceGetNvLinkState, device);
	if (link >= MAX_LINKS || active == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	if (!call.card->link[link].set) return call.card->link[0].set ? NVML_ERROR_INVALID_ARGUMENT : NVML_ERROR_NOT_SUPPORTED;
	*active = (nvmlEnableState_t)call.card->link[link].v;
	return NVML_SUCCESS;
}

// The totals of the card stand on its first link.
nvmlReturn_t nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t device, unsigned int link, nvmlNvLinkErrorCounter_t counter, unsigned long long *out) {
	ENTER_DEVICE(nvmlDeviceGetNvLinkErrorCounter, device);
	static const int number[] = {
		[NVML_NVLINK_ERROR_DL_REPLAY] = NUM_nvlink_replay, [NVML_NVLINK_ERROR_DL_RECOVERY] = NUM_nvlink_recovery,
		[NVML_NVLINK_ERROR_DL_CRC_FLIT] = NUM_nvlink_crc_flit, [NVML_NVLINK_ERROR_DL_CRC_DATA] = NUM_nvlink_crc_data,
	};
	if (link >= MAX_LINKS || out == NULL || counter > NVML_NVLINK_ERROR_DL_CRC_DATA) return NVML_ERROR_INVALID_ARGUMENT;
	const struct value *v = &call.card->number[number[counter]];
	if (!call.card->link[link].set || !v->set) return NVML_ERROR_NOT_SUPPORTED;
	*out = link == 0 ? (unsigned long long)v->v : 0;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device, nvmlGpuFabricInfo_t *info) {
	ENTER_DEVICE(nvmlDeviceGetGpuFabricInfo, device);
	if (!NUMBER(call, fabric_state)->set) return NVML_ERROR_NOT_SUPPORTED;
	info->state = (nvmlGpuFabricState_t)NUMBER(call, fabric_state)->v;
	info->status = (nvmlReturn_t)NUMBER(call, fabric_status)->v;
	info->cliqueId = 0;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device, nvmlGpuFabricInfoV_t *info) {
	ENTER_DEVICE(nvmlDeviceGetGpuFabricInfoV, device);
	if (info == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	if (info->version != nvmlGpuFabricInfo_v2 && info->version != nvmlGpuFabricInfo_v3) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (!NUMBER(call, fabric_state)->set) return NVML_ERROR_NOT_SUPPORTED;
	info->state = (nvmlGpuFabricState_t)NUMBER(call, fabric_state)->v;
	info->status = (nvmlReturn_t)NUMBER(call, fabric_status)->v;
	info->cliqueId = 0;
	info->healthMask = (unsigned int)NUMBER(call, fabric_health)->v;
	if (info->version == nvmlGpuFabricInfo_v3) info->healthSummary = (unsigned char)NUMBER(call, fabric_summary)->v;
	return NVML_SUCCESS;
}
