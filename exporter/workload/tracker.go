// Package workload tells who uses a GPU: the container, the pod or the batch job of each
// process that the driver lists, and the pods that the kubelet gave a GPU to. It never tells
// who they are by name: of a process it reads the control group, and nothing else.
package workload

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// Config is what a Tracker is made from. The zero value of each field means its default.
type Config struct {
	// ProcFS is where the host's procfs is mounted (default /proc).
	ProcFS string
	// ContainerLogs is the kubelet's folder of links to logs, for the names of pods
	// (default DefaultContainerLogs). Where there is none, pods have no names but those that
	// the kubelet's socket tells.
	ContainerLogs string
	// MaxContainers is how many workloads of one GPU are told apart (default 32).
	MaxContainers int
	// Now is the clock (default time.Now).
	Now func() time.Time
	// Logger is told what an operator should know, once per change (default: nobody).
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.ProcFS == "" {
		c.ProcFS = "/proc"
	}
	if c.ContainerLogs == "" {
		c.ContainerLogs = DefaultContainerLogs
	}
	if c.MaxContainers <= 0 {
		c.MaxContainers = 32
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Tracker tells the workloads of processes. Procfs is read by Run's goroutine alone: should it
// hang, the driver's readers go on, and processes become unknown.
type Tracker struct {
	config Config
	procfs procfs
	kick   chan struct{} // there are processes to look up

	mu     sync.Mutex // guards what follows
	cards  map[string]*card
	owners map[uint32]owner
	names  map[string]gpu.Workload // by the beginning of a container's id
	blind  string                  // why no process can be told at all
	swept  time.Time               // when procfs last answered for all
}

// card is a GPU, or MIG instance, that processes were told of.
type card struct {
	pids   []uint32
	waited map[uint32]bool // not told yet in the round before
	shown  []gpu.Workload  // that have series of their own, the longest-known first
	at     time.Time
}

// owner is what procfs said of a process.
type owner struct {
	gpu.Workload
	reason string // why the workload is not known, "" where it is
	at     time.Time
}

// recheck is how long what procfs said is believed. The number of a process that ended may go
// to another one; that takes a while, as numbers are given out in turn.
const recheck = 30 * time.Second

// New returns a Tracker, which knows already whether procfs can be asked at all.
func New(config Config) *Tracker {
	config = config.withDefaults()
	t := &Tracker{
		config: config, procfs: procfs{config.ProcFS}, kick: make(chan struct{}, 1),
		cards: map[string]*card{}, owners: map[uint32]owner{},
	}
	t.setBlind(t.procfs.blind())
	return t
}

// setBlind notes why no process can be told, and says so once. The lock must be held, or the
// Tracker be nobody else's yet.
func (t *Tracker) setBlind(reason string) {
	if reason != t.blind && reason != "" {
		t.config.Logger.Warn("processes on GPUs cannot be told by container", slog.String("reason", reason), slog.String("remedy", remedy))
	}
	t.blind = reason
}

// Run looks processes up until ctx ends. It has no beat of its own, because waking an idle
// program costs more than the look: what Attribute finds new or due is looked up right after.
func (t *Tracker) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.kick:
			t.sweep()
		}
	}
}

// sweep asks procfs about the processes that are not known, or not any more.
func (t *Tracker) sweep() {
	now := t.config.Now()
	blind := t.procfs.blind()
	wanted, due := t.wanted(now)
	found := make(map[uint32]owner, len(due))
	if blind == "" {
		for _, pid := range due {
			w, reason := t.procfs.owner(pid)
			found[pid] = owner{w, reason, now}
		}
	}
	names := t.newNames(found)

	t.mu.Lock()
	defer t.mu.Unlock()
	t.setBlind(blind)
	t.swept = now
	for pid := range t.owners {
		if !wanted[pid] {
			delete(t.owners, pid)
		}
	}
	for pid, o := range found {
		t.owners[pid] = o
	}
	if names != nil {
		t.names = names
	}
}

// wanted returns the processes that cards have now, and those of them to be looked up.
func (t *Tracker) wanted(now time.Time) (wanted map[uint32]bool, due []uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	wanted = map[uint32]bool{}
	for uuid, c := range t.cards {
		if now.Sub(c.at) > time.Minute {
			delete(t.cards, uuid)
			continue
		}
		for _, pid := range c.pids {
			if wanted[pid] {
				continue
			}
			wanted[pid] = true
			if o, known := t.owners[pid]; !known || o.reason != "" || now.Sub(o.at) > recheck {
				due = append(due, pid)
			}
		}
	}
	return wanted, due
}

// newNames reads the names of pods' containers where one came that has none yet; nil means
// that those known still hold.
func (t *Tracker) newNames(found map[uint32]owner) map[string]gpu.Workload {
	t.mu.Lock()
	missing := false
	for _, o := range found {
		if o.PodUID != "" && t.names[o.ContainerID].Pod == "" {
			missing = true
		}
	}
	t.mu.Unlock()
	if !missing {
		return nil
	}
	names, err := readNames(t.config.ContainerLogs)
	if err != nil && !os.IsNotExist(err) {
		t.config.Logger.Debug("names of pods", slog.Any("err", err))
	}
	return names
}
