//go:build linux

package host

import (
	"errors"
	"fmt"
	"os"
	"regexp"

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
	sizes map[string]gpu.Maybe[float64]
}

func (c *disks) read() (func(*gpu.Host), error) {
	block, err := c.block()
	if err != nil {
		return nil, err
	}
	names, err := block.SysBlockDevices()
	if err != nil {
		return nil, absentIfMissing(err)
	}
	var found []gpu.Disk
	var failed []error
	sizes := map[string]gpu.Maybe[float64]{}
	for _, name := range names {
		if _, err := os.Lstat(c.sysPath("block", name, "device")); err != nil || hiddenPath.MatchString(name) {
			continue
		}
		stats, _, err := block.SysBlockDeviceStat(name)
		if err != nil {
			failed = append(failed, fmt.Errorf("disk %s: %w", name, err))
			continue
		}
		size, known := c.sizes[name]
		if !known {
			if sectors, ok := lineNumber(c.sysPath("block", name, "size")).Get(); ok {
				size = gpu.Some(sectors * sector)
			}
		}
		sizes[name] = size
		found = append(found, gpu.Disk{
			Device: name, SizeBytes: size,
			ReadBytes: float64(stats.ReadSectors) * sector, WrittenBytes: float64(stats.WriteSectors) * sector,
			Reads: float64(stats.ReadIOs), Writes: float64(stats.WriteIOs),
			ReadSeconds: float64(stats.ReadTicks) / 1000, WriteSeconds: float64(stats.WriteTicks) / 1000,
			IOSeconds: float64(stats.IOsTotalTicks) / 1000, WeightedIOSeconds: float64(stats.WeightedIOTicks) / 1000,
			InFlight: float64(stats.IOsInProgress),
		})
	}
	c.sizes = sizes
	if len(found) == 0 && len(failed) == 0 {
		return nil, fmt.Errorf("%w: no physical disk in %s", errAbsent, c.sysPath("block"))
	}
	return func(h *gpu.Host) { h.Disks = found }, errors.Join(failed...)
}
