package harness_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/testenv"
)

// patience is how long anything may take on a slow machine before the test gives up.
const patience = 60 * time.Second

// browser is one tab of a Chromium, spoken to over a pipe by its DevTools protocol.
type browser struct {
	t       *testing.T
	to      io.Writer
	from    chan message
	session string
	id      int
	console []string // what the pages wrote and what broke
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	commandsOut, commandsIn, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	eventsOut, eventsIn, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(testenv.Binary(t, "chromium"),
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-default-browser-check",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{commandsOut, eventsIn} // 3 and 4, where the browser reads and writes
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, to: commandsIn, from: make(chan message)}
	_, _ = commandsOut.Close(), eventsIn.Close()
	done := make(chan struct{})
	go b.listen(eventsOut, done)
	t.Cleanup(func() {
		b.session = ""
		b.call("Browser.close", nil, nil) // ends its helpers too, so that its folder can be removed
		close(done)
		_ = cmd.Wait()
	})

	var target struct {
		TargetID string `json:"targetId"`
	}
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page.enable", "Runtime.enable"} {
		b.call(domain, nil, nil)
	}
	return b
}

// listen hands on what the browser says, until it ends or nobody listens.
func (b *browser) listen(r io.Reader, done <-chan struct{}) {
	defer close(b.from)
	for in := bufio.NewReader(r); ; {
		raw, err := in.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(raw[:len(raw)-1], &m) != nil {
			continue
		}
		select {
		case b.from <- m:
		case <-done:
			return
		}
	}
}

// call sends a command and waits for its answer; what else arrives meanwhile is kept as console.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	if err := b.try(method, params, result); err != nil {
		b.t.Fatalf("chromium: %s: %v", method, err)
	}
}

func (b *browser) try(method string, params, result any) error {
	b.id++
	command := map[string]any{"id": b.id, "method": method}
	if params != nil {
		command["params"] = params
	}
	if b.session != "" {
		command["sessionId"] = b.session
	}
	raw, err := json.Marshal(command)
	if err != nil {
		return fmt.Errorf("command: %w", err)
	}
	if _, err := b.to.Write(append(raw, 0)); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	timeout := time.After(patience)
	for {
		select {
		case m, open := <-b.from:
			switch {
			case !open:
				return errors.New("the browser ended")
			case m.Method != "":
				b.note(m)
			case m.ID == b.id && m.Error != nil:
				return errors.New(m.Error.Message)
			case m.ID == b.id && result != nil:
				return json.Unmarshal(m.Result, result)
			case m.ID == b.id:
				return nil
			}
		case <-timeout:
			return errors.New("no answer")
		}
	}
}

func (b *browser) note(m message) {
	switch m.Method {
	case "Runtime.consoleAPICalled":
		if !strings.Contains(string(m.Params), `"type":"error"`) {
			return
		}
		fallthrough
	case "Runtime.exceptionThrown":
		b.console = append(b.console, m.Method+" "+string(m.Params[:min(len(m.Params), 1200)]))
	}
}

// open goes to an address in a window of that size.
func (b *browser) open(address string, width, height int) {
	b.t.Helper()
	b.console = nil
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.call("Page.navigate", map[string]any{"url": address}, nil)
}

// eval returns what a JavaScript expression gives, as text.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	var out struct {
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
	}
	// While a page loads there may be no place to evaluate in: asked again by who polls.
	if b.try("Runtime.evaluate", map[string]any{"expression": "String(" + expression + ")", "returnByValue": true, "awaitPromise": true}, &out) != nil {
		return ""
	}
	text, _ := out.Result.Value.(string)
	return text
}

const pageText = `document.body.innerText + " " + [...document.querySelectorAll("svg [aria-label], input")].map(e => e.getAttribute("aria-label") + "=" + (e.value ?? "")).join(" | ")`

// sees waits until the page shows every one of the texts.
func (b *browser) sees(wants ...string) {
	b.t.Helper()
	var text string
	missing := wants
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		text = strings.ReplaceAll(b.eval(pageText), "\u00a0", " ")
		missing = nil
		for _, want := range wants {
			if !strings.Contains(text, want) {
				missing = append(missing, want)
			}
		}
		if len(missing) == 0 {
			return
		}
		if b.eval(`document.querySelector("[data-broken]") !== null`) == "true" {
			break
		}
	}
	b.t.Fatalf("the page does not show %q; it shows:\n%s\nconsole:\n%s", missing, text, strings.Join(b.console, "\n"))
}

// click presses the middle of the first element that a selector finds, as a mouse does.
func (b *browser) click(selector string) {
	b.t.Helper()
	quoted, err := json.Marshal(selector)
	if err != nil {
		b.t.Fatal(err)
	}
	at := b.eval(fmt.Sprintf(`(() => { const e = document.querySelector(%s); if (!e) return ""; e.scrollIntoView({block: "center"}); const r = e.getBoundingClientRect(); return (r.x + r.width / 2) + " " + (r.y + r.height / 2) })()`, quoted))
	var x, y float64
	if _, err := fmt.Sscan(at, &x, &y); err != nil {
		b.t.Fatalf("nothing to click at %s: %v", selector, err)
	}
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}, nil)
	}
}

// picture takes a screenshot, into LEASEWATCH_SCREENSHOTS where that is set, and returns it.
func (b *browser) picture(name string) []byte {
	b.t.Helper()
	var out struct {
		Data string `json:"data"`
	}
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &out)
	png, err := base64.StdEncoding.DecodeString(out.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if dir := os.Getenv("LEASEWATCH_SCREENSHOTS"); dir != "" {
		if err := os.WriteFile(dir+"/"+name+".png", png, 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
	return png
}
