package statefile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// version is the format's. A file of a later one is not read: half of what it says may be in
// what this program does not know.
const version = 1

// format names whose file it is.
const format = "leasewatch-exporter state"

type file struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	SavedMS int64  `json:"saved_ms"`
	Driver  driver `json:"driver"`
	GPUs    []card `json:"gpus"`
	// SXIDs are those of the host's NVSwitches; absent in files from before they were kept.
	SXIDs []sxid `json:"sxids,omitempty"`
}

// sxid is one kind of error of one NVSwitch.
type sxid struct {
	Switch   string `json:"switch"`
	Code     uint64 `json:"code"`
	Severity string `json:"severity,omitempty"`
	xid
}

type driver struct {
	Version string `json:"version,omitempty"`
	CUDA    string `json:"cuda,omitempty"`
	NVML    string `json:"nvml,omitempty"`
	Changes uint64 `json:"changes,omitempty"`
	Listed  int    `json:"listed,omitempty"`
}

type card struct {
	Index        int    `json:"index"`
	UUID         string `json:"uuid,omitempty"`
	Serial       string `json:"serial,omitempty"`
	Name         string `json:"name,omitempty"`
	Brand        string `json:"brand,omitempty"`
	Architecture string `json:"architecture,omitempty"`
	BoardPart    string `json:"board_part,omitempty"`
	VBIOS        string `json:"vbios,omitempty"`
	PCIAddress   string `json:"pci_address,omitempty"`

	State   gpu.State             `json:"state"`
	SinceMS int64                 `json:"since_ms,omitempty"`
	UntilMS int64                 `json:"until_ms,omitempty"`
	Reason  string                `json:"reason,omitempty"`
	Seconds map[gpu.State]float64 `json:"seconds,omitempty"`
	ReadMS  int64                 `json:"read_ms,omitempty"`
	XIDs    map[string]xid        `json:"xids,omitempty"`
}

type xid struct {
	Count  uint64 `json:"count"`
	LastMS int64  `json:"last_ms,omitempty"`
}

func encode(s *gpu.Snapshot) file {
	f := file{
		Format: format, Version: version, SavedMS: toMillis(s.At), GPUs: make([]card, len(s.GPUs)),
		Driver: driver{s.Driver.Version, s.Driver.CUDAVersion, s.Driver.NVMLVersion, s.Driver.Changes, s.Driver.Listed},
	}
	for i := range s.GPUs {
		f.GPUs[i] = encodeGPU(&s.GPUs[i])
	}
	if s.Host != nil {
		for key, x := range s.Host.SXIDs {
			f.SXIDs = append(f.SXIDs, sxid{key.Switch, key.Code, key.Severity, xid{x.Count, toMillis(x.Last)}})
		}
		slices.SortFunc(f.SXIDs, func(a, b sxid) int {
			return cmp.Or(cmp.Compare(a.Switch, b.Switch), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Severity, b.Severity))
		})
	}
	return f
}

func encodeGPU(g *gpu.GPU) card {
	id, status := &g.Identity, &g.Status
	c := card{
		Index: id.Index, UUID: id.UUID, Serial: id.Serial, Name: id.Name, Brand: id.Brand, Architecture: id.Architecture,
		BoardPart: id.BoardPart, VBIOS: id.VBIOS, PCIAddress: id.PCIAddress,
		State: status.State, SinceMS: toMillis(status.Since), UntilMS: toMillis(status.Until), Reason: status.Reason,
		ReadMS:  toMillis(g.Readings.At),
		Seconds: make(map[gpu.State]float64, len(status.Seconds)),
		XIDs:    make(map[string]xid, len(g.Readings.XIDs)),
	}
	for state, seconds := range status.Seconds {
		if seconds > 0 {
			c.Seconds[state] = seconds
		}
	}
	for code, x := range g.Readings.XIDs {
		c.XIDs[strconv.FormatUint(code, 10)] = xid{x.Count, toMillis(x.Last)}
	}
	return c
}

// decode reads a file and refuses what this program cannot have written.
func decode(raw []byte) (*gpu.Snapshot, error) {
	var f file
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, fmt.Errorf("no whole JSON document: %w", err)
	}
	if f.Format != format {
		return nil, fmt.Errorf("its format is %q, want %q", f.Format, format)
	}
	if f.Version != version {
		return nil, fmt.Errorf("its version is %d, this program knows version %d", f.Version, version)
	}
	s := &gpu.Snapshot{At: fromMillis(f.SavedMS), Driver: gpu.Driver{
		Version: f.Driver.Version, CUDAVersion: f.Driver.CUDA, NVMLVersion: f.Driver.NVML, Changes: f.Driver.Changes, Listed: f.Driver.Listed,
	}}
	uuids := map[string]bool{}
	for i := range f.GPUs {
		g, err := f.GPUs[i].decode()
		if err == nil && g.Identity.UUID != "" && uuids[g.Identity.UUID] {
			err = errors.New("its uuid is there already")
		}
		if err != nil {
			return nil, fmt.Errorf("GPU %d of the list (uuid %q): %w", i+1, f.GPUs[i].UUID, err)
		}
		uuids[g.Identity.UUID] = true
		s.GPUs = append(s.GPUs, g)
	}
	if len(f.SXIDs) > 0 {
		s.Host = &gpu.Host{SXIDs: make(map[gpu.SXID]gpu.XID, len(f.SXIDs))}
	}
	for _, x := range f.SXIDs {
		s.Host.SXIDs[gpu.SXID{Switch: x.Switch, Code: x.Code, Severity: x.Severity}] = gpu.XID{Count: x.Count, Last: fromMillis(x.LastMS)}
	}
	return s, nil
}

func (c *card) decode() (gpu.GPU, error) {
	if c.Index < 0 || c.Index > math.MaxUint16 {
		return gpu.GPU{}, fmt.Errorf("its index is %d", c.Index)
	}
	if !slices.Contains(gpu.States, c.State) {
		return gpu.GPU{}, fmt.Errorf("its state is %q", c.State)
	}
	g := gpu.GPU{
		Identity: gpu.Identity{
			Index: c.Index, UUID: c.UUID, Serial: c.Serial, Name: c.Name, Brand: c.Brand, Architecture: c.Architecture,
			BoardPart: c.BoardPart, VBIOS: c.VBIOS, PCIAddress: c.PCIAddress,
		},
		Status: gpu.Status{
			State: c.State, Since: fromMillis(c.SinceMS), Until: fromMillis(c.UntilMS), Reason: c.Reason, Seconds: map[gpu.State]float64{},
		},
		Readings: gpu.Readings{At: fromMillis(c.ReadMS)},
	}
	for state, seconds := range c.Seconds {
		if seconds < 0 || !slices.Contains(gpu.States, state) {
			return gpu.GPU{}, fmt.Errorf("it spent %v s in state %q", seconds, state)
		}
		g.Status.Seconds[state] = seconds
	}
	if len(c.XIDs) > 0 {
		g.Readings.XIDs = make(map[uint64]gpu.XID, len(c.XIDs))
	}
	for text, x := range c.XIDs {
		code, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return gpu.GPU{}, fmt.Errorf("its XID %q is no number", text)
		}
		g.Readings.XIDs[code] = gpu.XID{Count: x.Count, Last: fromMillis(x.LastMS)}
	}
	return g, nil
}
