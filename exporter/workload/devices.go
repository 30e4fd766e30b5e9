package workload

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// uuidDigits is the length of a UUID behind its kind, GPU- or MIG-.
const uuidDigits = len("0f2c7c1e-93ab-4d5e-8f60-1a2b3c4d5e6f")

// deviceName returns the GPU or MIG instance that a device plugin's device is, or is a part
// of, in one spelling for all its parts: its UUID, or its place as ofPlace spells it. NVIDIA's
// plugin names a GPU by its UUID, and a replica of one that is shared by time-slicing or MPS
// by UUID::N; others write UUID-N. GKE's goes by the device file's minor number, nvidia0, the
// GPU instance, nvidia0/gi3, and the replica, nvidia0/vgpu1.
func deviceName(id string) (name string, ok bool) {
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
	parts := strings.Split(id, "/")
	minor, ok := number(parts[0], "nvidia")
	if !ok {
		return "", false
	}
	instance := ""
	for _, part := range parts[1:] {
		if gi, ok := number(part, "gi"); ok && instance == "" {
			instance = gi
		} else if _, ok := number(part, "vgpu"); !ok {
			return "", false
		}
	}
	return ofMinor(minor, instance), true
}

// ofMinor spells a card, or its GPU instance, by the minor number of the card's device file.
func ofMinor(minor, instance string) string { return "minor " + minor + " gi " + instance }

// claimDriver is NVIDIA's driver of dynamic resource allocation.
const claimDriver = "gpu.nvidia.com"

// claimedName returns the GPU or MIG instance that a device of claimDriver is: gpu-0, or
// gpu-0-mig-19-4-1 with the profile, the first memory slice and how many it has.
func claimedName(device string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(device, "gpu-")
	if !ok {
		return "", false
	}
	card, mig, cut := strings.Cut(rest, "-mig-")
	if !all(card, digit) {
		return "", false
	}
	if !cut {
		return ofClaim(card, ""), true
	}
	place := strings.Split(mig, "-")
	if len(place) != 3 || !all(place[1], digit) || !all(place[2], digit) {
		return "", false
	}
	return ofClaim(card, place[1]+":"+place[2]), true
}

// ofClaim spells a card, or the MIG instance in a place of it, as dynamic resource allocation
// numbers cards. Early drivers went by the index and later ones by the minor number.
func ofClaim(card, place string) string { return "claim " + card + " at " + place }

// number returns what stands behind a word.
func number(s, word string) (digits string, ok bool) {
	digits, ok = strings.CutPrefix(s, word)
	return digits, ok && all(digits, digit)
}

// cardNames returns the names that a card may go by at the kubelet.
func cardNames(card *gpu.Identity) []string {
	names := []string{card.UUID}
	if minor := card.Board.Minor; minor != "" {
		names = append(names, ofMinor(minor, ""))
		if minor == strconv.Itoa(card.Index) { // whichever of the two was meant
			names = append(names, ofClaim(minor, ""))
		}
	}
	return names
}

// instanceNames returns the names that a MIG instance may go by. A place holds one GPU
// instance; where that is cut once more, the place says too little.
func instanceNames(card *gpu.Identity, i *gpu.Instance) []string {
	names := []string{i.UUID}
	whole, told := i.GPUSlices.Get()
	part, too := i.ComputeSlices.Get()
	if minor := card.Board.Minor; minor != "" && told && too && whole == part {
		names = append(names, ofMinor(minor, strconv.Itoa(i.GPUInstance)))
		if minor == strconv.Itoa(card.Index) && i.Placement != "" {
			names = append(names, ofClaim(minor, i.Placement))
		}
	}
	return names
}

// vendor begins the names of the resources whose devices are NVIDIA's GPUs.
const vendor = "nvidia.com/"

// grants is what the kubelet said: who holds what, and what there is to be held.
type grants struct {
	holders map[string][]gpu.Holder // by name
	known   map[string]bool         // names of what a pod holds or could be given
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
	take := func(name string, ok bool, by *holding) {
		if !ok {
			g.unknown++
			return
		}
		g.known[name] = true
		if by == nil {
			return
		}
		if parts[name] == nil {
			parts[name] = map[holding]int{}
		}
		parts[name][*by]++
	}
	each := func(devices *podresources.ContainerDevices, by *holding) {
		for _, id := range devices.GetDeviceIds() {
			if name, ok := deviceName(id); ok || strings.HasPrefix(devices.GetResourceName(), vendor) {
				take(name, ok, by)
			}
		}
	}
	for _, devices := range allocatable {
		each(devices, nil)
	}
	for _, pod := range pods {
		for _, container := range pod.GetContainers() {
			who := holding{pod.GetNamespace(), pod.GetName(), container.GetName()}
			for _, devices := range container.GetDevices() {
				each(devices, &who)
			}
			for _, claimed := range container.GetDynamicResources() {
				for _, device := range claimed.GetClaimResources() {
					if device.GetDriverName() == claimDriver {
						name, ok := claimedName(device.GetDeviceName())
						take(name, ok, &who)
					}
				}
			}
		}
	}
	for name, of := range parts {
		all := 0
		for _, n := range of {
			all += n
		}
		for who, n := range of {
			g.holders[name] = append(g.holders[name], gpu.Holder{
				Workload: gpu.Workload{Runtime: "kubernetes", Namespace: who.namespace, Pod: who.pod, Container: who.container},
				Parts:    float64(n), Share: float64(n) / float64(all),
			})
		}
		slices.SortFunc(g.holders[name], func(a, b gpu.Holder) int { return compare(a.Workload, b.Workload) })
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
