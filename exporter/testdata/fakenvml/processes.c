// Process lists, in the three versions of their call.
#include "fake.h"

static nvmlReturn_t list_v1(const struct value *v, unsigned int first, unsigned int *count, nvmlProcessInfo_v1_t *infos) {
	if (!v->set) return NVML_ERROR_NOT_SUPPORTED;
	unsigned int room = *count;
	*count = (unsigned int)v->v;
	if (room < *count) return NVML_ERROR_INSUFFICIENT_SIZE;
	for (unsigned int i = 0; i < *count; i++) infos[i] = (nvmlProcessInfo_v1_t){.pid = first + i, .usedGpuMemory = 1ULL << 30};
	return NVML_SUCCESS;
}

static nvmlReturn_t list_v2(const struct value *v, unsigned int first, unsigned int *count, nvmlProcessInfo_v2_t *infos) {
	if (!v->set) return NVML_ERROR_NOT_SUPPORTED;
	unsigned int room = *count;
	*count = (unsigned int)v->v;
	if (room < *count) return NVML_ERROR_INSUFFICIENT_SIZE;
	for (unsigned int i = 0; i < *count; i++)
		infos[i] = (nvmlProcessInfo_v2_t){.pid = first + i, .usedGpuMemory = 1ULL << 30, .gpuInstanceId = 0xFFFFFFFF, .computeInstanceId = 0xFFFFFFFF};
	return NVML_SUCCESS;
}

#define LISTS(kind, name, first) \
	nvmlReturn_t nvmlDeviceGet##kind##RunningProcesses(nvmlDevice_t device, unsigned int *count, nvmlProcessInfo_v1_t *infos) { \
		ENTER_DEVICE(nvmlDeviceGet##kind##RunningProcesses, device); \
		return list_v1(&call.card->number[NUM_##name], first, count, infos); \
	} \
	nvmlReturn_t nvmlDeviceGet##kind##RunningProcesses_v2(nvmlDevice_t device, unsigned int *count, nvmlProcessInfo_v2_t *infos) { \
		ENTER_DEVICE(nvmlDeviceGet##kind##RunningProcesses_v2, device); \
		return list_v2(&call.card->number[NUM_##name], first, count, infos); \
	} \
	nvmlReturn_t nvmlDeviceGet##kind##RunningProcesses_v3(nvmlDevice_t device, unsigned int *count, nvmlProcessInfo_t *infos) { \
		ENTER_DEVICE(nvmlDeviceGet##kind##RunningProcesses_v3, device); \
		return list_v2(&call.card->number[NUM_##name], first, count, infos); \
	}

// Compute and graphics lists overlap by their pids, as a process that does both is in both.
LISTS(Compute, processes, 4000)
LISTS(Graphics, graphics_processes, 4000)
LISTS(MPSCompute, mps_processes, 9000)
