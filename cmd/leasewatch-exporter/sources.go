package main

import (
	"github.com/leasewatch/leasewatch/exporter"
	"github.com/leasewatch/leasewatch/exporter/gpu"
	"github.com/leasewatch/leasewatch/exporter/nvml"
	"github.com/leasewatch/leasewatch/exporter/record"
	"github.com/leasewatch/leasewatch/exporter/replay"
)

// driver reads the GPUs of this host.
func driver(c exporter.SourceConfig) (gpu.Source, error) {
	options := nvml.Options{LibraryPath: c.Library, Logger: c.Log, Now: c.Now, Metrics: c.Metrics, NoGPM: c.NoGPM, Known: c.Known, PassedThrough: c.PassedThrough,
		Fast: c.Interval, Slow: exporter.SlowEvery * c.Interval, Identity: exporter.IdentityEvery * c.Interval}
	if c.Workloads != nil {
		options.Workloads = c.Workloads
	}
	if c.Kubelet != nil {
		options.Scheduler = c.Kubelet
	}
	return nvml.New(options)
}

// simulation plays a simulated machine, for trying out, or a recording of a real one.
func simulation(c exporter.SourceConfig) (gpu.Source, error) {
	if c.Recording != "" {
		return record.Open(c.Recording, c.Now)
	}
	var script replay.Script
	if c.Script != "" {
		loaded, err := replay.LoadScript(c.Script)
		if err != nil {
			return nil, err
		}
		script = loaded
	}
	return replay.New(replay.Config{Host: c.Host, GPUs: c.GPUs, Seed: c.Seed, Script: script, Now: c.Now})
}
