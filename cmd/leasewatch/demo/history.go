package demo

import (
	"context"
	"strconv"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
	"github.com/leasewatch/leasewatch/internal/monitor"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/server"
)

// historyInterval is the distance of the history's samples.
const historyInterval = 2 * time.Minute

// recentHistory is the part over which the recording rules are evaluated too: the longest
// window that an alert looks back over, and a little more.
const recentHistory = 3 * time.Hour

// loadHistory writes what the hosts looked like before the demo began, then derives downtime
// and meters it, while the live part runs. The newest hours come first: alerts read them.
func loadHistory(ctx context.Context, app *server.App, hosts *hosts, start time.Time) error {
	recent := start.Add(-recentHistory)
	if err := writePart(ctx, app, hosts, recent, start, false); err != nil {
		return err
	}
	return writePart(ctx, app, hosts, start.AddDate(0, 0, -historyDays), recent, true)
}

// writePart writes the samples from one time up to, but without, another.
func writePart(ctx context.Context, app *server.App, hosts *hosts, from, to time.Time, skipRules bool) error {
	_, err := app.WriteHistory(ctx, skipRules, func(h *monitor.History) error {
		for _, one := range hosts.all {
			w := historyWriter{history: h, host: one, ids: map[string]monitor.SeriesID{}}
			for at := from; at.Before(to); at = at.Add(historyInterval) {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if one.source.Silent(at) {
					continue
				}
				if err := w.write(one.source.At(at)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return err
}

// historyWriter writes one host's past under the labels that a scrape gives.
type historyWriter struct {
	history *monitor.History
	host    *host
	ids     map[string]monitor.SeriesID
}

func (w *historyWriter) write(s *gpu.Snapshot) error {
	at := rental.At(s.At)
	for i := range s.GPUs {
		g := &s.GPUs[i]
		if err := w.append(at, g, "gpu_state", 1, "state", string(g.Status.State)); err != nil {
			return err
		}
		for _, reading := range []struct {
			name  string
			value gpu.Maybe[float64]
		}{
			{"gpu_utilization_ratio", g.Readings.UtilizationRatio},
			{"gpu_power_watts", g.Readings.PowerWatts},
			{"gpu_temperature_celsius", g.Readings.TemperatureCelsius},
			{"gpu_energy_joules_total", g.Readings.EnergyJoulesTotal},
		} {
			value, ok := reading.value.Get()
			if !ok {
				continue
			}
			if err := w.append(at, g, reading.name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// append adds one sample; extra labels are name, value pairs.
func (w *historyWriter) append(at rental.Millis, g *gpu.GPU, name string, value float64, extra ...string) error {
	key := name + "\x00" + g.Identity.UUID
	for _, part := range extra {
		key += "\x00" + part
	}
	id, known := w.ids[key]
	if !known {
		labels := map[string]string{
			"__name__": name, "job": "leasewatch-exporter", "instance": w.host.address, "host": w.host.name, "vantage": "host",
			"uuid": g.Identity.UUID, "gpu": strconv.Itoa(g.Identity.Index),
		}
		for i := 0; i+1 < len(extra); i += 2 {
			labels[extra[i]] = extra[i+1]
		}
		var err error
		if id, err = w.history.Series(labels); err != nil {
			return err
		}
		w.ids[key] = id
	}
	return w.history.Append(id, at, value)
}
