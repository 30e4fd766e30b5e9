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

// historyInterval is the distance of the history's samples; recentInterval that of the newest
// part, as rules that judge a lease's use want one a minute.
const (
	historyInterval = 2 * time.Minute
	recentInterval  = time.Minute
)

// recentHistory is the part over which the recording rules are evaluated too: the longest
// window that an alert looks back over, and a little more.
const recentHistory = 3 * time.Hour

// loadHistory writes what the hosts looked like before the demo began, then derives downtime
// and meters it, while the live part runs. The newest hours come first: alerts read them.
func loadHistory(ctx context.Context, app *server.App, hosts *hosts, start time.Time) error {
	recent := start.Add(-recentHistory)
	_, err := app.WriteHistory(ctx, false, func(h *monitor.History) error {
		if err := writeHosts(ctx, h, hosts, recent, start, recentInterval); err != nil {
			return err
		}
		return app.WriteLeases(ctx, h, rental.Span{Start: rental.At(recent), End: rental.At(start)}, recentInterval)
	})
	if err != nil {
		return err
	}
	_, err = app.WriteHistory(ctx, true, func(h *monitor.History) error {
		return writeHosts(ctx, h, hosts, start.AddDate(0, 0, -historyDays), recent, historyInterval)
	})
	return err
}

// writeHosts writes the hosts' samples from one time up to, but without, another.
func writeHosts(ctx context.Context, h *monitor.History, hosts *hosts, from, to time.Time, interval time.Duration) error {
	for _, one := range hosts.all {
		w := historyWriter{history: h, host: one, ids: map[string]monitor.SeriesID{}}
		for at := from; at.Before(to); at = at.Add(interval) {
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
