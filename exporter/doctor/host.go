package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Devices judges the device files by which the library reaches the kernel driver. dir is /dev.
func Devices(dir string) []Finding {
	control := filepath.Join(dir, "nvidiactl")
	switch err := syscall.Access(control, accessReadWrite); {
	case err == nil:
		return []Finding{ok("devices", "%s can be opened", control)}
	case errors.Is(err, fs.ErrNotExist):
		return []Finding{ok("devices", "%s is not there", control).but(Warn,
			"nvidia-modprobe makes it when the driver is loaded; in a container, the NVIDIA runtime adds it")}
	default:
		return []Finding{ok("devices", "%s cannot be opened: %v", control, err).but(Warn,
			"give this user read and write access to /dev/nvidia*; in a container, allow the devices")}
	}
}

const accessReadWrite = 4 | 2 // R_OK, W_OK of access(2)

// withoutLog is what is missed without the kernel log.
const withoutLog = "without it XIDs come from the driver alone, and SXids of NVSwitches from nobody"

// NoKernelLog says what is missed where the kernel log is not to be read.
func NoKernelLog() []Finding {
	return []Finding{ok("kernel_log", "is not read: --no-collector.kmsg").but(Note, withoutLog)}
}

// KernelLog judges whether XIDs can be read from the kernel log too. path is its device.
func KernelLog(path string) []Finding {
	log, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return []Finding{ok("kernel_log", "cannot be read: %v", err).but(Note,
			"grant CAP_SYSLOG and the device "+path+": "+withoutLog)}
	}
	log.Close()
	return []Finding{ok("kernel_log", "%s can be read", path)}
}

// staUnsync is STA_UNSYNC of timex.h: the clock is not synchronised.
const staUnsync = 0x40

// Clock judges the host's clock by what the kernel says of it.
func Clock() []Finding {
	var t syscall.Timex
	if _, err := syscall.Adjtimex(&t); err != nil { // with no mode set it only reads
		return []Finding{ok("clock", "the kernel does not tell whether it is synchronised: %v", err).but(Note, "")}
	}
	return clock(t.Status&staUnsync == 0, time.Duration(t.Maxerror)*time.Microsecond)
}

func clock(synchronised bool, worst time.Duration) []Finding {
	if !synchronised {
		return []Finding{ok("clock", "is not synchronised").but(Warn,
			"run a time service (chronyd, systemd-timesyncd): every sample carries this clock's time, and disputes are settled by it; in a container it is the host's")}
	}
	return []Finding{ok("clock", "is synchronised, wrong by %s at most", worst)}
}

// StateFile judges the file that keeps over a restart what is known of the GPUs. err is why
// it cannot be read, nil where it can or is not there yet.
func StateFile(path string, err error) []Finding {
	if path == "" {
		return []Finding{ok("state", "is kept in no file: a restart forgets which GPUs were lost or released").but(Note,
			"give --state.file a file, or run the unit, which has one")}
	}
	if err != nil {
		return []Finding{ok("state", "%v", err).but(Warn, "the exporter will set the file aside and start without what was known; GPUs that were released are asked again")}
	}
	folder := filepath.Dir(path)
	if err := syscall.Access(folder, accessReadWrite); err != nil {
		return []Finding{ok("state", "%s cannot be written: %v", folder, err).but(Warn, "give the exporter's user this folder, or another by --state.file")}
	}
	return []Finding{ok("state", "%s can be read and written", path)}
}

// Spool judges the folder that keeps what is not delivered. need is its cap in bytes.
func Spool(dir string, need int64) []Finding {
	at := dir
	for { // the exporter makes the folder: what counts is the nearest one that is there
		if info, err := os.Stat(at); err == nil && info.IsDir() {
			break
		} else if err == nil {
			return []Finding{ok("spool", "%s is no folder", at).but(Fail, "give --push.spool-dir a folder")}
		}
		up := filepath.Dir(at)
		if up == at {
			break
		}
		at = up
	}
	if err := syscall.Access(at, accessReadWrite); err != nil {
		return []Finding{ok("spool", "%s cannot be written: %v", at, err).but(Fail,
			"give the exporter's user this folder, or another by --push.spool-dir")}
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(at, &disk); err != nil {
		return []Finding{ok("spool", "the disk of %s does not tell its size: %v", at, err).but(Note, "")}
	}
	return room(dir, int64(disk.Bavail)*disk.Bsize+used(dir), need)
}

// used is what the spool has already of its cap.
func used(dir string) int64 {
	size := int64(0)
	files, err := filepath.Glob(filepath.Join(dir, "segments", "*"))
	if err != nil {
		return 0
	}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			size += info.Size()
		}
	}
	return size
}

func room(dir string, free, need int64) []Finding {
	if free < need {
		return []Finding{ok("spool", "%s has room for %s of its %s", dir, mib(free), mib(need)).but(Warn,
			"make room, or lower --push.spool-max-bytes: a disk that is full takes nothing in an outage")}
	}
	return []Finding{ok("spool", "%s can be written and has room for %s", dir, mib(need))}
}

func mib(bytes int64) string { return fmt.Sprintf("%d MiB", bytes>>20) }
