package demo

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"text/template"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/server"
)

//go:embed fleet.yaml.tmpl
var fleetTemplate string

//go:embed leases.yaml.tmpl
var leasesTemplate string

// rent does what a provider does on the first day: it names its sites and hosts, adopts the
// GPUs that the exporters report, and records contracts and leases.
func rent(ctx context.Context, client *api.Client, start time.Time) error {
	if err := apply(ctx, client, "fleet", fleetTemplate, start); err != nil {
		return err
	}
	if err := reported(ctx, client); err != nil {
		return err
	}
	for site, hosts := range map[string][]string{"osl1": {"gpu-a17", "gpu-a18"}, "sha2": {"gpu-s03"}} {
		if _, err := client.Adopt(ctx, api.Adopt{Site: site, Hosts: hosts}); err != nil {
			return err
		}
	}
	return apply(ctx, client, "leases", leasesTemplate, start)
}

// apply records a template's resources; its times are days from the start's midnight in UTC.
func apply(ctx context.Context, client *api.Client, name, text string, start time.Time) error {
	midnight := start.UTC().Truncate(24 * time.Hour)
	t, err := template.New(name).Funcs(template.FuncMap{
		"day": func(n int) string { return midnight.AddDate(0, 0, n).Format(time.RFC3339) },
	}).Parse(text)
	if err != nil {
		return err
	}
	var body bytes.Buffer
	if err := t.Execute(&body, nil); err != nil {
		return err
	}
	_, err = client.Apply(ctx, body.Bytes(), false)
	return err
}

// reported waits until the exporters of all hosts were heard.
func reported(ctx context.Context, client *api.Client) error {
	for {
		proposals, err := client.Proposals(ctx)
		if err != nil {
			return err
		}
		cards := 0
		for _, host := range proposals.Hosts {
			cards += len(host.GPUs)
		}
		if cards >= 3*gpusPerHost {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookEvery):
		}
	}
}

// scrapeInterval of the demo: short, so that there is something to see at once.
const scrapeInterval = "5s"

// writeConfig writes the server's configuration file, as a user would.
func writeConfig(dir string, slack *slackSide, hosts *hosts) (string, error) {
	type static struct {
		Targets []string          `yaml:"targets"`
		Labels  map[string]string `yaml:"labels"`
	}
	type scrape struct {
		JobName     string   `yaml:"job_name"`
		HonorLabels bool     `yaml:"honor_labels"`
		Interval    string   `yaml:"scrape_interval"`
		Static      []static `yaml:"static_configs"`
	}
	targets := make([]static, len(hosts.all))
	for i, one := range hosts.all {
		targets[i] = static{Targets: []string{one.address}, Labels: map[string]string{"host": one.name}}
	}
	body, err := yaml.Marshal(map[string]any{
		"global":         map[string]string{"scrape_interval": scrapeInterval, "evaluation_interval": scrapeInterval},
		"scrape_configs": []scrape{{JobName: "leasewatch-exporter", HonorLabels: true, Interval: scrapeInterval, Static: targets}},
		"slack":          slack.config,
	})
	if err != nil {
		return "", fmt.Errorf("configuration of the demo: %w", err)
	}
	file := filepath.Join(dir, "leasewatch.yaml")
	if err := os.WriteFile(file, body, 0o600); err != nil {
		return "", fmt.Errorf("configuration of the demo: %w", err)
	}
	if err := server.CheckConfig(file); err != nil {
		return "", err
	}
	return file, nil
}
