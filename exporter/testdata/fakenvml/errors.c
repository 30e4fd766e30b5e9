// ECC, retired pages, remapped rows, NVLink, fabric.
#include "fake.h"

#include <string.h>

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

nvmlReturn_t nvmlDeviceGetSramEccErrorStatus(nvmlDevice_t device, nvmlEccSramErrorStatus_t *status) {
	ENTER_DEVICE(nvmlDeviceGetSramEccErrorStatus, device);
	if (status == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	if (status->version != nvmlEccSramErrorStatus_v1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (!NUMBER(call, sram_volatile_parity)->set) return NVML_ERROR_NOT_SUPPORTED;
	status->volatileUncParity = (unsigned long long)NUMBER(call, sram_volatile_parity)->v;
	status->volatileUncSecDed = (unsigned long long)NUMBER(call, sram_volatile_secded)->v;
	status->aggregateUncParity = (unsigned long long)NUMBER(call, sram_aggregate_parity)->v;
	status->aggregateUncSecDed = (unsigned long long)NUMBER(call, sram_aggregate_secded)->v;
	status->aggregateUncBucketL2 = (unsigned long long)NUMBER(call, sram_l2)->v;
	status->aggregateUncBucketSm = (unsigned long long)NUMBER(call, sram_sm)->v;
	status->aggregateUncBucketPcie = (unsigned long long)NUMBER(call, sram_pcie)->v;
	status->aggregateUncBucketMcu = (unsigned long long)NUMBER(call, sram_mcu)->v;
	status->aggregateUncBucketOther = (unsigned long long)NUMBER(call, sram_other)->v;
	status->bThresholdExceeded = (unsigned int)NUMBER(call, sram_threshold_exceeded)->v;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetRowRemapperHistogram(nvmlDevice_t device, nvmlRowRemapperHistogramValues_t *values) {
	ENTER_DEVICE(nvmlDeviceGetRowRemapperHistogram, device);
	if (values == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	if (!NUMBER(call, row_banks_max)->set) return NVML_ERROR_NOT_SUPPORTED;
	values->max = (unsigned int)NUMBER(call, row_banks_max)->v;
	values->high = (unsigned int)NUMBER(call, row_banks_high)->v;
	values->partial = (unsigned int)NUMBER(call, row_banks_partial)->v;
	values->low = (unsigned int)NUMBER(call, row_banks_low)->v;
	values->none = (unsigned int)NUMBER(call, row_banks_none)->v;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetRepairStatus(nvmlDevice_t device, nvmlRepairStatus_t *status) {
	ENTER_DEVICE(nvmlDeviceGetRepairStatus, device);
	if (status == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	if (status->version != nvmlRepairStatus_v1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (!NUMBER(call, channel_repair_pending)->set) return NVML_ERROR_NOT_SUPPORTED;
	status->bChannelRepairPending = (unsigned int)NUMBER(call, channel_repair_pending)->v;
	status->bTpcRepairPending = (unsigned int)NUMBER(call, tpc_repair_pending)->v;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUnrepairableMemoryFlag_v1(nvmlDevice_t device, nvmlUnrepairableMemoryStatus_v1_t *status) {
	ENTER_DEVICE(nvmlDeviceGetUnrepairableMemoryFlag_v1, device);
	if (status == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	if (!NUMBER(call, unrepairable_memory)->set) return NVML_ERROR_NOT_SUPPORTED;
	status->bUnrepairableMemory = (unsigned int)NUMBER(call, unrepairable_memory)->v;
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

// fill_cluster writes the first 16 characters of the text as the UUID's bytes.
static void fill_cluster(const struct call *call, unsigned char *out) {
	memset(out, 0, NVML_GPU_FABRIC_UUID_LEN);
	memcpy(out, call->card->string[STR_fabric_cluster], strnlen(call->card->string[STR_fabric_cluster], NVML_GPU_FABRIC_UUID_LEN));
}

nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device, nvmlGpuFabricInfo_t *info) {
	ENTER_DEVICE(nvmlDeviceGetGpuFabricInfo, device);
	if (!NUMBER(call, fabric_state)->set) return NVML_ERROR_NOT_SUPPORTED;
	info->state = (nvmlGpuFabricState_t)NUMBER(call, fabric_state)->v;
	info->status = (nvmlReturn_t)NUMBER(call, fabric_status)->v;
	fill_cluster(&call, info->clusterUuid);
	info->cliqueId = (unsigned int)NUMBER(call, fabric_clique)->v;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device, nvmlGpuFabricInfoV_t *info) {
	ENTER_DEVICE(nvmlDeviceGetGpuFabricInfoV, device);
	if (info == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	if (info->version != nvmlGpuFabricInfo_v2 && info->version != nvmlGpuFabricInfo_v3) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (!NUMBER(call, fabric_state)->set) return NVML_ERROR_NOT_SUPPORTED;
	info->state = (nvmlGpuFabricState_t)NUMBER(call, fabric_state)->v;
	info->status = (nvmlReturn_t)NUMBER(call, fabric_status)->v;
	fill_cluster(&call, info->clusterUuid);
	info->cliqueId = (unsigned int)NUMBER(call, fabric_clique)->v;
	info->healthMask = (unsigned int)NUMBER(call, fabric_health)->v;
	if (info->version == nvmlGpuFabricInfo_v3) info->healthSummary = (unsigned char)NUMBER(call, fabric_summary)->v;
	return NVML_SUCCESS;
}
