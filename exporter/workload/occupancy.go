package workload

import (
	"cmp"
	"slices"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// Attribute tells whose the processes of one GPU or MIG instance are, which the driver has
// listed just now. It never blocks: what is not known yet is looked up meanwhile and told with
// the next round, so that a process which ended between two calls leaves no trace.
func (t *Tracker) Attribute(uuid string, processes []gpu.Process) gpu.Occupancy {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.cards[uuid]
	if c == nil {
		c = &card{}
		t.cards[uuid] = c
	}
	c.at, c.pids = t.config.Now(), c.pids[:0]
	if len(processes) == 0 { // most MIG devices, most of the time
		c.waited, c.shown = nil, nil
		return gpu.Occupancy{Containers: gpu.Some(0.0), Summed: gpu.Some(0.0)}
	}
	uses := map[gpu.Workload]gpu.Use{}
	unattributed := map[string]float64{}
	waiting, look := map[uint32]bool{}, false
	for _, p := range processes {
		c.pids = append(c.pids, p.PID)
		o, told := t.owner(p.PID)
		if !told {
			waiting[p.PID] = true
			if !c.waited[p.PID] {
				look = true
				continue
			}
		}
		if o.reason != "" {
			unattributed[o.reason]++
			o.Workload = gpu.Workload{Runtime: gpu.RuntimeUnknown}
		}
		uses[o.Workload] = add(uses[o.Workload], gpu.Use{Workload: o.Workload, Processes: 1, MemoryBytes: p.MemoryBytes})
	}
	c.waited = waiting
	if look || t.blind != "" || t.config.Now().Sub(t.swept) >= recheck {
		select {
		case t.kick <- struct{}{}:
		default:
		}
	}
	out := c.cap(uses, t.config.MaxContainers)
	out.Unattributed = unattributed
	return out
}

// owner returns what is known of a process. told is false where waiting for another round may
// yet tell more. The lock must be held.
func (t *Tracker) owner(pid uint32) (o owner, told bool) {
	if t.blind != "" {
		return owner{reason: t.blind}, true
	}
	o, known := t.owners[pid]
	late := t.config.Now().Sub(t.swept) > 2*recheck
	if !known || late {
		return owner{reason: reasonLate}, false
	}
	if name, ok := t.names[o.ContainerID]; ok && o.PodUID != "" {
		o.Namespace, o.Pod, o.Container = name.Namespace, name.Pod, name.Container
	}
	return o, o.reason == ""
}

// cap keeps the series of one card few: those shown before stay, then come new ones in their
// order, and what is over is summed.
func (c *card) cap(uses map[gpu.Workload]gpu.Use, most int) gpu.Occupancy {
	c.shown = slices.DeleteFunc(c.shown, func(w gpu.Workload) bool { _, there := uses[w]; return !there })
	var fresh []gpu.Workload
	containers := 0
	for w := range uses {
		if w.Runtime == gpu.RuntimeUnknown {
			continue
		}
		containers++
		if !slices.Contains(c.shown, w) {
			fresh = append(fresh, w)
		}
	}
	slices.SortFunc(fresh, compare)
	c.shown = append(c.shown, fresh[:min(len(fresh), max(most-len(c.shown), 0))]...)

	out := gpu.Occupancy{Containers: gpu.Some(float64(containers)), Summed: gpu.Some(float64(containers - len(c.shown)))}
	over := gpu.Use{}
	for w, use := range uses {
		switch {
		case w.Runtime == gpu.RuntimeUnknown || slices.Contains(c.shown, w):
			out.Uses = append(out.Uses, use)
		default:
			use.Workload = gpu.Workload{Runtime: gpu.RuntimeOther}
			over = add(over, use)
		}
	}
	if over.Processes > 0 {
		out.Uses = append(out.Uses, over)
	}
	slices.SortFunc(out.Uses, func(a, b gpu.Use) int { return compare(a.Workload, b.Workload) })
	return out
}

// add sums two uses of one workload; the first may be none yet. A sum that lacks a part is none.
func add(sum, more gpu.Use) gpu.Use {
	if sum.Processes == 0 {
		return more
	}
	sum.Processes += more.Processes
	a, there := sum.MemoryBytes.Get()
	b, too := more.MemoryBytes.Get()
	sum.MemoryBytes = gpu.Maybe[float64]{}
	if there && too {
		sum.MemoryBytes = gpu.Some(a + b)
	}
	return sum
}

func compare(a, b gpu.Workload) int {
	return cmp.Or(
		cmp.Compare(a.Runtime, b.Runtime), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Pod, b.Pod),
		cmp.Compare(a.Container, b.Container), cmp.Compare(a.ContainerID, b.ContainerID), cmp.Compare(a.PodUID, b.PodUID),
		cmp.Compare(a.SlurmJob, b.SlurmJob))
}
