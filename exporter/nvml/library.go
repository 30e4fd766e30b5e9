//go:build linux && cgo

package nvml

import (
	"fmt"
	"os"

	"github.com/NVIDIA/go-nvml/pkg/dl"
	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// needed are the functions without which nothing can be read.
var needed = []string{"nvmlInit_v2", "nvmlShutdown", "nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetUUID"}

// versioned lists the functions that go-nvml calls in the newest version it finds: one of
// these must be there.
var versioned = map[string][]string{
	"nvmlEventSetWait":                        {"nvmlEventSetWait_v2", "nvmlEventSetWait"},
	"nvmlDeviceGetAttributes":                 {"nvmlDeviceGetAttributes_v2", "nvmlDeviceGetAttributes"},
	"nvmlDeviceGetPciInfo":                    {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"},
	"nvmlDeviceGetComputeRunningProcesses":    inThreeVersions("nvmlDeviceGetComputeRunningProcesses"),
	"nvmlDeviceGetGraphicsRunningProcesses":   inThreeVersions("nvmlDeviceGetGraphicsRunningProcesses"),
	"nvmlDeviceGetMPSComputeRunningProcesses": inThreeVersions("nvmlDeviceGetMPSComputeRunningProcesses"),
}

func inThreeVersions(name string) []string { return []string{name + "_v3", name + "_v2", name} }

// plain lists all other functions that are ever called.
var plain = []string{
	"nvmlSystemGetDriverVersion", "nvmlSystemGetNVMLVersion", "nvmlSystemGetCudaDriverVersion_v2",
	"nvmlEventSetCreate", "nvmlEventSetFree", "nvmlDeviceRegisterEvents",
	"nvmlDeviceGetSerial", "nvmlDeviceGetName", "nvmlDeviceGetBrand", "nvmlDeviceGetArchitecture",
	"nvmlDeviceGetBoardPartNumber", "nvmlDeviceGetVbiosVersion", "nvmlDeviceGetNumGpuCores",
	"nvmlDeviceGetMigMode", "nvmlDeviceGetEccMode", "nvmlDeviceGetPersistenceMode",
	"nvmlDeviceGetUtilizationRates", "nvmlDeviceGetEncoderUtilization", "nvmlDeviceGetDecoderUtilization",
	"nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetTemperature",
	"nvmlDeviceGetMarginTemperature", "nvmlDeviceGetTemperatureThreshold", "nvmlDeviceGetPowerUsage",
	"nvmlDeviceGetPowerManagementLimit", "nvmlDeviceGetPowerManagementDefaultLimit",
	"nvmlDeviceGetPowerManagementLimitConstraints", "nvmlDeviceGetEnforcedPowerLimit",
	"nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetClockInfo", "nvmlDeviceGetMaxClockInfo",
	"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons",
	"nvmlDeviceGetViolationStatus", "nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetMemoryErrorCounter",
	"nvmlDeviceGetRemappedRows", "nvmlDeviceGetCurrPcieLinkGeneration", "nvmlDeviceGetMaxPcieLinkGeneration",
	"nvmlDeviceGetCurrPcieLinkWidth", "nvmlDeviceGetMaxPcieLinkWidth", "nvmlDeviceGetPcieReplayCounter",
	"nvmlDeviceGetNvLinkState", "nvmlDeviceGetNvLinkErrorCounter", "nvmlDeviceGetPerformanceState",
	"nvmlDeviceGetNumFans", "nvmlDeviceGetFanSpeed", "nvmlDeviceGetFanSpeed_v2",
	"nvmlGpmQueryDeviceSupport", "nvmlGpmSampleAlloc", "nvmlGpmSampleFree", "nvmlGpmSampleGet", "nvmlGpmMetricsGet",
	"nvmlGpmMigSampleGet", "nvmlDeviceGetMaxMigDeviceCount", "nvmlDeviceGetMigDeviceHandleByIndex",
	"nvmlDeviceGetGpuInstanceId", "nvmlDeviceGetComputeInstanceId", "nvmlDeviceGetGpuInstanceById", "nvmlGpuInstanceGetInfo",
	"nvmlDeviceGetFieldValues", "nvmlDeviceGetGpuFabricInfo", "nvmlDeviceGetGpuFabricInfoV",
	"nvmlDeviceGetJpgUtilization", "nvmlDeviceGetOfaUtilization", "nvmlDeviceGetBAR1MemoryInfo",
	"nvmlDeviceGetMaxCustomerBoostClock", "nvmlDeviceGetApplicationsClock", "nvmlDeviceGetComputeMode",
	"nvmlDeviceGetVirtualizationMode", "nvmlDeviceGetInforomImageVersion", "nvmlDeviceValidateInforom",
	"nvmlDeviceGetMinorNumber", "nvmlDeviceGetModuleId", "nvmlDeviceGetMultiGpuBoard", "nvmlDeviceGetBoardId",
	"nvmlDeviceGetPlatformInfo", "nvmlDeviceGetActiveVgpus", "nvmlDeviceGetGridLicensableFeatures_v4",
	"nvmlDeviceGetSramEccErrorStatus", "nvmlDeviceGetRowRemapperHistogram", "nvmlDeviceGetRepairStatus",
	"nvmlDeviceGetUnrepairableMemoryFlag_v1", "nvmlSystemGetConfComputeState",
	"nvmlDeviceGetCudaComputeCapability", "nvmlDeviceGetGspFirmwareMode", "nvmlDeviceGetGspFirmwareVersion",
	"nvmlDeviceGetInforomVersion", "nvmlDeviceGetC2cModeInfoV", "nvmlDeviceGetAccountingMode", "nvmlDeviceGetDisplayActive",
	"nvmlDeviceGetDisplayMode", "nvmlDeviceGetGpuMaxPcieLinkGeneration", "nvmlDeviceGetDefaultApplicationsClock",
	"nvmlDeviceGetSupportedClocksEventReasons", "nvmlDeviceGetSupportedClocksThrottleReasons",
	"nvmlDeviceGetEncoderStats", "nvmlDeviceGetFBCStats",
}

// library is the driver's library, loaded.
type library struct {
	api nvml.Interface
	has map[string]bool // by function: whether it may be called
	// file is the path by which the library was found, and loaded what lay there; nil where that
	// cannot be told.
	file   string
	loaded os.FileInfo
}

// openLibrary loads the library and looks up every function. It is loaded with the flags of
// go-nvml, which finds it open when it loads it for itself.
func openLibrary(path string) (*library, error) {
	handle := dl.New(path, dl.RTLD_LAZY|dl.RTLD_GLOBAL)
	if err := handle.Open(); err != nil {
		return nil, fmt.Errorf("loading the driver library: %w", err)
	}
	// Never closed: calls are bound to the place where the library was first loaded.
	there := func(name string) bool { return handle.Lookup(name) == nil }
	lib := &library{
		api: nvml.New(nvml.WithLibraryPath(path)),
		has: make(map[string]bool, len(needed)+len(plain)+len(versioned)),
	}
	lib.file, lib.loaded = fileOf(path)
	for _, name := range needed {
		if !there(name) {
			return nil, fmt.Errorf("the driver library %s has no %s: it is too old, or not NVIDIA's", path, name)
		}
		lib.has[name] = true
	}
	for _, name := range plain {
		lib.has[name] = there(name)
	}
	for call, names := range versioned {
		for _, name := range names {
			lib.has[call] = lib.has[call] || there(name)
		}
	}
	if listsAreWider(there) {
		for _, call := range processLists {
			lib.has[call] = false
		}
	}
	return lib, nil
}

// listsAreWider tells a library whose lists have longer entries than their version says:
// drivers 535.43 to 535.86 added a field to version 3 of the entry and took it back later.
// Such a list would be written past the end of our memory, so it is never asked for. These
// drivers are the ones that know confidential computing's memory and not yet the list of
// details into which the field moved.
func listsAreWider(there func(name string) bool) bool {
	return there("nvmlDeviceGetComputeRunningProcesses_v3") &&
		there("nvmlDeviceGetConfComputeMemSizeInfo") && !there("nvmlDeviceGetRunningProcessDetailList")
}
