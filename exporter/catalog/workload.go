package catalog

import "github.com/leasewatch/leasewatch/exporter/gpu"

// workloadLabels name who uses a card. One that is not known, or that its runtime does not
// have, is empty.
var workloadLabels = []string{"runtime", "container_id", "pod_uid", "namespace", "pod", "container", "slurm_job"}

func workloadValues(w *gpu.Workload) []string {
	return []string{w.Runtime, w.ContainerID, w.PodUID, w.Namespace, w.Pod, w.Container, w.SlurmJob}
}

const cgroupSource = "nvmlDeviceGetComputeRunningProcesses_v3 and its like, /proc/PID/cgroup"

// workloadFamilies tell who uses a card: containers, pods and batch jobs, never people,
// programs or processes.
func workloadFamilies() []Family {
	return []Family{
		{
			Name: "gpu_container_processes", Kind: Gauge, Labels: workloadLabels,
			Help:   "Processes on the card by container, batch job, or runtime where there is neither. What is over the cap is summed under runtime other; processes whose container cannot be told stand under unknown.",
			Source: cgroupSource,
			GPU: func(g *gpu.GPU, emit Emit) {
				for i := range g.Readings.Occupancy.Uses {
					use := &g.Readings.Occupancy.Uses[i]
					emit(use.Processes, workloadValues(&use.Workload)...)
				}
			},
		},
		{
			Name: "gpu_container_memory_used_bytes", Kind: Gauge, Unit: "bytes", Labels: workloadLabels,
			Help:   "Memory of the card that the container's processes use; absent where the driver does not tell it of one of them.",
			Source: cgroupSource,
			GPU: func(g *gpu.GPU, emit Emit) {
				for i := range g.Readings.Occupancy.Uses {
					use := &g.Readings.Occupancy.Uses[i]
					if bytes, ok := use.MemoryBytes.Get(); ok {
						emit(bytes, workloadValues(&use.Workload)...)
					}
				}
			},
		},
		{
			Name: "gpu_containers", Kind: Gauge,
			Help:   "Containers, batch jobs and groups outside of both that have processes on the card, those over the cap among them.",
			Source: cgroupSource,
			GPU:    reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.Occupancy.Containers }),
		},
		{
			Name: "gpu_allocated", Kind: Gauge, Stays: true,
			Help:     "1 where a scheduler gave the card, or a part of it, to somebody, 0 where it could. Absent where no scheduler tells.",
			Hardware: "hosts with a kubelet", Source: "kubelet pod-resources",
			GPU: func(g *gpu.GPU, emit Emit) {
				if allocated, ok := g.Allocation.Allocated.Get(); ok {
					emit(number(allocated))
				}
			},
		},
		{
			Name: "gpu_container_share_ratio", Kind: Gauge, Unit: "ratio", Stays: true,
			Labels:   []string{"runtime", "namespace", "pod", "container"},
			Help:     "Who was given the card: the container's part of the replicas of the card that are held, 0 to 1. The shares of one card sum to 1.",
			Hardware: "hosts with a kubelet", Source: "kubelet pod-resources",
			GPU: func(g *gpu.GPU, emit Emit) {
				for i := range g.Allocation.Holders {
					h := &g.Allocation.Holders[i]
					emit(h.Share, h.Runtime, h.Namespace, h.Pod, h.Container)
				}
			},
		},
		{
			Name: "leasewatch_exporter_summed_containers", Kind: Gauge,
			Help:   "Containers of the card that are over the cap and stand together under runtime other.",
			Source: "counted by the exporter",
			GPU:    reading(func(r *gpu.Readings) gpu.Maybe[float64] { return r.Occupancy.Summed }),
		},
		{
			Name: "leasewatch_exporter_unattributed_processes", Kind: Gauge, Labels: []string{"reason"},
			Help:   "Processes on the card whose container cannot be told: pid_namespace (the exporter is not in the host's), not_found (procfs hides them), refused, not_read (procfs does not answer).",
			Source: "counted by the exporter",
			GPU:    each(func(r *gpu.Readings) map[string]float64 { return r.Occupancy.Unattributed }),
		},
	}
}
