package workload

import (
	"cmp"
	"slices"
	"strings"

	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// uuidDigits is the length of a UUID behind its kind, GPU- or MIG-.
const uuidDigits = len("0f2c7c1e-93ab-4d5e-8f60-1a2b3c4d5e6f")

// deviceUUID returns the GPU or MIG instance that a device plugin's device is, or is a part
// of: NVIDIA's plugin names a GPU by its UUID, and a replica of one that is shared by
// time-slicing or MPS by UUID::N; others spell UUID-N.
func deviceUUID(id string) (uuid string, ok bool) {
	for _, kind := range []string{"GPU-", "MIG-"} {
		rest, is := strings.CutPrefix(id, kind)
		if !is || len(rest) < uuidDigits {
			continue
		}
		if _, valid := podUID("pod" + rest[:uuidDigits]); !valid {
			continue
		}
		if more := rest[uuidDigits:]; more == "" || strings.HasPrefix(more, "::") || strings.HasPrefix(more, "-") {
			return id[:len(kind)+uuidDigits], true
		}
	}
	return "", false
}

// vendor begins the names of the resources whose devices are NVIDIA's GPUs.
const vendor = "nvidia.com/"

// grants is what the kubelet said: who holds what, and what there is to be held.
type grants struct {
	holders map[string][]gpu.Holder // by UUID
	known   map[string]bool         // UUIDs that a pod holds or could be given
	unknown int                     // devices of NVIDIA's resources whose GPU cannot be told
}

// holding is one container that holds parts of a card.
type holding struct{ namespace, pod, container string }

// readGrants sums the kubelet's answers. A container's share of a card is its part of the
// replicas that containers hold, so that the shares of one card sum to one however many
// replicas the plugin offers and whoever leaves some of them free.
func readGrants(pods []*podresources.PodResources, allocatable []*podresources.ContainerDevices) grants {
	g := grants{holders: map[string][]gpu.Holder{}, known: map[string]bool{}}
	parts := map[string]map[holding]int{}
	take := func(devices *podresources.ContainerDevices, to func(uuid string)) {
		for _, id := range devices.GetDeviceIds() {
			uuid, ok := deviceUUID(id)
			if !ok {
				if strings.HasPrefix(devices.GetResourceName(), vendor) {
					g.unknown++
				}
				continue
			}
			g.known[uuid] = true
			to(uuid)
		}
	}
	for _, devices := range allocatable {
		take(devices, func(string) {})
	}
	for _, pod := range pods {
		for _, container := range pod.GetContainers() {
			who := holding{pod.GetNamespace(), pod.GetName(), container.GetName()}
			for _, devices := range container.GetDevices() {
				take(devices, func(uuid string) {
					if parts[uuid] == nil {
						parts[uuid] = map[holding]int{}
					}
					parts[uuid][who]++
				})
			}
		}
	}
	for uuid, of := range parts {
		all := 0
		for _, n := range of {
			all += n
		}
		for who, n := range of {
			g.holders[uuid] = append(g.holders[uuid], gpu.Holder{
				Workload: gpu.Workload{Runtime: "kubernetes", Namespace: who.namespace, Pod: who.pod, Container: who.container},
				Parts:    float64(n), Share: float64(n) / float64(all),
			})
		}
		slices.SortFunc(g.holders[uuid], func(a, b gpu.Holder) int { return compare(a.Workload, b.Workload) })
	}
	return g
}

// capped sums the holders over the cap. Those that hold most have series of their own.
func capped(holders []gpu.Holder, most int) []gpu.Holder {
	if len(holders) <= most {
		return holders
	}
	ordered := slices.Clone(holders)
	slices.SortStableFunc(ordered, func(a, b gpu.Holder) int { return cmp.Compare(b.Parts, a.Parts) })
	out := ordered[:most:most]
	other := gpu.Holder{Workload: gpu.Workload{Runtime: gpu.RuntimeOther}}
	for _, h := range ordered[most:] {
		other.Parts += h.Parts
		other.Share += h.Share
	}
	return append(out, other)
}
