//go:build linux && cgo

package nvml

import (
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// readMake reads which chip and firmware a card has.
func readMake(c *caller, d device, pci nvml.PciInfo) gpu.Make {
	var m gpu.Make
	if pci.PciDeviceId != 0 {
		m.PCIDevice, m.PCISubsystem = fmt.Sprintf("0x%08x", pci.PciDeviceId), fmt.Sprintf("0x%08x", pci.PciSubSystemId)
	}
	if capability, ok := pairOf(c, "nvmlDeviceGetCudaComputeCapability", d.GetCudaComputeCapability); ok {
		m.ComputeCapability = fmt.Sprintf("%d.%d", capability.first, capability.second)
	}
	firmware, _ := value(c, "nvmlDeviceGetGspFirmwareVersion", d.GetGspFirmwareVersion)
	m.GSPFirmware = clean(firmware)
	const inforom = "nvmlDeviceGetInforomVersion"
	for _, part := range []struct {
		name   string
		object nvml.InforomObject
		to     *string
	}{{"oem", nvml.INFOROM_OEM, &m.InfoROMOEM}, {"ecc", nvml.INFOROM_ECC, &m.InfoROMECC}, {"power", nvml.INFOROM_POWER, &m.InfoROMPower}} {
		version, _ := keyed(c, inforom, inforom+"("+part.name+")", with(d.GetInforomVersion, part.object))
		*part.to = clean(version)
	}
	return m
}

// readSetup reads how a card was set up.
func readSetup(c *caller, d device) gpu.Setup {
	s := gpu.Setup{
		Features:                map[string]bool{},
		ClockDefaultHertz:       readClockSet(c, "nvmlDeviceGetDefaultApplicationsClock", d.GetDefaultApplicationsClock),
		PCIeGenerationMaxOfCard: number(c, "nvmlDeviceGetGpuMaxPcieLinkGeneration", d.GetGpuMaxPcieLinkGeneration, 1, 16, 1),
	}
	const gsp, c2c = "nvmlDeviceGetGspFirmwareMode", "nvmlDeviceGetC2cModeInfoV"
	if mode, ok := pairOf(c, gsp, d.GetGspFirmwareMode); ok {
		s.Features["gsp"], s.Features["gsp_default"] = mode.first, mode.second
	}
	if mode, ok := value(c, c2c, func() (nvml.C2cModeInfo_v1, nvml.Return) { return d.GetC2cModeInfoV().V1() }); ok {
		if on, ok := truth(c, c2c, mode.IsC2cEnabled).Get(); ok {
			s.Features["c2c"] = on
		}
	}
	for _, feature := range []struct {
		name, call string
		get        func() (nvml.EnableState, nvml.Return)
	}{
		{"accounting", "nvmlDeviceGetAccountingMode", d.GetAccountingMode},
		{"display_active", "nvmlDeviceGetDisplayActive", d.GetDisplayActive},
		{"display_attached", "nvmlDeviceGetDisplayMode", d.GetDisplayMode},
	} {
		if state, ok := value(c, feature.call, feature.get); ok {
			if on, ok := truth(c, feature.call, uint32(state)).Get(); ok {
				s.Features[feature.name] = on
			}
		}
	}
	reasons, ok := value(c, "nvmlDeviceGetSupportedClocksEventReasons", d.GetSupportedClocksEventReasons)
	if !ok { // its name until driver 535
		reasons, ok = value(c, "nvmlDeviceGetSupportedClocksThrottleReasons", d.GetSupportedClocksThrottleReasons)
	}
	if ok {
		s.ThrottleSupported = reasonsOf(reasons)
	}
	return s
}

// reasonsOf spells the bits of clocks event reasons.
func reasonsOf(bits uint64) map[string]bool {
	reasons := make(map[string]bool, len(throttleBits))
	for name, bit := range throttleBits {
		reasons[name] = bits&bit != 0
	}
	return reasons
}

// maxSessions, maxFrames and maxLatency bound what can be true of the video engines of one card.
const (
	maxSessions   = 1 << 16
	maxFrames     = 1 << 20
	maxLatencyMus = 60e6
)

// readVideo reads what sessions encode or capture pictures.
func readVideo(c *caller, d device) gpu.Video {
	v := gpu.Video{Sessions: map[string]float64{}, FramesPerSecond: map[string]float64{}, LatencySeconds: map[string]float64{}}
	keep := func(engine, call string, sessions, frames, latency float64) {
		put(v.Sessions, engine, c.within(call, sessions, 0, maxSessions))
		put(v.FramesPerSecond, engine, c.within(call, frames, 0, maxFrames))
		put(v.LatencySeconds, engine, scaled(c.within(call, latency, 0, maxLatencyMus), 1e-6))
	}
	const encoder, fbc = "nvmlDeviceGetEncoderStats", "nvmlDeviceGetFBCStats"
	type stats struct {
		sessions        int
		frames, latency uint32
	}
	if s, ok := value(c, encoder, func() (s stats, ret nvml.Return) {
		s.sessions, s.frames, s.latency, ret = d.GetEncoderStats()
		return s, ret
	}); ok {
		keep("encoder", encoder, float64(s.sessions), float64(s.frames), float64(s.latency))
	}
	if s, ok := value(c, fbc, d.GetFBCStats); ok {
		keep("fbc", fbc, float64(s.SessionsCount), float64(s.AverageFPS), float64(s.AverageLatency))
	}
	return v
}
