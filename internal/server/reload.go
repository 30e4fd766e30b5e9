package server

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// reloaded are the sections that Reload takes up; all others are those of the start.
var reloaded = []string{"scrape_configs", "rule_files", "paging", "approvals", "retention", "thresholds"}

// Reload reads the configuration file again. Everything is checked first; a file that does not
// pass, or that changes what only a start takes up, leaves all as it is.
func (a *App) Reload(ctx context.Context) error {
	if a.opts.ConfigFile == "" {
		return nil
	}
	cfg, err := LoadConfig(a.opts.ConfigFile)
	if err != nil {
		return err
	}
	if err := cfg.CheckListen(a.opts.ListenAddress); err != nil {
		return err
	}
	if err := cfg.checkFiles(a.opts.ConfigFile); err != nil {
		return err
	}
	if err := a.needsRestart(&cfg); err != nil {
		return err
	}
	rules, err := cfg.monitorConfig(a.opts.ConfigFile)
	if err != nil {
		return err
	}
	routing, file, err := cfg.routing()
	if err != nil {
		return err
	}
	if err := a.monitor.Reload(ctx, rules); err != nil {
		return err
	}
	if err := a.pager.Reload(routing, file); err != nil {
		return err
	}
	if err := a.openRoster(&cfg); err != nil {
		return err
	}
	a.config.Store(&cfg)
	if err := a.openPolicy(ctx); err != nil {
		return err
	}
	a.series.Forget()
	a.log.Info("configuration reloaded", "file", a.opts.ConfigFile)
	return nil
}

// needsRestart names, with its place in the file, each field that differs from the running
// configuration and that only a start takes up: to answer "reloaded" would be a lie, and where
// access is concerned a dangerous one.
func (a *App) needsRestart(next *Config) error {
	running := a.config.Load()
	fields := changed(reflect.ValueOf(*running), reflect.ValueOf(*next), "")
	secrets, err := next.slackSecrets()
	if err != nil {
		return err
	}
	for i, field := range []string{"slack.bot_token_file", "slack.app_token_file", "slack.signing_secret_file"} {
		if secrets[i] != a.secrets[i] && !slices.Contains(fields, field) {
			fields = append(fields, field)
		}
	}
	var errs []error
	for _, field := range fields {
		errs = append(errs, fmt.Errorf("%s: %s differs from what the server runs with, and is taken up at a start only: restart the server; nothing was reloaded",
			next.place(a.opts.ConfigFile, field), field))
	}
	if slowest := next.sampleInterval(); slowest > a.interval {
		errs = append(errs, fmt.Errorf("%s: scrape_configs: a job has the interval %s, and since the start readings hold for jobs of at most %s: restart the server; nothing was reloaded",
			next.place(a.opts.ConfigFile, "scrape_configs"), slowest, a.interval))
	}
	return errors.Join(errs...)
}

// changed returns the fields that differ, by their names in the file, but for the reloaded sections.
func changed(a, b reflect.Value, path string) []string {
	var fields []string
	for i := range a.NumField() {
		name := a.Type().Field(i).Tag.Get("yaml")
		if name == "" || (path == "" && slices.Contains(reloaded, name)) {
			continue
		}
		name = strings.TrimPrefix(path+"."+name, ".")
		was, is := a.Field(i), b.Field(i)
		if was.Kind() == reflect.Struct {
			fields = append(fields, changed(was, is, name)...)
		} else if !reflect.DeepEqual(was.Interface(), is.Interface()) {
			fields = append(fields, name)
		}
	}
	return fields
}
