package slack_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/leasewatch/leasewatch/internal/testenv"
)

func TestTheAppsManifestAsksForWhatTheRoomNeedsAndNoMore(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(testenv.Root(t), "deploy", "slack", "manifest.yaml"))
	must(t, err)
	var manifest struct {
		OAuth struct {
			Scopes struct{ Bot []string }
		} `yaml:"oauth_config"`
		Settings struct {
			Interactivity struct {
				Enabled bool `yaml:"is_enabled"`
			}
			SocketMode bool `yaml:"socket_mode_enabled"`
		}
	}
	must(t, yaml.Unmarshal(raw, &manifest))
	want := []string{"chat:write", "channels:history", "groups:history", "metadata.message:read"}
	if got := manifest.OAuth.Scopes.Bot; !slices.Equal(got, want) {
		t.Errorf("scopes: got %v, want %v", got, want)
	}
	if !manifest.Settings.Interactivity.Enabled || !manifest.Settings.SocketMode {
		t.Error("the Ack button needs interactivity and Socket Mode")
	}
	page, err := os.ReadFile(filepath.Join(testenv.Root(t), "docs", "slack.md"))
	must(t, err)
	for _, scope := range append(want, "connections:write") {
		if !strings.Contains(string(page), "`"+scope+"`") {
			t.Errorf("docs/slack.md does not explain the scope %s", scope)
		}
	}
}
