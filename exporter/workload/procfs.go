package workload

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// Why the workload of a process is not told.
const (
	reasonNamespace = "pid_namespace" // the driver's process ids may be of another namespace than procfs's
	reasonNotFound  = "not_found"     // procfs has no such process: hidden (hidepid), or of another namespace
	reasonRefused   = "refused"       // procfs has the process and does not let us read
	reasonLate      = "not_read"      // procfs has not answered for two rounds
)

// procfs reads who a process belongs to. It opens nothing of a process but its cgroup file:
// not its name, not its arguments, not its environment.
type procfs struct{ root string }

// initialNamespace is how the kernel names the first namespace of process ids
// (PROC_PID_INIT_INO), the one whose ids every driver gives out.
const initialNamespace = "pid:[4026531836]"

// blind says why this procfs cannot be asked about the driver's process ids, "" where it can.
// Old drivers give out ids of the first namespace and newer ones those of the caller's; only
// where both are one, and procfs shows that one, a number is sure to mean the same process.
func (p procfs) blind() string {
	self, err := os.Readlink(filepath.Join(p.root, "self"))
	if err != nil || self != strconv.Itoa(os.Getpid()) {
		return reasonNamespace
	}
	namespace, err := os.Readlink(filepath.Join(p.root, self, "ns", "pid"))
	if err != nil || namespace != initialNamespace {
		return reasonNamespace
	}
	return ""
}

// Blind says why processes cannot be told by container where procfs is mounted at root, and
// what to do about it; both are empty where they can.
func Blind(root string) (reason, advice string) {
	if reason = (procfs{root}).blind(); reason != "" {
		advice = remedy
	}
	return reason, advice
}

// maxCgroupBytes bounds what is read of one file. A path is at most 4096 bytes long, and
// version 1 has a dozen of them.
const maxCgroupBytes = 64 << 10

// owner returns the workload of a process, or why it cannot be told.
func (p procfs) owner(pid uint32) (w gpu.Workload, reason string) {
	file, err := os.Open(filepath.Join(p.root, strconv.FormatUint(uint64(pid), 10), "cgroup"))
	if errors.Is(err, fs.ErrNotExist) {
		return gpu.Workload{}, reasonNotFound
	}
	if err != nil {
		return gpu.Workload{}, reasonRefused
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxCgroupBytes))
	if err != nil {
		return gpu.Workload{}, reasonNotFound // it ended while we read
	}
	return parse(string(text)), ""
}

// remedy says what to do where no process can be told.
const remedy = "run the exporter in the host's pid namespace (hostPID: true, --pid=host) with the host's /proc; until then processes are counted without their containers"
