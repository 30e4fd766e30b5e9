//go:build linux

package host

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// memory reads how much of it there is, and what happened for want of it. The library makes
// sixty figures of the first file and a pointer for each; a third of them is told here.
type memory struct {
	amounts, events *kept
}

func (m *machine) memory() *memory {
	return &memory{amounts: keep(m.procPath("meminfo")), events: keep(m.procPath("vmstat"))}
}

func (c *memory) read() (func(*gpu.Host), error) {
	raw, err := c.amounts.read()
	if err != nil {
		return nil, err
	}
	memory, err := parseMemory(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.amounts.path, err)
	}
	if raw, err = c.events.read(); err == nil {
		if err = parseEvents(raw, &memory); err != nil {
			err = fmt.Errorf("%s: %w", c.events.path, err)
		}
	}
	return func(h *gpu.Host) { h.Memory = memory }, err
}

// bytesOf and hugePagesOf are our names of the kernel's.
var (
	bytesOf = map[string]string{
		"MemTotal": "memory_total", "MemAvailable": "memory_available", "MemFree": "memory_free", "Cached": "memory_cached",
		"Buffers": "memory_buffers", "Shmem": "memory_shared", "AnonPages": "memory_anonymous", "Unevictable": "memory_unevictable",
		"SUnreclaim": "memory_slab_unreclaimable", "Dirty": "memory_dirty", "Writeback": "memory_writeback",
		"HardwareCorrupted": "memory_corrupted", "SwapTotal": "swap_total", "SwapFree": "swap_free",
	}
	hugePagesOf = map[string]string{
		"HugePages_Total": "total", "HugePages_Free": "free", "HugePages_Rsvd": "reserved", "HugePages_Surp": "surplus",
	}
)

// parseMemory reads /proc/meminfo: sizes in kB, and counts of huge pages.
func parseMemory(raw []byte) (gpu.Memory, error) {
	memory := gpu.Memory{Bytes: make(map[string]float64, len(bytesOf)), HugePages: make(map[string]float64, len(hugePagesOf))}
	for text := range bytes.Lines(raw) {
		key, rest, _ := bytes.Cut(text, []byte(":"))
		name, isBytes := bytesOf[string(key)]
		pages, isPages := hugePagesOf[string(key)]
		size := string(key) == "Hugepagesize"
		if !isBytes && !isPages && !size {
			continue
		}
		var n [1]uint64
		if found, err := columns(rest, n[:]); err != nil || found == 0 {
			return gpu.Memory{}, fmt.Errorf("line %s: want a number, found %q", key, bytes.TrimSpace(rest))
		}
		value := float64(n[0])
		if bytes.HasSuffix(bytes.TrimSpace(rest), []byte(" kB")) {
			value *= 1 << 10
		}
		switch {
		case isBytes:
			memory.Bytes[name] = value
		case isPages:
			memory.HugePages[pages] = value
		default:
			memory.HugePage = gpu.Some(value)
		}
	}
	if _, ok := memory.Bytes["memory_total"]; !ok {
		return gpu.Memory{}, fmt.Errorf("no line MemTotal")
	}
	return memory, nil
}

// parseEvents reads from /proc/vmstat what happened for want of memory.
func parseEvents(raw []byte, memory *gpu.Memory) error {
	page := float64(os.Getpagesize())
	for text := range bytes.Lines(raw) {
		key, value, _ := bytes.Cut(text, []byte(" "))
		var into *gpu.Maybe[float64]
		unit := 1.0
		switch string(key) {
		case "pswpin":
			into, unit = &memory.SwapIn, page
		case "pswpout":
			into, unit = &memory.SwapOut, page
		case "pgmajfault":
			into = &memory.MajorFaults
		case "oom_kill":
			into = &memory.OOMKills
		default:
			continue
		}
		n, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 64)
		if err != nil {
			return fmt.Errorf("line %s: want a number, found %q", key, bytes.TrimSpace(value))
		}
		*into = gpu.Some(float64(n) * unit)
	}
	return nil
}
