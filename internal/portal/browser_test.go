package portal_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/testenv"
)

// measure is put into the pages for the browser alone: it writes down what sticks out of
// the window, and how many of the style sheet's rules took hold.
const measure = `<script>addEventListener("load", () => {
  const wide = [...document.body.querySelectorAll("*")].filter(e => {
    if (e.closest(".picture, .scroll, .skip, thead")) return false;
    const box = e.getBoundingClientRect();
    return box.width > 0 && box.right > innerWidth + 1;
  }).map(e => e.tagName + "." + e.className);
  document.body.dataset.overflow = document.documentElement.scrollWidth > innerWidth || wide.length ? wide.join(" ") + " scroll " + document.documentElement.scrollWidth : "none";
  document.body.dataset.width = innerWidth;
  document.body.dataset.styled = getComputedStyle(document.querySelector("nav")).display;
});</script></body>`

// measured serves the portal with the measuring script, which its own policy forbids.
func measured(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := httptest.NewRecorder()
		h.ServeHTTP(got, r)
		for name, values := range got.Header() {
			if name != "Content-Security-Policy" {
				w.Header()[name] = values
			}
		}
		w.WriteHeader(got.Code)
		body := got.Body.String()
		// The page must not load again while it is looked at.
		body = regexp.MustCompile(`<meta http-equiv="refresh"[^>]*>`).ReplaceAllString(body, "")
		_, _ = io.WriteString(w, strings.Replace(body, "</body>", measure, 1))
	})
}

// look opens an address in Chromium and returns the page's DOM and what the browser logged.
func look(t *testing.T, address string, width, height int, flags ...string) (dom, log string) {
	t.Helper()
	args := append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-default-browser-check",
		"--enable-logging=stderr", "--user-data-dir=" + t.TempDir(), fmt.Sprintf("--window-size=%d,%d", width, height), "--virtual-time-budget=3000",
	}, flags...)
	cmd := exec.CommandContext(t.Context(), testenv.Binary(t, "chromium"), append(args, address)...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, &problems)
	}
	return out.String(), problems.String()
}

// TestAPersonSeesThePagesInARealBrowser opens the pages in Chromium: what must be read is
// there, the style sheet took hold, and at 360 px nothing sticks out. Chromium's window is
// at least 500 px wide, so the narrow page is a frame of 360 px in a page of its own.
func TestAPersonSeesThePagesInARealBrowser(t *testing.T) {
	if testing.Short() {
		testenv.Skip(t, "a browser takes seconds, and -short was asked for")
	}
	pages := []struct{ target, en, zh string }{
		{"/fleet", "Which GPUs need somebody?", "哪些 GPU 需要处理？"},
		{"/leases", "72.6", "利用率"},
		{"/leases/acme-train", "Breached", "未达标"},
		{"/incidents", "GPU lost", "GPU 丢失"},
		{"/incidents/INC-42", "Acknowledge", "首先处理"},
		{"/login", "Token", "令牌"},
	}
	d := newDemo()
	d.who = rental.Principal{Name: "ann", Role: rental.RoleOperator}
	h := measured(handler(t, d))
	frames := http.NewServeMux()
	frames.Handle("/", h)
	frames.HandleFunc("/narrow", func(w http.ResponseWriter, _ *http.Request) {
		// One page holds all frames: a browser's start costs more than a page.
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<!doctype html><title>frames</title><body>`)
		for _, p := range pages {
			_, _ = fmt.Fprintf(w, `<iframe width="360" height="800" src="%[1]s?lang=en"></iframe><iframe width="360" height="800" src="%[1]s?lang=zh"></iframe>`, p.target)
		}
		_, _ = io.WriteString(w, `<iframe width="1280" height="900" src="/leases/acme-train?lang=en&wide=1"></iframe>`)
		_, _ = io.WriteString(w, `<script>addEventListener("load", () => setTimeout(() => {
  for (const f of document.querySelectorAll("iframe")) {
    const p = document.createElement("p"), b = f.contentDocument.body;
    p.textContent = [f.getAttribute("src"), "width", b.dataset.width, "overflow", b.dataset.overflow, "styled", b.dataset.styled, b.innerText].join(" ");
    document.body.append(p);
  }
}, 100));</script></body>`)
	})
	server := httptest.NewServer(frames)
	t.Cleanup(server.Close)

	t.Run("360 px and 1280 px", func(t *testing.T) {
		dom, _ := look(t, server.URL+"/narrow", 1400, 900, "--dump-dom")
		for _, p := range pages {
			for lang, want := range map[string]string{"en": p.en, "zh": p.zh} {
				start := strings.Index(dom, "<p>"+p.target+"?lang="+lang+" ")
				if start < 0 {
					t.Fatalf("%s in %s was not shown:\n%.2000s", p.target, lang, dom)
				}
				said := dom[start : start+strings.Index(dom[start:], "</p>")]
				if !strings.Contains(said, " width 360 overflow none styled flex ") {
					t.Errorf("%s in %s: %.300s", p.target, lang, said)
				}
				if !strings.Contains(said, want) {
					t.Errorf("%s in %s does not show %q: %.1500s", p.target, lang, want, said)
				}
			}
		}
		if !strings.Contains(dom, "<p>/leases/acme-train?lang=en&amp;wide=1 width 1280 overflow none styled flex ") {
			t.Error("at 1280 px the page of a lease sticks out, or was not shown")
		}
	})
	t.Run("under its own policy", func(t *testing.T) {
		own := httptest.NewServer(handler(t, d))
		t.Cleanup(own.Close)
		picture := filepath.Join(t.TempDir(), "lease.png")
		dom, log := look(t, own.URL+"/leases/acme-train?lang=en", 1280, 900, "--dump-dom", "--screenshot="+picture)
		for _, want := range []string{"<svg", "state-down", `class="waste"`} {
			if !strings.Contains(dom, want) {
				t.Errorf("the page of a lease lacks %s", want)
			}
		}
		if strings.Contains(log, "Content Security Policy") {
			t.Errorf("the page breaks its own policy: %s", log)
		}
		if info, err := os.Stat(picture); err != nil || info.Size() < 20_000 {
			t.Errorf("the screenshot is blank or missing: %v, %v", info, err)
		}
	})
}
