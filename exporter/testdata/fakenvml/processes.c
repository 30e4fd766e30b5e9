// Process lists, in the three versions of their call.
#include "fake.h"

// What the scenario says of one entry: its process, its memory, its MIG instance. A driver
// whose fields are out of place (process_shape = 1) tells the memory as the process.
static nvmlProcessInfo_v2_t entry(const struct card *c, unsigned int first, unsigned int i) {
	const struct value *pid = &c->number[NUM_process_first], *memory = &c->number[NUM_process_memory];
	const struct value *gi = &c->number[NUM_process_gpu_instance], *ci = &c->number[NUM_process_compute_instance];
	nvmlProcessInfo_v2_t e = {
		.pid = (pid->set ? (unsigned int)pid->v : first) + i,
		.usedGpuMemory = memory->set ? (unsigned long long)memory->v : 1ULL << 30,
		.gpuInstanceId = gi->set ? (unsigned int)gi->v + i : 0xFFFFFFFF,
		.computeInstanceId = ci->set ? (unsigned int)ci->v : 0xFFFFFFFF,
	};
	if (c->number[NUM_process_shape].v == 1) {
		unsigned long long moved = e.usedGpuMemory;
		e.usedGpuMemory = e.pid;
		e.pid = (unsigned int)moved;
	}
	return e;
}

static nvmlReturn_t list_v1(const struct card *c, const struct value *v, unsigned int first, unsigned int *count, nvmlProcessInfo_v1_t *infos) {
	if (!v->set) return NVML_ERROR_NOT_SUPPORTED;
	unsigned int room = *count;
	*count = (unsigned int)v->v;
	if (room < *count) return NVML_ERROR_INSUFFICIENT_SIZE;
	for (unsigned int i = 0; i < *count; i++) {
		nvmlProcessInfo_v2_t e = entry(c, first, i);
		infos[i] = (nvmlProcessInfo_v1_t){.pid = e.pid, .usedGpuMemory = e.usedGpuMemory};
	}
	return NVML_SUCCESS;
}

static nvmlReturn_t list_v2(const struct card *c, const struct value *v, unsigned int first, unsigned int *count, nvmlProcessInfo_v2_t *infos) {
	if (!v->set) return NVML_ERROR_NOT_SUPPORTED;
	unsigned int room = *count;
	*count = (unsigned int)v->v;
	if (room < *count) return NVML_ERROR_INSUFFICIENT_SIZE;
	for (unsigned int i = 0; i < *count; i++) infos[i] = entry(c, first, i);
	return NVML_SUCCESS;
}

#define LISTS(kind, name, first) \
	nvmlReturn_t nvmlDeviceGet##kind##RunningProcesses(nvmlDevice_t device, unsigned int *count, nvmlProcessInfo_v1_t *infos) { \
		ENTER_DEVICE(nvmlDeviceGet##kind##RunningProcesses, device); \
		return list_v1(call.card, &call.card->number[NUM_##name], first, count, infos); \
	} \
	nvmlReturn_t nvmlDeviceGet##kind##RunningProcesses_v2(nvmlDevice_t device, unsigned int *count, nvmlProcessInfo_v2_t *infos) { \
		ENTER_DEVICE(nvmlDeviceGet##kind##RunningProcesses_v2, device); \
		return list_v2(call.card, &call.card->number[NUM_##name], first, count, infos); \
	} \
	nvmlReturn_t nvmlDeviceGet##kind##RunningProcesses_v3(nvmlDevice_t device, unsigned int *count, nvmlProcessInfo_t *infos) { \
		ENTER_DEVICE(nvmlDeviceGet##kind##RunningProcesses_v3, device); \
		return list_v2(call.card, &call.card->number[NUM_##name], first, count, infos); \
	}

// Compute and graphics lists overlap by their pids, as a process that does both is in both.
LISTS(Compute, processes, 4000)
LISTS(Graphics, graphics_processes, 4000)
LISTS(MPSCompute, mps_processes, 9000)

// Whether these two are there tells how long the entries of the lists are; nobody calls them.
nvmlReturn_t nvmlDeviceGetConfComputeMemSizeInfo(nvmlDevice_t device, nvmlConfComputeMemSizeInfo_t *info) {
	(void)info;
	ENTER_DEVICE(nvmlDeviceGetConfComputeMemSizeInfo, device);
	return NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t device, nvmlProcessDetailList_t *list) {
	(void)list;
	ENTER_DEVICE(nvmlDeviceGetRunningProcessDetailList, device);
	return NVML_ERROR_NOT_SUPPORTED;
}
