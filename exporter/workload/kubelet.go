package workload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// DefaultSocket is where the kubelet serves its pod-resources API.
const DefaultSocket = "/var/lib/kubelet/pod-resources/kubelet.sock"

// KubeletConfig is what a Kubelet is made from. The zero value of each field means its default.
type KubeletConfig struct {
	// Socket is the kubelet's pod-resources socket (default DefaultSocket). It may come and go.
	Socket string
	// Interval is how often the kubelet is asked (default 10 s), and a sixth as often whether
	// there is one. What it said holds for three intervals; then nothing is told rather than
	// something stale.
	Interval time.Duration
	// Timeout is how long an answer may take (default 5 s).
	Timeout time.Duration
	// MaxHolders is how many holders of one GPU are told apart (default 32).
	MaxHolders int
	// Now is the clock (default time.Now).
	Now func() time.Time
	// Logger is told what an operator should know, once per change (default: nobody).
	Logger *slog.Logger
	// Metrics receives leasewatch_exporter_kubelet_up and leasewatch_exporter_kubelet_unknown_devices
	// once there is a kubelet (default: a set of its own).
	Metrics *metrics.Set
}

func (c KubeletConfig) withDefaults() KubeletConfig {
	if c.Socket == "" {
		c.Socket = DefaultSocket
	}
	if c.Interval <= 0 {
		c.Interval = 10 * time.Second
	}
	if c.Timeout <= 0 {
		c.Timeout = 5 * time.Second
	}
	if c.MaxHolders <= 0 {
		c.MaxHolders = 32
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Metrics == nil {
		c.Metrics = metrics.NewSet()
	}
	return c
}

// Kubelet tells which containers the kubelet gave which GPUs to. On a host without one it
// tells nothing.
type Kubelet struct {
	config KubeletConfig
	client podresources.PodResourcesListerClient
	seen   bool   // there was a socket
	failed string // the last failure that was logged

	mu      sync.Mutex // guards what follows
	grants  grants
	at      time.Time // when the kubelet last answered
	working bool      // the last try
}

// maxAnswer bounds the kubelet's answer: a node of 1,000 pods fits many times.
const maxAnswer = 16 << 20

// NewKubelet returns a Kubelet. It connects in Run.
func NewKubelet(config KubeletConfig) *Kubelet { return &Kubelet{config: config.withDefaults()} }

// Run asks the kubelet until ctx ends.
func (k *Kubelet) Run(ctx context.Context) error {
	conn, err := k.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	for {
		k.poll(ctx)
		pause := k.config.Interval
		if !k.seen {
			pause *= 6
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// connect prepares the calls; the connection is made with the first one.
func (k *Kubelet) connect() (io.Closer, error) {
	pause := backoff.DefaultConfig
	pause.MaxDelay = k.config.Interval // a kubelet that restarts is found again at the next try
	conn, err := grpc.NewClient("unix:"+k.config.Socket,
		grpc.WithTransportCredentials(insecure.NewCredentials()), // the socket is the node's own, guarded by its permissions
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: pause, MinConnectTimeout: k.config.Timeout}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer)))
	if err != nil {
		return nil, fmt.Errorf("the kubelet's socket %s: %w", k.config.Socket, err)
	}
	k.client = podresources.NewPodResourcesListerClient(conn)
	return conn, nil
}

// Try asks the kubelet once, before or instead of Run. It returns fs.ErrNotExist where there is
// none, and how many GPUs and MIG instances the kubelet gives to pods.
func (k *Kubelet) Try(ctx context.Context) (devices int, err error) {
	if _, err := os.Stat(k.config.Socket); err != nil {
		return 0, err
	}
	conn, err := k.connect()
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, k.config.Timeout)
	defer cancel()
	answer, err := k.ask(ctx)
	return len(answer.known), err
}

// poll asks once.
func (k *Kubelet) poll(ctx context.Context) {
	if !k.seen {
		if _, err := os.Stat(k.config.Socket); errors.Is(err, fs.ErrNotExist) {
			return // no kubelet runs here
		}
		k.seen = true
		k.config.Metrics.GetOrCreateGauge("leasewatch_exporter_kubelet_up", k.up)
		k.config.Metrics.GetOrCreateGauge("leasewatch_exporter_kubelet_unknown_devices", k.unknown)
	}
	ctx, cancel := context.WithTimeout(ctx, k.config.Timeout)
	defer cancel()
	answer, err := k.ask(ctx)
	if err != nil {
		k.report(err)
		k.mu.Lock()
		k.working = false
		k.mu.Unlock()
		return
	}
	k.failed = ""
	for name, holders := range answer.holders {
		answer.holders[name] = capped(holders, k.config.MaxHolders)
	}
	k.mu.Lock()
	k.grants, k.at, k.working = answer, k.config.Now(), true
	k.mu.Unlock()
}

func (k *Kubelet) ask(ctx context.Context) (grants, error) {
	list, err := k.client.List(ctx, &podresources.ListPodResourcesRequest{})
	if err != nil {
		return grants{}, fmt.Errorf("asking who holds which device: %w", err)
	}
	// Kubelets before 1.23 do not tell what there is to be held. Then a GPU that nobody holds
	// is not known to be free.
	all, err := k.client.GetAllocatableResources(ctx, &podresources.AllocatableResourcesRequest{})
	if err != nil {
		k.config.Logger.Debug("the kubelet does not tell which devices there are", slog.Any("err", err))
	}
	return readGrants(list.GetPodResources(), all.GetDevices()), nil
}

// report logs a failure when it is another one than the last.
func (k *Kubelet) report(err error) {
	if text := err.Error(); text != k.failed {
		k.failed = text
		k.config.Logger.Warn("the kubelet does not tell which pods hold GPUs", slog.Any("err", err), slog.String("remedy",
			"check that the kubelet runs and that "+k.config.Socket+" is mounted and may be opened, or switch --collector.pod-resources off"))
	}
}

func (k *Kubelet) up() float64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.working {
		return 1
	}
	return 0
}

func (k *Kubelet) unknown() float64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return float64(k.grants.unknown)
}

// Card tells who a card was given to. It never blocks for long.
func (k *Kubelet) Card(card *gpu.Identity) gpu.Allocation {
	return k.allocation(func() []string { return cardNames(card) })
}

// Instance tells who a MIG device of a card was given to. It never blocks for long.
func (k *Kubelet) Instance(card *gpu.Identity, i *gpu.Instance) gpu.Allocation {
	return k.allocation(func() []string { return instanceNames(card, i) })
}

// allocation tells what the kubelet said of the first of the names that it knows.
func (k *Kubelet) allocation(names func() []string) gpu.Allocation {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.at.IsZero() || k.config.Now().Sub(k.at) > 3*k.config.Interval {
		return gpu.Allocation{}
	}
	for _, name := range names() {
		if k.grants.known[name] {
			holders := k.grants.holders[name]
			return gpu.Allocation{Allocated: gpu.Some(len(holders) > 0), Holders: holders}
		}
	}
	return gpu.Allocation{}
}
