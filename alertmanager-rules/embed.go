// Package alertmanagerrules holds the data of the rules room as files in the program: the
// recording and alert rules, the routing, the table of XID codes, the classes of GPU states
// and the runbooks. The same files load unchanged in Prometheus, vmalert and Alertmanager.
package alertmanagerrules

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Files holds every file of the room: rules/*.yaml, runbooks/*.md, xid.yaml, states.yaml and
// alertmanager.yaml.
//
//go:embed rules/*.yaml runbooks/*.md xid.yaml states.yaml alertmanager.yaml
var Files embed.FS

// Rules returns the rule files, by file name ("fast.yaml").
func Rules() map[string][]byte {
	names, _ := fs.Glob(Files, "rules/*.yaml") // the pattern is constant and well formed
	files := make(map[string][]byte, len(names))
	for _, name := range names {
		files[path.Base(name)] = mustRead(name)
	}
	return files
}

// AlertmanagerConfig returns the routing file: routes, inhibition and the webhook receiver.
func AlertmanagerConfig() []byte { return mustRead("alertmanager.yaml") }

// runbookName is what a runbook may be called: the last part of its address, nothing else.
var runbookName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Runbook returns the Markdown page of a runbook, by the last part of its address ("gpu-lost").
// The error wraps fs.ErrNotExist where there is none, whatever the name holds.
func Runbook(name string) ([]byte, error) {
	if !runbookName.MatchString(name) {
		return nil, fmt.Errorf("runbook %q: %w", name, fs.ErrNotExist)
	}
	page, err := Files.ReadFile("runbooks/" + name + ".md")
	if err != nil {
		return nil, fmt.Errorf("runbook %q: %w", name, fs.ErrNotExist)
	}
	return page, nil
}

// Runbooks returns the names of all runbooks, sorted.
func Runbooks() []string {
	files, _ := fs.Glob(Files, "runbooks/*.md") // the pattern is constant and well formed
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = strings.TrimSuffix(path.Base(file), ".md")
	}
	return names
}

// mustRead reads an embedded file. A missing one is a fault of the build, which the tests find.
func mustRead(name string) []byte {
	data, err := Files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return data
}

// decode reads YAML and refuses fields that the type does not have.
func decode(name string, data []byte, into any) error {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
