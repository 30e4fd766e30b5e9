package exporter_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
	"google.golang.org/grpc"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/leasewatch/leasewatch/exporter/catalog"
	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/exporter/workload"
	"github.com/leasewatch/leasewatch/internal/testenv"
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
		// A number counts where it stands by itself: the digits of times and sizes hold any of them now and then.
		alone := regexp.MustCompile(`(?:^|[^0-9.])` + regexp.QuoteMeta(secret) + `(?:[^0-9.]|$)`)
		if alone.MatchString(page) || alone.MatchString(p.log.String()) {
			t.Errorf("%s reached the page or the log", secret)
		}
	}
	if found := regexp.MustCompile(`[{,](pid|process|user|comm|cmdline)="`).FindString(page); found != "" {
		t.Errorf("a label %s is on the page", found)
	}
}

// kubelet gives GPU 0 to two pods by halves, and leaves GPU 1 free.
type kubelet struct {
	podresources.UnimplementedPodResourcesListerServer
}

const halved, free = "GPU-6f1e2d3c-0000-4a5b-8c9d-000000000000", "GPU-6f1e2d3c-0000-4a5b-8c9d-000000000001"

func (kubelet) List(context.Context, *podresources.ListPodResourcesRequest) (*podresources.ListPodResourcesResponse, error) {
	of := func(pod, id string) *podresources.PodResources {
		return &podresources.PodResources{Namespace: "team-a", Name: pod, Containers: []*podresources.ContainerResources{
			{Name: "main", Devices: []*podresources.ContainerDevices{{ResourceName: "nvidia.com/gpu", DeviceIds: []string{id}}}},
		}}
	}
	return &podresources.ListPodResourcesResponse{PodResources: []*podresources.PodResources{of("one", halved+"::0"), of("two", halved+"::1")}}, nil
}

func (kubelet) GetAllocatableResources(context.Context, *podresources.AllocatableResourcesRequest) (*podresources.AllocatableResourcesResponse, error) {
	return &podresources.AllocatableResourcesResponse{Devices: []*podresources.ContainerDevices{
		{ResourceName: "nvidia.com/gpu", DeviceIds: []string{halved + "::0", halved + "::1", free + "::0", free + "::1"}},
	}}, nil
}

func TestThePageTellsWhoHoldsAGPUEvenOneThatIsLost(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "kubelet") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "kubelet.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	podresources.RegisterPodResourcesListerServer(server, kubelet{})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)

	host := fakenvml.Install(t, fakenvml.H100x8().DeviceCount(3))
	p := startProgram(t, host.Env(), "--collector.pod-resources.socket="+socket)
	told := func() bool {
		page := p.page(t)
		for _, want := range []string{
			`gpu_allocated{gpu="0",host="gpu-a1",uuid="` + halved + `",vantage="host"} 1`,
			`gpu_allocated{gpu="1",host="gpu-a1",uuid="` + free + `",vantage="host"} 0`,
			`gpu_container_share_ratio{container="main",gpu="0",host="gpu-a1",namespace="team-a",pod="one",runtime="kubernetes",uuid="` + halved + `",vantage="host"} 0.5`,
			`gpu_container_share_ratio{container="main",gpu="0",host="gpu-a1",namespace="team-a",pod="two",runtime="kubernetes",uuid="` + halved + `",vantage="host"} 0.5`,
			`leasewatch_exporter_kubelet_up{host="gpu-a1",vantage="host"} 1`,
		} {
			if !strings.Contains(page, want) {
				return false
			}
		}
		return !strings.Contains(page, `gpu_allocated{gpu="2"`)
	}
	eventually(t, "the page tells the holders", told)
	host.Update(t, func(s *fakenvml.Scenario) { s.GPU(0).Lost() })
	eventually(t, "the card is lost", func() bool { return strings.Contains(p.page(t), `state="lost",uuid="`+halved+`",vantage="host"} 1`) })
	if !told() {
		t.Error("a lost card has no holders any more")
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

// The blocks of docs/workloads.md are a query and a manifest: both are read as such, and the
// names in them are those of the program.
func TestTheDocumentationOfWorkloadsHoldsTogether(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(testenv.Root(t), "docs", "workloads.md"))
	if err != nil {
		t.Fatal(err)
	}
	query, manifest := "", ""
	for _, block := range regexp.MustCompile(`(?m)(?:^    .*\n|^\n)+`).FindAllString(string(raw), -1) {
		switch {
		case strings.Contains(block, "unless on"):
			query = block
		case strings.Contains(block, "hostPID"):
			manifest = block
		}
	}
	known := map[string]bool{}
	for _, f := range slices.Concat(catalog.All(), catalog.Self()) {
		known[f.Name] = true
	}
	expression, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		t.Fatalf("the query: %v", err)
	}
	selectors := 0
	parser.Inspect(expression, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			selectors++
			if !known[selector.Name] {
				t.Errorf("the query asks for %s, which is not in the catalogue", selector.Name)
			}
		}
		return nil
	})
	if selectors != 2 {
		t.Errorf("the query has %d selectors, want 2", selectors)
	}
	for _, name := range regexp.MustCompile(`\b(?:gpu|leasewatch_exporter)_[a-z_]+\b`).FindAllString(string(raw), -1) {
		if !known[name] && !slices.Contains(catalog.InstanceLabels, name) {
			t.Errorf("%s is not in the catalogue", name)
		}
	}
	var pod struct {
		Spec struct {
			HostPID    bool `yaml:"hostPID"`
			Containers []struct {
				VolumeMounts []struct {
					MountPath string `yaml:"mountPath"`
				} `yaml:"volumeMounts"`
			}
		}
	}
	if err := yaml.Unmarshal([]byte(manifest), &pod); err != nil || !pod.Spec.HostPID || len(pod.Spec.Containers) != 1 {
		t.Fatalf("the manifest: %v, %+v", err, pod)
	}
	var mounted []string
	for _, mount := range pod.Spec.Containers[0].VolumeMounts {
		mounted = append(mounted, mount.MountPath)
	}
	if want := []string{filepath.Dir(workload.DefaultSocket), workload.DefaultContainerLogs}; !slices.Equal(mounted, want) {
		t.Errorf("the manifest mounts %v; the defaults are %v", mounted, want)
	}
}
