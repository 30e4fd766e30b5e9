package api

import "github.com/leasewatch/leasewatch/internal/rental"

// Changes is what an apply did, or would do.
type Changes struct {
	DryRun  bool            `json:"dry_run"`
	Changes []rental.Change `json:"changes"`
}

// List is all things of one kind.
type List[T any] struct {
	Items []T `json:"items"`
}

// Proposals is what exporters report and the inventory does not know yet, or knows otherwise.
type Proposals struct {
	Hosts []HostProposal `json:"hosts"`
}

// HostProposal is one host that exporters report.
type HostProposal struct {
	Host rental.Host `json:"host"`
	// New tells whether the inventory does not know the host.
	New  bool          `json:"new"`
	GPUs []GPUProposal `json:"gpus"`
}

// GPUProposal is one card that an exporter reports.
type GPUProposal struct {
	GPU   rental.GPU `json:"gpu"`
	Model string     `json:"model"`
	// Action is create, update (it sits elsewhere than the inventory says) or unchanged.
	Action string `json:"action"`
	// Conflict says why a person must look before it can be adopted; empty where nothing speaks against it.
	Conflict string `json:"conflict,omitempty"`
}

// Adopt asks to take proposals into the inventory.
type Adopt struct {
	// Site is where the hosts stand; its provider is theirs.
	Site string `json:"site" maxLength:"200" minLength:"1"`
	// Hosts chooses hosts by name; empty is all proposed ones.
	Hosts  []string `json:"hosts,omitempty"`
	DryRun bool     `json:"dry_run,omitempty"`
}
