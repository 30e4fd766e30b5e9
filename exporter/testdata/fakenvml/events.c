// Event sets: the scenario's events, delivered once each in the order of their numbers.
#include "fake.h"

#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

struct nvmlEventSet_st {
	int watch; // tells of a new scenario file, so that waiting costs nothing
	atomic_llong delivered;
	atomic_ullong types[MAX_CARDS];
};

// watch_scenario watches the folder of the scenario file.
static int watch_scenario(void) {
	char dir[PATH_MAX];
	const char *path = scenario_path();
	if (path == NULL) return -1;
	snprintf(dir, sizeof dir, "%s", path);
	char *slash = strrchr(dir, '/');
	if (slash == NULL) snprintf(dir, sizeof dir, ".");
	else slash[1] = '\0';
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (fd >= 0 && inotify_add_watch(fd, dir, IN_MOVED_TO | IN_CLOSE_WRITE) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

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
	set->handle->watch = watch_scenario();
	// What happened before is not told again, unless the scenario wants that.
	atomic_store(&set->handle->delivered, call.scenario->events_replay ? 0 : newest(call.scenario));
	fake_log("nvmlEventSetCreate");
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
	ENTER_SYSTEM(nvmlEventSetFree);
	if (set.handle->watch >= 0) close(set.handle->watch);
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

static long long now_ms(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data, unsigned int timeout_ms) {
	if (set.handle == NULL || data == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	for (long long end = now_ms() + timeout_ms;;) {
		{
			ENTER_SYSTEM(nvmlEventSetWait_v2);
			if (deliver(call.scenario, set, data)) return NVML_SUCCESS;
		}
		long long left = end - now_ms();
		if (left <= 0) return NVML_ERROR_TIMEOUT;
		struct pollfd fd = {.fd = set.handle->watch, .events = POLLIN};
		if (poll(&fd, 1, fd.fd >= 0 ? (int)left : 5) > 0) {
			char news[4096];
			while (read(fd.fd, news, sizeof news) > 0) {}
			scenario_recheck();
		}
	}
}
