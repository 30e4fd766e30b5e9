package doctor

import (
	"errors"
	"io/fs"
)

// Containers judges whether processes on GPUs can be told by container. reason says why not,
// and remedy what to do; both are empty where they can.
func Containers(reason, remedy string) []Finding {
	if reason != "" {
		return []Finding{ok("containers", "processes on GPUs cannot be told by container: %s", reason).but(Note, remedy)}
	}
	return []Finding{ok("containers", "processes on GPUs can be told by container")}
}

// Kubelet judges the way to the kubelet, which gave pods that many devices, or err. A host
// without one is none of Kubernetes', and there is nothing to say.
func Kubelet(socket string, devices int, err error) []Finding {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return []Finding{ok("kubelet", "%s does not tell which pods hold GPUs: %v", socket, err).but(Warn,
			"run as a user who may open the socket (root), with its folder mounted, or switch it off by --no-collector.pod-resources")}
	case devices == 0:
		return []Finding{ok("kubelet", "%s answers, and no device plugin offers GPUs by their UUIDs", socket).but(Note,
			"nothing, unless pods are to be given GPUs here: then see that NVIDIA's device plugin runs on this node")}
	default:
		return []Finding{ok("kubelet", "%s tells who holds %d GPUs", socket, devices)}
	}
}
