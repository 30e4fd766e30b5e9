// The way into every call, and the functions that belong to the host.
#include "fake.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_int inside, users;
static atomic_llong initialised_generation;
static struct nvmlDevice_st handles[MAX_CARDS][MAX_GENERATIONS];

int fake_inside(void) { return atomic_load(&inside); }

// fake_log notes calls of the library's life, for tests that count them.
void fake_log(const char *line) {
	const char *path = getenv("LEASEWATCH_FAKE_NVML_LOG");
	if (path == NULL) return;
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0) return;
	dprintf(fd, "%s\n", line);
	close(fd);
}

static const struct behaviour *pick(const struct behaviour *own, const struct behaviour *all, size_t offset) {
	return ((const struct value *)((const char *)own + offset))->set ? own : all;
}

#define PICK(member, own, all) (&pick(own, all, offsetof(struct behaviour, member))->member)

// wait_for_delay returns once the scenario no longer asks this call to take longer.
static void wait_for_delay(enum function f, int card) {
	enum { SLICE_MS = 2 };
	struct timespec slice = {.tv_nsec = SLICE_MS * 1000000L};
	for (long long waited = 0;; waited += SLICE_MS) {
		const struct scenario *s = scenario_lock();
		const struct value *d = PICK(delay_ms, &s->fn[f], &s->all);
		if (card >= 0 && (s->card[card].fn[f].delay_ms.set || s->card[card].all.delay_ms.set))
			d = PICK(delay_ms, &s->card[card].fn[f], &s->card[card].all);
		int done = !d->set || (d->v >= 0 && waited >= d->v);
		scenario_unlock();
		if (done) return;
		nanosleep(&slice, NULL);
	}
}

// stands tells what a handle is worth where the scenario says nothing of the call itself.
static nvmlReturn_t stands(const struct card *c, const struct nvmlDevice_st *device, const struct instance *instance, enum function f) {
	if (device->generation != c->number[NUM_generation].v) return NVML_ERROR_GPU_IS_LOST;
	int mig = c->number[NUM_mig_mode].v == 1;
	if (instance != NULL && (!mig || instance->uuid[0] == '\0')) return NVML_ERROR_INVALID_ARGUMENT; // destroyed
	return mig && !mig_answers(f, instance != NULL) ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
}

static struct call enter(enum function f, const struct nvmlDevice_st *device, int needs_init) {
	int card = device == NULL ? -1 : device->card;
	atomic_fetch_add(&inside, 1);
	wait_for_delay(f, card);
	struct call call = {.scenario = scenario_lock(), .locked = 1};
	const struct scenario *s = call.scenario;
	const struct value *ret = PICK(ret, &s->fn[f], &s->all);
	if (needs_init && (atomic_load(&users) == 0 || atomic_load(&initialised_generation) != s->driver_generation)) {
		call.ret = NVML_ERROR_UNINITIALIZED;
		return call;
	}
	if (card >= 0) {
		const struct card *c = call.card = &s->card[card];
		if (device->instance != 0) call.instance = &c->instance[device->instance - 1];
		if (!ret->set && call.instance != NULL) ret = PICK(ret, &call.instance->fn[f], &call.instance->all);
		if (!ret->set) ret = PICK(ret, &c->fn[f], &c->all);
		if (!ret->set) call.ret = stands(c, device, call.instance, f);
	}
	if (ret->set) call.ret = (nvmlReturn_t)ret->v;
	return call;
}

struct call fake_enter_system(enum function f) {
	return enter(f, NULL, f != FN_nvmlInit_v2 && f != FN_nvmlInitWithFlags);
}

struct call fake_enter_device(enum function f, nvmlDevice_t device) {
	const struct nvmlDevice_st *h = device.handle;
	if (!mig_handle(h) && (h < &handles[0][0] || h > &handles[MAX_CARDS - 1][MAX_GENERATIONS - 1])) {
		atomic_fetch_add(&inside, 1);
		return (struct call){.ret = NVML_ERROR_INVALID_ARGUMENT};
	}
	return enter(f, h, 1);
}

void fake_leave(struct call *call) {
	if (call->locked) scenario_unlock();
	atomic_fetch_sub(&inside, 1);
}

nvmlDevice_t fake_handle(const struct scenario *s, int card) {
	int generation = (int)s->card[card].number[NUM_generation].v % MAX_GENERATIONS;
	handles[card][generation] = (struct nvmlDevice_st){.card = card, .generation = generation};
	return (nvmlDevice_t){&handles[card][generation]};
}

static nvmlReturn_t start(struct call *call) {
	fake_log("nvmlInit");
	atomic_store(&initialised_generation, call->scenario->driver_generation);
	atomic_fetch_add(&users, 1);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlInit_v2(void) {
	ENTER_SYSTEM(nvmlInit_v2);
	return start(&call);
}

nvmlReturn_t nvmlInitWithFlags(unsigned int flags) {
	(void)flags;
	ENTER_SYSTEM(nvmlInitWithFlags);
	return start(&call);
}

nvmlReturn_t nvmlShutdown(void) {
	// Allowed after a reload of the driver too, so it does not ask for a living one.
	int others = atomic_load(&inside);
	if (atomic_load(&users) == 0) return NVML_ERROR_UNINITIALIZED;
	atomic_fetch_sub(&users, 1);
	char line[64];
	snprintf(line, sizeof line, "nvmlShutdown inside=%d", others);
	fake_log(line);
	gpm_log_samples();
	return NVML_SUCCESS;
}

const char *nvmlErrorString(nvmlReturn_t result) {
	(void)result;
	return "fake error";
}

static nvmlReturn_t copy(char *out, unsigned int length, const char *text) {
	if (out == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	if (text[0] == '\0') return NVML_ERROR_NOT_SUPPORTED;
	if (strlen(text) >= length) return NVML_ERROR_INSUFFICIENT_SIZE;
	strcpy(out, text);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length) {
	ENTER_SYSTEM(nvmlSystemGetDriverVersion);
	return copy(version, length, call.scenario->driver_version);
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length) {
	ENTER_SYSTEM(nvmlSystemGetNVMLVersion);
	return copy(version, length, call.scenario->nvml_version);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version) {
	ENTER_SYSTEM(nvmlSystemGetCudaDriverVersion_v2);
	if (version == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	*version = (int)call.scenario->cuda_version;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count) {
	ENTER_SYSTEM(nvmlDeviceGetCount_v2);
	if (count == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	*count = (unsigned int)call.scenario->count;
	return NVML_SUCCESS;
}

// found answers with the handle, unless the card refuses this very function.
static nvmlReturn_t found(const struct call *call, enum function f, int card, nvmlDevice_t *device) {
	const struct value *ret = &call->scenario->card[card].fn[f].ret;
	if (ret->set && ret->v != NVML_SUCCESS) return (nvmlReturn_t)ret->v;
	char line[64];
	snprintf(line, sizeof line, "%s gpu=%d", function_names[f], card);
	fake_log(line);
	*device = fake_handle(call->scenario, card);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device) {
	ENTER_SYSTEM(nvmlDeviceGetHandleByIndex_v2);
	if (device == NULL || index >= (unsigned int)call.scenario->count) return NVML_ERROR_INVALID_ARGUMENT;
	return found(&call, FN_nvmlDeviceGetHandleByIndex_v2, call.scenario->order[index], device);
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device) {
	ENTER_SYSTEM(nvmlDeviceGetHandleByUUID);
	if (device == NULL || uuid == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	for (int i = 0; i < call.scenario->count; i++) {
		int card = call.scenario->order[i];
		if (strcmp(call.scenario->card[card].string[STR_uuid], uuid) == 0)
			return found(&call, FN_nvmlDeviceGetHandleByUUID, card, device);
	}
	return NVML_ERROR_NOT_FOUND;
}
