// nvmlDeviceGetFieldValues. A field that the scenario sets by its id counts; else the ids
// that repeat a getter answer as the getter does.
#include "fake.h"

#include <string.h>

struct alias {
	int number, type;
};

static const struct alias aliases[MAX_FIELDS] = {
	[NVML_FI_DEV_MEMORY_TEMP] = {NUM_memory_temperature_c, NVML_VALUE_TYPE_UNSIGNED_INT},
	[NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION] = {NUM_energy_mj, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG},
	[NVML_FI_DEV_GET_GPU_RECOVERY_ACTION] = {NUM_recovery_action, NVML_VALUE_TYPE_UNSIGNED_INT},
	[NVML_FI_DEV_RETIRED_SBE] = {NUM_retired_single_bit, NVML_VALUE_TYPE_UNSIGNED_INT},
	[NVML_FI_DEV_RETIRED_DBE] = {NUM_retired_double_bit, NVML_VALUE_TYPE_UNSIGNED_INT},
	[NVML_FI_DEV_RETIRED_PENDING] = {NUM_retired_pending, NVML_VALUE_TYPE_UNSIGNED_INT},
	[NVML_FI_DEV_REMAPPED_COR] = {NUM_remapped_correctable, NVML_VALUE_TYPE_UNSIGNED_INT},
	[NVML_FI_DEV_REMAPPED_UNC] = {NUM_remapped_uncorrectable, NVML_VALUE_TYPE_UNSIGNED_INT},
	[NVML_FI_DEV_REMAPPED_PENDING] = {NUM_remap_pending, NVML_VALUE_TYPE_UNSIGNED_INT},
	[NVML_FI_DEV_REMAPPED_FAILURE] = {NUM_remap_failure, NVML_VALUE_TYPE_UNSIGNED_INT},
	[NVML_FI_DEV_PCIE_REPLAY_COUNTER] = {NUM_pcie_replays, NVML_VALUE_TYPE_UNSIGNED_INT},
	[NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL] = {NUM_nvlink_crc_flit, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG},
	[NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL] = {NUM_nvlink_crc_data, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG},
	[NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL] = {NUM_nvlink_replay, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG},
	[NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL] = {NUM_nvlink_recovery, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG},
	[NVML_FI_DEV_PERF_POLICY_POWER] = {NUM_violation_power_ns, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG},
	[NVML_FI_DEV_PERF_POLICY_THERMAL] = {NUM_violation_thermal_ns, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG},
	[NVML_FI_DEV_PERF_POLICY_SYNC_BOOST] = {NUM_violation_sync_boost_ns, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG},
	[NVML_FI_DEV_PERF_POLICY_BOARD_LIMIT] = {NUM_violation_board_limit_ns, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG},
	[NVML_FI_DEV_PERF_POLICY_LOW_UTILIZATION] = {NUM_violation_low_utilization_ns, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG},
	[NVML_FI_DEV_PERF_POLICY_RELIABILITY] = {NUM_violation_reliability_ns, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG},
};

static void put(nvmlFieldValue_t *out, int64_t v, int type) {
	out->nvmlReturn = NVML_SUCCESS;
	out->valueType = (nvmlValueType_t)type;
	memset(&out->value, 0, sizeof out->value);
	switch (type) {
	case NVML_VALUE_TYPE_DOUBLE: out->value.dVal = (double)v; break;
	case NVML_VALUE_TYPE_UNSIGNED_INT: out->value.uiVal = (unsigned int)v; break;
	case NVML_VALUE_TYPE_UNSIGNED_LONG: out->value.ulVal = (unsigned long)v; break;
	case NVML_VALUE_TYPE_SIGNED_LONG_LONG: out->value.sllVal = v; break;
	case NVML_VALUE_TYPE_SIGNED_INT: out->value.siVal = (int)v; break;
	case NVML_VALUE_TYPE_UNSIGNED_SHORT: out->value.usVal = (unsigned short)v; break;
	default: out->value.ullVal = (unsigned long long)v;
	}
}

// by_link tells fields whose scope is a link.
static int by_link(unsigned int id) {
	return (id >= NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY && id <= NVML_FI_DEV_NVLINK_GET_VERSION) ||
	       (id >= NVML_FI_DEV_NVLINK_COUNT_XMIT_PACKETS && id <= NVML_FI_DEV_NVLINK_COUNT_SYMBOL_BER);
}

// find returns the field in its scope. One of a link answers for every link that there is,
// unless the scenario says otherwise for that one; the throughput counters, in scope UINT_MAX
// alone, as sums; other fields in no other scope than the scenario gives.
static const struct field *find(const struct card *c, const nvmlFieldValue_t *out) {
	static const struct field none, bad = {.ret = {.v = NVML_ERROR_INVALID_ARGUMENT, .set = 1}};
	for (int i = 0; i < c->scopes; i++)
		if (c->scoped[i].id == out->fieldId && c->scoped[i].scope == (int64_t)out->scopeId) return &c->scoped[i].field;
	if (by_link(out->fieldId)) return out->scopeId < MAX_LINKS && c->link[out->scopeId].set ? &c->field[out->fieldId] : &bad;
	if (out->fieldId >= NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX && out->fieldId <= NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_RX)
		return out->scopeId == 0xFFFFFFFF ? &c->field[out->fieldId] : &none;
	return out->scopeId == 0 ? &c->field[out->fieldId] : &none;
}

static void answer(const struct card *c, nvmlFieldValue_t *out) {
	out->timestamp = 0;
	out->latencyUsec = 1;
	out->nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
	if (out->fieldId >= MAX_FIELDS) {
		out->nvmlReturn = NVML_ERROR_INVALID_ARGUMENT;
		return;
	}
	const struct field *f = find(c, out);
	const struct alias *a = &aliases[out->fieldId];
	if (f->ret.set && f->ret.v != NVML_SUCCESS) {
		out->nvmlReturn = (nvmlReturn_t)f->ret.v;
	} else if (f->value.set) {
		put(out, f->value.v, f->type.set ? (int)f->type.v : NVML_VALUE_TYPE_UNSIGNED_LONG_LONG);
	} else if (out->fieldId == NVML_FI_DEV_NVLINK_LINK_COUNT && c->link[0].set) {
		int links = 0;
		while (links < MAX_LINKS && c->link[links].set) links++;
		put(out, links, NVML_VALUE_TYPE_UNSIGNED_INT);
	} else if (a->type != 0 && c->number[a->number].set && out->scopeId == 0) {
		put(out, a->number == NUM_energy_mj ? fake_energy(c) : c->number[a->number].v, a->type);
	}
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *values) {
	ENTER_DEVICE(nvmlDeviceGetFieldValues, device);
	if (values == NULL || count < 1) return NVML_ERROR_INVALID_ARGUMENT;
	const struct value *limit = &call.card->number[NUM_field_limit];
	for (int i = 0; i < count; i++)
		if (limit->set && values[i].fieldId >= limit->v) return NVML_ERROR_INVALID_ARGUMENT;
	for (int i = 0; i < count; i++) answer(call.card, &values[i]);
	return NVML_SUCCESS;
}
