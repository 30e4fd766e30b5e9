package workload

import (
	"strings"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// idDigits is how much of a container's id is kept: what docker ps and its like print.
const idDigits = 12

// scopes are the names that runtimes give to a container's control group, before its id.
var scopes = []struct{ prefix, runtime string }{
	{"docker-", "docker"},
	{"cri-containerd-", "containerd"},
	{"nerdctl-", "containerd"},
	{"crio-", "cri-o"},
	{"libpod-", "podman"},
}

// parents are the folders above a group that is named by the container's bare id.
var parents = map[string]string{
	"docker": "docker", "cri-containerd": "containerd", "crio": "cri-o", "libpod_parent": "podman",
}

// parse reads the text of /proc/PID/cgroup: one line of version 2, or one of each hierarchy of
// version 1, of which the one that tells most counts.
func parse(text string) gpu.Workload {
	best := gpu.Workload{Runtime: "host"}
	for line := range strings.Lines(text) {
		_, rest, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		if !ok {
			continue
		}
		_, path, ok := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		if w := place(path); tells(w) > tells(best) {
			best = w
		}
	}
	return best
}

// tells weighs how much a group's path says.
func tells(w gpu.Workload) int {
	n := 0
	for _, known := range []bool{w.Runtime != "host", w.SlurmJob != "", w.PodUID != "", w.ContainerID != "" || w.Container != ""} {
		n *= 2
		if known {
			n++
		}
	}
	return n
}

// place reads one path. The outermost container counts: it is what the host's operator
// started, and what runs inside of it is the tenant's own. A path that begins with .. is told
// from inside another container and lacks its first parts.
func place(path string) gpu.Workload {
	// containerd with two minds about systemd spells SLICE:cri-containerd:ID.
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == ':' })
	var w gpu.Workload
	slurm := false
	for i, part := range parts {
		above := ""
		if i > 0 {
			above = parts[i-1]
		}
		slurm = slurm || strings.HasPrefix(part, "slurm") || strings.HasSuffix(part, "slurmstepd.scope")
		if job, ok := strings.CutPrefix(part, "job_"); ok && slurm && w.SlurmJob == "" && all(job, digit) {
			w.SlurmJob = job
		}
		if w.Runtime != "" {
			continue // inside of the container
		}
		if uid, ok := podUID(part); ok {
			w.PodUID = uid
		}
		w.Runtime, w.ContainerID, w.Container = container(part, above)
	}
	switch {
	case w.Runtime != "":
	case w.SlurmJob != "":
		w.Runtime = "slurm"
	case len(parts) > 1 && parts[0] == "system.slice" && strings.HasSuffix(parts[len(parts)-1], ".service"):
		w.Runtime = "systemd"
	default:
		w.Runtime = "host"
	}
	return w
}

// container tells the container that one part of a path names, by its id or, LXC's, its name.
func container(part, above string) (runtime, id, name string) {
	if name, ok := strings.CutPrefix(part, "lxc.payload."); ok && name != "" {
		return "lxc", "", name
	}
	if above == "lxc" {
		return "lxc", "", part
	}
	bare := strings.TrimSuffix(part, ".scope")
	for _, scope := range scopes {
		if id, ok := strings.CutPrefix(bare, scope.prefix); ok && isID(id) {
			return scope.runtime, id[:idDigits], ""
		}
	}
	if !isID(bare) {
		return "", "", ""
	}
	if runtime, ok := parents[above]; ok {
		return runtime, bare[:idDigits], ""
	}
	return "container", bare[:idDigits], ""
}

// podUID finds a pod's uid: podUID as a folder, or ...-podUID.slice, where systemd has the
// dashes as underscores. A pod from a file on the node has a uid without dashes.
func podUID(part string) (string, bool) {
	uid := strings.TrimSuffix(part, ".slice")
	if i := strings.LastIndex(uid, "-pod"); i >= 0 {
		uid = uid[i+1:]
	}
	uid, ok := strings.CutPrefix(uid, "pod")
	if !ok {
		return "", false
	}
	uid = strings.ReplaceAll(uid, "_", "-")
	if len(uid) == 32 && all(uid, hex) {
		return uid, true
	}
	if len(uid) != 36 {
		return "", false
	}
	for i := range len(uid) {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (uid[i] == '-') || !dash && !hex(uid[i]) {
			return "", false
		}
	}
	return uid, true
}

func isID(s string) bool { return len(s) == 64 && all(s, hex) }

func all(s string, is func(byte) bool) bool {
	for i := range len(s) {
		if !is(s[i]) {
			return false
		}
	}
	return s != ""
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
func hex(c byte) bool   { return digit(c) || c >= 'a' && c <= 'f' }
