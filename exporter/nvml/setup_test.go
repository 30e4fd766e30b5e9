//go:build linux && cgo

package nvml

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// What the fake H100s are and how they were set up.
var h100Make = gpu.Make{ComputeCapability: "9.0", PCIDevice: "0x233010de", PCISubsystem: "0x16c110de",
	GSPFirmware: "580.65.06", InfoROMOEM: "2.1", InfoROMECC: "7.16"}

func h100Setup() gpu.Setup {
	return gpu.Setup{
		Features:          map[string]bool{"gsp": true, "gsp_default": true, "accounting": false, "display_active": false, "display_attached": true, "c2c": false},
		ThrottleSupported: reasonsOf(0x1ff), ClockDefaultHertz: map[string]float64{"graphics": 1980e6, "memory": 2619e6}, PCIeGenerationMaxOfCard: some(5),
	}
}

func h100Video(sessions int) gpu.Video {
	n := float64(sessions)
	return gpu.Video{Sessions: map[string]float64{"encoder": n, "fbc": 0}, FramesPerSecond: map[string]float64{"encoder": 60 * n, "fbc": 0},
		LatencySeconds: map[string]float64{"encoder": 0.0025 * n, "fbc": 0}}
}

func TestChipFirmwareAndSetupOfACardAreRead(t *testing.T) {
	inChild(t, fakenvml.H100x8().DeviceCount(2), func(t *testing.T, m *machine) {
		m.start(t, quick())
		g := m.wait(t, all(2, gpu.OK)).GPUs[1]
		if g.Identity.Make != h100Make {
			t.Errorf("the card is %+v, want %+v", g.Identity.Make, h100Make)
		}
		setup, video := g.Readings.Setup, g.Readings.Video
		if want := h100Setup().Features; !maps.Equal(setup.Features, want) {
			t.Errorf("features %v, want %v", setup.Features, want)
		}
		if n := len(setup.ThrottleSupported); n != 9 || !setup.ThrottleSupported["hw_power_brake"] {
			t.Errorf("reasons that it knows: %v", setup.ThrottleSupported)
		}
		if c := setup.ClockDefaultHertz; c["graphics"] != 1980e6 || c["memory"] != 2619e6 || len(c) != 2 {
			t.Errorf("clocks by default: %v", c)
		}
		if setup.PCIeGenerationMaxOfCard != gpu.Some[float64](5) {
			t.Errorf("the card's own PCIe generation is %v, want 5", setup.PCIeGenerationMaxOfCard)
		}
		if video.Sessions["encoder"] != 1 || video.FramesPerSecond["encoder"] != 60 || video.LatencySeconds["encoder"] != 0.0025 || !has(video.Sessions, "fbc") {
			t.Errorf("sessions of video: %+v", video)
		}
	})
}

// An old driver lacks the functions, and a card that refuses them goes without.
func TestACardThatRefusesItsSetupGoesWithout(t *testing.T) {
	calls := []string{"nvmlDeviceGetCudaComputeCapability", "nvmlDeviceGetGspFirmwareMode", "nvmlDeviceGetGspFirmwareVersion", "nvmlDeviceGetInforomVersion",
		"nvmlDeviceGetC2cModeInfoV", "nvmlDeviceGetAccountingMode", "nvmlDeviceGetDisplayActive", "nvmlDeviceGetDisplayMode",
		"nvmlDeviceGetGpuMaxPcieLinkGeneration", "nvmlDeviceGetDefaultApplicationsClock", "nvmlDeviceGetSupportedClocksEventReasons",
		"nvmlDeviceGetSupportedClocksThrottleReasons", "nvmlDeviceGetEncoderStats", "nvmlDeviceGetFBCStats"}
	refuses := fakenvml.H100x8().DeviceCount(1)
	for _, call := range calls {
		refuses.GPU(0).Return(call, fakenvml.NotSupported)
	}
	for name, s := range map[string]*fakenvml.Scenario{"refused": refuses, "not in the library": fakenvml.H100x8().DeviceCount(1).Without(calls...)} {
		t.Run(name, func(t *testing.T) {
			inChild(t, s, func(t *testing.T, m *machine) {
				m.start(t, quick())
				g := m.wait(t, all(1, gpu.OK)).GPUs[0]
				bare := gpu.Make{PCIDevice: g.Identity.Make.PCIDevice, PCISubsystem: g.Identity.Make.PCISubsystem}
				setup, video := g.Readings.Setup, g.Readings.Video
				if g.Identity.Make != bare || len(setup.Features)+len(setup.ThrottleSupported)+len(setup.ClockDefaultHertz) != 0 ||
					!absent(setup.PCIeGenerationMaxOfCard) || len(video.Sessions)+len(video.FramesPerSecond)+len(video.LatencySeconds) != 0 {
					t.Errorf("it tells %+v %+v %+v", g.Identity.Make, setup, video)
				}
			})
		})
	}
}

func TestImpossibleAnswersOnSetupAndVideoAreDroppedAndCounted(t *testing.T) {
	s := fakenvml.H100x8().DeviceCount(1)
	for _, key := range []string{"c2c", "accounting", "pcie_generation_card_max", "clock_default_memory_mhz", "encoder_sessions"} {
		s.GPU(0).Set(key, uint64(1<<32-1))
	}
	inChild(t, s, func(t *testing.T, m *machine) {
		m.start(t, quick())
		m.wait(t, func(s *gpu.Snapshot) error {
			if err := all(1, gpu.OK)(s); err != nil {
				return err
			}
			g := s.GPUs[0]
			for call, given := range map[string]bool{
				"nvmlDeviceGetC2cModeInfoV":                     g.Readings.Setup.Features["c2c"],
				"nvmlDeviceGetAccountingMode":                   g.Readings.Setup.Features["accounting"],
				"nvmlDeviceGetGpuMaxPcieLinkGeneration":         !absent(g.Readings.Setup.PCIeGenerationMaxOfCard),
				"nvmlDeviceGetDefaultApplicationsClock(memory)": has(g.Readings.Setup.ClockDefaultHertz, "memory"),
				"nvmlDeviceGetEncoderStats":                     has(g.Readings.Video.Sessions, "encoder"),
			} {
				if given {
					return fmt.Errorf("%s gave a reading", call)
				}
				if g.Dropped[call] == 0 {
					return errors.New(call + " is not counted as dropped")
				}
			}
			return nil
		})
	})
}
