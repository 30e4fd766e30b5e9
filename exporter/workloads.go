package exporter

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/exporter/workload"
)

// workloadFlags say how it is told who uses a GPU.
type workloadFlags struct {
	containers bool
	config     workload.Config
}

func (w *workloadFlags) register(app *kingpin.Application) {
	app.Flag("collector.containers", "Tell by container, pod and batch job who uses a GPU; never by user, process or program.").
		Default("true").BoolVar(&w.containers)
	app.Flag("collector.containers.max", "Containers of one GPU that are told apart; those over it are summed.").
		Default("32").IntVar(&w.config.MaxContainers)
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
