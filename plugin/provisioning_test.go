package plugin_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/leasewatch/leasewatch/dashboards"
)

// read decodes a provisioning file and refuses fields that it does not know.
func read(t *testing.T, file string, into any) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("provisioning", file))
	if err != nil {
		t.Fatal(err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	if err := dec.Decode(into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return string(raw)
}

func TestTheAppIsEnabled(t *testing.T) {
	var f struct {
		APIVersion int `yaml:"apiVersion"`
		Apps       []struct {
			Type     string
			OrgID    int `yaml:"org_id"`
			Disabled bool
		}
	}
	read(t, "plugins/leasewatch.yaml", &f)
	if f.APIVersion != 1 || len(f.Apps) != 1 || f.Apps[0].Type != "leasewatch-gpu-app" || f.Apps[0].OrgID != 1 || f.Apps[0].Disabled {
		t.Errorf("%+v", f)
	}
}

func TestBothDataSourcesAreThereAndSecretsComeFromFiles(t *testing.T) {
	var f struct {
		APIVersion  int `yaml:"apiVersion"`
		Datasources []struct {
			Name, UID, Type, Access, URL string
			OrgID                        int `yaml:"orgId"`
			Editable                     bool
			JSONData                     map[string]any    `yaml:"jsonData"`
			SecureJSONData               map[string]string `yaml:"secureJsonData"`
		}
	}
	raw := read(t, "datasources/leasewatch.yaml", &f)
	kinds, uids := map[string]string{}, map[string]bool{}
	for _, d := range f.Datasources {
		if d.Access != "proxy" || d.UID == "" || uids[d.UID] || d.Name == "" || d.OrgID != 1 {
			t.Errorf("%+v: expected a name, a uid of its own, organisation 1 and access by proxy", d)
		}
		uids[d.UID] = true
		kinds[d.Type] = d.URL
		if d.Type == dashboards.Leasewatch {
			kinds[d.Type], _ = d.JSONData["url"].(string)
		}
		for name, value := range d.SecureJSONData {
			if !regexp.MustCompile(`^\$__file\{/etc/grafana/[a-z.]+\}$`).MatchString(value) {
				t.Errorf("%s: secret %s is %q, expected a file", d.Name, name, value)
			}
		}
		for name := range d.JSONData {
			if strings.Contains(strings.ToLower(name), "token") {
				t.Errorf("%s: %s lies in jsonData, which every viewer may read", d.Name, name)
			}
		}
	}
	if kinds[dashboards.Leasewatch] != "http://127.0.0.1:8080" || kinds[dashboards.Prometheus] != "http://127.0.0.1:8080/prometheus" {
		t.Errorf("addresses %v", kinds)
	}
	if strings.Contains(raw, "lw_") {
		t.Error("the file holds a token")
	}
}

func TestProvisionedDashboardsHaveUidsOfTheirOwn(t *testing.T) {
	var f struct {
		APIVersion int `yaml:"apiVersion"`
		Providers  []struct {
			Name, Folder, Type    string
			FolderUID             string `yaml:"folderUid"`
			OrgID                 int    `yaml:"orgId"`
			DisableDeletion       bool   `yaml:"disableDeletion"`
			AllowUIUpdates        bool   `yaml:"allowUiUpdates"`
			UpdateIntervalSeconds int    `yaml:"updateIntervalSeconds"`
			Options               struct{ Path string }
		}
	}
	read(t, "dashboards/leasewatch.yaml", &f)
	if len(f.Providers) != 1 || f.Providers[0].Type != "file" || f.Providers[0].Options.Path != "/etc/grafana/provisioning/dashboards" {
		t.Fatalf("%+v", f)
	}
	all, err := dashboards.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		got, err := os.ReadFile(filepath.Join("provisioning", "dashboards", d.Name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, d.Provisioned()) {
			t.Errorf("%s.json is not what the code says: run go generate ./dashboards", d.Name)
		}
		var s struct{ UID, Title string }
		if err := json.Unmarshal(got, &s); err != nil {
			t.Fatal(err)
		}
		if s.UID != d.UID+"-file" || s.Title != d.Title {
			t.Errorf("%s: uid %q, title %q", d.Name, s.UID, s.Title)
		}
	}
}
