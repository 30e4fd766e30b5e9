// The format of the scenario file: "key = value" lines.
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const number_names[] = {
#define NAME(n) #n,
	NUMBERS(NAME)
};
static const char *const instance_names[] = {INSTANCE_NUMBERS(NAME)};
static const char *const string_names[] = {STRINGS(NAME)};
const char *const function_names[FN_COUNT] = {SYSTEM_FUNCTIONS(NAME) DEVICE_FUNCTIONS(NAME) GPM_FUNCTIONS(NAME) MIG_FUNCTIONS(NAME)};

static const char *const ecc_types[] = {"corrected", "uncorrected"};
static const char *const ecc_counters[] = {"volatile", "aggregate"};
static const char *const ecc_locations[ECC_LOCATIONS] = {
	[NVML_MEMORY_LOCATION_L1_CACHE] = "l1", [NVML_MEMORY_LOCATION_L2_CACHE] = "l2",
	[NVML_MEMORY_LOCATION_DRAM] = "dram", [NVML_MEMORY_LOCATION_REGISTER_FILE] = "register_file",
	[NVML_MEMORY_LOCATION_TEXTURE_MEMORY] = "texture", [NVML_MEMORY_LOCATION_TEXTURE_SHM] = "shared",
	[NVML_MEMORY_LOCATION_CBU] = "cbu", [NVML_MEMORY_LOCATION_SRAM] = "sram", [ECC_TOTAL] = "total",
};

static int find(const char *const *names, int count, const char *name) {
	for (int i = 0; i < count; i++)
		if (names[i] != NULL && strcmp(names[i], name) == 0)
			return i;
	return -1;
}

static int to_number(const char *text, int64_t *out) {
	char *end;
	*out = (int64_t)(text[0] == '-' ? (unsigned long long)strtoll(text, &end, 0) : strtoull(text, &end, 0));
	return *text != '\0' && *end == '\0';
}

static int set_value(struct value *v, const char *text) {
	v->set = 1;
	return to_number(text, &v->v);
}

// "return" or "delay_ms"
static int set_behaviour(struct behaviour *b, const char *key, const char *text) {
	if (strcmp(key, "return") == 0) return set_value(&b->ret, text);
	if (strcmp(key, "delay_ms") == 0) return set_value(&b->delay_ms, text);
	return 0;
}

// scoped_field finds or makes the field of a scope: "185@1" is field 185 in scope 1.
static struct field *scoped_field(struct card *c, long id, long scope) {
	for (int i = 0; i < c->scopes; i++)
		if (c->scoped[i].id == id && c->scoped[i].scope == scope) return &c->scoped[i].field;
	if (c->scopes == MAX_SCOPED) return NULL;
	c->scoped[c->scopes] = (struct scoped){.id = id, .scope = scope};
	return &c->scoped[c->scopes++].field;
}

static int set_field(struct card *c, const char *key, const char *text) {
	char *end;
	long id = strtol(key, &end, 10);
	if (end == key || id < 0 || id >= MAX_FIELDS) return 0;
	struct field *f = &c->field[id];
	if (*end == '@') {
		const char *at = end + 1;
		long scope = strtol(at, &end, 10);
		if (end == at || (f = scoped_field(c, id, scope)) == NULL) return 0;
	}
	if (*end == '\0') return set_value(&f->value, text);
	if (strcmp(end, ".return") == 0) return set_value(&f->ret, text);
	if (strcmp(end, ".type") == 0) return set_value(&f->type, text);
	return 0;
}

static int set_ecc(struct card *c, char *key, const char *text) {
	char *rest, *type = strtok_r(key, ".", &rest), *counter = strtok_r(NULL, ".", &rest), *where = strtok_r(NULL, ".", &rest);
	if (type == NULL || counter == NULL || where == NULL) return 0;
	int t = find(ecc_types, 2, type), n = find(ecc_counters, 2, counter), l = find(ecc_locations, ECC_LOCATIONS, where);
	return t >= 0 && n >= 0 && l >= 0 && set_value(&c->ecc[t][n][l], text);
}

static int set_indexed(struct value *values, int count, const char *key, const char *text) {
	int64_t i;
	return to_number(key, &i) && i >= 0 && i < count && set_value(&values[i], text);
}

// A GPM metric by its id, as a number with a fraction, "nan" or "inf"; or its return code.
static int set_gpm(struct gpm *all, const char *key, const char *text) {
	char *end;
	long id = strtol(key, &end, 10);
	if (end == key || id < 0 || id >= MAX_GPM) return 0;
	if (strcmp(end, ".return") == 0) return set_value(&all[id].ret, text);
	if (*end != '\0') return 0;
	all[id].set = 1;
	all[id].v = strtod(text, &end);
	return end != text && *end == '\0';
}

// "mig.0.uuid": one number, text, GPM metric or behaviour of one MIG device.
static int set_instance(struct card *c, const char *key, const char *text) {
	char *end;
	long i = strtol(key, &end, 10);
	if (end == key || *end != '.' || i < 0 || i >= MAX_INSTANCES) return 0;
	struct instance *instance = &c->instance[i];
	const char *name = end + 1;
	if (strcmp(name, "uuid") == 0) return snprintf(instance->uuid, MAX_STRING, "%s", text) < MAX_STRING;
	if (strcmp(name, "profile") == 0) return snprintf(instance->profile, MAX_STRING, "%s", text) < MAX_STRING;
	if (strncmp(name, "gpm.", 4) == 0) return set_gpm(instance->gpm, name + 4, text);
	int n = find(instance_names, INST_COUNT, name);
	if (n >= 0) return set_value(&instance->number[n], text);
	if (set_behaviour(&instance->all, name, text)) return 1;
	char function[MAX_STRING];
	snprintf(function, sizeof function, "%s", name);
	char *dot = strchr(function, '.');
	if (dot == NULL) return 0;
	*dot = '\0';
	int f = find(function_names, FN_COUNT, function);
	return f >= 0 && set_behaviour(&instance->fn[f], dot + 1, text);
}

static int set_card(struct card *c, char *key, const char *text) {
	if (strncmp(key, "field.", 6) == 0) return set_field(c, key + 6, text);
	if (strncmp(key, "ecc.", 4) == 0) return set_ecc(c, key + 4, text);
	if (strncmp(key, "nvlink.", 7) == 0) return set_indexed(c->link, MAX_LINKS, key + 7, text);
	if (strncmp(key, "mig.", 4) == 0) return set_instance(c, key + 4, text);
	if (strncmp(key, "gpm.", 4) == 0) return set_gpm(c->gpm, key + 4, text);
	if (strncmp(key, "fan.", 4) == 0) return set_indexed(c->fan, MAX_FANS, key + 4, text);
	int n = find(number_names, NUM_COUNT, key);
	if (n >= 0) return set_value(&c->number[n], text);
	int s = find(string_names, STR_COUNT, key);
	if (s >= 0) return snprintf(c->string[s], MAX_STRING, "%s", text) < MAX_STRING;
	if (set_behaviour(&c->all, key, text)) return 1;
	char *dot = strchr(key, '.');
	if (dot == NULL) return 0;
	*dot = '\0';
	int f = find(function_names, FN_COUNT, key);
	return f >= 0 && set_behaviour(&c->fn[f], dot + 1, text);
}

static int set_cards(struct scenario *s, char *key, const char *text) {
	char *dot = strchr(key, '.');
	if (dot == NULL) return 0;
	*dot = '\0';
	int64_t i, first = 0, last = MAX_CARDS - 1;
	if (strcmp(key, "*") != 0) {
		if (!to_number(key, &i) || i < 0 || i >= MAX_CARDS) return 0;
		first = last = i;
	}
	for (i = first; i <= last; i++) {
		char copy[MAX_STRING];
		if (snprintf(copy, sizeof copy, "%s", dot + 1) >= (int)sizeof copy || !set_card(&s->card[i], copy, text)) return 0;
	}
	return 1;
}

static int set_order(struct scenario *s, const char *text) {
	s->count = 0;
	for (const char *p = text; *p != '\0' && s->count < MAX_CARDS;) {
		char *end;
		long card = strtol(p, &end, 10);
		if (end == p || card < 0 || card >= MAX_CARDS) return 0;
		s->order[s->count++] = (int)card;
		for (p = end; *p == ' ' || *p == ','; p++) {}
	}
	return 1;
}

static int set_count(struct scenario *s, const char *text) {
	int64_t n;
	if (!to_number(text, &n) || n < 0 || n > MAX_CARDS) return 0;
	for (s->count = 0; s->count < n; s->count++) s->order[s->count] = s->count;
	return 1;
}

static int add_event(struct scenario *s, const char *text) {
	if (s->events == MAX_EVENTS) return 0;
	struct event *e = &s->event[s->events++];
	long long seq, card, xid;
	if (sscanf(text, "%lld gpu=%lld xid=%lld", &seq, &card, &xid) != 3 || card < 0 || card >= MAX_CARDS) return 0;
	*e = (struct event){.seq = seq, .card = card, .xid = xid, .type = nvmlEventTypeXidCriticalError};
	return 1;
}

static int set(struct scenario *s, char *key, const char *text) {
	if (strncmp(key, "gpu.", 4) == 0) return set_cards(s, key + 4, text);
	if (strcmp(key, "device_count") == 0) return set_count(s, text);
	if (strcmp(key, "order") == 0) return set_order(s, text);
	if (strcmp(key, "event") == 0) return add_event(s, text);
	if (strcmp(key, "events_replay") == 0) return to_number(text, &s->events_replay);
	if (strcmp(key, "driver.version") == 0) return snprintf(s->driver_version, MAX_STRING, "%s", text) < MAX_STRING;
	if (strcmp(key, "driver.nvml") == 0) return snprintf(s->nvml_version, MAX_STRING, "%s", text) < MAX_STRING;
	if (strcmp(key, "driver.cuda") == 0) return to_number(text, &s->cuda_version);
	if (strcmp(key, "driver.confidential") == 0) return set_value(&s->confidential, text);
	if (strcmp(key, "driver.generation") == 0) return to_number(text, &s->driver_generation);
	if (strncmp(key, "driver.", 7) == 0) return set_behaviour(&s->all, key + 7, text);
	char *dot = strchr(key, '.');
	if (dot == NULL) return 0;
	*dot = '\0';
	int f = find(function_names, FN_COUNT, key);
	return f >= 0 && set_behaviour(&s->fn[f], dot + 1, text);
}

static char *trim(char *s) {
	s += strspn(s, " \t");
	for (char *end = s + strlen(s); end > s && strchr(" \t\r\n", end[-1]) != NULL;) *--end = '\0';
	return s;
}

int scenario_parse(struct scenario *s, const char *path) {
	FILE *f = fopen(path, "re");
	if (f == NULL) {
		perror(path);
		return -1;
	}
	char line[512], shown[512];
	for (int n = 1; fgets(line, sizeof line, f) != NULL; n++) {
		char *key = trim(line);
		snprintf(shown, sizeof shown, "%s", key);
		if (*key == '\0' || *key == '#') continue;
		char *equals = strchr(key, '=');
		if (equals != NULL) *equals = '\0';
		if (equals == NULL || !set(s, trim(key), trim(equals + 1))) {
			fprintf(stderr, "fakenvml: %s:%d: not understood: %s\n", path, n, shown);
			fclose(f);
			return -1;
		}
	}
	fclose(f);
	return 0;
}
