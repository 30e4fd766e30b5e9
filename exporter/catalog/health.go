package catalog

import (
	"cmp"
	"slices"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// memoryHealthFamilies tell of ECC, retired pages, remapped rows and what the driver asks for.
func memoryHealthFamilies() []Family {
	return []Family{
		{
			Name: "gpu_ecc_errors_total", Kind: Counter, Labels: []string{"type", "counter", "location"},
			Help:     "Memory errors by type (corrected, uncorrected), counter (volatile: since the driver was loaded; aggregate: over the card's life) and location.",
			Hardware: "cards with ECC switched on", Source: "nvmlDeviceGetTotalEccErrors, nvmlDeviceGetMemoryErrorCounter",
			GPU: eccErrors,
		},
		{
			Name: "gpu_retired_pages", Kind: Gauge, Labels: []string{"cause"},
			Help:     "Memory pages taken out of use: single_bit, double_bit.",
			Hardware: "before Ampere", Source: "nvmlDeviceGetRetiredPages",
			GPU: each(func(r *gpu.Readings) map[string]float64 { return r.RetiredPages }),
		},
		{
			Name: "gpu_retired_pages_pending", Kind: Gauge,
			Help:     "1 where pages wait for the next reset to be taken out of use.",
			Hardware: "before Ampere", Source: "nvmlDeviceGetRetiredPagesPendingStatus",
			GPU: flag(func(r *gpu.Readings) gpu.Maybe[bool] { return r.RetiredPagesPending }),
		},
		{
			Name: "gpu_remapped_rows", Kind: Gauge, Labels: []string{"type"},
			Help:     "Memory rows replaced by spare ones: correctable, uncorrectable.",
			Hardware: "Ampere and later, with HBM", Source: "nvmlDeviceGetRemappedRows",
			GPU: each(func(r *gpu.Readings) map[string]float64 { return r.RemappedRows }),
		},
		{
			Name: "gpu_remapped_rows_pending", Kind: Gauge,
			Help:     "1 where a row waits for the next reset to be replaced.",
			Hardware: "Ampere and later, with HBM", Source: "nvmlDeviceGetRemappedRows",
			GPU: flag(func(r *gpu.Readings) gpu.Maybe[bool] { return r.RemapPending }),
		},
		{
			Name: "gpu_row_remap_failure", Kind: Gauge,
			Help:     "1 where a row could not be replaced: the card is due for return.",
			Hardware: "Ampere and later, with HBM", Source: "nvmlDeviceGetRemappedRows",
			GPU: flag(func(r *gpu.Readings) gpu.Maybe[bool] { return r.RemapFailure }),
		},
		{
			Name: "gpu_recovery_action", Kind: Gauge, Stays: true, // it is the verdict on a card that gives no readings
			Help:     "What the driver asks for: 0 nothing, 1 reset, 2 reboot the node, 3 drain peer-to-peer traffic, 4 drain, then reset, 5 recover the IMEX domain, 6 reset the bus, 7 reboot the system; other numbers pass through. 1, 2, 6 and 7 make the state reset_required.",
			Hardware: "newer drivers", Source: "field 230, NVML_FI_DEV_GET_GPU_RECOVERY_ACTION",
			GPU: reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.RecoveryAction }),
		},
	}
}

func eccErrors(g *gpu.GPU, emit Emit) {
	keys := make([]gpu.ECCKey, 0, len(g.Readings.ECCErrors))
	for key := range g.Readings.ECCErrors {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b gpu.ECCKey) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Counter, b.Counter), cmp.Compare(a.Location, b.Location))
	})
	for _, key := range keys {
		emit(g.Readings.ECCErrors[key], key.Type, key.Counter, key.Location)
	}
}
