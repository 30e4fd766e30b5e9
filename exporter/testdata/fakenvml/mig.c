// MIG: the MIG devices of a card, and the GPU instances that they are in.
#include "fake.h"

#include <stdio.h>
#include <string.h>

struct nvmlGpuInstance_st {
	int card, id;
};

static struct nvmlDevice_st handles[MAX_CARDS][MAX_INSTANCES];
static struct nvmlGpuInstance_st gpu_instances[MAX_CARDS][MAX_GPU_INSTANCES];

int mig_handle(const struct nvmlDevice_st *h) { return h >= &handles[0][0] && h <= &handles[MAX_CARDS - 1][MAX_INSTANCES - 1]; }

int mig_answers(enum function f, int is_mig_device) {
	switch (f) {
	case FN_nvmlDeviceGetUtilizationRates:
	case FN_nvmlDeviceGetEncoderUtilization:
	case FN_nvmlDeviceGetDecoderUtilization:
	case FN_nvmlDeviceGetJpgUtilization:
	case FN_nvmlDeviceGetOfaUtilization:
		return 0;
	case FN_nvmlDeviceGetUUID:
	case FN_nvmlDeviceGetName:
	case FN_nvmlDeviceGetMemoryInfo:
	case FN_nvmlDeviceGetMemoryInfo_v2:
	case FN_nvmlDeviceGetDeviceHandleFromMigDeviceHandle:
	case FN_nvmlDeviceIsMigDeviceHandle:
	case FN_nvmlDeviceGetGpuInstanceId:
	case FN_nvmlDeviceGetComputeInstanceId:
	case FN_nvmlDeviceGetAttributes:
	case FN_nvmlDeviceGetAttributes_v2:
		return 1;
	default:
		return !is_mig_device;
	}
}

static nvmlReturn_t copy(char *out, unsigned int length, const char *text) {
	if (out == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	if (strlen(text) >= length) return NVML_ERROR_INSUFFICIENT_SIZE;
	strcpy(out, text);
	return NVML_SUCCESS;
}

nvmlReturn_t mig_text(const struct call *call, enum function f, char *out, unsigned int length) {
	char name[3 * MAX_STRING];
	switch (f) {
	case FN_nvmlDeviceGetUUID:
		return copy(out, length, call->instance->uuid);
	case FN_nvmlDeviceGetName:
		if (call->instance->profile[0] == '\0') return copy(out, length, call->card->string[STR_name]); // as old drivers do
		snprintf(name, sizeof name, "%s MIG %s", call->card->string[STR_name], call->instance->profile);
		return copy(out, length, name);
	default:
		return NVML_ERROR_NOT_SUPPORTED;
	}
}

nvmlReturn_t mig_memory(const struct call *call, unsigned long long *total, unsigned long long *used,
                        unsigned long long *available, unsigned long long *reserved) {
	const struct value *v = call->instance->number;
	if (!v[INST_memory_total].set) return NVML_ERROR_NOT_SUPPORTED;
	*total = (unsigned long long)v[INST_memory_total].v;
	*used = (unsigned long long)v[INST_memory_used].v;
	*available = (unsigned long long)v[INST_memory_free].v;
	*reserved = (unsigned long long)v[INST_memory_reserved].v;
	return NVML_SUCCESS;
}

const struct instance *mig_of_gpu_instance(const struct card *c, int id) {
	for (int i = 0; i < MAX_INSTANCES; i++)
		if (c->instance[i].uuid[0] != '\0' && c->instance[i].number[INST_gi].v == id) return &c->instance[i];
	return NULL;
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned int *count) {
	ENTER_DEVICE(nvmlDeviceGetMaxMigDeviceCount, device);
	if (count == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	*count = call.card->number[NUM_mig_mode].v == 1 ? MAX_INSTANCES - 1 : 0;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned int index, nvmlDevice_t *mig) {
	ENTER_DEVICE(nvmlDeviceGetMigDeviceHandleByIndex, device);
	if (mig == NULL || index >= MAX_INSTANCES) return NVML_ERROR_INVALID_ARGUMENT;
	if (call.card->number[NUM_mig_mode].v != 1) return NVML_ERROR_NOT_SUPPORTED;
	if (call.card->instance[index].uuid[0] == '\0') return NVML_ERROR_NOT_FOUND;
	struct nvmlDevice_st *h = &handles[device.handle->card][index]; // the same again whoever lives there
	*h = (struct nvmlDevice_st){.card = device.handle->card, .generation = device.handle->generation, .instance = (int)index + 1};
	mig->handle = h;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned int *is) {
	ENTER_DEVICE(nvmlDeviceIsMigDeviceHandle, device);
	*is = call.instance != NULL;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t mig, nvmlDevice_t *device) {
	ENTER_DEVICE(nvmlDeviceGetDeviceHandleFromMigDeviceHandle, mig);
	if (call.instance == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	*device = fake_handle(call.scenario, mig.handle->card);
	return NVML_SUCCESS;
}

static nvmlReturn_t number(const struct call *call, enum instance_number n, unsigned int *out) {
	if (call->instance == NULL || out == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	if (!call->instance->number[n].set) return NVML_ERROR_NOT_SUPPORTED;
	*out = (unsigned int)call->instance->number[n].v;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, unsigned int *id) {
	ENTER_DEVICE(nvmlDeviceGetGpuInstanceId, device);
	return number(&call, INST_gi, id);
}

nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t device, unsigned int *id) {
	ENTER_DEVICE(nvmlDeviceGetComputeInstanceId, device);
	return number(&call, INST_ci, id);
}

static nvmlReturn_t attributes(const struct call *call, nvmlDeviceAttributes_t *out) {
	if (out == NULL || call->instance == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	const struct value *v = call->instance->number;
	if (!v[INST_multiprocessors].set) return NVML_ERROR_NOT_SUPPORTED;
	*out = (nvmlDeviceAttributes_t){
		.multiprocessorCount = (unsigned int)v[INST_multiprocessors].v,
		.sharedCopyEngineCount = (unsigned int)v[INST_copy_engines].v,
		.sharedDecoderCount = (unsigned int)v[INST_decoders].v,
		.sharedEncoderCount = (unsigned int)v[INST_encoders].v,
		.sharedJpegCount = (unsigned int)v[INST_jpegs].v,
		.sharedOfaCount = (unsigned int)v[INST_ofas].v,
		.gpuInstanceSliceCount = (unsigned int)v[INST_gpu_slices].v,
		.computeInstanceSliceCount = (unsigned int)v[INST_compute_slices].v,
		.memorySizeMB = (unsigned long long)v[INST_memory_total].v >> 20,
	};
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetAttributes(nvmlDevice_t device, nvmlDeviceAttributes_t *out) {
	ENTER_DEVICE(nvmlDeviceGetAttributes, device);
	return attributes(&call, out);
}

nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t *out) {
	ENTER_DEVICE(nvmlDeviceGetAttributes_v2, device);
	return attributes(&call, out);
}

nvmlReturn_t nvmlDeviceGetGpuInstanceById(nvmlDevice_t device, unsigned int id, nvmlGpuInstance_t *out) {
	ENTER_DEVICE(nvmlDeviceGetGpuInstanceById, device);
	if (out == NULL || id >= MAX_GPU_INSTANCES) return NVML_ERROR_INVALID_ARGUMENT;
	if (mig_of_gpu_instance(call.card, (int)id) == NULL) return NVML_ERROR_NOT_FOUND;
	out->handle = &gpu_instances[device.handle->card][id];
	*out->handle = (struct nvmlGpuInstance_st){.card = device.handle->card, .id = (int)id};
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpuInstanceGetInfo(nvmlGpuInstance_t instance, nvmlGpuInstanceInfo_t *out) {
	ENTER_SYSTEM(nvmlGpuInstanceGetInfo);
	if (instance.handle == NULL || out == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	const struct instance *found = mig_of_gpu_instance(&call.scenario->card[instance.handle->card], instance.handle->id);
	if (found == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	*out = (nvmlGpuInstanceInfo_t){
		.device = fake_handle(call.scenario, instance.handle->card), .id = (unsigned int)instance.handle->id,
		.placement = {.start = (unsigned int)found->number[INST_placement_start].v, .size = (unsigned int)found->number[INST_placement_size].v},
	};
	return NVML_SUCCESS;
}
