//go:build linux && cgo

package nvml

import "github.com/NVIDIA/go-nvml/pkg/nvml"

// device is the part of go-nvml's Device that is used. Every call goes through a caller,
// which looks whether the library has the function.
type device interface {
	GetUUID() (string, nvml.Return)
	GetSerial() (string, nvml.Return)
	GetName() (string, nvml.Return)
	GetBrand() (nvml.BrandType, nvml.Return)
	GetArchitecture() (nvml.DeviceArchitecture, nvml.Return)
	GetBoardPartNumber() (string, nvml.Return)
	GetVbiosVersion() (string, nvml.Return)
	GetPciInfo() (nvml.PciInfo, nvml.Return)
	GetNumGpuCores() (int, nvml.Return)
	GetMigMode() (int, int, nvml.Return)
	GetEccMode() (nvml.EnableState, nvml.EnableState, nvml.Return)
	GetPersistenceMode() (nvml.EnableState, nvml.Return)
	GetComputeMode() (nvml.ComputeMode, nvml.Return)
	GetVirtualizationMode() (nvml.GpuVirtualizationMode, nvml.Return)
	GetInforomImageVersion() (string, nvml.Return)
	ValidateInforom() nvml.Return
	GetMinorNumber() (int, nvml.Return)
	GetModuleId() (int, nvml.Return)
	GetMultiGpuBoard() (int, nvml.Return)
	GetBoardId() (uint32, nvml.Return)
	GetPlatformInfo() (nvml.PlatformInfo, nvml.Return)
	GetActiveVgpus() ([]nvml.VgpuInstance, nvml.Return)
	GetGridLicensableFeatures() (nvml.GridLicensableFeatures, nvml.Return)

	GetUtilizationRates() (nvml.Utilization, nvml.Return)
	GetEncoderUtilization() (uint32, uint32, nvml.Return)
	GetDecoderUtilization() (uint32, uint32, nvml.Return)
	GetJpgUtilization() (uint32, uint32, nvml.Return)
	GetOfaUtilization() (uint32, uint32, nvml.Return)
	GetBAR1MemoryInfo() (nvml.BAR1Memory, nvml.Return)
	GetMemoryInfo() (nvml.Memory, nvml.Return)
	GetMemoryInfo_v2() (nvml.Memory_v2, nvml.Return)
	GetTemperature(nvml.TemperatureSensors) (uint32, nvml.Return)
	GetMarginTemperature() (nvml.MarginTemperature, nvml.Return)
	GetTemperatureThreshold(nvml.TemperatureThresholds) (uint32, nvml.Return)
	GetPowerUsage() (uint32, nvml.Return)
	GetPowerManagementLimit() (uint32, nvml.Return)
	GetPowerManagementDefaultLimit() (uint32, nvml.Return)
	GetPowerManagementLimitConstraints() (uint32, uint32, nvml.Return)
	GetEnforcedPowerLimit() (uint32, nvml.Return)
	GetTotalEnergyConsumption() (uint64, nvml.Return)
	GetClockInfo(nvml.ClockType) (uint32, nvml.Return)
	GetMaxClockInfo(nvml.ClockType) (uint32, nvml.Return)
	GetMaxCustomerBoostClock(nvml.ClockType) (uint32, nvml.Return)
	GetApplicationsClock(nvml.ClockType) (uint32, nvml.Return)
	GetCurrentClocksEventReasons() (uint64, nvml.Return)
	GetCurrentClocksThrottleReasons() (uint64, nvml.Return)
	GetPerformanceState() (nvml.Pstates, nvml.Return)
	GetNumFans() (int, nvml.Return)
	GetFanSpeed() (uint32, nvml.Return)
	GetFanSpeed_v2(int) (uint32, nvml.Return)
	GetComputeRunningProcesses() ([]nvml.ProcessInfo, nvml.Return)
	GetGraphicsRunningProcesses() ([]nvml.ProcessInfo, nvml.Return)
	GetMPSComputeRunningProcesses() ([]nvml.ProcessInfo, nvml.Return)

	GetViolationStatus(nvml.PerfPolicyType) (nvml.ViolationTime, nvml.Return)
	GetTotalEccErrors(nvml.MemoryErrorType, nvml.EccCounterType) (uint64, nvml.Return)
	GetMemoryErrorCounter(nvml.MemoryErrorType, nvml.EccCounterType, nvml.MemoryLocation) (uint64, nvml.Return)
	GetSramEccErrorStatus() (nvml.EccSramErrorStatus, nvml.Return)
	GetRemappedRows() (int, int, bool, bool, nvml.Return)
	GetRowRemapperHistogram() (nvml.RowRemapperHistogramValues, nvml.Return)
	GetRepairStatus() (nvml.RepairStatus, nvml.Return)
	GetUnrepairableMemoryFlag_v1() (nvml.UnrepairableMemoryStatus_v1, nvml.Return)
	GetCurrPcieLinkGeneration() (int, nvml.Return)
	GetMaxPcieLinkGeneration() (int, nvml.Return)
	GetCurrPcieLinkWidth() (int, nvml.Return)
	GetMaxPcieLinkWidth() (int, nvml.Return)
	GetPcieReplayCounter() (int, nvml.Return)
	GetNvLinkState(int) (nvml.EnableState, nvml.Return)
	GetNvLinkErrorCounter(int, nvml.NvLinkErrorCounter) (uint64, nvml.Return)
	GetFieldValues([]nvml.FieldValue) nvml.Return
	GetGpuFabricInfo() (nvml.GpuFabricInfo, nvml.Return)
	GetGpuFabricInfoV() nvml.GpuFabricInfoHandler
	GpmQueryDeviceSupport() (nvml.GpmSupport, nvml.Return)
	GetMaxMigDeviceCount() (int, nvml.Return)
	GetMigDeviceHandleByIndex(int) (nvml.Device, nvml.Return)
	GetGpuInstanceById(int) (nvml.GpuInstance, nvml.Return)
	GpmMigSampleGet(int, nvml.GpmSample) nvml.Return
	GpmSampleGet(nvml.GpmSample) nvml.Return
	RegisterEvents(uint64, nvml.EventSet) nvml.Return
}

var _ device = nvml.Device(nil)
