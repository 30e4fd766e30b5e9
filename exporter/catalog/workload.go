package catalog

import "github.com/leasewatch/leasewatch/exporter/gpu"

// workloadLabels name who uses a card. One that is not known, or that its runtime does not
// have, is empty.
var workloadLabels = []string{"runtime", "container_id", "pod_uid", "namespace", "pod", "container", "slurm_job"}

func workloadValues(w *gpu.Workload) []string {
	return []string{w.Runtime, w.ContainerID, w.PodUID, w.Namespace, w.Pod, w.Container, w.SlurmJob}
}

const (
	cgroupSource  = "nvmlDeviceGetComputeRunningProcesses_v3 and its like, /proc/PID/cgroup"
	kubeletSource = "kubelet pod-resources"
)

// workloadFamilies tell who uses a card or MIG device: containers, pods and batch jobs, never
// people, programs or processes.
func workloadFamilies() []Family {
	const kubernetes = "hosts with a kubelet"
	return []Family{
		occupied(Family{
			Name: "gpu_container_processes", Kind: Gauge, Labels: workloadLabels, Source: cgroupSource,
			Help: "Processes on the card by container, batch job, or runtime where there is neither. What is over the cap is summed under runtime other; processes whose container cannot be told stand under unknown.",
		}, func(o *gpu.Occupancy, emit Emit) {
			for i := range o.Uses {
				emit(o.Uses[i].Processes, workloadValues(&o.Uses[i].Workload)...)
			}
		}),
		occupied(Family{
			Name: "gpu_container_memory_used_bytes", Kind: Gauge, Unit: "bytes", Labels: workloadLabels, Source: cgroupSource,
			Help: "Memory of the card that the container's processes use; absent where the driver does not tell it of one of them.",
		}, func(o *gpu.Occupancy, emit Emit) {
			for i := range o.Uses {
				if bytes, ok := o.Uses[i].MemoryBytes.Get(); ok {
					emit(bytes, workloadValues(&o.Uses[i].Workload)...)
				}
			}
		}),
		occupied(Family{
			Name: "gpu_containers", Kind: Gauge, Source: cgroupSource,
			Help: "Containers, batch jobs and groups outside of both that have processes on the card, those over the cap among them.",
		}, func(o *gpu.Occupancy, emit Emit) {
			if n, ok := o.Containers.Get(); ok {
				emit(n)
			}
		}),
		occupied(Family{
			Name: "leasewatch_exporter_summed_containers", Kind: Gauge, Source: "counted by the exporter",
			Help: "Containers of the card that are over the cap and stand together under runtime other.",
		}, func(o *gpu.Occupancy, emit Emit) {
			if n, ok := o.Summed.Get(); ok {
				emit(n)
			}
		}),
		occupied(Family{
			Name: "leasewatch_exporter_unattributed_processes", Kind: Gauge, Labels: []string{"reason"}, Source: "counted by the exporter",
			Help: "Processes on the card whose container cannot be told: pid_namespace (the exporter is not in the host's), not_found (procfs hides them), refused, not_read (procfs does not answer).",
		}, func(o *gpu.Occupancy, emit Emit) {
			for _, reason := range sortedKeys(o.Unattributed) {
				emit(o.Unattributed[reason], reason)
			}
		}),
		allocated(Family{
			Name: "gpu_allocated", Kind: Gauge, Hardware: kubernetes, Source: kubeletSource,
			Help: "1 where a scheduler gave the card, or a part of it, to somebody, 0 where it could. Absent where no scheduler tells.",
		}, func(a *gpu.Allocation, emit Emit) {
			if allocated, ok := a.Allocated.Get(); ok {
				emit(number(allocated))
			}
		}),
		allocated(Family{
			Name: "gpu_container_share_ratio", Kind: Gauge, Unit: "ratio", Hardware: kubernetes, Source: kubeletSource,
			Labels: []string{"runtime", "namespace", "pod", "container"},
			Help:   "Who was given the card: the container's part of the replicas of the card that are held, 0 to 1. The shares of one card sum to 1.",
		}, func(a *gpu.Allocation, emit Emit) {
			for i := range a.Holders {
				h := &a.Holders[i]
				emit(h.Share, h.Runtime, h.Namespace, h.Pod, h.Container)
			}
		}),
	}
}

// occupied makes a family of who uses cards and MIG devices.
func occupied(f Family, get func(*gpu.Occupancy, Emit)) Family {
	f.GPU = func(g *gpu.GPU, emit Emit) { get(&g.Readings.Occupancy, emit) }
	f.Instance = func(i *gpu.Instance, emit Emit) { get(&i.Readings.Occupancy, emit) }
	return f
}

// allocated makes a family of who was given cards and MIG devices. What a scheduler says does
// not end with a card's state.
func allocated(f Family, get func(*gpu.Allocation, Emit)) Family {
	f.Stays = true
	f.GPU = func(g *gpu.GPU, emit Emit) { get(&g.Allocation, emit) }
	f.Instance = func(i *gpu.Instance, emit Emit) { get(&i.Allocation, emit) }
	return f
}
