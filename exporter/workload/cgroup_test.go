package workload

import (
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

const (
	id  = "4f0c9b1d2e3a4b5c6d7e8f901a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d"
	id2 = "aa11bb22cc33dd44ee55ff6600112233445566778899aabbccddeeff00112233"
	uid = "0f2c7c1e-93ab-4d5e-8f60-1a2b3c4d5e6f"
)

// The paths are spelled as each runtime spells them.
func TestWhoseAControlGroupIs(t *testing.T) {
	slice := strings.ReplaceAll(uid, "-", "_")
	docker := gpu.Workload{Runtime: "docker", ContainerID: id[:12]}
	pod := func(runtime string) gpu.Workload {
		return gpu.Workload{Runtime: runtime, ContainerID: id[:12], PodUID: uid}
	}
	for name, test := range map[string]struct {
		text string
		want gpu.Workload
	}{
		"docker, version 2, systemd":  {"0::/system.slice/docker-" + id + ".scope\n", docker},
		"docker, version 2, cgroupfs": {"0::/docker/" + id + "\n", docker},
		"docker, version 1": {"12:pids:/docker/" + id + "\n11:memory:/docker/" + id + "\n1:name=systemd:/docker/" + id + "\n0::/system.slice/containerd.service\n",
			docker},
		"docker, version 1, some hierarchies unused": {"3:rdma:/\n2:devices:/system.slice/docker-" + id + ".scope\n1:name=systemd:/system.slice/docker-" + id + ".scope\n", docker},
		"docker, a group inside of the container":    {"0::/system.slice/docker-" + id + ".scope/init.scope\n", docker},
		"docker, another parent":                     {"0::/actions_job/" + id + "\n", gpu.Workload{Runtime: "container", ContainerID: id[:12]}},
		"docker inside of docker is the outer one":   {"0::/system.slice/docker-" + id + ".scope/docker/" + id2 + "\n", docker},
		"docker, rootless":                           {"0::/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" + id + ".scope\n", docker},
		"nerdctl":                                    {"0::/system.slice/nerdctl-" + id + ".scope\n", gpu.Workload{Runtime: "containerd", ContainerID: id[:12]}},

		"containerd in Kubernetes, version 2, systemd":  {"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + slice + ".slice/cri-containerd-" + id + ".scope\n", pod("containerd")},
		"containerd in Kubernetes, guaranteed":          {"0::/kubepods.slice/kubepods-pod" + slice + ".slice/cri-containerd-" + id + ".scope\n", pod("containerd")},
		"containerd in Kubernetes, version 1, cgroupfs": {"4:memory:/kubepods/besteffort/pod" + uid + "/" + id + "\n", pod("container")},
		"containerd that asks systemd in its own way":   {"1:name=systemd:/system.slice/containerd.service/kubepods-burstable-pod" + slice + ".slice:cri-containerd:" + id + "\n", pod("containerd")},
		"docker in Kubernetes":                          {"1:name=systemd:/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + slice + ".slice/docker-" + id + ".scope\n", pod("docker")},
		"CRI-O, version 2":                              {"0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + slice + ".slice/crio-" + id + ".scope\n", pod("cri-o")},
		"CRI-O, the group inside":                       {"0::/kubepods.slice/kubepods-pod" + slice + ".slice/crio-" + id + ".scope/container\n", pod("cri-o")},
		"CRI-O, cgroupfs":                               {"3:cpu,cpuacct:/kubepods/burstable/pod" + uid + "/crio-" + id + "\n", pod("cri-o")},
		"CRI-O's monitor is in no container":            {"0::/system.slice/crio-conmon-" + id + ".scope\n", gpu.Workload{Runtime: "host"}},
		"a pod from a file on the node": {"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0123456789abcdef0123456789abcdef.slice/cri-containerd-" + id + ".scope\n",
			gpu.Workload{Runtime: "containerd", ContainerID: id[:12], PodUID: "0123456789abcdef0123456789abcdef"}},
		"told from inside another pod":           {"0::/../../kubepods-burstable-pod" + slice + ".slice/cri-containerd-" + id + ".scope\n", pod("containerd")},
		"told from inside another pod, cgroupfs": {"0::/../../pod" + uid + "/" + id + "\n", pod("container")},
		"told from inside the same pod":          {"0::/../cri-containerd-" + id + ".scope\n", gpu.Workload{Runtime: "containerd", ContainerID: id[:12]}},
		"a node of Kubernetes that is a container itself": {"0::/system.slice/docker-" + id2 + ".scope/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + slice + ".slice/cri-containerd-" + id + ".scope\n",
			gpu.Workload{Runtime: "docker", ContainerID: id2[:12]}},
		"docker inside of a pod is the pod's container": {"0::/kubepods/burstable/pod" + uid + "/" + id + "/docker/" + id2 + "\n", pod("container")},

		"podman, root":                  {"0::/machine.slice/libpod-" + id + ".scope/container\n", gpu.Workload{Runtime: "podman", ContainerID: id[:12]}},
		"podman, rootless":              {"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + id + ".scope/container\n", gpu.Workload{Runtime: "podman", ContainerID: id[:12]}},
		"podman, a pod of its own":      {"0::/machine.slice/machine-libpod_pod_" + id2 + ".slice/libpod-" + id + ".scope\n", gpu.Workload{Runtime: "podman", ContainerID: id[:12]}},
		"podman, cgroupfs":              {"9:memory:/libpod_parent/libpod-" + id + "\n", gpu.Workload{Runtime: "podman", ContainerID: id[:12]}},
		"podman's monitor":              {"0::/machine.slice/libpod-conmon-" + id + ".scope\n", gpu.Workload{Runtime: "host"}},
		"LXC":                           {"0::/lxc.payload.renter-7/user.slice/user-0.slice/session-1.scope\n", gpu.Workload{Runtime: "lxc", Container: "renter-7"}},
		"LXC, version 1":                {"4:memory:/lxc/renter-7/system.slice\n", gpu.Workload{Runtime: "lxc", Container: "renter-7"}},
		"docker inside of LXC is LXC's": {"0::/lxc.payload.renter-7/system.slice/docker-" + id + ".scope\n", gpu.Workload{Runtime: "lxc", Container: "renter-7"}},
		"LXC's monitor":                 {"0::/lxc.monitor.renter-7\n", gpu.Workload{Runtime: "host"}},

		"Slurm, version 1":                  {"11:devices:/slurm/uid_1000/job_4711/step_0\n8:memory:/slurm/uid_1000/job_4711/step_0/task_0\n1:name=systemd:/system.slice/slurmd.service\n", gpu.Workload{Runtime: "slurm", SlurmJob: "4711"}},
		"Slurm, version 1, several daemons": {"11:devices:/slurm_node3/uid_1000/job_4711/step_batch\n", gpu.Workload{Runtime: "slurm", SlurmJob: "4711"}},
		"Slurm, version 2":                  {"0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n", gpu.Workload{Runtime: "slurm", SlurmJob: "4711"}},
		"Slurm, version 2, several daemons": {"0::/system.slice/node3_slurmstepd.scope/job_4711/step_extern/user/task_special\n", gpu.Workload{Runtime: "slurm", SlurmJob: "4711"}},
		"Slurm inside of a pod is both": {"0::/kubepods.slice/kubepods-pod" + slice + ".slice/cri-containerd-" + id + ".scope/system.slice/slurmstepd.scope/job_4711/step_0\n",
			gpu.Workload{Runtime: "containerd", ContainerID: id[:12], PodUID: uid, SlurmJob: "4711"}},
		"a job that is not Slurm's": {"0::/system.slice/builder.service/job_4711\n", gpu.Workload{Runtime: "host"}},

		"a service":                       {"0::/system.slice/ollama.service\n", gpu.Workload{Runtime: "systemd"}},
		"a service, version 1":            {"3:cpu:/\n1:name=systemd:/system.slice/ollama.service\n", gpu.Workload{Runtime: "systemd"}},
		"a login":                         {"0::/user.slice/user-1000.slice/session-3.scope\n", gpu.Workload{Runtime: "host"}},
		"a service of a user is not told": {"0::/user.slice/user-1000.slice/user@1000.service/app.slice/jupyter-alice.service\n", gpu.Workload{Runtime: "host"}},
		"no group at all":                 {"0::/\n", gpu.Workload{Runtime: "host"}},
		"an empty file":                   {"", gpu.Workload{Runtime: "host"}},
		"nonsense":                        {"kubepods\n:\n::\n0:x\n", gpu.Workload{Runtime: "host"}},
		"an id that is too short":         {"0::/docker/" + id[:63] + "\n", gpu.Workload{Runtime: "host"}},
		"an id in capitals":               {"0::/docker/" + strings.ToUpper(id) + "\n", gpu.Workload{Runtime: "host"}},
		"a pod's uid that is none":        {"0::/kubepods/podalice-0000-0000-0000-000000000000/x\n", gpu.Workload{Runtime: "host"}},
		"a job whose number is none":      {"0::/system.slice/slurmstepd.scope/job_alice/step_0\n", gpu.Workload{Runtime: "host"}},
		"no line end":                     {"0::/docker/" + id, docker},
	} {
		t.Run(name, func(t *testing.T) {
			if got := parse(test.text); got != test.want {
				t.Errorf("%q\nis %+v, want %+v", test.text, got, test.want)
			}
		})
	}
}

// Whatever stands in the file, what comes out has the shape of an id or is empty: no name of a
// user, a service or a program gets through.
func FuzzParse(f *testing.F) {
	f.Add("0::/kubepods.slice/kubepods-pod" + strings.ReplaceAll(uid, "-", "_") + ".slice/cri-containerd-" + id + ".scope\n")
	f.Add("4:memory:/kubepods/burstable/pod" + uid + "/" + id + "\n0::/\n")
	f.Add("0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n")
	f.Add("0::/lxc.payload.a/docker/" + id)
	f.Add("1:name=systemd:/user.slice/user-1000.slice/user@1000.service/app.slice/jupyter-alice.service")
	f.Fuzz(func(t *testing.T, text string) {
		w := parse(text)
		if w.ContainerID != "" && (len(w.ContainerID) != idDigits || !all(w.ContainerID, hex)) {
			t.Errorf("container id %q", w.ContainerID)
		}
		if uid, ok := podUID("pod" + w.PodUID); w.PodUID != "" && (!ok || uid != w.PodUID) {
			t.Errorf("pod uid %q", w.PodUID)
		}
		if w.SlurmJob != "" && !all(w.SlurmJob, digit) {
			t.Errorf("job %q", w.SlurmJob)
		}
		if (w.Container != "") != (w.Runtime == "lxc") || w.Pod != "" || w.Namespace != "" {
			t.Errorf("a name: %+v", w)
		}
		known := map[string]bool{"docker": true, "containerd": true, "cri-o": true, "podman": true, "lxc": true, "container": true,
			"slurm": true, "systemd": true, "host": true}
		if !known[w.Runtime] {
			t.Errorf("runtime %q", w.Runtime)
		}
	})
}
