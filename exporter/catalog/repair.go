package catalog

import (
	"cmp"
	"slices"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// repairFamilies tell what the memories of a card are repaired with, and what SRAM errors mean.
func repairFamilies() []Family {
	const rows = "nvmlDeviceGetRowRemapperHistogram"
	return []Family{
		{
			Name: "gpu_ecc_sram_uncorrected_errors_total", Kind: Counter, Labels: []string{"counter", "cause"},
			Help:     "Uncorrected SRAM errors by cause: parity, secded. counter is volatile (since the driver was loaded) or aggregate (over the card's life).",
			Hardware: "Ampere and later, with ECC", Source: "nvmlDeviceGetSramEccErrorStatus",
			GPU: sramErrors,
		},
		{
			Name: "gpu_ecc_sram_unit_errors_total", Kind: Counter, Labels: []string{"unit"},
			Help:     "Uncorrected SRAM errors over the card's life by the unit they hit: l2, sm, pcie, microcontroller, other.",
			Hardware: "Ampere and later, with ECC", Source: "nvmlDeviceGetSramEccErrorStatus",
			GPU: each(func(r *gpu.Readings) map[string]float64 { return r.SRAM.UnitErrorsTotal }),
		},
		{
			Name: "gpu_ecc_sram_threshold_exceeded", Kind: Gauge,
			Help:     "1 where there were more uncorrected SRAM errors than the maker's field diagnosis accepts: the card is due for it.",
			Hardware: "Ampere and later, with ECC", Source: "nvmlDeviceGetSramEccErrorStatus",
			GPU: flag(func(r *gpu.Readings) gpu.Maybe[bool] { return r.SRAM.ThresholdExceeded }),
		},
		{
			Name: "gpu_row_remap_banks", Kind: Gauge, Labels: []string{"availability"},
			Help:     "Memory banks by how many of their spare rows are left: max (all), high, partial, low, none.",
			Hardware: "Ampere and later, with HBM", Source: rows,
			GPU: each(func(r *gpu.Readings) map[string]float64 { return r.Repair.RowBanks }),
		},
		{
			Name: "gpu_remapped_rows_inactive", Kind: Gauge, Labels: []string{"type"},
			Help:     "Replacements of memory rows that are not in use: correctable, uncorrectable.",
			Hardware: "newer drivers", Source: "fields NVML_FI_DEV_REMAPPED_ROWS_COR_INACTIVE, _UNC_INACTIVE",
			GPU: each(func(r *gpu.Readings) map[string]float64 { return r.Repair.InactiveRows }),
		},
		{
			Name: "gpu_remapped_banks", Kind: Gauge, Labels: []string{"use"},
			Help:     "Memory banks replaced by spare ones: active, inactive.",
			Hardware: "Blackwell and later", Source: "fields NVML_FI_DEV_ACTIVE_BANK_REMAPPINGS, NVML_FI_DEV_INACTIVE_BANK_REMAPPINGS",
			GPU: each(func(r *gpu.Readings) map[string]float64 { return r.Repair.Banks }),
		},
		{
			Name: "gpu_remapped_banks_pending", Kind: Gauge,
			Help:     "1 where a bank waits for the next reset to be replaced.",
			Hardware: "Blackwell and later", Source: "field NVML_FI_DEV_PENDING_BANK_REMAPPING",
			GPU: flag(func(r *gpu.Readings) gpu.Maybe[bool] { return r.Repair.BankPending }),
		},
		{
			Name: "gpu_bank_remap_groups", Kind: Gauge, Labels: []string{"availability"},
			Help:     "Groups of memory banks by the spare banks they have left: max (all), none.",
			Hardware: "Blackwell and later", Source: "fields NVML_FI_DEV_BANK_REMAPPER_HISTOGRAM_MAX, _NONE",
			GPU: each(func(r *gpu.Readings) map[string]float64 { return r.Repair.BankGroups }),
		},
		{
			Name: "gpu_channel_repair_pending", Kind: Gauge,
			Help:     "1 where a memory channel waits for the next reset to be repaired.",
			Hardware: "Ampere and later, newer drivers", Source: "nvmlDeviceGetRepairStatus",
			GPU: flag(func(r *gpu.Readings) gpu.Maybe[bool] { return r.Repair.ChannelPending }),
		},
		{
			Name: "gpu_tpc_repair_pending", Kind: Gauge,
			Help:     "1 where a cluster of SMs waits for the next reset to be repaired.",
			Hardware: "Ampere and later, newer drivers", Source: "nvmlDeviceGetRepairStatus",
			GPU: flag(func(r *gpu.Readings) gpu.Maybe[bool] { return r.Repair.TPCPending }),
		},
		{
			Name: "gpu_unrepairable_memory", Kind: Gauge,
			Help:     "1 where memory failed that nothing is left to repair with: the card is due for return.",
			Hardware: "Hopper and later, newer drivers", Source: "nvmlDeviceGetUnrepairableMemoryFlag_v1",
			GPU: flag(func(r *gpu.Readings) gpu.Maybe[bool] { return r.Repair.UnrepairableMemory }),
		},
	}
}

func sramErrors(g *gpu.GPU, emit Emit) {
	errors := g.Readings.SRAM.ErrorsTotal
	keys := make([]gpu.SRAMKey, 0, len(errors))
	for key := range errors {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b gpu.SRAMKey) int {
		return cmp.Or(cmp.Compare(a.Counter, b.Counter), cmp.Compare(a.Cause, b.Cause))
	})
	for _, key := range keys {
		emit(errors[key], key.Counter, key.Cause)
	}
}
