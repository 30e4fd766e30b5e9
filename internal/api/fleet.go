package api

import "github.com/leasewatch/leasewatch/internal/rental"

// Fleet is every host and GPU as it is now, as far as the caller may see it.
type Fleet struct {
	At    rental.Millis `json:"at"`
	Hosts []FleetHost   `json:"hosts"`
}

// FleetHost is one machine.
type FleetHost struct {
	Host string `json:"host"`
	// Provider is "unknown" where the host was not adopted.
	Provider string `json:"provider"`
	Site     string `json:"site"`
	Rack     string `json:"rack,omitempty"`
	// State is ok, down or unknown; Since and Reason say since when and why.
	State  string        `json:"state"`
	Since  rental.Millis `json:"since,omitempty"`
	Reason string        `json:"reason,omitempty"`
	// Adopted tells whether the inventory knows the host.
	Adopted bool       `json:"adopted"`
	GPUs    []FleetGPU `json:"gpus"`
}

// FleetGPU is one card: who it is, how it is, what it does, who has it. A reading that was
// not taken, or is too old to be called live, is null.
type FleetGPU struct {
	UUID   string `json:"uuid"`
	Serial string `json:"serial"`
	Model  string `json:"model"`
	SKU    string `json:"sku"`
	Slot   int    `json:"slot"`
	// Index is the driver's number of the card ("0").
	Index string `json:"index"`
	// State is a GPU state (ok, lost, reset_required, unresponsive, driver_down,
	// fabric_incomplete, released, unknown) or one that the server derives (degraded,
	// host_down, opaque, maintenance, stopped).
	State  string        `json:"state"`
	Since  rental.Millis `json:"since,omitempty"`
	Reason string        `json:"reason,omitempty"`
	// Vantage is guest where only the guest of a lease tells of the card now, else empty.
	Vantage string `json:"vantage,omitempty"`

	Utilisation        *float64 `json:"utilisation"` // 0 to 1
	MemoryUsedBytes    *float64 `json:"memory_used_bytes"`
	MemoryTotalBytes   *float64 `json:"memory_total_bytes"`
	TemperatureCelsius *float64 `json:"temperature_celsius"`
	PowerWatts         *float64 `json:"power_watts"`

	Lease  string `json:"lease,omitempty"`
	Tenant string `json:"tenant,omitempty"`
	// SampledAt is when the readings were taken; 0 where there never was one.
	SampledAt rental.Millis  `json:"sampled_at,omitempty"`
	Life      rental.GPULife `json:"life,omitempty"`
	// MIG are the card's MIG instances, each with what it does and who has it.
	MIG []FleetMIG `json:"mig,omitempty"`
}

// FleetMIG is one MIG instance of a card. It is as its card is; a reading that was not taken is null.
type FleetMIG struct {
	UUID      string `json:"uuid"`
	Profile   string `json:"profile"`
	Placement string `json:"placement,omitempty"`
	// State is the card's, or unknown where the card does not report the instance now.
	State            string   `json:"state"`
	Utilisation      *float64 `json:"utilisation"` // 0 to 1
	MemoryUsedBytes  *float64 `json:"memory_used_bytes"`
	MemoryTotalBytes *float64 `json:"memory_total_bytes"`
	Lease            string   `json:"lease,omitempty"`
	Tenant           string   `json:"tenant,omitempty"`
}
