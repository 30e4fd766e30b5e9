package workload

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"
	"pgregory.net/rapid"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

const (
	card1 = "GPU-6f1e2d3c-0000-4a5b-8c9d-000000000001"
	mig0  = "MIG-6f1e2d3c-0000-4a5b-8c9d-0000000000a0"
)

// kubelet serves the real API on a unix socket, with answers that a test sets.
type kubelet struct {
	podresources.UnimplementedPodResourcesListerServer
	socket string
	server *grpc.Server

	mu          sync.Mutex
	pods        []*podresources.PodResources
	allocatable []*podresources.ContainerDevices
	err, errAll error
	hang        bool
}

func (k *kubelet) List(ctx context.Context, _ *podresources.ListPodResourcesRequest) (*podresources.ListPodResourcesResponse, error) {
	k.mu.Lock()
	hang, pods, err := k.hang, k.pods, k.err
	k.mu.Unlock()
	if hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &podresources.ListPodResourcesResponse{PodResources: pods}, err
}

func (k *kubelet) GetAllocatableResources(context.Context, *podresources.AllocatableResourcesRequest) (*podresources.AllocatableResourcesResponse, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return &podresources.AllocatableResourcesResponse{Devices: k.allocatable}, k.errAll
}

func (k *kubelet) set(change func(k *kubelet)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(k)
}

// serve starts the kubelet, again after stop.
func (k *kubelet) serve(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("unix", k.socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	podresources.RegisterPodResourcesListerServer(server, k)
	k.server = server
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener) // the error is the end that the test asked for
	}()
	t.Cleanup(func() { server.Stop(); <-ended })
}

func newKubelet(t *testing.T) *kubelet {
	// A socket's path may be 108 bytes long at most; a test's folder is longer.
	dir, err := os.MkdirTemp("", "kubelet")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return &kubelet{socket: filepath.Join(dir, "kubelet.sock")}
}

type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) count(s string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), s)
}

// asking runs a Kubelet against the socket until the test ends.
func (k *kubelet) asking(t *testing.T, config KubeletConfig) (*Kubelet, *logBuffer, *metrics.Set) {
	log, set := &logBuffer{}, metrics.NewSet()
	config.Socket, config.Logger, config.Metrics = k.socket, slog.New(slog.NewTextHandler(log, nil)), set
	if config.Interval == 0 {
		config.Interval = 20 * time.Millisecond
	}
	if config.Now == nil { // only what a test says makes an answer old
		config.Now = func() time.Time { return time.Unix(1000, 0) }
	}
	client := NewKubelet(config)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- client.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run returned %v", err)
		}
	})
	return client, log, set
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("within a minute this did not come true: %s", what)
}

func page(set *metrics.Set) string {
	var b strings.Builder
	set.WritePrometheus(&b)
	return b.String()
}

func devices(resource string, ids ...string) *podresources.ContainerDevices {
	return &podresources.ContainerDevices{ResourceName: resource, DeviceIds: ids}
}

func podOf(name string, of ...*podresources.ContainerDevices) *podresources.PodResources {
	return &podresources.PodResources{Namespace: "team-a", Name: name, Containers: []*podresources.ContainerResources{
		{Name: "side"}, {Name: "main", Devices: of},
	}}
}

func holder(pod string, parts, share float64) gpu.Holder {
	return gpu.Holder{Workload: gpu.Workload{Runtime: "kubernetes", Namespace: "team-a", Pod: pod, Container: "main"}, Parts: parts, Share: share}
}

func TestWhoHoldsACard(t *testing.T) {
	const whole = "nvidia.com/gpu"
	for name, test := range map[string]struct {
		pods        []*podresources.PodResources
		allocatable []*podresources.ContainerDevices
		want        map[string]gpu.Allocation
		unknown     int
	}{
		"nobody, of two that there are": {
			allocatable: []*podresources.ContainerDevices{devices(whole, card0, card1)},
			want:        map[string]gpu.Allocation{card0: {Allocated: gpu.Some(false)}, card1: {Allocated: gpu.Some(false)}},
		},
		"a whole card": {
			pods:        []*podresources.PodResources{podOf("a", devices(whole, card0))},
			allocatable: []*podresources.ContainerDevices{devices(whole, card0, card1)},
			want: map[string]gpu.Allocation{
				card0: {Allocated: gpu.Some(true), Holders: []gpu.Holder{holder("a", 1, 1)}},
				card1: {Allocated: gpu.Some(false)},
			},
		},
		"a kubelet that tells nothing of free ones": {
			pods: []*podresources.PodResources{podOf("a", devices(whole, card0))},
			want: map[string]gpu.Allocation{card0: {Allocated: gpu.Some(true), Holders: []gpu.Holder{holder("a", 1, 1)}}, card1: {}},
		},
		"two cards of one pod": {
			pods: []*podresources.PodResources{podOf("a", devices(whole, card0, card1))},
			want: map[string]gpu.Allocation{
				card0: {Allocated: gpu.Some(true), Holders: []gpu.Holder{holder("a", 1, 1)}},
				card1: {Allocated: gpu.Some(true), Holders: []gpu.Holder{holder("a", 1, 1)}},
			},
		},
		"time slices: equal parts of what is held, not of what is offered": {
			pods:        []*podresources.PodResources{podOf("a", devices(whole, card0+"::0")), podOf("b", devices(whole, card0+"::7"))},
			allocatable: []*podresources.ContainerDevices{devices(whole, card0+"::0", card0+"::1", card0+"::7")},
			want:        map[string]gpu.Allocation{card0: {Allocated: gpu.Some(true), Holders: []gpu.Holder{holder("a", 1, 0.5), holder("b", 1, 0.5)}}},
		},
		"MPS: a pod with several parts": {
			pods: []*podresources.PodResources{podOf("a", devices("nvidia.com/gpu.shared", card0+"::0", card0+"::1", card0+"::2")), podOf("b", devices("nvidia.com/gpu.shared", card0+"::3"))},
			want: map[string]gpu.Allocation{card0: {Allocated: gpu.Some(true), Holders: []gpu.Holder{holder("a", 3, 0.75), holder("b", 1, 0.25)}}},
		},
		"MIG instances, whole and shared": {
			pods: []*podresources.PodResources{podOf("a", devices("nvidia.com/mig-1g.10gb", mig0+"::0")), podOf("b", devices("nvidia.com/mig-1g.10gb", mig0+"::1"))},
			want: map[string]gpu.Allocation{mig0: {Allocated: gpu.Some(true), Holders: []gpu.Holder{holder("a", 1, 0.5), holder("b", 1, 0.5)}}},
		},
		"parts that another plugin numbers with a dash": {
			pods: []*podresources.PodResources{podOf("a", devices(whole, card0+"-3"))},
			want: map[string]gpu.Allocation{card0: {Allocated: gpu.Some(true), Holders: []gpu.Holder{holder("a", 1, 1)}}},
		},
		"devices that are no GPU, and GPUs under names that do not tell which": {
			pods:    []*podresources.PodResources{podOf("a", devices("vendor.example/nic", "eth0"), devices(whole, "nvidia", "GPU-short", "nvidia0/gi", "nvidia0/x1"))},
			want:    map[string]gpu.Allocation{card0: {}},
			unknown: 4,
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKubelet(t)
			k.pods, k.allocatable = test.pods, test.allocatable
			k.serve(t)
			client, _, set := k.asking(t, KubeletConfig{})
			eventually(t, "the kubelet has answered", func() bool { return client.up() == 1 })
			for uuid, want := range test.want {
				if got := client.Card(&gpu.Identity{UUID: uuid}); !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %+v, want %+v", uuid, got, want)
				}
			}
			if want := fmt.Sprintf("leasewatch_exporter_kubelet_unknown_devices %d\n", test.unknown); !strings.Contains(page(set), want) {
				t.Errorf("want %s in\n%s", want, page(set))
			}
		})
	}
}

func TestAHostWithoutAKubeletTellsNothingUntilOneComes(t *testing.T) {
	k := newKubelet(t)
	log, set := &logBuffer{}, metrics.NewSet()
	lonely := NewKubelet(KubeletConfig{Socket: k.socket, Logger: slog.New(slog.NewTextHandler(log, nil)), Metrics: set})
	lonely.poll(t.Context())
	if page(set) != "" || log.count("level") != 0 || lonely.Card(&gpu.Identity{UUID: card0}).Allocated != (gpu.Maybe[bool]{}) {
		t.Errorf("without a kubelet there is something to tell: %s", page(set))
	}
	client, _, _ := k.asking(t, KubeletConfig{})
	k.pods = []*podresources.PodResources{podOf("a", devices("nvidia.com/gpu", card0))}
	k.serve(t)
	eventually(t, "the kubelet is found", func() bool { return client.Card(&gpu.Identity{UUID: card0}).Allocated == gpu.Some(true) })
}

func TestAKubeletThatRefusesIsSaidOnceAndItsLastAnswerGrowsOld(t *testing.T) {
	k := newKubelet(t)
	k.allocatable = []*podresources.ContainerDevices{devices("nvidia.com/gpu", card0)}
	k.serve(t)
	var mu sync.Mutex
	now := time.Unix(1000, 0)
	client, log, set := k.asking(t, KubeletConfig{Now: func() time.Time { mu.Lock(); defer mu.Unlock(); return now }})
	eventually(t, "the card is free", func() bool { return client.Card(&gpu.Identity{UUID: card0}).Allocated == gpu.Some(false) })
	k.set(func(k *kubelet) { k.err = status.Error(codes.PermissionDenied, "not you") })
	eventually(t, "the refusal shows", func() bool { return strings.Contains(page(set), "leasewatch_exporter_kubelet_up 0\n") })
	if client.Card(&gpu.Identity{UUID: card0}).Allocated != gpu.Some(false) {
		t.Error("one refusal already makes the last answer worthless")
	}
	mu.Lock()
	now = now.Add(time.Minute)
	mu.Unlock()
	if got := client.Card(&gpu.Identity{UUID: card0}); got.Allocated != (gpu.Maybe[bool]{}) {
		t.Errorf("an answer of a minute ago is told as new: %+v", got)
	}
	if n := log.count("not you"); n != 1 {
		t.Errorf("the refusal was logged %d times, want once", n)
	}
	k.set(func(k *kubelet) { k.err = nil })
	eventually(t, "the card is told again", func() bool { return client.Card(&gpu.Identity{UUID: card0}).Allocated == gpu.Some(false) })
}

func TestAKubeletThatIsTooOldToTellWhatThereIs(t *testing.T) {
	k := newKubelet(t)
	k.errAll = status.Error(codes.Unimplemented, "unknown method")
	k.pods = []*podresources.PodResources{podOf("a", devices("nvidia.com/gpu", card0))}
	k.serve(t)
	client, log, _ := k.asking(t, KubeletConfig{})
	eventually(t, "the holder is told", func() bool { return client.Card(&gpu.Identity{UUID: card0}).Allocated == gpu.Some(true) })
	if got := client.Card(&gpu.Identity{UUID: card1}); got.Allocated != (gpu.Maybe[bool]{}) || log.count("WARN") != 0 {
		t.Errorf("a card that nobody holds: %+v", got)
	}
}

func TestAKubeletThatIsSlowOrRestartsIsAskedAgain(t *testing.T) {
	k := newKubelet(t)
	k.hang = true
	k.pods = []*podresources.PodResources{podOf("a", devices("nvidia.com/gpu", card0))}
	k.serve(t)
	client, log, _ := k.asking(t, KubeletConfig{Timeout: 50 * time.Millisecond})
	eventually(t, "the wait is given up", func() bool { return log.count("DeadlineExceeded") > 0 })
	k.set(func(k *kubelet) { k.hang = false })
	eventually(t, "the holder is told", func() bool { return client.Card(&gpu.Identity{UUID: card0}).Allocated == gpu.Some(true) })
	k.server.Stop()
	eventually(t, "the end of the kubelet shows", func() bool { return client.up() == 0 })
	k.pods = []*podresources.PodResources{podOf("b", devices("nvidia.com/gpu", card0))}
	if err := os.Remove(k.socket); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	k.serve(t)
	eventually(t, "the new kubelet is found", func() bool {
		holders := client.Card(&gpu.Identity{UUID: card0}).Holders
		return len(holders) == 1 && holders[0].Pod == "b"
	})
}

func TestOneTryTellsHowManyDevicesThereAre(t *testing.T) {
	k := newKubelet(t)
	client := NewKubelet(KubeletConfig{Socket: k.socket})
	if _, err := client.Try(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a kubelet: %v, want %v", err, fs.ErrNotExist)
	}
	k.allocatable = []*podresources.ContainerDevices{devices("nvidia.com/gpu", card0+"::0", card0+"::1", card1+"::0")}
	k.serve(t)
	if n, err := client.Try(t.Context()); n != 2 || err != nil {
		t.Errorf("%d devices, %v, want 2", n, err)
	}
	k.set(func(k *kubelet) { k.err = status.Error(codes.PermissionDenied, "not you") })
	if _, err := client.Try(t.Context()); err == nil || !strings.Contains(err.Error(), "not you") {
		t.Errorf("a refusal is %v", err)
	}
}

func TestSharesOfACardSumToOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var pods []*podresources.PodResources
		for i := range rapid.IntRange(1, 60).Draw(t, "pods") {
			ids := make([]string, rapid.IntRange(1, 9).Draw(t, "parts"))
			for j := range ids {
				ids[j] = fmt.Sprintf("%s::%d-%d", card0, i, j)
			}
			pods = append(pods, podOf(fmt.Sprintf("p%d", i), devices("nvidia.com/gpu", ids...)))
		}
		most := rapid.IntRange(1, 40).Draw(t, "cap")
		holders := capped(readGrants(pods, nil).holders[card0], most)
		sum := 0.0
		for _, h := range holders {
			sum += h.Share
		}
		if math.Abs(sum-1) > 1e-9 || len(holders) > most+1 {
			t.Errorf("%d holders (cap %d) sum to %v", len(holders), most, sum)
		}
	})
}

// A card and its MIG devices go by other names at other plugins.
func TestCardsThatAreNotNamedByUUID(t *testing.T) {
	claimed := func(driver, device string) *podresources.PodResources {
		pod := podOf("a")
		pod.Containers[1].DynamicResources = []*podresources.DynamicResource{{ClaimName: "c", ClaimResources: []*podresources.ClaimResource{
			{DriverName: driver, PoolName: "node", DeviceName: device},
		}}}
		return pod
	}
	plugged := func(id string) *podresources.PodResources { return podOf("a", devices("nvidia.com/gpu", id)) }
	card := gpu.Identity{UUID: card0, Index: 1, Board: gpu.Board{Minor: "1"}}
	moved := gpu.Identity{UUID: card0, Index: 0, Board: gpu.Board{Minor: "1"}}
	whole := &gpu.Instance{UUID: mig0, GPUInstance: 3, Placement: "4:2", GPUSlices: gpu.Some(2.0), ComputeSlices: gpu.Some(2.0)}
	part := &gpu.Instance{UUID: mig0, GPUInstance: 3, Placement: "4:2", GPUSlices: gpu.Some(2.0), ComputeSlices: gpu.Some(1.0)}
	for name, test := range map[string]struct {
		pod      *podresources.PodResources
		card     gpu.Identity
		instance *gpu.Instance
		held     bool
		unknown  int
	}{
		"GKE":                                          {pod: plugged("nvidia1"), card: card, held: true},
		"GKE, another card":                            {pod: plugged("nvidia11"), card: card},
		"GKE goes by the minor number":                 {pod: plugged("nvidia1"), card: moved, held: true},
		"GKE, time slices":                             {pod: plugged("nvidia1/vgpu3"), card: card, held: true},
		"GKE, a MIG device":                            {pod: plugged("nvidia1/gi3"), card: card, instance: whole, held: true},
		"GKE, a slice of a MIG device":                 {pod: plugged("nvidia1/gi3/vgpu0"), card: card, instance: whole, held: true},
		"GKE, another MIG device":                      {pod: plugged("nvidia1/gi4"), card: card, instance: whole},
		"GKE, a GPU instance that is shared":           {pod: plugged("nvidia1/gi3"), card: card, instance: part},
		"GKE, a MIG device is not its card":            {pod: plugged("nvidia1/gi3"), card: card},
		"a card without a minor number":                {pod: plugged("nvidia1"), card: gpu.Identity{UUID: card0, Index: 1}},
		"a claim":                                      {pod: claimed(claimDriver, "gpu-1"), card: card, held: true},
		"a claim, where index and minor number differ": {pod: claimed(claimDriver, "gpu-1"), card: moved},
		"a claim of a MIG device":                      {pod: claimed(claimDriver, "gpu-1-mig-14-4-2"), card: card, instance: whole, held: true},
		"a claim of another place":                     {pod: claimed(claimDriver, "gpu-1-mig-14-2-2"), card: card, instance: whole},
		"a claim of a shared place":                    {pod: claimed(claimDriver, "gpu-1-mig-14-4-2"), card: card, instance: part},
		"a claim of a passed-through card":             {pod: claimed(claimDriver, "gpu-vfio-1"), card: card, unknown: 1},
		"a claim of something else":                    {pod: claimed("nic.example", "gpu-1"), card: card},
	} {
		t.Run(name, func(t *testing.T) {
			k := NewKubelet(KubeletConfig{Now: func() time.Time { return time.Unix(1000, 0) }})
			k.grants, k.at = readGrants([]*podresources.PodResources{test.pod}, nil), time.Unix(1000, 0)
			got := k.Card(&test.card)
			if test.instance != nil {
				got = k.Instance(&test.card, test.instance)
			}
			want := gpu.Allocation{}
			if test.held {
				want = gpu.Allocation{Allocated: gpu.Some(true), Holders: []gpu.Holder{holder("a", 1, 1)}}
			}
			if !reflect.DeepEqual(got, want) || k.grants.unknown != test.unknown {
				t.Errorf("%+v, %d unknown, want %+v, %d", got, k.grants.unknown, want, test.unknown)
			}
		})
	}
}

// Every part of a device goes by one name, and that of no other device.
func FuzzDeviceNames(f *testing.F) {
	for _, seed := range []string{card0, card0 + "::3", mig0 + "-1", "nvidia0/gi3/vgpu1", "GPU-", "MIG-GPU-6f1e2d3c-0000-4a5b-8c9d-000000000000/1/0", "gpu-0-mig-19-4-1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		name, ok := deviceName(id)
		if ok != (name != "") {
			t.Errorf("%q is of %q (%v)", id, name, ok)
		}
		if ok && strings.Contains(name, "-") && (!strings.HasPrefix(id, name) || len(name) != 4+uuidDigits) {
			t.Errorf("%q is of %q", id, name)
		}
		if claimed, ok := claimedName(id); ok && !strings.HasPrefix(claimed, "claim ") {
			t.Errorf("%q is of %q", id, claimed)
		}
	})
}
