//go:build linux && cgo

package nvml

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// fileOf finds the file by which a library was loaded, and what lies there now. A bare name was
// looked for by the loader, which keeps the folder to itself: the process's own map tells it.
func fileOf(name string) (string, os.FileInfo) {
	file := name
	if !strings.Contains(name, "/") {
		folder := folderOf(name)
		if folder == "" {
			return "", nil
		}
		file = filepath.Join(folder, name)
	}
	info, err := os.Stat(file)
	if err != nil {
		return "", nil
	}
	return file, info
}

// folderOf returns the folder of a loaded library, "" where the map does not tell. The name is
// mostly a link: the map has the file behind it, whose name goes on with the driver's version.
func folderOf(name string) string {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return ""
	}
	defer maps.Close()
	stem, _, _ := strings.Cut(name, ".so")
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		at := strings.IndexByte(lines.Text(), '/')
		if at < 0 {
			continue
		}
		if path := lines.Text()[at:]; strings.HasPrefix(filepath.Base(path), stem+".so") {
			return filepath.Dir(path)
		}
	}
	return ""
}

// replaced tells whether another file lies where the loaded one lay. The loaded one keeps its
// inode for as long as it is mapped, so that no other file can have it.
func (l *library) replaced() bool {
	if l.loaded == nil {
		return false
	}
	now, err := os.Stat(l.file)
	return err == nil && (!os.SameFile(l.loaded, now) || now.Size() != l.loaded.Size() || !now.ModTime().Equal(l.loaded.ModTime()))
}

// outdated returns why this process cannot go on: the kernel driver is of another version than
// the library it has loaded, and another library has come. A library that is loaded cannot be
// given back: go-nvml's calls are bound to it. Where the same file still lies there, a new process
// would fare no better, and the upgrade is not finished: nil.
func (r *Reader) outdated(lib *library) error {
	r.mu.Lock()
	state := r.driver.State
	r.mu.Unlock()
	if state != gpu.DriverMismatch || lib == nil || !lib.replaced() {
		return nil
	}
	return fmt.Errorf("%w: the driver was upgraded, and %s is another library than the one loaded here", gpu.ErrAnew, lib.file)
}
