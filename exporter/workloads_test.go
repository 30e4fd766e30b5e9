package exporter_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
)

const containerID = "4f0c9b1d2e3a4b5c6d7e8f901a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d"

// procfsOf makes a procfs that a program may believe to be its own.
func procfsOf(t *testing.T) (root string, seenBy func(pid int)) {
	t.Helper()
	root = t.TempDir()
	link := func(target, path string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
	return root, func(pid int) {
		link("pid:[4026531836]", filepath.Join(root, strconv.Itoa(pid), "ns", "pid"))
		link(strconv.Itoa(pid), filepath.Join(root, "self"))
	}
}

func writeFile(t *testing.T, text string, path ...string) {
	t.Helper()
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestThePageTellsContainersAndNothingOfTheirProcesses(t *testing.T) {
	t.Parallel()
	procfs, seenBy := procfsOf(t)
	cgroups := map[string]string{
		"71001": "0::/kubepods.slice/kubepods-pod0f2c7c1e_93ab_4d5e_8f60_1a2b3c4d5e6f.slice/cri-containerd-" + containerID + ".scope\n",
		"71002": "0::/user.slice/user-1047.slice/user@1047.service/app.slice/jupyter-wilhelmina.service\n",
		"71003": "0::/system.slice/wilhelmina-inference.service\n",
	}
	for pid, cgroup := range cgroups {
		writeFile(t, cgroup, procfs, pid, "cgroup")
		writeFile(t, "wilhelmina\n", procfs, pid, "comm")
		writeFile(t, "python\x00train.py\x00--token=hunter2-"+pid+"\x00", procfs, pid, "cmdline")
		writeFile(t, "SECRET=hunter2\x00", procfs, pid, "environ")
		writeFile(t, "Name:\twilhelmina\nUid:\t1047\t1047\t1047\t1047\n", procfs, pid, "status")
	}
	logs := t.TempDir()
	writeFile(t, "hunter2\n", logs, "trainer-0_team-a_main-"+containerID+".log")

	s := fakenvml.H100x8().DeviceCount(1)
	s.GPU(0).Set("processes", 3).Set("process_first", 71001).Set("process_memory", 3<<30)
	host := fakenvml.Install(t, s)
	p := startProgram(t, host.Env(), "--path.procfs="+procfs, "--path.container-logs="+logs, "--log.level=debug")
	eventually(t, "the program says that it is in another namespace", func() bool { return strings.Contains(p.log.String(), "reason=pid_namespace") })
	eventually(t, "and only counts", func() bool {
		return strings.Contains(p.page(t), `gpu_container_processes{container="",container_id="",gpu="0",host="gpu-a1",namespace="",pod="",pod_uid="",runtime="unknown",`) &&
			strings.Contains(p.page(t), `reason="pid_namespace"`)
	})
	seenBy(p.cmd.Process.Pid)
	var page string
	eventually(t, "the page tells the container", func() bool {
		page = p.page(t)
		return strings.Contains(page, `gpu_container_memory_used_bytes{container="main",container_id="4f0c9b1d2e3a",gpu="0",host="gpu-a1",namespace="team-a",`+
			`pod="trainer-0",pod_uid="0f2c7c1e-93ab-4d5e-8f60-1a2b3c4d5e6f",runtime="containerd",slurm_job="",`)
	})
	for _, want := range []string{`runtime="host"`, `runtime="systemd"`, `gpu_containers{gpu="0",host="gpu-a1",`} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is not on the page", want)
		}
	}
	for _, secret := range []string{"hunter2", "wilhelmina", "1047", "71001", "71002", "71003", "python", "train.py"} {
		if strings.Contains(page, secret) || strings.Contains(p.log.String(), secret) {
			t.Errorf("%s reached the page or the log", secret)
		}
	}
	if found := regexp.MustCompile(`[{,](pid|process|user|comm|cmdline)="`).FindString(page); found != "" {
		t.Errorf("a label %s is on the page", found)
	}
}

func TestContainersCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	host := fakenvml.Install(t, fakenvml.H100x8())
	p := startProgram(t, host.Env(), "--no-collector.containers")
	eventually(t, "processes are counted", func() bool { return strings.Contains(p.page(t), `gpu_processes{gpu="7"`) })
	if page := p.page(t); strings.Contains(page, "gpu_container") || strings.Contains(page, "unattributed") {
		t.Error("containers are on the page although they are switched off")
	}
}
