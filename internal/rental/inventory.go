package rental

// Provider rents hosts out.
type Provider struct {
	Name        string `json:"name" yaml:"-"`
	DisplayName string `json:"display_name" yaml:"display_name"`
}

// Tenant leases.
type Tenant struct {
	Name        string `json:"name" yaml:"-"`
	DisplayName string `json:"display_name" yaml:"display_name"`
}

// Site is a place where a provider keeps hosts.
type Site struct {
	Name     string `json:"name" yaml:"-"`
	Provider string `json:"provider" yaml:"provider"`
	TimeZone string `json:"time_zone,omitempty" yaml:"time_zone"`
	Location string `json:"location,omitempty" yaml:"location"`
	// Energy is what a kWh costs there; a contract's own goes before it.
	Energy *EnergyTariff `json:"energy,omitempty" yaml:"energy"`
}

// Host is a machine with GPUs in slots.
type Host struct {
	Name string `json:"name" yaml:"-"` // as the exporter's host label says
	Site string `json:"site" yaml:"site"`
	Rack string `json:"rack,omitempty" yaml:"rack"`
	// Address is where probes reach it: an IP address or a name; Name where it is empty.
	Address string `json:"address,omitempty" yaml:"address"`
	// BMC is where its BMC answers Redfish: https://ADDRESS, or ADDRESS alone.
	BMC string `json:"bmc,omitempty" yaml:"bmc"`
	// Slots is how many GPUs the host holds.
	Slots int `json:"slots" yaml:"slots"`
}

// SKU is a hardware class with its expected figures.
type SKU struct {
	Name           string `json:"name" yaml:"-"`
	Model          string `json:"model" yaml:"model"`             // the product name without vendor prefix: "H100 80GB HBM3"
	FormFactor     string `json:"form_factor" yaml:"form_factor"` // SXM5, PCIe, NVL...
	MemoryMiB      int    `json:"memory_mib" yaml:"memory_mib"`
	PCIeWidth      int    `json:"pcie_width,omitempty" yaml:"pcie_width"`
	NVLinks        int    `json:"nvlinks,omitempty" yaml:"nvlinks"`
	PowerWatts     int    `json:"power_watts,omitempty" yaml:"power_watts"`
	DataCenterCard bool   `json:"data_center" yaml:"data_center"`
}

// GPULife is where a card stands in its life.
type GPULife string

// The stages of a card's life.
const (
	GPUStock    GPULife = "stock"
	GPUService  GPULife = "service"
	GPUSuspect  GPULife = "suspect"
	GPUDrained  GPULife = "drained"
	GPURMA      GPULife = "rma"
	GPUScrapped GPULife = "scrapped"
)

// GPU is a card: its name in the ledger is its uuid.
type GPU struct {
	UUID   string  `json:"uuid" yaml:"uuid"`
	Serial string  `json:"serial" yaml:"serial"`
	SKU    string  `json:"sku" yaml:"sku"`
	Host   string  `json:"host" yaml:"host"`
	Slot   int     `json:"slot" yaml:"slot"`
	Life   GPULife `json:"life" yaml:"life"`
}

// MIGInstance is a part of a card that has a uuid of its own and can be leased by it.
type MIGInstance struct {
	UUID string `json:"uuid" yaml:"uuid"`
	// GPU is the uuid of the card.
	GPU string `json:"gpu" yaml:"gpu"`
	// Profile is what was cut, as the driver spells it: "3g.40gb", "1c.3g.40gb", "1g.10gb+me".
	Profile string `json:"profile" yaml:"profile"`
	// Placement is its first memory slice and how many it has, "4:4"; empty where nobody told.
	Placement string `json:"placement,omitempty" yaml:"placement"`
	// Removed says that the card is cut otherwise now, or not at all.
	Removed bool `json:"removed,omitempty" yaml:"removed"`
}
