//go:build linux

package host

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// load reads /proc/loadavg.
type load struct{ file *kept }

func (c load) read() (func(*gpu.Host), error) {
	raw, err := c.file.read()
	if err != nil {
		return nil, err
	}
	averages, err := parseLoad(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.file.path, err)
	}
	return func(h *gpu.Host) { h.Load = averages }, nil
}

func parseLoad(raw []byte) (map[string]float64, error) {
	fields := bytes.Fields(raw)
	averages := map[string]float64{}
	for i, window := range []string{"1m", "5m", "15m"} {
		if i >= len(fields) {
			return nil, fmt.Errorf("want the averages over 1, 5 and 15 minutes, found %q", bytes.TrimSpace(raw))
		}
		average, err := strconv.ParseFloat(string(fields[i]), 64)
		if err != nil {
			return nil, fmt.Errorf("the average over %s: want a number, found %q", window, fields[i])
		}
		averages[window] = average
	}
	return averages, nil
}

// pressure reads the files of /proc/pressure, each of which the kernel may lack.
type pressure struct{ files []pressureFile }

type pressureFile struct {
	*kept
	resource string
}

func (m *machine) pressure() *pressure {
	c := &pressure{}
	for _, resource := range []string{"cpu", "io", "irq", "memory"} {
		c.files = append(c.files, pressureFile{keep(m.procPath("pressure", resource)), resource})
	}
	return c
}

func (c *pressure) read() (func(*gpu.Host), error) {
	stalls := map[gpu.PressureKey]float64{}
	for _, f := range c.files {
		raw, err := f.read()
		if err != nil {
			if f.resource == "irq" { // told by newer kernels only
				continue
			}
			return nil, absentIfMissing(err)
		}
		if err := parsePressure(raw, f.resource, stalls); err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
	}
	return func(h *gpu.Host) { h.Pressure = stalls }, nil
}

// parsePressure reads lines like "some avg10=0.00 avg60=0.00 avg300=0.00 total=12", the total
// in microseconds.
func parsePressure(raw []byte, resource string, stalls map[gpu.PressureKey]float64) error {
	for text := range bytes.Lines(raw) {
		share, rest, _ := bytes.Cut(text, []byte(" "))
		if string(share) != "some" && string(share) != "full" {
			continue // a line that came later
		}
		_, total, found := bytes.Cut(rest, []byte("total="))
		var n [1]uint64
		if some, err := columns(total, n[:]); !found || err != nil || some == 0 {
			return fmt.Errorf("want a line with total=, found %q", bytes.TrimSpace(text))
		}
		stalls[gpu.PressureKey{Resource: resource, Share: string(share)}] = float64(n[0]) / 1e6
	}
	return nil
}
