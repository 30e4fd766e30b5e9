package exporter

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	rtmetrics "runtime/metrics"
	"strconv"
	"syscall"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// addProcess puts a few figures of the program itself into the set, under the names that
// the ecosystem's dashboards know: what a leak or a busy loop would show in. The usual
// collectors read many more files of /proc and cost more than the GPUs' whole page.
func addProcess(set *metrics.Set) {
	started := float64(time.Now().UnixMilli()) / 1000
	set.NewGauge("process_start_time_seconds", func() float64 { return started })
	set.NewGauge("process_cpu_seconds_total", cpuSeconds)
	set.NewGauge("process_resident_memory_bytes", residentBytes)
	set.NewGauge("process_open_fds", openFiles)
	set.NewGauge("go_goroutines", func() float64 { return float64(runtime.NumGoroutine()) })
	set.NewGauge("go_heap_objects_bytes", heapBytes)
	set.NewGauge(fmt.Sprintf("go_info{version=%q}", runtime.Version()), func() float64 { return 1 })
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

// residentBytes is the second field of statm, in pages; 0 where there is no /proc.
func residentBytes() float64 {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(raw)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseFloat(string(fields[1]), 64)
	if err != nil {
		return 0
	}
	return pages * float64(os.Getpagesize())
}

// openFiles asks for the size of the folder, which is their number since Linux 6.2, and counts
// them where it is not.
func openFiles() float64 {
	const folder = "/proc/self/fd"
	if info, err := os.Stat(folder); err == nil && info.Size() > 0 {
		return float64(info.Size())
	}
	dir, err := os.Open(folder)
	if err != nil {
		return 0
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return 0
	}
	return float64(len(names) - 1) // without the folder itself
}

func heapBytes() float64 {
	sample := []rtmetrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	rtmetrics.Read(sample)
	if sample[0].Value.Kind() != rtmetrics.KindUint64 {
		return 0
	}
	return float64(sample[0].Value.Uint64())
}
