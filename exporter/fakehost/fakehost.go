// Package fakehost lays out small machines on disk for tests: a procfs, a sysfs and a root in
// the kernel's formats.
package fakehost

import (
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

//go:embed h100.txtar
var h100 []byte

//go:embed container.txtar
var container []byte

// Host is a machine on disk.
type Host struct {
	Proc, Sys, Root string
}

// H100 is a host with eight H100, RDMA and local disks.
func H100(t testing.TB) Host { return install(t, h100) }

// Container is what an unprivileged container sees.
func Container(t testing.TB) Host { return install(t, container) }

// Flags are the exporter's flags that make it look at the machine.
func (h Host) Flags() []string {
	return []string{"--path.procfs=" + h.Proc, "--path.sysfs=" + h.Sys, "--path.rootfs=" + h.Root}
}

// Write replaces a file of the machine, for example "proc/stat"; a folder that is not there
// is made.
func (h Host) Write(t testing.TB, path, text string) {
	t.Helper()
	write(t, filepath.Join(filepath.Dir(h.Proc), path), text)
}

// Remove takes a file or folder away.
func (h Host) Remove(t testing.TB, path string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(filepath.Dir(h.Proc), path)); err != nil {
		t.Fatal(err)
	}
}

func install(t testing.TB, archive []byte) Host {
	t.Helper()
	dir := t.TempDir()
	for _, file := range txtar.Parse(archive).Files {
		write(t, filepath.Join(dir, file.Name), string(file.Data))
	}
	return Host{Proc: filepath.Join(dir, "proc"), Sys: filepath.Join(dir, "sys"), Root: filepath.Join(dir, "root")}
}

// write makes a file, or a link where the text says "-> target".
func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	var err error
	if target, ok := strings.CutPrefix(text, "-> "); ok {
		err = os.Symlink(strings.TrimSpace(target), path)
	} else {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
