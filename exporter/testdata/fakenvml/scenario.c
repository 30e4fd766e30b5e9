// The scenario file: which one, when to read it again, and under which lock.
#include "fake.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

enum { RECHECK_NS = 10 * 1000 * 1000 };

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct scenario *current;
static struct stat seen;
static atomic_llong next_check;

static long long now_ns(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int same(const struct stat *a, const struct stat *b) {
	return a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

const char *scenario_path(void) {
	const char *path = getenv("LEASEWATCH_FAKE_NVML");
	if (path == NULL && current == NULL) {
		fprintf(stderr, "fakenvml: LEASEWATCH_FAKE_NVML must name a scenario file\n");
		abort();
	}
	return path;
}

void scenario_recheck(void) { atomic_store(&next_check, 0); }

static void reload(void) {
	const char *path = scenario_path();
	if (path == NULL) return; // a test has ended, and its process goes on for a while
	pthread_rwlock_wrlock(&lock);
	struct stat st;
	if (stat(path, &st) != 0) {
		if (current == NULL) {
			perror(path);
			abort();
		}
		st = seen;
	}
	if (current == NULL || !same(&st, &seen)) {
		struct scenario *fresh = calloc(1, sizeof *fresh);
		if (fresh == NULL || scenario_parse(fresh, path) != 0)
			abort(); // a scenario that is not understood must not pass for another one
		free(current);
		current = fresh;
		seen = st;
	}
	pthread_rwlock_unlock(&lock);
}

const struct scenario *scenario_lock(void) {
	long long now = now_ns(), due = atomic_load_explicit(&next_check, memory_order_relaxed);
	if (current == NULL || (now >= due && atomic_compare_exchange_strong(&next_check, &due, now + RECHECK_NS)))
		reload();
	pthread_rwlock_rdlock(&lock);
	return current;
}

void scenario_unlock(void) { pthread_rwlock_unlock(&lock); }
