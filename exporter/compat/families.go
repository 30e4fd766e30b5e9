package compat

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"

	"github.com/leasewatch/leasewatch/exporter/catalog"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// Maker turns snapshots into the aliases' families. It may be used again and from any goroutine.
type Maker struct {
	host    string
	aliases []Alias
	sources []catalog.Family // ours that some alias needs
}

// NewMaker returns a maker for the host. It fails where an alias needs a family of the
// exporter that is not there, or has the name of another.
func NewMaker(host string, aliases []Alias) (*Maker, error) {
	m := &Maker{host: host, aliases: slices.Clone(aliases)}
	slices.SortFunc(m.aliases, func(a, b Alias) int { return strings.Compare(a.Name, b.Name) })
	known := map[string]catalog.Family{}
	for _, f := range catalog.All() {
		known[f.Name] = f
	}
	taken := map[string]bool{}
	for i, a := range m.aliases {
		if _, ours := known[a.Name]; ours || i > 0 && a.Name == m.aliases[i-1].Name {
			return nil, fmt.Errorf("alias %s: the name is taken", a.Name)
		}
		for _, t := range a.Terms {
			f, ok := known[t.Family]
			if !ok || f.GPU == nil {
				return nil, fmt.Errorf("alias %s: %s is no family of a GPU", a.Name, t.Family)
			}
			if !taken[t.Family] {
				taken[t.Family] = true
				m.sources = append(m.sources, f)
			}
		}
	}
	return m, nil
}

// Families gives the aliases of a snapshot, sorted by name. All are of type untyped, for the
// other exporter's counters do not end in _total: OpenMetrics would give them that ending,
// and with it a name that no dashboard knows.
func (m *Maker) Families(s *gpu.Snapshot) []*dto.MetricFamily {
	families := make([]*dto.MetricFamily, len(m.aliases))
	for i, a := range m.aliases {
		families[i] = &dto.MetricFamily{Name: &m.aliases[i].Name, Help: proto.String(a.help()), Type: dto.MetricType_UNTYPED.Enum()}
	}
	seen := map[string]bool{} // no two series may have the same labels
	add := func(key string, labels []*dto.LabelPair, ours map[string][]sample, aliases func(Alias) bool) {
		if seen[key] {
			return
		}
		seen[key] = true
		for j, a := range m.aliases {
			if v, ok := a.value(ours); ok && aliases(a) && !math.IsNaN(v) && !math.IsInf(v, 0) {
				families[j].Metric = append(families[j].Metric, &dto.Metric{Label: labels, Untyped: &dto.Untyped{Value: &v}})
			}
		}
	}
	for i := range s.GPUs {
		g := &s.GPUs[i]
		key := g.Identity.UUID + "\xff" + strconv.Itoa(g.Identity.Index)
		add(key, m.labels(s, g, nil), m.read(g, nil), func(Alias) bool { return true })
		for j := range g.Instances { // compute instances of one GPU instance are one to dcgm-exporter
			part := &g.Instances[j]
			add(key+"\xff"+strconv.Itoa(part.GPUInstance), m.labels(s, g, part), m.read(g, part), ofInstances)
		}
	}
	return slices.DeleteFunc(families, func(f *dto.MetricFamily) bool { return len(f.Metric) == 0 })
}

func (a Alias) help() string {
	if a.Unit.Name == "" {
		return a.Help
	}
	return strings.TrimSuffix(a.Help, ".") + " (in " + a.Unit.Name + ")."
}

// ofInstances leaves out what is there without any series: a MIG device has no XIDs of its own.
func ofInstances(a Alias) bool { return a.Join != Newest }

// read takes what our own page shows of the GPU, or of one of its MIG devices, by the same
// rule on what stays.
func (m *Maker) read(g *gpu.GPU, part *gpu.Instance) map[string][]sample {
	ours := make(map[string][]sample, len(m.sources))
	for _, f := range m.sources {
		if !f.Stays && !catalog.Answers(g.Status.State) {
			continue
		}
		emit := func(v float64, labels ...string) {
			ours[f.Name] = append(ours[f.Name], sample{labels: slices.Clone(labels), value: v})
		}
		switch {
		case part == nil:
			f.GPU(g, emit)
		case f.Instance != nil:
			f.Instance(part, emit)
		}
	}
	return ours
}

// labels are those of dcgm-exporter, sorted by name. It names the card's UUID on a MIG device
// too, which it tells by GPU instance.
func (m *Maker) labels(s *gpu.Snapshot, g *gpu.GPU, part *gpu.Instance) []*dto.LabelPair {
	index := strconv.Itoa(g.Identity.Index)
	named := [][2]string{{"DCGM_FI_DRIVER_VERSION", s.Driver.Version}}
	allocation := &g.Allocation
	if part != nil {
		allocation = &part.Allocation
		named = append(named, [2]string{"GPU_I_ID", strconv.Itoa(part.GPUInstance)}, [2]string{"GPU_I_PROFILE", ofGPUInstance.ReplaceAllString(part.Profile, "")})
	}
	named = append(named, [][2]string{{"Hostname", m.host}, {"UUID", g.Identity.UUID}}...)
	pod, held := podOf(allocation)
	if held {
		named = append(named, [2]string{"container", pod.Container})
	}
	named = append(named, [][2]string{{"device", "nvidia" + index}, {"gpu", index}, {"modelName", g.Identity.Name}}...)
	if held {
		named = append(named, [][2]string{{"namespace", pod.Namespace}, {"pci_bus_id", busID(g.Identity.PCIAddress)}, {"pod", pod.Pod}}...)
	} else {
		named = append(named, [2]string{"pci_bus_id", busID(g.Identity.PCIAddress)})
	}
	var pairs []*dto.LabelPair
	for _, l := range named {
		pairs = append(pairs, &dto.LabelPair{Name: proto.String(l[0]), Value: proto.String(strings.ToValidUTF8(l[1], "\uFFFD"))})
	}
	return pairs
}

// podOf gives the container that the kubelet gave the card, or the MIG device, to. Where several share
// it the series is none of theirs alone, and names nobody.
func podOf(a *gpu.Allocation) (gpu.Workload, bool) {
	if len(a.Holders) != 1 || a.Holders[0].Pod == "" {
		return gpu.Workload{}, false
	}
	return a.Holders[0].Workload, true
}

// ofGPUInstance is what a compute instance's profile has before that of its GPU instance:
// 1c.3g.40gb is one slice of a 3g.40gb.
var ofGPUInstance = regexp.MustCompile(`^\d+c\.`)

// busID spells a PCI address as NVML does: the domain in eight digits, letters upper case.
func busID(address string) string {
	domain, rest, ok := strings.Cut(address, ":")
	if !ok {
		return address
	}
	return strings.ToUpper(strings.Repeat("0", max(8-len(domain), 0)) + domain + ":" + rest)
}
