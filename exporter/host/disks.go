//go:build linux

package host

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// sector is the unit of the kernel's block statistics, whatever the disk's own sectors are.
const sector = 512

// hiddenPath matches the single paths of a multipath NVMe disk; the disk itself has them all.
var hiddenPath = regexp.MustCompile(`^nvme\d+c\d+n\d+$`)

// disks reads physical disks: those that have a device behind them. Loops, RAM disks, RAID sets
// and volumes have none, and what they do is counted at the disks they are made of.
type disks struct {
	*machine
	found  []disk
	looked time.Time
}

// disk is one disk with its statistics.
type disk struct {
	name string
	size gpu.Maybe[float64]
	stat *kept
}

func (c *disks) read() (func(*gpu.Host), error) {
	// Disks come and go seldom, and to look which there are costs more than their figures.
	if now := c.options.Now(); c.looked.IsZero() || now.Sub(c.looked) >= c.options.Slow {
		if err := c.look(); err != nil {
			return nil, err
		}
		c.looked = now
	}
	if len(c.found) == 0 {
		return nil, fmt.Errorf("%w: no physical disk in %s", errAbsent, c.sysPath("block"))
	}
	var found []gpu.Disk
	var failed []error
	for _, d := range c.found {
		raw, err := d.stat.read()
		if err != nil {
			c.looked = time.Time{} // it went, it seems
			failed = append(failed, fmt.Errorf("disk %s: %w", d.name, err))
			continue
		}
		figures, err := parseDisk(raw)
		if err != nil {
			failed = append(failed, fmt.Errorf("disk %s: %w", d.name, err))
			continue
		}
		figures.Device, figures.SizeBytes = d.name, d.size
		found = append(found, figures)
	}
	return func(h *gpu.Host) { h.Disks = found }, errors.Join(failed...)
}

// look finds the disks that there are.
func (c *disks) look() error {
	entries, err := os.ReadDir(c.sysPath("block"))
	if err != nil {
		return absentIfMissing(err)
	}
	before := c.found
	c.found = nil
	for _, entry := range entries {
		name := entry.Name()
		if _, err := os.Lstat(c.sysPath("block", name, "device")); err != nil || hiddenPath.MatchString(name) {
			continue
		}
		i := slices.IndexFunc(before, func(d disk) bool { return d.name == name })
		if i >= 0 {
			c.found = append(c.found, before[i])
			before = slices.Delete(before, i, i+1)
			continue
		}
		d := disk{name: name, stat: keep(c.sysPath("block", name, "stat"))}
		if sectors, ok := lineNumber(c.sysPath("block", name, "size")).Get(); ok {
			d.size = gpu.Some(sectors * sector)
		}
		c.found = append(c.found, d)
	}
	for _, gone := range before {
		gone.stat.close()
	}
	return nil
}

// parseDisk reads a disk's stat (Documentation/block/stat.rst): requests, sectors and
// milliseconds.
func parseDisk(raw []byte) (gpu.Disk, error) {
	var n [11]uint64
	found, err := columns(raw, n[:])
	if err != nil {
		return gpu.Disk{}, err
	}
	if found < len(n) {
		return gpu.Disk{}, fmt.Errorf("want %d numbers, found %d", len(n), found)
	}
	return gpu.Disk{
		Reads: float64(n[0]), ReadBytes: float64(n[2]) * sector, ReadSeconds: float64(n[3]) / 1000,
		Writes: float64(n[4]), WrittenBytes: float64(n[6]) * sector, WriteSeconds: float64(n[7]) / 1000,
		InFlight: float64(n[8]), IOSeconds: float64(n[9]) / 1000, WeightedIOSeconds: float64(n[10]) / 1000,
	}, nil
}
