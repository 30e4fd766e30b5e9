//go:build linux

package host

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// network counts the traffic of the interfaces that count. Which those are it finds out anew
// where there are others, and now and then.
type network struct {
	*machine
	// first are the interfaces of the machine's first process: those of the machine itself,
	// where its procfs is mounted in a container with a network of its own.
	first, own *kept
	names      []string
	counted    []string // of names
	chosen     time.Time
}

func (m *machine) network() *network {
	return &network{machine: m, first: keep(m.procPath("1", "net", "dev")), own: keep(m.procPath("net", "dev"))}
}

func (c *network) read() (func(*gpu.Host), error) {
	file := c.first
	raw, err := file.read()
	if err != nil {
		file = c.own
		if raw, err = file.read(); err != nil {
			return nil, err
		}
	}
	all, err := parseTraffic(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.path, err)
	}
	names := make([]string, len(all))
	for i, n := range all {
		names[i] = n.Device
	}
	if now := c.options.Now(); !slices.Equal(names, c.names) || now.Sub(c.chosen) >= c.options.Slow {
		c.names, c.counted, c.chosen = names, c.physical(slices.Clone(names)), now
	}
	var found []gpu.Network
	for _, name := range c.counted {
		found = append(found, all[slices.Index(names, name)])
	}
	return func(h *gpu.Host) { h.Networks = found }, nil
}

// Where the counters stand in a line of net/dev, behind the interface's name.
var trafficColumns = map[gpu.NetworkCounter]int{
	{Way: "receive", What: "bytes"}: 0, {Way: "receive", What: "packets"}: 1, {Way: "receive", What: "errors"}: 2, {Way: "receive", What: "drops"}: 3,
	{Way: "transmit", What: "bytes"}: 8, {Way: "transmit", What: "packets"}: 9, {Way: "transmit", What: "errors"}: 10, {Way: "transmit", What: "drops"}: 11,
}

// parseTraffic reads net/dev: two lines of headings, then a line for each interface.
func parseTraffic(raw []byte) ([]gpu.Network, error) {
	var all []gpu.Network
	for text := range bytes.Lines(raw) {
		end := bytes.LastIndexByte(text, ':')
		if end < 0 {
			continue // a heading
		}
		n := gpu.Network{Device: string(bytes.TrimSpace(text[:end])), Counters: make(map[gpu.NetworkCounter]float64, len(trafficColumns))}
		var counters [12]uint64
		found, err := columns(text[end+1:], counters[:])
		if err != nil {
			return nil, fmt.Errorf("interface %s: %w", n.Device, err)
		}
		if found < len(counters) {
			return nil, fmt.Errorf("interface %s: want %d counters, found %d", n.Device, len(counters), found)
		}
		for counter, column := range trafficColumns {
			n.Counters[counter] = float64(counters[column])
		}
		all = append(all, n)
	}
	return all, nil
}
