//go:build linux

package host

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// localTypes are the filesystems that live on this machine's own disks. Others are not asked:
// a remote one whose server is dead holds whoever asks.
var localTypes = []string{"bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "reiserfs", "vfat", "xfs", "zfs"}

// unescape undoes the kernel's spelling of what would break a line of mountinfo.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// answersWithin is how long a filesystem may take. A local one may hang too, on a disk that does.
const answersWithin = 2 * time.Second

// filesystems reads the space of local filesystems, each once.
type filesystems struct {
	*machine
	out map[string]chan answer // mounts that have been asked and have not answered yet
}

type answer struct {
	buf unix.Statfs_t
	err error
}

func (c *filesystems) read() (func(*gpu.Host), error) {
	mounts, err := c.mounts()
	if err != nil {
		return nil, err
	}
	chosen := choose(mounts, c.options)
	c.forget(chosen)
	for _, m := range chosen {
		c.ask(m.MountPoint)
	}
	var found []gpu.Filesystem
	var failed []error
	patience := time.NewTimer(answersWithin)
	defer patience.Stop()
	late := false
	for _, m := range chosen {
		f := gpu.Filesystem{MountPoint: m.MountPoint, Device: m.Source, Type: m.FSType}
		a, ok := c.await(m.MountPoint, patience.C, &late)
		switch {
		case !ok:
			f.Hangs = true
			failed = append(failed, fmt.Errorf("%s (%s) does not answer", m.MountPoint, m.Source))
		case a.err != nil:
			failed = append(failed, fmt.Errorf("%s: %w", m.MountPoint, a.err))
			continue
		default:
			fill(&f, a.buf)
		}
		found = append(found, f)
	}
	return func(h *gpu.Host) { h.Filesystems = found }, errors.Join(failed...)
}

// ask sends a goroutine to a mount, unless one is there still: a mount that hangs holds one.
func (c *filesystems) ask(mountPoint string) {
	if c.out == nil {
		c.out = map[string]chan answer{}
	}
	if c.out[mountPoint] != nil {
		return
	}
	back := make(chan answer, 1)
	c.out[mountPoint] = back
	path := filepath.Join(c.options.Root, mountPoint)
	go func() {
		var a answer
		a.err = c.statfs(path, &a.buf)
		back <- a
	}()
}

// forget drops late answers of mounts that are no longer asked.
func (c *filesystems) forget(chosen []*procfs.MountInfo) {
	for mountPoint, back := range c.out {
		if !slices.ContainsFunc(chosen, func(m *procfs.MountInfo) bool { return m.MountPoint == mountPoint }) && len(back) > 0 {
			delete(c.out, mountPoint)
		}
	}
}

// await returns a mount's answer if it came, or comes before the patience with all ends.
func (c *filesystems) await(mountPoint string, end <-chan time.Time, late *bool) (answer, bool) {
	back := c.out[mountPoint]
	if !*late {
		select {
		case a := <-back:
			delete(c.out, mountPoint)
			return a, true
		case <-end:
			*late = true
		}
	}
	select {
	case a := <-back:
		delete(c.out, mountPoint)
		return a, true
	default:
		return answer{}, false
	}
}

func fill(f *gpu.Filesystem, s unix.Statfs_t) {
	unit := float64(s.Bsize)
	f.Size, f.Free, f.Available = float64(s.Blocks)*unit, float64(s.Bfree)*unit, float64(s.Bavail)*unit
	f.Inodes, f.InodesFree = float64(s.Files), float64(s.Ffree)
	f.ReadOnly = s.Flags&unix.ST_RDONLY != 0
}

// mounts lists the mounts of the machine's first process, or those this program sees itself
// where that one's are not told. In a container with the machine's root mounted, its own are
// the machine's below that root.
func (c *filesystems) mounts() ([]*procfs.MountInfo, error) {
	proc, err := c.proc()
	if err != nil {
		return nil, err
	}
	mounts, err := proc.GetProcMounts(1)
	if err != nil || len(mounts) == 0 {
		if mounts, err = proc.GetMounts(); err != nil {
			return nil, err
		}
	}
	root := filepath.Clean(c.options.Root)
	if root == "/" || !slices.ContainsFunc(mounts, func(m *procfs.MountInfo) bool { return m.MountPoint == root }) {
		return mounts, nil
	}
	var below []*procfs.MountInfo
	for _, m := range mounts {
		if rest, ok := strings.CutPrefix(m.MountPoint, root); ok && (rest == "" || rest[0] == '/') {
			m.MountPoint = cmp.Or(rest, "/")
			below = append(below, m)
		}
	}
	return below, nil
}

// choose picks the mounts to ask: local filesystems, the root whatever it is (a container's is
// an overlay), and the shared memory that data loaders use. A mount that another covers cannot
// be asked; of several mounts of one filesystem the one with the shortest path is.
func choose(mounts []*procfs.MountInfo, options Options) []*procfs.MountInfo {
	top := map[string]*procfs.MountInfo{}
	for _, m := range mounts {
		m.MountPoint, m.Source = unescape.Replace(m.MountPoint), unescape.Replace(m.Source)
		top[m.MountPoint] = m // a later one covers it
	}
	byDevice := map[string]*procfs.MountInfo{}
	for _, m := range top {
		wanted := slices.Contains(localTypes, m.FSType) || m.MountPoint == "/" && m.FSType == "overlay" ||
			m.MountPoint == "/dev/shm" && m.FSType == "tmpfs"
		if !wanted || options.MountsOff != nil && options.MountsOff.MatchString(m.MountPoint) {
			continue
		}
		if other := byDevice[m.MajorMinorVer]; other == nil || shorter(m.MountPoint, other.MountPoint) {
			byDevice[m.MajorMinorVer] = m
		}
	}
	chosen := make([]*procfs.MountInfo, 0, len(byDevice))
	for _, m := range byDevice {
		chosen = append(chosen, m)
	}
	slices.SortFunc(chosen, func(a, b *procfs.MountInfo) int { return cmp.Compare(a.MountPoint, b.MountPoint) })
	return chosen
}

func shorter(a, b string) bool {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) < 0
}
