//go:build linux

package host

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// ticksPerSecond is USER_HZ, the unit of /proc/stat: 100 on every architecture we run on.
const ticksPerSecond = 100

// modes are the columns of the cpu line. Guests' time is part of user and nice already.
var modes = []string{"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"}

// stepBack is how far idle and iowait may go back by themselves: the kernel computes them anew
// for sleeping processors, and small steps back are none of a reset.
const stepBack = 3.0

// processors reads /proc/stat. The library reads every processor's line by itself, which costs
// more than all GPUs together where there are 256; only the sum is told here.
type processors struct {
	file    *kept
	seconds map[string]float64
}

func (c *processors) read() (func(*gpu.Host), error) {
	raw, err := c.file.read()
	if err != nil {
		return nil, err
	}
	stat, err := parseStat(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.file.path, err)
	}
	for _, mode := range []string{"idle", "iowait"} {
		if before := c.seconds[mode]; stat.cpu.SecondsByMode[mode] < before && before-stat.cpu.SecondsByMode[mode] < stepBack {
			stat.cpu.SecondsByMode[mode] = before
		}
	}
	c.seconds = stat.cpu.SecondsByMode
	return func(h *gpu.Host) {
		model, cores, sockets := h.CPU.Model, h.CPU.Cores, h.CPU.Sockets // another collector's
		h.CPU, h.BootedAt = stat.cpu, stat.booted
		h.CPU.Model, h.CPU.Cores, h.CPU.Sockets = model, cores, sockets
	}, nil
}

type stat struct {
	cpu    gpu.CPU
	booted gpu.Maybe[time.Time]
}

// parseStat reads what /proc/stat says of the whole machine.
func parseStat(raw []byte) (stat, error) {
	var s stat
	processors := 0
	for text := range bytes.Lines(raw) {
		key, rest, _ := bytes.Cut(text, []byte(" "))
		switch {
		case string(key) == "cpu":
			seconds, err := cpuSeconds(rest)
			if err != nil {
				return stat{}, err
			}
			s.cpu.SecondsByMode = seconds
		case bytes.HasPrefix(key, []byte("cpu")):
			processors++
		default:
			if err := s.count(string(key), rest); err != nil {
				return stat{}, err
			}
		}
	}
	if s.cpu.SecondsByMode == nil {
		return stat{}, fmt.Errorf("no line of the sum over all processors")
	}
	s.cpu.Logical = gpu.Some(float64(processors))
	return s, nil
}

// cpuSeconds reads the columns of the line "cpu"; an old kernel may have fewer.
func cpuSeconds(columns []byte) (map[string]float64, error) {
	seconds := make(map[string]float64, len(modes))
	for i, field := range bytes.Fields(columns) {
		if i == len(modes) {
			break
		}
		ticks, err := strconv.ParseUint(string(field), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("column %s of the processors' time: want a number, found %q", modes[i], field)
		}
		seconds[modes[i]] = float64(ticks) / ticksPerSecond
	}
	return seconds, nil
}

// count reads one of the lines with a single number.
func (s *stat) count(key string, rest []byte) error {
	var into *gpu.Maybe[float64]
	switch key {
	case "ctxt":
		into = &s.cpu.ContextSwitches
	case "processes":
		into = &s.cpu.Forks
	case "procs_running":
		into = &s.cpu.Running
	case "procs_blocked":
		into = &s.cpu.Blocked
	case "btime":
	default:
		return nil
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(rest)), 10, 64)
	if err != nil {
		return fmt.Errorf("line %s: want a number, found %q", key, bytes.TrimSpace(rest))
	}
	if into == nil {
		s.booted = gpu.Some(time.Unix(n, 0).UTC())
	} else {
		*into = gpu.Some(float64(n))
	}
	return nil
}
