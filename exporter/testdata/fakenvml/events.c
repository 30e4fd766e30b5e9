// Event sets: the scenario's events, delivered once each in the order of their numbers.
#include "fake.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

struct nvmlEventSet_st {
	atomic_llong delivered;
	atomic_ullong types[MAX_CARDS];
};

static long long newest(const struct scenario *s) {
	long long seq = 0;
	for (int i = 0; i < s->events; i++)
		if (s->event[i].seq > seq) seq = s->event[i].seq;
	return seq;
}

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set) {
	ENTER_SYSTEM(nvmlEventSetCreate);
	if (set == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	set->handle = calloc(1, sizeof *set->handle);
	if (set->handle == NULL) return NVML_ERROR_MEMORY;
	// What happened before is not told again, unless the scenario wants that.
	atomic_store(&set->handle->delivered, call.scenario->events_replay ? 0 : newest(call.scenario));
	fake_log("nvmlEventSetCreate");
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
	ENTER_SYSTEM(nvmlEventSetFree);
	free(set.handle);
	fake_log("nvmlEventSetFree");
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long *types) {
	ENTER_DEVICE(nvmlDeviceGetSupportedEventTypes, device);
	if (types == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	*types = nvmlEventTypeSingleBitEccError | nvmlEventTypeDoubleBitEccError | nvmlEventTypeXidCriticalError;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types, nvmlEventSet_t set) {
	ENTER_DEVICE(nvmlDeviceRegisterEvents, device);
	if (set.handle == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	atomic_fetch_or(&set.handle->types[device.handle->card], types);
	return NVML_SUCCESS;
}

// deliver fills in the next event that the set waits for.
static int deliver(const struct scenario *s, nvmlEventSet_t set, nvmlEventData_t *data) {
	const struct event *next = NULL;
	long long done = atomic_load(&set.handle->delivered);
	for (int i = 0; i < s->events; i++) {
		const struct event *e = &s->event[i];
		if (e->seq > done && (next == NULL || e->seq < next->seq) && (atomic_load(&set.handle->types[e->card]) & (unsigned long long)e->type)) next = e;
	}
	if (next == NULL) return 0;
	*data = (nvmlEventData_t){
		.device = fake_handle(s, (int)next->card), .eventType = (unsigned long long)next->type, .eventData = (unsigned long long)next->xid,
		.gpuInstanceId = 0xFFFFFFFF, .computeInstanceId = 0xFFFFFFFF,
	};
	atomic_store(&set.handle->delivered, next->seq);
	return 1;
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data, unsigned int timeout_ms) {
	if (set.handle == NULL || data == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	struct timespec slice = {.tv_nsec = 1000000};
	for (unsigned int waited = 0;; waited++) {
		{
			ENTER_SYSTEM(nvmlEventSetWait_v2);
			if (deliver(call.scenario, set, data)) return NVML_SUCCESS;
		}
		if (waited >= timeout_ms) return NVML_ERROR_TIMEOUT;
		nanosleep(&slice, NULL);
	}
}
