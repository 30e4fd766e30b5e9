package gpu

// Make is which chip and firmware a card has. A field is empty where the card does not tell.
type Make struct {
	ComputeCapability string // of CUDA, "9.0"
	// PCIDevice and PCISubsystem are the identifiers of the PCI function, "0x233010de": device, then
	// vendor.
	PCIDevice, PCISubsystem string
	GSPFirmware             string // version of the firmware of the card's system processor
	// The versions of the parts of the InfoROM.
	InfoROMOEM, InfoROMECC, InfoROMPower string
}

// Setup is how a card was set up, as far as that moves seldom.
type Setup struct {
	// Features tell what is on: gsp, gsp_default (whether gsp is on by default), accounting,
	// display_active, display_attached, c2c.
	Features map[string]bool
	// ThrottleSupported tells of which reasons of Readings.ThrottleActive the card knows.
	ThrottleSupported       map[string]bool
	ClockDefaultHertz       map[string]float64 // for applications, where no operator set another
	PCIeGenerationMaxOfCard Maybe[float64]     // whatever the slot allows
}

// Video is what the driver tells of sessions that encode or capture pictures. The keys are encoder
// and fbc (frame buffer capture).
type Video struct {
	Sessions, FramesPerSecond, LatencySeconds map[string]float64
}
