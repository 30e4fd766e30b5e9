package harness_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"

	"github.com/leasewatch/leasewatch/internal/testenv"
	"github.com/leasewatch/leasewatch/plugin/pkg/plugin"
	"github.com/leasewatch/leasewatch/plugin/pkg/seeded"
)

const uid = "leasewatch-acme"

// TestThePluginShowsRealValuesInARealBrowser goes the whole way: Chromium, the plugin's built
// bundles, the stand-in for Grafana's front end, gRPC, the plugin's real executable, HTTP, a
// seeded server.
func TestThePluginShowsRealValuesInARealBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	host := serve(t)
	b := newBrowser(t)

	page := func(view, theme string, more ...string) string {
		v := url.Values{"view": {view}, "theme": {theme}}
		for i := 0; i+1 < len(more); i += 2 {
			v.Set(more[i], more[i+1])
		}
		return host + "/?" + v.Encode()
	}
	views := []struct {
		name, view string
		height     int
		query      string
		look       func(b *browser)
	}{
		{"leases", "leases", 900, "", func(b *browser) {
			b.sees("What does each lease cost against how well it is used?", "How does every lease do?",
				"acme-train (acme), 8 GPUs", "72.6 % used, 98.0 % seen", "acme-idle (acme), 8 GPUs", "8.4 % used, 99.5 % seen, waste",
				"not measured: acme-dark", "h100-80", "Cost per used GPU-hour", "USD 2.8926")
		}},
		{"lease", "leases/acme-train", 1000, "", func(b *browser) {
			b.sees("acme-train", "Verdict", "✕ Breached", "99.9%", "03:37:20", "What did it cost beside its use?", "Cost, acme-train", "Utilisation, acme-train",
				"BMC gpu-a17: GPU 3 absent")
		}},
		{"query", "query", 700, `{"refId":"A","type":"usage","lease":"acme-train","step":"day","metric":""}`, func(b *browser) {
			b.sees("Query type=Cost and use", "Lease=acme-train", "Step=Day", "Metric=All")
			b.click("#run")
			b.sees("Utilisation, acme-train", "USD 403.20")
			b.click(`input[aria-label="Lease"]`)
			b.sees("acme-idle", "acme, h100-80")
		}},
		{"config", "config", 600, "", func(b *browser) {
			b.sees("Server", "Token", "Allow alerting", "Allow anonymous")
			b.click("#test")
			b.sees("OK: connected as acme-grafana: 3 leases of tenant acme")
		}},
	}
	for _, v := range views {
		for _, theme := range []string{"light", "dark"} {
			t.Run(v.name+" in "+theme, func(t *testing.T) {
				b.t = t
				b.open(page(v.view, theme, "query", v.query), 1280, v.height)
				v.look(b)
				notBlank(t, b.picture(v.name+"-"+theme))
			})
		}
	}
	b.t = t
}

func TestAPointLeadsToItsLease(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	host := serve(t)
	b := newBrowser(t)
	b.open(host+"/?view=leases", 1280, 900)
	b.sees("acme-train (acme), 8 GPUs")
	if got := b.eval(`[...document.querySelectorAll("svg a")].map(a => a.getAttribute("href")).sort().join(" ")`); got != "/a/leasewatch-gpu-app/leases/acme-idle /a/leasewatch-gpu-app/leases/acme-train" {
		t.Errorf("the points lead to %q", got)
	}
	if got := b.eval(`document.querySelector("table a, [role=row] a")?.getAttribute("href")`); got != "/a/leasewatch-gpu-app/leases/acme-dark" {
		t.Errorf("the table's first row leads to %q", got)
	}
}

// serve starts the whole chain behind one address.
func serve(t *testing.T) string {
	t.Helper()
	root := filepath.Join(testenv.Root(t), "plugin")
	if _, err := os.Stat(filepath.Join(root, "harness", "dist", "harness.js")); err != nil {
		testenv.Skip(t, "the harness is not built (tools/plugin.sh test builds it): "+err.Error())
	}
	testenv.Binary(t, "chromium")
	h, err := seeded.Handler(time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	settings, err := json.Marshal(plugin.Settings{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	p := startPlugin(t, backend.PluginContext{
		OrgID: 1, PluginID: plugin.ID, User: &backend.User{Login: "vera", Name: "Vera", Role: "Viewer"},
		DataSourceInstanceSettings: &backend.DataSourceInstanceSettings{
			UID: uid, Name: "Leasewatch", Type: plugin.ID, JSONData: settings,
			DecryptedSecureJSONData: map[string]string{"token": seeded.TokenAcme}, Updated: time.Now(),
		},
	})
	mux := http.NewServeMux()
	p.routes(mux)
	mux.Handle("GET /public/plugins/leasewatch-gpu-app/", http.StripPrefix("/public/plugins/leasewatch-gpu-app/", http.FileServer(http.Dir(filepath.Join(root, "dist")))))
	mux.Handle("GET /harness/", http.StripPrefix("/harness/", http.FileServer(http.Dir(filepath.Join(root, "harness", "dist")))))
	mux.Handle("GET /public/build/", http.StripPrefix("/public/build/", http.FileServer(http.Dir(filepath.Join(root, "node_modules", "@grafana", "ui", "dist", "public")))))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, shell(bootData(settings, r.FormValue("theme") != "dark")))
	})
	front := httptest.NewServer(mux)
	t.Cleanup(front.Close)
	return front.URL
}

// shell is the page before any script has run.
func shell(boot string) string {
	return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>harness</title><link rel="icon" href="data:,"><style>body{margin:0}#root{width:calc(100vw - 32px)}</style></head>
<body><div id="root"></div><script>window.__grafana_public_path__="/public/";window.grafanaBootData=` + boot + `;</script>
<script src="/harness/harness.js"></script></body></html>`
}

// bootData is what Grafana's server writes into its page.
func bootData(settings []byte, light bool) string {
	meta := func(id, kind string) map[string]any {
		return map[string]any{
			"id": id, "name": id, "type": kind, "module": "", "baseUrl": "", "sort": 1, "skipDataQuery": false,
			"info": map[string]any{"author": map[string]any{"name": ""}, "logos": map[string]any{"small": "", "large": ""}, "links": []any{}, "screenshots": []any{}, "version": "", "updated": ""},
		}
	}
	panels := map[string]any{}
	for _, id := range []string{"table", "stat", "timeseries", "leasewatch-gpu-efficiency-panel"} {
		panels[id] = meta(id, "panel")
	}
	source := meta(plugin.ID, "datasource")
	source["metrics"] = true
	raw, err := json.Marshal(map[string]any{
		"settings": map[string]any{
			"buildInfo": map[string]any{"version": "13.2.3", "env": "production", "edition": "Open Source"}, "featureToggles": map[string]any{}, "panels": panels,
			"defaultDatasource": "Leasewatch", "appSubUrl": "",
			"datasources": map[string]any{"Leasewatch": map[string]any{
				"id": 1, "uid": uid, "name": "Leasewatch", "type": plugin.ID, "access": "proxy", "meta": source, "jsonData": json.RawMessage(settings), "readOnly": false,
			}},
		},
		"user":    map[string]any{"isSignedIn": true, "login": "vera", "orgId": 1, "orgRole": "Viewer", "timezone": "utc", "lightTheme": light, "language": "en-US", "locale": "en-US"},
		"navTree": []any{},
	})
	if err != nil {
		panic(fmt.Sprintf("boot data: %v", err)) // made of literals
	}
	return string(raw)
}

// notBlank holds that a screenshot has something on it.
func notBlank(t *testing.T, picture []byte) {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	colours := map[[3]uint32]int{}
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 3 {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += 3 {
			r, g, b, _ := img.At(x, y).RGBA()
			colours[[3]uint32{r, g, b}]++
		}
	}
	if len(colours) < 20 {
		t.Errorf("the screenshot has %d colours: it is blank", len(colours))
	}
}
