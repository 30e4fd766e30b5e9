package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/server"
	"github.com/leasewatch/leasewatch/internal/slack/slackfake"
	"github.com/leasewatch/leasewatch/internal/testenv"
)

// smallDisk is a file system of its own, or the test is skipped.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		testenv.Skip(t, "a small file system takes the right to mount one: "+err.Error())
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// fill takes all the space that is left; the file is the caller's to remove.
func fill(t *testing.T, name string) {
	t.Helper()
	hog, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = hog.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := hog.Close(); err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never: " + what)
		}
	}
}

// get returns the status and the body of a page of the server.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	res, err := http.Get(url) //nolint:gosec // the test's own server
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// startServer runs a server with this configuration and returns where it is reached.
func startServer(t *testing.T, config, storage string) string {
	t.Helper()
	if err := os.WriteFile("leasewatch.yaml", []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := server.LoadConfig("leasewatch.yaml")
	if err != nil {
		t.Fatal(err)
	}
	app, err := server.New(t.Context(), server.Options{
		Config: cfg, ConfigFile: "leasewatch.yaml", StoragePath: storage, ListenAddress: "127.0.0.1:0", Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := app.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := app.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return "http://" + app.Addr()
}

func TestAServerWhoseDiskIsFullSaysSoPagesAndRecovers(t *testing.T) {
	t.Chdir(t.TempDir())
	storage := filepath.Join(smallDisk(t, "64m"), "data")
	workspace := slackfake.New(slackfake.Options{})
	recording := httptest.NewServer(workspace)
	t.Cleanup(recording.Close)
	for name, secret := range map[string]string{"bot": "xoxb-fake", "app": "xapp-fake"} {
		if err := os.WriteFile(name, []byte(secret), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	base := startServer(t, fmt.Sprintf(`
global: {scrape_interval: 1s, evaluation_interval: 1s}
slack: {api_url: %s/api/, channel: C0123, bot_token_file: bot, app_token_file: app}
`, recording.URL), storage)
	client, err := api.New(base, api.Secret{}, http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	status := func() api.Status {
		s, err := client.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	ready := func() bool { code, _ := get(t, base+"/-/ready"); return code == http.StatusOK }
	eventually(t, "the server is ready", ready)
	if s := status().Store; !s.Healthy || s.Reason != "" || s.Series == 0 {
		t.Errorf("the store is %+v, expected it well", s)
	}

	hog := filepath.Join(filepath.Dir(storage), "hog")
	fill(t, hog)
	told := func(words string) func() bool {
		return func() bool {
			return slices.ContainsFunc(workspace.Messages(), func(m slackfake.Message) bool {
				return m.ThreadTS == "" && strings.Contains(m.Text+string(m.Blocks), words)
			})
		}
	}
	eventually(t, "a page says that samples cannot be stored", told("Leasewatch cannot store samples"))
	if s := status().Store; s.Healthy || s.Cause != api.StoreFull || !strings.Contains(s.Reason, "no space left on device") || s.Since == 0 {
		t.Errorf("the store is %+v, expected it full", s)
	}
	if code, body := get(t, base+"/-/ready"); code != http.StatusServiceUnavailable || !strings.Contains(body, "no space left") {
		t.Errorf("/-/ready answers %d %q, expected 503 and why", code, body)
	}
	if _, body := get(t, base+"/metrics"); !strings.Contains(body, "\nleasewatch_store_failing 1\n") {
		t.Error("/metrics does not say that the store fails")
	}
	for lang, words := range map[string]string{"en": "no space is left in the data directory", "zh": "数据目录空间已满"} {
		if _, page := get(t, base+"/fleet?lang="+lang); !strings.Contains(page, words) {
			t.Errorf("the page in %s does not say %q", lang, words)
		}
	}

	if err := os.Remove(hog); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server is ready again", ready)
	if s := status().Store; !s.Healthy || s.Cause != "" {
		t.Errorf("the store is %+v, expected it well again", s)
	}
	eventually(t, "the incident is resolved", func() bool {
		list, err := client.Incidents(t.Context(), api.IncidentQuery{Limit: 10})
		return err == nil && len(list.Incidents) == 1 && list.Incidents[0].Status == rental.IncidentResolved
	})
}

func TestAServerThatStartsOnAFullDiskLeavesNothingBehind(t *testing.T) {
	disk := smallDisk(t, "1m")
	hog := filepath.Join(disk, "hog")
	fill(t, hog)
	for what, storage := range map[string]string{"a new directory": filepath.Join(disk, "data"), "one that is there": disk} {
		_, err := server.New(t.Context(), server.Options{
			Config: server.DefaultConfig(), StoragePath: storage, ListenAddress: "127.0.0.1:0", Version: "test",
		})
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "free some space") || !strings.Contains(err.Error(), storage) {
			t.Errorf("%s: %v, expected where no space is left and what to do", what, err)
		}
		left, err := os.ReadDir(disk)
		if err != nil {
			t.Fatal(err)
		}
		if len(left) != 1 {
			t.Errorf("%s: %v, expected only what filled the disk", what, left)
		}
	}
}
