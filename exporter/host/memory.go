//go:build linux

package host

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

func (m *machine) readMemory() (func(*gpu.Host), error) {
	proc, err := m.proc()
	if err != nil {
		return nil, err
	}
	info, err := proc.Meminfo()
	if err != nil {
		return nil, err
	}
	memory := gpu.Memory{Bytes: map[string]float64{}, HugePages: map[string]float64{}, HugePage: present(info.HugepagesizeBytes)}
	for key, value := range map[string]*uint64{
		"memory_total": info.MemTotalBytes, "memory_available": info.MemAvailableBytes, "memory_free": info.MemFreeBytes,
		"memory_cached": info.CachedBytes, "memory_buffers": info.BuffersBytes, "memory_shared": info.ShmemBytes,
		"memory_anonymous": info.AnonPagesBytes, "memory_unevictable": info.UnevictableBytes,
		"memory_slab_unreclaimable": info.SUnreclaimBytes, "memory_dirty": info.DirtyBytes, "memory_writeback": info.WritebackBytes,
		"memory_corrupted": info.HardwareCorruptedBytes, "swap_total": info.SwapTotalBytes, "swap_free": info.SwapFreeBytes,
	} {
		put(memory.Bytes, key, value)
	}
	put(memory.HugePages, "total", info.HugePagesTotal)
	put(memory.HugePages, "free", info.HugePagesFree)
	put(memory.HugePages, "reserved", info.HugePagesRsvd)
	put(memory.HugePages, "surplus", info.HugePagesSurp)
	err = m.readEvents(&memory)
	return func(h *gpu.Host) { h.Memory = memory }, err
}

// readEvents counts what happened for want of memory.
func (m *machine) readEvents(memory *gpu.Memory) error {
	raw, err := os.ReadFile(m.procPath("vmstat"))
	if err != nil {
		return err
	}
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
			return fmt.Errorf("%s: line %s: want a number, found %q", m.procPath("vmstat"), key, bytes.TrimSpace(value))
		}
		*into = gpu.Some(float64(n) * unit)
	}
	return nil
}
