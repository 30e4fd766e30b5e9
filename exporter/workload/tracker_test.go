package workload

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// host is a procfs of a test's own making, seen from this process.
type host struct {
	t       *testing.T
	root    string
	clock   time.Time
	tracker *Tracker
}

func newHost(t *testing.T, config Config) *host {
	h := &host{t: t, root: t.TempDir(), clock: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	h.link(strconv.Itoa(os.Getpid()), "self")
	h.link(initialNamespace, strconv.Itoa(os.Getpid()), "ns", "pid")
	config.ProcFS, config.Now = h.root, func() time.Time { return h.clock }
	if config.ContainerLogs == "" {
		config.ContainerLogs = filepath.Join(h.root, "no", "logs")
	}
	h.tracker = New(config)
	return h
}

func (h *host) path(parts ...string) string {
	h.t.Helper()
	path := filepath.Join(append([]string{h.root}, parts...)...)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	return path
}

func (h *host) link(target string, parts ...string) {
	h.t.Helper()
	path := h.path(parts...)
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		h.t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		h.t.Fatal(err)
	}
}

// process puts a process into a control group.
func (h *host) process(pid int, cgroup string) {
	h.t.Helper()
	if err := os.WriteFile(h.path(strconv.Itoa(pid), "cgroup"), []byte("0::"+cgroup+"\n"), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

const (
	card0 = "GPU-6f1e2d3c-0000-4a5b-8c9d-000000000000"
	gib   = 1 << 30
)

// round is one round of the driver's reader, with a gibibyte for each process, and the look
// at procfs that it asks for.
func (h *host) round(pids ...uint32) gpu.Occupancy {
	var processes []gpu.Process
	for _, pid := range pids {
		processes = append(processes, gpu.Process{PID: pid, MemoryBytes: gpu.Some[float64](gib)})
	}
	out := h.tracker.Attribute(card0, processes)
	select {
	case <-h.tracker.kick:
		h.tracker.sweep()
	default:
	}
	h.clock = h.clock.Add(5 * time.Second)
	return out
}

func use(w gpu.Workload, processes float64) gpu.Use {
	return gpu.Use{Workload: w, Processes: processes, MemoryBytes: gpu.Some(processes * gib)}
}

func dockerID(n int) string { return fmt.Sprintf("%012x%052x", n, n) }

func dockerScope(n int) string { return "/system.slice/docker-" + dockerID(n) + ".scope" }

func docker(n int) gpu.Workload {
	return gpu.Workload{Runtime: "docker", ContainerID: dockerID(n)[:idDigits]}
}

func wantUses(t *testing.T, got gpu.Occupancy, want ...gpu.Use) {
	t.Helper()
	if len(got.Uses) != len(want) || len(want) > 0 && !reflect.DeepEqual(got.Uses, want) {
		t.Errorf("uses are\n%+v, want\n%+v", got.Uses, want)
	}
}

func TestProcessesAreSummedByContainer(t *testing.T) {
	h := newHost(t, Config{})
	h.process(100, dockerScope(1))
	h.process(101, dockerScope(1)+"/inner")
	h.process(102, "/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0")
	h.process(103, "/user.slice/user-1000.slice/session-3.scope")
	if first := h.round(100, 101, 102, 103); len(first.Uses) != 0 || len(first.Unattributed) != 0 {
		t.Errorf("before procfs was asked: %+v", first)
	}
	got := h.round(100, 101, 102, 103)
	wantUses(t, got, use(docker(1), 2), use(gpu.Workload{Runtime: "host"}, 1), use(gpu.Workload{Runtime: "slurm", SlurmJob: "4711"}, 1))
	if got.Containers != gpu.Some(3.0) || got.Summed != gpu.Some(0.0) || len(got.Unattributed) != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestMemoryThatIsNotToldOfOneProcessIsNoSum(t *testing.T) {
	h := newHost(t, Config{})
	h.process(100, dockerScope(1))
	h.process(101, dockerScope(1))
	h.round(100, 101)
	got := h.tracker.Attribute(card0, []gpu.Process{{PID: 100, MemoryBytes: gpu.Some[float64](gib)}, {PID: 101}})
	wantUses(t, got, gpu.Use{Workload: docker(1), Processes: 2})
}

func TestAProcessThatEndsBetweenTwoCallsLeavesNoTrace(t *testing.T) {
	h := newHost(t, Config{})
	h.process(100, dockerScope(1))
	h.round(100, 200) // 200 has ended when procfs is asked
	got := h.round(100)
	wantUses(t, got, use(docker(1), 1))
	if len(got.Unattributed) != 0 {
		t.Errorf("unattributed: %v", got.Unattributed)
	}
	h.round(100, 200) // a number that comes back is given time again
	if got = h.round(100); len(got.Unattributed) != 0 {
		t.Errorf("unattributed: %v", got.Unattributed)
	}
}

func TestAProcessThatProcfsHidesIsUnknownForAsLongAsItIsListed(t *testing.T) {
	h := newHost(t, Config{})
	h.process(100, dockerScope(1))
	if err := os.WriteFile(h.path("300"), nil, 0o644); err != nil { // a folder that cannot be entered
		t.Fatal(err)
	}
	h.round(100, 200, 300)
	for range 3 {
		got := h.round(100, 200, 300)
		wantUses(t, got, use(docker(1), 1), use(gpu.Workload{Runtime: "unknown"}, 2))
		if want := map[string]float64{"not_found": 1, "refused": 1}; !reflect.DeepEqual(got.Unattributed, want) {
			t.Errorf("unattributed: %v, want %v", got.Unattributed, want)
		}
		if got.Containers != gpu.Some(1.0) {
			t.Errorf("%v containers, want 1: unknown is none", got.Containers)
		}
		h.tracker.sweep()
	}
	h.process(200, dockerScope(2)) // and is known once it can be seen
	h.tracker.sweep()
	wantUses(t, h.round(100, 200), use(docker(1), 1), use(docker(2), 1))
}

func TestNumbersOfAnotherNamespaceAreNotLookedUp(t *testing.T) {
	for name, set := range map[string]func(h *host){
		"procfs is of another namespace": func(h *host) { h.link("77", "self") },
		"the namespace is not the first": func(h *host) { h.link("pid:[4026532999]", strconv.Itoa(os.Getpid()), "ns", "pid") },
		"there is no procfs":             func(h *host) { h.tracker.procfs.root = h.path("nothing") },
		"the namespace cannot be asked of": func(h *host) {
			h.link(initialNamespace, strconv.Itoa(os.Getpid()), "ns", "other")
			os.Remove(h.path(strconv.Itoa(os.Getpid()), "ns", "pid"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, Config{})
			h.process(100, dockerScope(1)) // somebody else's number 100
			set(h)
			h.tracker.sweep()
			got := h.round(100, 101)
			wantUses(t, got, use(gpu.Workload{Runtime: "unknown"}, 2))
			if want := map[string]float64{"pid_namespace": 2}; !reflect.DeepEqual(got.Unattributed, want) {
				t.Errorf("unattributed: %v, want %v", got.Unattributed, want)
			}
		})
	}
}

func TestWhatIsOverTheCapIsSummedAndWhatWasShownStays(t *testing.T) {
	h := newHost(t, Config{MaxContainers: 2})
	for n := 1; n <= 4; n++ {
		h.process(100+n, dockerScope(n))
	}
	h.round(103, 104)
	wantUses(t, h.round(103, 104), use(docker(3), 1), use(docker(4), 1))
	h.round(101, 102, 103, 104)
	got := h.round(101, 102, 103, 104)
	wantUses(t, got, use(docker(3), 1), use(docker(4), 1), use(gpu.Workload{Runtime: "other"}, 2))
	if got.Containers != gpu.Some(4.0) || got.Summed != gpu.Some(2.0) {
		t.Errorf("%v containers, %v summed, want 4 and 2", got.Containers, got.Summed)
	}
	wantUses(t, h.round(101, 102, 104), use(docker(1), 1), use(docker(4), 1), use(gpu.Workload{Runtime: "other"}, 1))
}

func TestANumberThatWentToAnotherProcessIsLookedUpAgain(t *testing.T) {
	h := newHost(t, Config{})
	h.process(100, dockerScope(1))
	h.round(100)
	wantUses(t, h.round(100), use(docker(1), 1))
	h.process(100, dockerScope(2))
	h.clock = h.clock.Add(recheck)
	h.tracker.sweep()
	wantUses(t, h.round(100), use(docker(2), 1))
}

func TestPodsHaveTheNamesOfTheirLogs(t *testing.T) {
	logs := t.TempDir()
	for _, name := range []string{
		"trainer-0_team-a_main-gpu-" + id + ".log", "trainer-0_team-a_side-" + id2 + ".log",
		"README", "a_b_c.log", "a_b_c-" + id + ".txt", "a_b_c_d-" + id + ".log", "_b_c-" + id2 + ".log",
	} {
		if err := os.Symlink("/nowhere", filepath.Join(logs, name)); err != nil {
			t.Fatal(err)
		}
	}
	h := newHost(t, Config{ContainerLogs: logs})
	h.process(100, "/kubepods.slice/kubepods-pod"+uid+".slice/cri-containerd-"+id+".scope")
	h.process(101, "/kubepods.slice/kubepods-pod"+uid+".slice/cri-containerd-"+dockerID(7)+".scope")
	h.process(102, "/system.slice/docker-"+id2+".scope") // no pod: a log of that name means nothing
	h.round(100, 101, 102)
	pod := gpu.Workload{Runtime: "containerd", ContainerID: id[:idDigits], PodUID: uid}
	named, nameless := pod, pod
	named.Namespace, named.Pod, named.Container = "team-a", "trainer-0", "main-gpu"
	nameless.ContainerID = dockerID(7)[:idDigits]
	wantUses(t, h.round(100, 101, 102), use(nameless, 1), use(named, 1), use(gpu.Workload{Runtime: "docker", ContainerID: id2[:idDigits]}, 1))
}

func TestAProcfsThatHangsHoldsNobodyUp(t *testing.T) {
	h := newHost(t, Config{})
	h.process(100, dockerScope(1))
	hanging := h.path("200", "cgroup")
	if err := syscall.Mkfifo(hanging, 0o600); err != nil {
		t.Fatal(err)
	}
	h.round(100)
	h.tracker.Attribute(card0, []gpu.Process{{PID: 100}, {PID: 200}})
	swept := make(chan struct{})
	go func() { defer close(swept); h.tracker.sweep() }() // opens the pipe and waits for a writer
	for range 2 {
		h.tracker.Attribute(card0, []gpu.Process{{PID: 100}, {PID: 200}})
	}
	got := h.tracker.Attribute(card0, []gpu.Process{{PID: 100}, {PID: 200}})
	if want := map[string]float64{"not_read": 1}; !reflect.DeepEqual(got.Unattributed, want) {
		t.Errorf("unattributed: %v, want %v", got.Unattributed, want)
	}
	writer, err := os.OpenFile(hanging, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.WriteString("0::" + dockerScope(2) + "\n"); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	<-swept
	wantUses(t, h.tracker.Attribute(card0, []gpu.Process{{PID: 200}}), gpu.Use{Workload: docker(2), Processes: 1})

	h.clock = h.clock.Add(3 * recheck) // nobody has looked for long: nothing stale is told
	h.tracker.Attribute(card0, []gpu.Process{{PID: 200}})
	if got := h.tracker.Attribute(card0, []gpu.Process{{PID: 200}}); got.Unattributed["not_read"] != 1 {
		t.Errorf("unattributed: %v, want one not read", got.Unattributed)
	}
}

func TestACardThatIsGoneIsForgotten(t *testing.T) {
	h := newHost(t, Config{})
	h.process(100, dockerScope(1))
	h.round(100)
	h.clock = h.clock.Add(2 * time.Minute)
	h.tracker.sweep()
	if len(h.tracker.cards) != 0 || len(h.tracker.owners) != 0 {
		t.Errorf("still known: %v, %v", h.tracker.cards, h.tracker.owners)
	}
}
