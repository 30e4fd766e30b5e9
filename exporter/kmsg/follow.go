//go:build linux

package kmsg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// recordSize is more than the longest record that the kernel gives out (8 KiB).
const recordSize = 16 << 10

// maxLine bounds what is kept of a line without an end; the device has none, a pipe might.
const maxLine = 4 * recordSize

// follow reads the log until ctx ends or it cannot be read, and says why.
func (r *Reader) follow(ctx context.Context) error {
	// Without waiting: the runtime's poller then waits for the device without holding a thread.
	file, err := os.OpenFile(r.options.Path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	if r.options.FromNow && !r.started {
		if _, err := file.Seek(0, io.SeekEnd); err != nil {
			return fmt.Errorf("going to the end of the log: %w", err)
		}
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	works := sync.OnceFunc(r.works)
	live := r.current // what comes after the reader had to wait for it
	buf, rest := make([]byte, recordSize), []byte(nil)
	for ctx.Err() == nil {
		var n int
		var failed error
		waited := raw.Read(func(fd uintptr) bool {
			n, failed = r.options.Read(int(fd), buf)
			if errors.Is(failed, unix.EAGAIN) {
				works()
				live, r.current = true, true
				return false
			}
			return true
		})
		switch {
		case waited != nil:
			return waited
		case errors.Is(failed, unix.EPIPE): // records went while nobody read them; the sequence tells how many
			live = false
		case errors.Is(failed, unix.EINTR):
		case failed != nil:
			return fmt.Errorf("reading %s: %w", r.options.Path, failed)
		case n == 0:
			return fmt.Errorf("%s ends, which a kernel log does not", r.options.Path)
		default:
			rest = append([]byte(nil), r.take(append(rest, buf[:n]...), live)...)
			if len(rest) > maxLine {
				r.bad.Inc()
				rest = nil
			}
		}
	}
	return ctx.Err()
}

// remedy says what to do where the log cannot be read.
func remedy(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "give the exporter CAP_SYSLOG and the device (systemd: AmbientCapabilities=CAP_SYSLOG, DeviceAllow=/dev/kmsg r; " +
			"docker: --cap-add=SYSLOG --device=/dev/kmsg:/dev/kmsg:r), or turn this off with --no-collector.kmsg"
	case errors.Is(err, fs.ErrNotExist):
		return "give the container the device (docker: --cap-add=SYSLOG --device=/dev/kmsg:/dev/kmsg:r), or turn this off with --no-collector.kmsg"
	default:
		return "turn this off with --no-collector.kmsg if this host has no such log"
	}
}

// uptime is the time since boot by the clock that the time service corrects.
func uptime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

func read(fd int, p []byte) (int, error) { return unix.Read(fd, p) }
