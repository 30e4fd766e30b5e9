//go:build linux && cgo

package nvml

import (
	"slices"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// processLists are the calls that list the processes of a card, by kind.
var processLists = []string{
	"nvmlDeviceGetComputeRunningProcesses",
	"nvmlDeviceGetGraphicsRunningProcesses",
	"nvmlDeviceGetMPSComputeRunningProcesses",
}

// maxPID is the largest process id that Linux gives out (PID_MAX_LIMIT).
const maxPID = 1 << 22

// noInstance stands for no MIG instance in the driver's lists.
const noInstance = 0xFFFFFFFF

// readProcesses counts the processes that hold the card, each once, and returns them with the
// memory they use, ordered by id. ok is false where no list was answered.
func readProcesses(c *caller, d device, r *gpu.Readings) (processes []gpu.Process, ok bool) {
	lists := []func() ([]nvml.ProcessInfo, nvml.Return){
		d.GetComputeRunningProcesses, d.GetGraphicsRunningProcesses, d.GetMPSComputeRunningProcesses,
	}
	most, known := r.MemoryTotalBytes.Get()
	if !known {
		most = maxMemoryBytes
	}
	for i, call := range processLists {
		list, answered := value(c, call, lists[i])
		if !answered {
			continue
		}
		if slices.ContainsFunc(list, nonsense) {
			c.drop(call) // one entry that cannot be says that the fields of all are out of place
			continue
		}
		ok = true
		for _, entry := range list {
			processes = append(processes, gpu.Process{
				PID:             entry.Pid,
				MemoryBytes:     c.within(call+"(memory)", float64(entry.UsedGpuMemory), 0, most),
				GPUInstance:     instance(entry.GpuInstanceId),
				ComputeInstance: instance(entry.ComputeInstanceId),
			})
		}
	}
	r.Processes = gpu.Maybe[float64]{}
	if !ok {
		return nil, false
	}
	// A process that computes and draws stands in two lists, each time with all its memory.
	slices.SortStableFunc(processes, func(a, b gpu.Process) int { return int(a.PID) - int(b.PID) })
	processes = slices.CompactFunc(processes, func(a, b gpu.Process) bool { return a.PID == b.PID })
	r.Processes = gpu.Some(float64(len(processes)))
	return processes, true
}

// readWorkloads reads the processes of the slot's card, puts each to the MIG device that it
// runs on, if any, and asks whose they are.
func (s *slot) readWorkloads(r *gpu.Readings, instances []*migInstance) {
	processes, ok := readProcesses(s.caller, s.device, r)
	if !ok {
		return
	}
	whose := s.reader.options.Workloads
	for _, i := range instances {
		var own []gpu.Process
		own, processes = split(processes, i)
		i.Readings.Processes = gpu.Some(float64(len(own)))
		if whose != nil {
			i.Readings.Occupancy = whose.Attribute(i.UUID, own)
		}
	}
	if whose != nil {
		r.Occupancy = whose.Attribute(s.identity.UUID, processes)
	}
}

// split tells the processes of a MIG device from the rest.
func split(processes []gpu.Process, i *migInstance) (own, rest []gpu.Process) {
	for _, p := range processes {
		gi, on := p.GPUInstance.Get()
		ci, too := p.ComputeInstance.Get()
		if on && too && int(gi) == i.GPUInstance && int(ci) == i.ComputeInstance {
			own = append(own, p)
		} else {
			rest = append(rest, p)
		}
	}
	return own, rest
}

// allocate notes who a card and its MIG devices were given to. A card of which a MIG device
// was given away is allocated.
func allocate(g *gpu.GPU, by Scheduler) {
	g.Allocation = by.Card(&g.Identity)
	own := false
	for n := range g.Instances {
		allocation := by.Instance(&g.Identity, &g.Instances[n])
		held, told := allocation.Allocated.Get()
		if !told {
			continue
		}
		if !own { // the card's are shared with other snapshots
			g.Instances, own = slices.Clone(g.Instances), true
		}
		g.Instances[n].Allocation = allocation
		whole, _ := g.Allocation.Allocated.Get()
		g.Allocation.Allocated = gpu.Some(whole || held)
	}
}

// nonsense tells an entry that no process can have.
func nonsense(entry nvml.ProcessInfo) bool { return entry.Pid == 0 || entry.Pid > maxPID }

func instance(id uint32) gpu.Maybe[uint32] {
	if id == noInstance {
		return gpu.Maybe[uint32]{}
	}
	return gpu.Some(id)
}
