// GPM: sample buffers, samples of a GPU, and the metrics between two of them. The log tells
// what a driver does not forgive: two calls at once, and samples that do not belong together.
#include "fake.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WHOLE_GPU = -1, SHORTEST_NS = 100 * 1000 * 1000 };

struct nvmlGpmSample_st {
	int card, generation, instance;
	long long taken; // 0: nothing in it
};

static atomic_int inside, allocated, ever;

static long long now_ns(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static const char *begin(const char *function) {
	char line[96];
	if (atomic_fetch_add(&ever, 1) == 0) {
		snprintf(line, sizeof line, "gpm used: %s", function);
		fake_log(line);
	}
	if (atomic_fetch_add(&inside, 1) > 0) {
		snprintf(line, sizeof line, "gpm overlap: %s", function);
		fake_log(line);
	}
	return function;
}

static void end(const char **function) {
	(void)function;
	atomic_fetch_sub(&inside, 1);
}

// ALONE counts the call from before it waits for its delay until it returns.
#define ALONE(function) \
	const char *counted __attribute__((cleanup(end), unused)) = begin(#function)

static nvmlReturn_t misuse(const char *what) {
	char line[96];
	snprintf(line, sizeof line, "gpm misuse: %s", what);
	fake_log(line);
	return NVML_ERROR_INVALID_ARGUMENT;
}

void gpm_log_samples(void) {
	char line[64];
	if (atomic_load(&ever) == 0) return;
	snprintf(line, sizeof line, "gpm samples=%d", atomic_load(&allocated));
	fake_log(line);
}

nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t *sample) {
	ALONE(nvmlGpmSampleAlloc);
	ENTER_SYSTEM(nvmlGpmSampleAlloc);
	if (sample == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	sample->handle = calloc(1, sizeof *sample->handle);
	if (sample->handle == NULL) return NVML_ERROR_MEMORY;
	atomic_fetch_add(&allocated, 1);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t sample) {
	ALONE(nvmlGpmSampleFree);
	if (sample.handle == NULL) return misuse("no sample to free");
	free(sample.handle);
	atomic_fetch_sub(&allocated, 1);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t device, nvmlGpmSupport_t *support) {
	ALONE(nvmlGpmQueryDeviceSupport);
	ENTER_DEVICE(nvmlGpmQueryDeviceSupport, device);
	if (support == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	if (support->version != NVML_GPM_SUPPORT_VERSION) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	support->isSupportedDevice = call.card->number[NUM_gpm_supported].v != 0;
	return NVML_SUCCESS;
}

static nvmlReturn_t take(const struct call *call, nvmlDevice_t device, int instance, nvmlGpmSample_t sample) {
	if (sample.handle == NULL) return misuse("no sample to fill");
	if (call->card->number[NUM_gpm_supported].v == 0) return NVML_ERROR_NOT_SUPPORTED;
	if (instance != WHOLE_GPU && mig_of_gpu_instance(call->card, instance) == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	*sample.handle = (struct nvmlGpmSample_st){
		.card = device.handle->card, .generation = device.handle->generation, .instance = instance, .taken = now_ns()};
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t sample) {
	ALONE(nvmlGpmSampleGet);
	ENTER_DEVICE(nvmlGpmSampleGet, device);
	return take(&call, device, WHOLE_GPU, sample);
}

nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t device, unsigned int instance, nvmlGpmSample_t sample) {
	ALONE(nvmlGpmMigSampleGet);
	ENTER_DEVICE(nvmlGpmMigSampleGet, device);
	return take(&call, device, (int)instance, sample);
}

static void answer(const struct gpm *all, nvmlGpmMetric_t *out) {
	out->nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
	out->value = 0;
	out->metricInfo = (nvmlGpmMetricMetricInfo_t){NULL, NULL, NULL};
	if (out->metricId >= MAX_GPM) return;
	const struct gpm *metric = &all[out->metricId];
	if (metric->ret.set && metric->ret.v != NVML_SUCCESS) {
		out->nvmlReturn = (nvmlReturn_t)metric->ret.v;
	} else if (metric->set) {
		out->nvmlReturn = NVML_SUCCESS;
		out->value = metric->v;
	}
}

nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t *get) {
	ALONE(nvmlGpmMetricsGet);
	ENTER_SYSTEM(nvmlGpmMetricsGet);
	if (get == NULL) return NVML_ERROR_INVALID_ARGUMENT;
	if (get->version != NVML_GPM_METRICS_GET_VERSION) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	const struct nvmlGpmSample_st *a = get->sample1.handle, *b = get->sample2.handle;
	if (a == NULL || b == NULL || a->taken == 0 || b->taken == 0) return misuse("an empty sample");
	if (a->card != b->card || a->instance != b->instance) return misuse("samples of two GPUs");
	if (a->generation != b->generation) return misuse("a reset between the samples");
	if (b->taken <= a->taken) return misuse("the samples are in the wrong order");
	if (b->taken - a->taken < SHORTEST_NS) return misuse("less than 100 ms between the samples");
	const struct card *card = &call.scenario->card[a->card];
	const struct value *limit = &card->number[NUM_gpm_limit];
	for (unsigned int i = 0; i < get->numMetrics; i++)
		if (limit->set && get->metrics[i].metricId >= (unsigned int)limit->v) return NVML_ERROR_INVALID_ARGUMENT;
	const struct gpm *all = card->gpm;
	if (a->instance != WHOLE_GPU) {
		const struct instance *instance = mig_of_gpu_instance(card, a->instance);
		if (instance == NULL) return NVML_ERROR_INVALID_ARGUMENT;
		all = instance->gpm;
	}
	for (unsigned int i = 0; i < get->numMetrics; i++) answer(all, &get->metrics[i]);
	return NVML_SUCCESS;
}
