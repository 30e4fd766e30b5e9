// Package witness looks at hosts from outside: it probes them by ICMP and TCP on several network
// paths and asks their BMCs by Redfish. What it sees are series with their own times; what they
// mean for availability is decided where downtime is derived.
package witness

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Target is a host that is looked at.
type Target struct {
	// Host is its name in the inventory, Site where it stands.
	Host, Site string
	// Address is where probes reach it: an IP address or a name.
	Address string
	// BMC is where its BMC answers, an https:// or http:// address or the name alone; empty for none.
	BMC string
}

// Path is one way through the network.
type Path struct {
	Name string
	// Source is the address of this machine that probes leave from; the zero value for any.
	Source netip.Addr
	// Reference answers whenever the path works: an address for ICMP, or HOST:PORT for TCP. While it
	// does not, the path says nothing of any host.
	Reference string
}

// Way is how a path probes: "icmp", or "tcp:PORT".
type Way string

// ICMP is the way of an echo request.
const ICMP Way = "icmp"

// Reading is what one look at a host gave.
type Reading struct {
	Host, Path string
	Way        Way
	// At is when a failed probe was first sent, or when the answer came.
	At time.Time
	Up bool
}

// Prober sends one probe from source to an address and waits for the answer until ctx ends. A
// port that refuses the connection has answered. An error of errCannot says that the probe could
// not be sent from here, which is no word on the target.
type Prober interface {
	Probe(ctx context.Context, source netip.Addr, address string, way Way) error
}

// Attempts are the probes that one reading takes at most: a host has failed once none was answered.
const Attempts = 3

// parallel bounds the probes and the questions to BMCs that are under way at once.
const parallel = 512

// Options say what is looked at.
type Options struct {
	Paths []Path
	Ways  []Way
	// Interval is the distance of two looks, 5 s to 30 s.
	Interval time.Duration
	// BMCs are the accounts by which BMCs are asked; the first that serves a host's site is taken.
	BMCs []Account
	// Targets are the hosts as the inventory has them now.
	Targets func(context.Context) ([]Target, error)
	// Prober is the network's; nil for the real one.
	Prober Prober
	Now    func() time.Time
	Log    *slog.Logger
}

// Service looks at hosts each interval. It is a prometheus.Collector of what it saw last.
type Service struct {
	opts   Options
	prober Prober
	bmc    *redfish

	mu     sync.Mutex
	probes map[probeKey]Reading
	paths  map[string]bool // whether the path's reference answered
	power  map[string]BMCReading
	muted  map[string]string // what was logged last, by subject
}

type probeKey struct {
	host, path string
	way        Way
}

// New returns a service that looks at nothing before Run.
func New(o Options) *Service {
	s := &Service{
		opts: o, prober: o.Prober, bmc: newRedfish(o.BMCs, o.Now),
		probes: map[probeKey]Reading{}, paths: map[string]bool{}, power: map[string]BMCReading{}, muted: map[string]string{},
	}
	if s.prober == nil {
		s.prober = network{}
	}
	return s
}

// Run looks at all hosts each interval until ctx ends. A look that takes longer than the interval
// delays the next; none overlap.
func (s *Service) Run(ctx context.Context) {
	tick := time.NewTicker(s.opts.Interval)
	defer tick.Stop()
	for {
		s.Look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Look looks once at all hosts, on all paths and by their BMCs.
func (s *Service) Look(ctx context.Context) {
	targets, err := s.opts.Targets(ctx)
	if s.fails(ctx, "inventory", err, "hosts are not probed: the inventory cannot be read") {
		return
	}
	s.forget(targets)
	ctx, cancel := context.WithTimeout(ctx, s.opts.Interval)
	defer cancel()
	var wg sync.WaitGroup
	for _, path := range s.opts.Paths {
		wg.Go(func() { s.lookOn(ctx, path, targets) })
	}
	if len(s.opts.BMCs) > 0 {
		wg.Go(func() { s.askBMCs(ctx, targets) })
	}
	wg.Wait()
}

// lookOn probes all hosts on one path. The path's reference is asked before and, where any host
// failed, after: a path that went blind in between is not taken for hosts that are down.
func (s *Service) lookOn(ctx context.Context, path Path, targets []Target) {
	if !s.works(ctx, path) {
		return
	}
	var mu sync.Mutex
	var found []Reading
	failed := false
	each(targets, func(t Target) {
		var wg sync.WaitGroup
		for _, way := range s.opts.Ways {
			wg.Go(func() {
				if reading, ok := s.probe(ctx, path, t, way); ok {
					mu.Lock()
					found, failed = append(found, reading), failed || !reading.Up
					mu.Unlock()
				}
			})
		}
		wg.Wait()
	})
	if failed && !s.works(ctx, path) {
		found = slices.DeleteFunc(found, func(r Reading) bool { return !r.Up })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range found {
		s.probes[probeKey{r.Host, r.Path, r.Way}] = r
	}
}

// works asks the path's reference.
func (s *Service) works(ctx context.Context, path Path) bool {
	address, way := path.Reference, ICMP
	if host, port, err := net.SplitHostPort(path.Reference); err == nil {
		address, way = host, Way("tcp:"+port)
	}
	err := s.attempt(ctx, path, address, way)
	s.fails(ctx, "path "+path.Name, err, fmt.Sprintf("path %s is blind: its reference %s does not answer, so nothing is told of hosts on it", path.Name, path.Reference))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paths[path.Name] = err == nil
	return err == nil
}

// probe looks at one host in one way; false where the probe could not be sent from here.
func (s *Service) probe(ctx context.Context, path Path, t Target, way Way) (Reading, bool) {
	r := Reading{Host: t.Host, Path: path.Name, Way: way, At: s.opts.Now()}
	err := s.attempt(ctx, path, t.Address, way)
	if cannot(err) {
		s.fails(ctx, string(way)+" on "+path.Name+" of "+t.Host, err, fmt.Sprintf("host %s cannot be probed by %s on path %s from here, which says nothing of the host", t.Host, way, path.Name))
		return r, false
	}
	if r.Up = err == nil; r.Up {
		r.At = s.opts.Now()
	}
	return r, ctx.Err() == nil || r.Up
}

// attempt probes until one is answered, at most Attempts times within half an interval.
func (s *Service) attempt(ctx context.Context, path Path, address string, way Way) error {
	var err error
	for range Attempts {
		one, cancel := context.WithTimeout(ctx, s.opts.Interval/(4*Attempts))
		err = s.prober.Probe(one, path.Source, address, way)
		cancel()
		if err == nil || cannot(err) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// forget drops what was seen of hosts that are no longer in the inventory.
func (s *Service) forget(targets []Target) {
	known := map[string]bool{}
	for _, t := range targets {
		known[t.Host] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.probes {
		if !known[key.host] {
			delete(s.probes, key)
		}
	}
	for host := range s.power {
		if !known[host] {
			delete(s.power, host)
		}
	}
}

// fails tells whether there is an error, and logs it where it is not the one that was logged
// last of its subject; an end is logged too.
func (s *Service) fails(ctx context.Context, subject string, err error, what string) bool {
	if ctx.Err() != nil {
		return err != nil
	}
	words := ""
	if err != nil {
		words = err.Error()
	}
	s.mu.Lock()
	was := s.muted[subject]
	s.muted[subject] = words
	s.mu.Unlock()
	switch {
	case err != nil && was == "":
		s.opts.Log.Warn(what, "error", err)
	case err == nil && was != "":
		s.opts.Log.Info("well again", "subject", subject)
	}
	return err != nil
}

// each runs fn for every target, a bounded number of them at once.
func each(targets []Target, fn func(Target)) {
	slots := make(chan struct{}, parallel)
	var wg sync.WaitGroup
	for _, t := range targets {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			fn(t)
		})
	}
	wg.Wait()
}
