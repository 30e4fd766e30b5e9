//go:build linux

package host

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/sysfs"
	"golang.org/x/sys/unix"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// machine is where the collectors look. The system calls that no path leads to are fields, so
// that a test can stand in for the kernel.
type machine struct {
	options  Options
	statfs   func(path string, buf *unix.Statfs_t) error
	adjtimex func(buf *unix.Timex) (state int, err error)
}

func newCollectors(options Options) []collector {
	m := &machine{options: options, statfs: unix.Statfs, adjtimex: unix.Adjtimex}
	return m.collectors()
}

func (m *machine) collectors() []collector {
	return []collector{
		{"clock", "whether the clock is kept in step", slow, m.readClock},
		{"cpu", "processor time, tasks, boot time", fast, (&processors{file: keep(m.procPath("stat"))}).read},
		{"disk", "physical disks", fast, (&disks{machine: m}).read},
		{"filesystem", "space of local filesystems", slow, (&filesystems{machine: m}).read},
		{"files", "open files of the machine", slow, m.readFiles},
		{"infiniband", "RDMA ports, of InfiniBand and RoCE", slow, m.readInfiniBand},
		{"link", "network interfaces: carrier, speed, place", slow, m.readLinks},
		{"load", "load averages", fast, load{keep(m.procPath("loadavg"))}.read},
		{"memory", "memory, huge pages, swap", fast, m.memory().read},
		{"network", "traffic of network interfaces", fast, m.network().read},
		{"pci", "GPUs as the PCI bus lists them", slow, (&bus{machine: m}).read},
		{"pressure", "pressure stall information", fast, m.pressure().read},
		{"system", "kernel, processor model, firmware", identity, m.readSystem},
	}
}

// The file systems are opened at each reading: it costs one stat, and a mount that comes later
// is found.
func (m *machine) proc() (procfs.FS, error) { return procfs.NewFS(m.options.Proc) }
func (m *machine) sys() (sysfs.FS, error)   { return sysfs.NewFS(m.options.Sys) }

func (m *machine) procPath(parts ...string) string {
	return filepath.Join(append([]string{m.options.Proc}, parts...)...)
}

func (m *machine) sysPath(parts ...string) string {
	return filepath.Join(append([]string{m.options.Sys}, parts...)...)
}

// absentIfMissing says of an error for a missing file, or of one that the kernel does not
// serve, that the machine has no such part.
func absentIfMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EOPNOTSUPP) {
		return fmt.Errorf("%w: %w", errAbsent, err)
	}
	return err
}

// line is the first line of a small file, "" where it cannot be read.
func line(path string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	first, _, _ := bytes.Cut(raw, []byte("\n"))
	return string(bytes.TrimSpace(first))
}

// lineNumber is the number in a small file.
func lineNumber(path string) gpu.Maybe[float64] {
	if v, err := strconv.ParseFloat(line(path), 64); err == nil {
		return gpu.Some(v)
	}
	return gpu.Maybe[float64]{}
}

// linkName is the last part of what a link points to, "" where there is none.
func linkName(path string) string {
	target, err := os.Readlink(path)
	if err != nil {
		return ""
	}
	return filepath.Base(target)
}

// numaNode is the memory node that a device is close to, "" where the machine does not tell.
func numaNode(devicePath string) string {
	if node := line(filepath.Join(devicePath, "numa_node")); node != "-1" {
		return node
	}
	return ""
}

func present[T uint64 | int64](p *T) gpu.Maybe[float64] {
	if p == nil {
		return gpu.Maybe[float64]{}
	}
	return gpu.Some(float64(*p))
}

// put sets a key where the library found a value.
func put[K comparable](m map[K]float64, key K, p *uint64) {
	if p != nil {
		m[key] = float64(*p)
	}
}
