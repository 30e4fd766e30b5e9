package gpu

// Process is one process that holds a card. It lives only between the driver's reader and
// those who tell whose it is: no snapshot has one, so that no page, push or recording can
// show one.
type Process struct {
	PID         uint32
	MemoryBytes Maybe[float64] // of the card's memory
	// GPUInstance and ComputeInstance are set where the process runs on a MIG instance.
	GPUInstance, ComputeInstance Maybe[uint32]
}

// Workload names what uses a card: a container, a pod, a batch job, or what runs outside of
// them. It never names a person, a program or a process. What is not known is empty.
type Workload struct {
	// Runtime is docker, containerd, cri-o, podman, lxc, container (a runtime that its path
	// does not name), slurm, systemd (a service of the system), host (a login, or what else
	// runs in no container), unknown (it could not be told), other (what is over the cap), or
	// kubernetes (a container that the kubelet told of and no process was seen of).
	Runtime     string
	ContainerID string // the first 12 digits, as docker ps prints them
	PodUID      string
	Namespace   string
	Pod         string
	Container   string // its name in the pod, or of the LXC container
	SlurmJob    string
}

// The workloads that stand for many.
const (
	RuntimeUnknown = "unknown"
	RuntimeOther   = "other"
)

// Use is what one workload uses of one card.
type Use struct {
	Workload
	Processes   float64
	MemoryBytes Maybe[float64] // absent where the driver does not tell it of one of the processes
}

// Occupancy is who uses a card. The zero value says that nobody asked.
type Occupancy struct {
	// Uses are ordered by workload; what is over the cap is summed in one of RuntimeOther.
	Uses []Use
	// Containers counts the workloads that were told apart, those over the cap among them.
	Containers Maybe[float64]
	// Summed counts the workloads over the cap.
	Summed Maybe[float64]
	// Unattributed counts the processes whose workload could not be told, by reason.
	Unattributed map[string]float64
}

// Allocation is what a scheduler says of a card. The zero value says that none says anything.
type Allocation struct {
	// Allocated tells whether somebody was given the card, or a part of it.
	Allocated Maybe[bool]
	// Holders are those who were; their shares sum to one.
	Holders []Holder
}

// Holder is a container that was given a card, or a part of it, whether it uses it or not.
type Holder struct {
	Workload
	Parts float64 // replicas of the card that it holds
	Share float64 // of all the replicas that are held, 0 to 1
}
