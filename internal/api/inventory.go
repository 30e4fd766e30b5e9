package api

import "github.com/leasewatch/leasewatch/internal/rental"

// Changes is what an apply did, or would do.
type Changes struct {
	DryRun  bool            `json:"dry_run"`
	Changes []rental.Change `json:"changes"`
	// Pending is set where the changes wait for a second person: nothing is recorded yet.
	Pending *rental.Pending `json:"pending,omitempty"`
}

// List is all things of one kind.
type List[T any] struct {
	Items []T `json:"items"`
}

// Proposals is what exporters report and the inventory does not know yet, or knows otherwise.
type Proposals struct {
	Hosts []HostProposal `json:"hosts"`
	// Leaving are cards whose slots others have taken: accepting sets their life to rma.
	Leaving []rental.GPU `json:"leaving,omitempty"`
	// Vanished are recorded cards of which their hosts, that do report, tell nothing.
	Vanished []rental.GPU `json:"vanished,omitempty"`
	// Held says why the whole needs to be accepted host by host; empty where it does not.
	Held string `json:"held,omitempty"`
}

// HostProposal is one host that exporters report.
type HostProposal struct {
	Host rental.Host `json:"host"`
	// New tells whether the inventory does not know the host.
	New  bool          `json:"new"`
	GPUs []GPUProposal `json:"gpus"`
	// MIGInstances are those that the host's cards report, and those that they have no more.
	MIGInstances []MIGProposal `json:"mig_instances,omitempty"`
}

// MIGProposal is one MIG instance that an exporter reports, or reports no more.
type MIGProposal struct {
	Instance rental.MIGInstance `json:"instance"`
	// Action is create, update or unchanged.
	Action string `json:"action"`
	// Conflict says why a person must look before it can be adopted; empty where nothing speaks against it.
	Conflict string `json:"conflict,omitempty"`
}

// GPUProposal is one card that an exporter reports.
type GPUProposal struct {
	GPU   rental.GPU `json:"gpu"`
	Model string     `json:"model"`
	// Action is create, update (it sits elsewhere than the inventory says) or unchanged.
	Action string `json:"action"`
	// Note says what is different, in a sentence; empty for a new or unchanged card.
	Note string `json:"note,omitempty"`
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
