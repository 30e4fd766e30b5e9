//go:build linux && cgo

package nvml

import (
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// returnNames are our own words for the driver's codes: asking the driver for its words is
// one more call that may be missing, or hang.
var returnNames = map[nvml.Return]string{
	nvml.ERROR_UNINITIALIZED:             "not initialized",
	nvml.ERROR_INVALID_ARGUMENT:          "invalid argument",
	nvml.ERROR_NOT_SUPPORTED:             "not supported",
	nvml.ERROR_NO_PERMISSION:             "no permission",
	nvml.ERROR_ALREADY_INITIALIZED:       "already initialized",
	nvml.ERROR_NOT_FOUND:                 "not found",
	nvml.ERROR_INSUFFICIENT_SIZE:         "buffer too small",
	nvml.ERROR_INSUFFICIENT_POWER:        "power cables not attached",
	nvml.ERROR_DRIVER_NOT_LOADED:         "driver not loaded",
	nvml.ERROR_TIMEOUT:                   "timeout",
	nvml.ERROR_IRQ_ISSUE:                 "interrupt issue",
	nvml.ERROR_LIBRARY_NOT_FOUND:         "library not found",
	nvml.ERROR_FUNCTION_NOT_FOUND:        "function not found",
	nvml.ERROR_CORRUPTED_INFOROM:         "corrupted InfoROM",
	nvml.ERROR_GPU_IS_LOST:               "GPU is lost",
	nvml.ERROR_RESET_REQUIRED:            "GPU requires a reset",
	nvml.ERROR_OPERATING_SYSTEM:          "blocked by the operating system",
	nvml.ERROR_LIB_RM_VERSION_MISMATCH:   "library and kernel driver are of two versions",
	nvml.ERROR_IN_USE:                    "in use",
	nvml.ERROR_MEMORY:                    "out of memory",
	nvml.ERROR_NO_DATA:                   "no data",
	nvml.ERROR_VGPU_ECC_NOT_SUPPORTED:    "no vGPU while ECC is on",
	nvml.ERROR_FREQ_NOT_SUPPORTED:        "clock not supported",
	nvml.ERROR_RESET_TYPE_NOT_SUPPORTED:  "kind of reset not supported",
	nvml.ERROR_INSUFFICIENT_RESOURCES:    "out of resources",
	nvml.ERROR_ARGUMENT_VERSION_MISMATCH: "argument version mismatch",
	nvml.ERROR_DEPRECATED:                "deprecated",
	nvml.ERROR_NOT_READY:                 "not ready",
	nvml.ERROR_GPU_NOT_FOUND:             "no GPU found",
	nvml.ERROR_INVALID_STATE:             "invalid state",
	nvml.ERROR_UNKNOWN:                   "unknown error",
}

// words names a return code.
func words(ret nvml.Return) string {
	if name, known := returnNames[ret]; known {
		return name
	}
	return fmt.Sprintf("error %d", int32(ret))
}

// says puts a call and its answer into one reason.
func says(call string, ret nvml.Return) string { return call + ": " + words(ret) }

// verdict is what a return code says beyond the one reading.
type verdict int

const (
	fine        verdict = iota
	unsupported         // this card does not answer this call; ask again only after a new start
	refused             // the reading is not to be had now
	cardFails           // the answer is about the card: answerOf tells which
	driverFails         // the answer is about the driver, for all cards
)

// judge sorts a return code.
func judge(ret nvml.Return) verdict {
	switch ret {
	case nvml.SUCCESS:
		return fine
	case nvml.ERROR_NOT_SUPPORTED, nvml.ERROR_FUNCTION_NOT_FOUND, nvml.ERROR_ARGUMENT_VERSION_MISMATCH,
		nvml.ERROR_DEPRECATED, nvml.ERROR_INVALID_ARGUMENT, nvml.ERROR_NO_PERMISSION, nvml.ERROR_VGPU_ECC_NOT_SUPPORTED:
		return unsupported
	case nvml.ERROR_GPU_IS_LOST, nvml.ERROR_RESET_REQUIRED:
		return cardFails
	case nvml.ERROR_UNINITIALIZED, nvml.ERROR_DRIVER_NOT_LOADED, nvml.ERROR_LIBRARY_NOT_FOUND, nvml.ERROR_LIB_RM_VERSION_MISMATCH:
		return driverFails
	}
	return refused
}

// answerOf is the class of a code that concerns a card or the driver as a whole.
func answerOf(ret nvml.Return) gpu.Answer {
	switch judge(ret) {
	case fine:
		return gpu.AnswerOK
	case driverFails:
		return gpu.AnswerDriverDown
	case cardFails:
		if ret == nvml.ERROR_RESET_REQUIRED {
			return gpu.AnswerResetRequired
		}
		return gpu.AnswerLost
	}
	return gpu.AnswerError
}

// driverState tells what a refusal of Init, or of a later call, says of the driver.
func driverState(call string, ret nvml.Return) (gpu.DriverState, string) {
	switch ret {
	case nvml.ERROR_LIBRARY_NOT_FOUND:
		return gpu.DriverNoLibrary, says(call, ret) + ": install the NVIDIA driver, or name the library's path"
	case nvml.ERROR_UNINITIALIZED:
		return gpu.DriverNotLoaded, says(call, ret) + ": the kernel driver went or was loaded anew; starting it again"
	case nvml.ERROR_DRIVER_NOT_LOADED:
		return gpu.DriverNotLoaded, says(call, ret) + ": load the nvidia kernel module, or wait until it is"
	case nvml.ERROR_LIB_RM_VERSION_MISMATCH:
		return gpu.DriverMismatch, says(call, ret) +
			": finish the driver upgrade (reload the kernel module or reboot); where another library lies in the loaded one's place this exporter then ends, to be started anew with it"
	}
	return gpu.DriverInitFailed, says(call, ret)
}
