package exporter

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/exporter/workload"
)

// workloadFlags say how it is told who uses a GPU.
type workloadFlags struct {
	containers   bool
	podResources bool
	socket       string
	config       workload.Config
}

func (w *workloadFlags) register(app *kingpin.Application) {
	app.Flag("collector.containers", "Tell by container, pod and batch job who uses a GPU; never by user, process or program.").
		Default("true").BoolVar(&w.containers)
	app.Flag("collector.containers.max", "Containers of one GPU that are told apart; those over it are summed.").
		Default("32").IntVar(&w.config.MaxContainers)
	app.Flag("collector.pod-resources", "Ask the kubelet, where there is one, which pods hold which GPUs.").
		Default("true").BoolVar(&w.podResources)
	app.Flag("collector.pod-resources.socket", "The kubelet's pod-resources socket.").Default(workload.DefaultSocket).StringVar(&w.socket)
	app.Flag("path.procfs", "Where the host's procfs is mounted.").Default("/proc").StringVar(&w.config.ProcFS)
	app.Flag("path.container-logs", "The kubelet's folder of links to containers' logs: the names of pods are read off the links' names, no log is opened.").
		Default(workload.DefaultContainerLogs).StringVar(&w.config.ContainerLogs)
}

func (w *workloadFlags) complete() error {
	if w.config.MaxContainers < 1 || w.config.MaxContainers > 1000 {
		return fmt.Errorf("--collector.containers.max is %d, want 1 to 1000", w.config.MaxContainers)
	}
	return nil
}

// tracker returns what tells whose processes are, nil where that is switched off.
func (w *workloadFlags) tracker(log *slog.Logger, now func() time.Time) *workload.Tracker {
	if !w.containers {
		return nil
	}
	config := w.config
	config.Logger, config.Now = log, now
	return workload.New(config)
}

// kubelet returns what tells who the GPUs were given to, nil where that is switched off.
func (w *workloadFlags) kubelet(log *slog.Logger, now func() time.Time, set *metrics.Set) *workload.Kubelet {
	if !w.podResources {
		return nil
	}
	return workload.NewKubelet(workload.KubeletConfig{
		Socket: w.socket, MaxHolders: w.config.MaxContainers, Now: now, Logger: log, Metrics: set,
	})
}

// runWorkloads runs both until ctx ends. Their end is not waited for: procfs may hang.
func runWorkloads(ctx context.Context, c *SourceConfig) {
	if c.Workloads != nil {
		go c.Workloads.Run(ctx)
	}
	if c.Kubelet != nil {
		go func() {
			if err := c.Kubelet.Run(ctx); err != nil {
				c.Log.Error("pods that hold GPUs are not told", "err", err)
			}
		}()
	}
}
