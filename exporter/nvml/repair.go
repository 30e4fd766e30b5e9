//go:build linux && cgo

package nvml

import (
	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// maxRows bounds counts of pages, rows and banks.
const maxRows = 1e6

func retiredPages(r *gpu.Readings) map[string]float64 { return r.RetiredPages }
func remappedRows(r *gpu.Readings) map[string]float64 { return r.RemappedRows }
func inactiveRows(r *gpu.Readings) map[string]float64 { return r.Repair.InactiveRows }
func banks(r *gpu.Readings) map[string]float64        { return r.Repair.Banks }
func bankGroups(r *gpu.Readings) map[string]float64   { return r.Repair.BankGroups }

// rowFields tell of retired pages (before Ampere), remapped rows (since) and remapped banks
// (since Blackwell).
var rowFields = []field{
	{id: nvml.FI_DEV_RETIRED_SBE, high: maxRows, scale: 1, put: into(retiredPages, "single_bit")},
	{id: nvml.FI_DEV_RETIRED_DBE, high: maxRows, scale: 1, put: into(retiredPages, "double_bit")},
	{id: nvml.FI_DEV_RETIRED_PENDING, high: 1, scale: 1, put: yesNo(func(r *gpu.Readings) *gpu.Maybe[bool] { return &r.RetiredPagesPending })},
	{id: nvml.FI_DEV_REMAPPED_COR, high: maxRows, scale: 1, put: into(remappedRows, "correctable")},
	{id: nvml.FI_DEV_REMAPPED_UNC, high: maxRows, scale: 1, put: into(remappedRows, "uncorrectable")},
	{id: nvml.FI_DEV_REMAPPED_PENDING, high: 1, scale: 1, put: yesNo(func(r *gpu.Readings) *gpu.Maybe[bool] { return &r.RemapPending })},
	{id: nvml.FI_DEV_REMAPPED_FAILURE, high: 1, scale: 1, put: yesNo(func(r *gpu.Readings) *gpu.Maybe[bool] { return &r.RemapFailure })},
	{id: nvml.FI_DEV_REMAPPED_ROWS_COR_INACTIVE, high: maxRows, scale: 1, put: into(inactiveRows, "correctable")},
	{id: nvml.FI_DEV_REMAPPED_ROWS_UNC_INACTIVE, high: maxRows, scale: 1, put: into(inactiveRows, "uncorrectable")},
	{id: nvml.FI_DEV_ACTIVE_BANK_REMAPPINGS, high: maxRows, scale: 1, put: into(banks, "active")},
	{id: nvml.FI_DEV_INACTIVE_BANK_REMAPPINGS, high: maxRows, scale: 1, put: into(banks, "inactive")},
	{id: nvml.FI_DEV_BANK_REMAPPER_HISTOGRAM_MAX, high: maxRows, scale: 1, put: into(bankGroups, "max")},
	{id: nvml.FI_DEV_BANK_REMAPPER_HISTOGRAM_NONE, high: maxRows, scale: 1, put: into(bankGroups, "none")},
	{id: nvml.FI_DEV_PENDING_BANK_REMAPPING, high: 1, scale: 1, put: yesNo(func(r *gpu.Readings) *gpu.Maybe[bool] { return &r.Repair.BankPending })},
}

func readRows(c *caller, d device, f *fixed, r *gpu.Readings) {
	r.RetiredPages, r.RemappedRows = map[string]float64{}, map[string]float64{}
	r.Repair.InactiveRows, r.Repair.Banks, r.Repair.BankGroups = map[string]float64{}, map[string]float64{}, map[string]float64{}
	f.rows.read(c, d, r)
	if !f.rows.asks(nvml.FI_DEV_REMAPPED_COR) {
		readRemappedRows(c, d, r)
	}
	const histogram = "nvmlDeviceGetRowRemapperHistogram"
	if h, ok := value(c, histogram, d.GetRowRemapperHistogram); ok {
		r.Repair.RowBanks = map[string]float64{}
		for name, n := range map[string]uint32{"max": h.Max, "high": h.High, "partial": h.Partial, "low": h.Low, "none": h.None} {
			put(r.Repair.RowBanks, name, c.within(histogram, float64(n), 0, maxRows))
		}
	}
}

// readRemappedRows is the way of drivers that have no fields for remapped rows.
func readRemappedRows(c *caller, d device, r *gpu.Readings) {
	type rows struct {
		correctable, uncorrectable int
		pending, failure           bool
	}
	const call = "nvmlDeviceGetRemappedRows"
	if n, ok := value(c, call, func() (n rows, ret nvml.Return) {
		n.correctable, n.uncorrectable, n.pending, n.failure, ret = d.GetRemappedRows()
		return n, ret
	}); ok {
		put(r.RemappedRows, "correctable", c.within(call, float64(n.correctable), 0, maxRows))
		put(r.RemappedRows, "uncorrectable", c.within(call, float64(n.uncorrectable), 0, maxRows))
		r.RemapPending, r.RemapFailure = gpu.Some(n.pending), gpu.Some(n.failure)
	}
}

// readRepair reads what waits for repair, and what cannot be repaired any more.
func readRepair(c *caller, d device, r *gpu.Readings) {
	const status, unrepairable = "nvmlDeviceGetRepairStatus", "nvmlDeviceGetUnrepairableMemoryFlag_v1"
	if s, ok := value(c, status, d.GetRepairStatus); ok {
		r.Repair.ChannelPending = truth(c, status, s.BChannelRepairPending)
		r.Repair.TPCPending = truth(c, status, s.BTpcRepairPending)
	}
	if s, ok := value(c, unrepairable, d.GetUnrepairableMemoryFlag_v1); ok {
		r.Repair.UnrepairableMemory = truth(c, unrepairable, s.BUnrepairableMemory)
	}
}

// readSRAM reads what uncorrected SRAM errors were.
func readSRAM(c *caller, d device) gpu.SRAM {
	const call = "nvmlDeviceGetSramEccErrorStatus"
	s, ok := value(c, call, d.GetSramEccErrorStatus)
	if !ok {
		return gpu.SRAM{}
	}
	sram := gpu.SRAM{
		ErrorsTotal: map[gpu.SRAMKey]float64{}, UnitErrorsTotal: map[string]float64{},
		ThresholdExceeded: truth(c, call, s.BThresholdExceeded),
	}
	for key, n := range map[gpu.SRAMKey]uint64{
		{Counter: "volatile", Cause: "parity"}: s.VolatileUncParity, {Counter: "volatile", Cause: "secded"}: s.VolatileUncSecDed,
		{Counter: "aggregate", Cause: "parity"}: s.AggregateUncParity, {Counter: "aggregate", Cause: "secded"}: s.AggregateUncSecDed,
	} {
		if v, ok := c.within(call, float64(n), 0, maxCount).Get(); ok {
			sram.ErrorsTotal[key] = v
		}
	}
	for unit, n := range map[string]uint64{"l2": s.AggregateUncBucketL2, "sm": s.AggregateUncBucketSm, "pcie": s.AggregateUncBucketPcie,
		"microcontroller": s.AggregateUncBucketMcu, "other": s.AggregateUncBucketOther} {
		put(sram.UnitErrorsTotal, unit, c.within(call, float64(n), 0, maxCount))
	}
	return sram
}

// truth is the driver's 0 or 1; what is neither is dropped.
func truth(c *caller, call string, v uint32) gpu.Maybe[bool] {
	if n, ok := c.within(call, float64(v), 0, 1).Get(); ok {
		return gpu.Some(n == 1)
	}
	return gpu.Maybe[bool]{}
}
