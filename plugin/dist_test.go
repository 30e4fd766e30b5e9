// Package plugin_test holds what Grafana asks of the built plugin and of its provisioning.
package plugin_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/testenv"
)

type manifest struct {
	Type, ID, Executable string
	Backend              bool
	Info                 struct {
		Version, Updated string
		Logos            struct{ Small, Large string }
		Screenshots      []struct{ Path string }
	}
	Includes     []struct{ Type, Name, Path string }
	Dependencies struct{ GrafanaDependency string }
}

func manifestIn(t *testing.T, folder string) manifest {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("dist", folder, "plugin.json"))
	if err != nil {
		testenv.Skip(t, "the plugin is not built (tools/plugin.sh builds it): "+err.Error())
	}
	var m manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("%s: %v", folder, err)
	}
	return m
}

var folders = map[string][2]string{ // folder: type and id
	".":          {"app", "leasewatch-gpu-app"},
	"datasource": {"datasource", "leasewatch-gpu-datasource"},
	"panel":      {"panel", "leasewatch-gpu-efficiency-panel"},
}

func TestEachPluginIsWhole(t *testing.T) {
	raw, err := os.ReadFile("package.json")
	if err != nil {
		t.Fatal(err)
	}
	var pkg struct{ Version string }
	if err := json.Unmarshal(raw, &pkg); err != nil {
		t.Fatal(err)
	}
	for folder, want := range folders {
		m := manifestIn(t, folder)
		if m.Type != want[0] || m.ID != want[1] || !strings.HasSuffix(m.ID, "-"+m.Type) {
			t.Errorf("%s: type %q, id %q; expected %v, and an id that ends in its type", folder, m.Type, m.ID, want)
		}
		if m.Info.Version != pkg.Version || m.Info.Updated == "" || m.Dependencies.GrafanaDependency != ">=12.3.0" {
			t.Errorf("%s: version %q of %q, package.json has %q; Grafana %q", folder, m.Info.Version, m.Info.Updated, pkg.Version, m.Dependencies.GrafanaDependency)
		}
		files := []string{m.Info.Logos.Small, m.Info.Logos.Large, "module.js", "module.js.map"}
		for _, s := range m.Info.Screenshots {
			files = append(files, s.Path)
		}
		for _, file := range files {
			if _, err := os.Stat(filepath.Join("dist", folder, file)); err != nil || file == "" {
				t.Errorf("%s: %q is missing", folder, file)
			}
		}
		entry, err := os.ReadFile(filepath.Join("dist", folder, "module.js"))
		if err != nil {
			t.Fatal(err)
		}
		if len(entry) > 50_000 {
			t.Errorf("%s/module.js has %d bytes, at most 50,000 are allowed: load the rest lazily", folder, len(entry))
		}
		if !strings.Contains(string(entry), "sourceMappingURL=module.js.map") || !strings.Contains(string(entry), "define([") {
			t.Errorf("%s/module.js is no AMD module with a source map", folder)
		}
	}
}

func TestIncludesResolve(t *testing.T) {
	app := manifestIn(t, ".")
	kinds := map[string]int{}
	for _, in := range app.Includes {
		kinds[in.Type]++
		switch in.Type {
		case "page":
			if !strings.HasPrefix(in.Path, "/a/"+app.ID+"/") {
				t.Errorf("page %q lies at %q", in.Name, in.Path)
			}
		case "dashboard":
			raw, err := os.ReadFile(filepath.Join("dist", in.Path))
			if err != nil {
				t.Error(err)
				continue
			}
			var d struct {
				Title, UID string
				Revision   int
			}
			if err := json.Unmarshal(raw, &d); err != nil || d.Title != in.Name || d.UID == "" || d.Revision < 1 {
				t.Errorf("dashboard %q: %v, %+v; Grafana matches by title", in.Name, err, d)
			}
		default:
			if m := manifestIn(t, filepath.Dir(in.Path)); m.Type != in.Type || m.Info.Version != app.Info.Version {
				t.Errorf("%s: type %q, version %q; expected %q, %q", in.Path, m.Type, m.Info.Version, in.Type, app.Info.Version)
			}
		}
	}
	if kinds["page"] != 1 || kinds["dashboard"] != 3 || kinds["datasource"] != 1 || kinds["panel"] != 1 {
		t.Errorf("includes %v", kinds)
	}
}

func TestTheExecutableCanBeRun(t *testing.T) {
	m := manifestIn(t, "datasource")
	if !m.Backend || m.Executable == "" {
		t.Fatalf("the data source has no backend: %+v", m)
	}
	info, err := os.Stat(filepath.Join("dist", "datasource", m.Executable+"_linux_"+runtime.GOARCH))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode()&0o111 != 0o111 {
		t.Errorf("%s has mode %v: Grafana needs its x bit", info.Name(), info.Mode())
	}
	if manifestIn(t, ".").Backend {
		t.Error("the app has a backend: the one executable is the data source's")
	}
}

func TestNothingIsLeftOverInDist(t *testing.T) {
	manifestIn(t, ".")
	for _, file := range []string{"README.md", "CHANGELOG.md", "LICENSE"} {
		if _, err := os.Stat(filepath.Join("dist", file)); err != nil {
			t.Error(err)
		}
	}
	err := filepath.WalkDir("dist", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		ext := filepath.Ext(path)
		if slices.Contains([]string{".json", ".md", ".js"}, ext) {
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, left := range []string{"%VERSION%", "%TODAY%", "%PLUGIN_ID%", "TODO"} {
				if ext != ".js" && strings.Contains(string(raw), left) {
					t.Errorf("%s holds %s", path, left)
				}
			}
			if ext == ".js" {
				if _, err := os.Stat(path + ".map"); err != nil {
					t.Errorf("%s has no source map", path)
				}
			}
		}
		if strings.Contains(path, "test") || strings.HasSuffix(path, ".go") {
			t.Errorf("%s does not belong into a plugin", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
