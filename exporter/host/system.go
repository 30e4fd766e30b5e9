//go:build linux

package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// readSystem tells which machine this is. Each part that cannot be read is left empty.
func (m *machine) readSystem() (func(*gpu.Host), error) {
	proc, err := m.proc()
	if err != nil {
		return nil, err
	}
	kernel := gpu.Kernel{
		Release: line(m.procPath("sys", "kernel", "osrelease")), Version: line(m.procPath("sys", "kernel", "version")),
		Architecture: line(m.procPath("sys", "kernel", "arch")), OS: osRelease(m.options.Root),
	}
	if kernel.Architecture == "" { // older kernels do not tell
		kernel.Architecture = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	}
	hardware, err := m.firmware()
	var cpu gpu.CPU
	if infos, infoErr := proc.CPUInfo(); infoErr != nil {
		err = errors.Join(err, infoErr)
	} else {
		sockets := map[string]uint{}
		for _, p := range infos {
			cpu.Model = p.ModelName
			if p.PhysicalID != "" && p.CPUCores > 0 {
				sockets[p.PhysicalID] = p.CPUCores
			}
		}
		cores := uint(0)
		for _, n := range sockets {
			cores += n
		}
		if len(sockets) > 0 {
			cpu.Sockets, cpu.Cores = gpu.Some(float64(len(sockets))), gpu.Some(float64(cores))
		}
	}
	return func(h *gpu.Host) {
		h.Kernel, h.Hardware = kernel, hardware
		h.CPU.Model, h.CPU.Cores, h.CPU.Sockets = cpu.Model, cpu.Cores, cpu.Sockets
	}, err
}

// firmware reads the machine's identity. A container may hide it, and some machines have none.
func (m *machine) firmware() (gpu.Hardware, error) {
	sys, err := m.sys()
	if err != nil {
		return gpu.Hardware{}, err
	}
	dmi, err := sys.DMIClass()
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return gpu.Hardware{}, err
	}
	text := func(p *string) string {
		if p == nil {
			return ""
		}
		return strings.TrimSpace(*p)
	}
	return gpu.Hardware{
		Vendor: text(dmi.SystemVendor), Product: text(dmi.ProductName), Serial: text(dmi.ProductSerial),
		Board: text(dmi.BoardName), BIOS: text(dmi.BiosVersion),
	}, nil
}

// osRelease is the name that the distribution gives itself for people, "" where it is not told.
func osRelease(root string) string {
	for _, path := range []string{"etc/os-release", "usr/lib/os-release"} {
		raw, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			continue
		}
		for text := range strings.Lines(string(raw)) {
			if value, ok := strings.CutPrefix(strings.TrimSpace(text), "PRETTY_NAME="); ok {
				return strings.Trim(value, `"'`)
			}
		}
	}
	return ""
}

func (m *machine) readFiles() (func(*gpu.Host), error) {
	proc, err := m.proc()
	if err != nil {
		return nil, err
	}
	numbers, err := proc.SysctlInts("fs.file-nr")
	if err != nil {
		return nil, err
	}
	if len(numbers) != 3 {
		return nil, fmt.Errorf("%s holds %d numbers, want 3", m.procPath("sys", "fs", "file-nr"), len(numbers))
	}
	return func(h *gpu.Host) {
		h.Files, h.FileLimit = gpu.Some(float64(numbers[0]-numbers[1])), gpu.Some(float64(numbers[2]))
	}, nil
}

// readClock asks the kernel how it judges its clock; it changes nothing.
func (m *machine) readClock() (func(*gpu.Host), error) {
	var t unix.Timex
	state, err := m.adjtimex(&t)
	if errors.Is(err, unix.EPERM) { // containers may forbid even the question
		return nil, fmt.Errorf("%w: adjtimex: %w", errAbsent, err)
	}
	if err != nil {
		return nil, fmt.Errorf("adjtimex: %w", err)
	}
	perSecond := 1e6
	if t.Status&unix.STA_NANO != 0 {
		perSecond = 1e9
	}
	clock := gpu.Clock{
		Synchronized:    gpu.Some(state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0),
		OffsetSeconds:   gpu.Some(float64(t.Offset) / perSecond),
		MaxErrorSeconds: gpu.Some(float64(t.Maxerror) / 1e6),
	}
	return func(h *gpu.Host) { h.Clock = clock }, nil
}
