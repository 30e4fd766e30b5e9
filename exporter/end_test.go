package exporter_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// probe is a log that looks at the program's port at the moment a line is written.
type probe struct {
	safeBuffer
	mu      sync.Mutex
	address string
	at      string // in the line
	seen    bool
	busy    error // what was wrong with the port then
}

func (p *probe) Write(line []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if strings.Contains(string(line), p.at) {
		listener, err := net.Listen("tcp", p.address)
		if err == nil {
			err = listener.Close()
		}
		p.seen, p.busy = true, err
	}
	return p.safeBuffer.Write(line)
}

// The whole driver hangs, a scraper does not read: before the program gives up on either, the port
// is another's to take.
func TestThePortIsFreeBeforeTheProgramGivesUpOnWhatHangs(t *testing.T) {
	for _, line := range []string{"a scrape was cut off at the end", "a driver call still hangs"} {
		t.Run(line, func(t *testing.T) {
			source := newMachine(simulated(t))
			source.hang = true
			log := &probe{at: line}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan int, 1)
			listening := make(chan net.Addr, 1)
			go func() {
				ended <- exporter.Run(ctx, []string{"--web.listen-address=127.0.0.1:0"}, io.Discard, log, exporter.Options{
					Sources:   map[string]exporter.NewSource{"nvml": func(exporter.SourceConfig) (gpu.Source, error) { return source, nil }},
					Listening: func(addrs []net.Addr) { listening <- addrs[0] },
				})
			}()
			address := (<-listening).String()
			log.mu.Lock()
			log.address = address
			log.mu.Unlock()
			hang(t, address, 1)
			own, last := 0.0, 0.0 // scrapes of this test, and those of the other at the last look
			eventually(t, "the scraper was answered, and then no more: it hangs", func() bool {
				body, _, _ := get(t, "http://"+address+"/metrics")
				own++
				others := number(t, body, "leasewatch_exporter_scrapes_total") - own
				steady := others > 1 && others == last
				last = others
				return steady
			})
			cancel()
			if code := <-ended; code != 0 {
				t.Errorf("exit code %d:\n%s", code, log)
			}
			log.mu.Lock()
			defer log.mu.Unlock()
			if !log.seen || log.busy != nil {
				t.Errorf("the line was written: %v; the port then: %v\n%s", log.seen, log.busy, log.String())
			}
		})
	}
}

// A disk that hangs is played by a pipe that nobody reads: to open it for writing takes for ever.
func hungDisk(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // let the thread go
		if fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
			syscall.Close(fd)
		}
	})
}

func TestADiskThatHangsHoldsUpNeitherPageNorEnd(t *testing.T) {
	taker := newTaker(t)
	dir := t.TempDir()
	hungDisk(t, filepath.Join(dir, "cursor.next"))
	p := start(t, newMachine(simulated(t)), "--push.url="+taker.URL, "--push.spool-dir="+dir, "--push.interval=1s")
	eventually(t, "a page is pushed", func() bool { _, ok := taker.find("__name__=gpu_power_watts"); return ok })
	if _, _, status := get(t, p.url+"/metrics"); status != http.StatusOK {
		t.Errorf("the page answers %d", status)
	}
	ended := make(chan int, 1)
	go func() { ended <- p.stop() }()
	select {
	case code := <-ended:
		if code != 0 || !strings.Contains(p.log.String(), "the disk of the spool hangs") {
			t.Errorf("exit code %d:\n%s", code, p.log)
		}
	case <-time.After(patience):
		t.Fatal("the end waits for the disk")
	}
}
