package exporter_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// hang opens connections that ask for many pages and read none: the answers fill every buffer in
// between, and the program cannot write on.
func hang(t *testing.T, address string, scrapers int) []net.Conn {
	t.Helper()
	requests := strings.Repeat("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 500)
	var stuck []net.Conn
	for range scrapers {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		stuck = append(stuck, conn)
		go io.WriteString(conn, requests) // held up as well, until the connection is closed
	}
	return stuck
}

// cut tells whether the program has hung up: it did so with requests unread, so that to write on
// fails at once and not only after a while.
func cut(t *testing.T, conn net.Conn) bool {
	t.Helper()
	if err := conn.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	_, err := conn.Write([]byte("G"))
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

func TestScrapersThatDoNotReadHoldUpNobody(t *testing.T) {
	t.Parallel()
	p := start(t, newMachine(simulated(t)))
	stuck := hang(t, strings.TrimPrefix(p.url, "http://"), 60)
	scrapes := func(accept string) {
		if body, _, status := get(t, p.url+"/metrics", "Accept", accept); status != http.StatusOK || len(body) < 1000 {
			t.Fatalf("beside scrapers that hang a scrape gets %d with %d bytes, want the page", status, len(body))
		}
	}
	protobuf := "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
	// There is room for 20 that hang: of 60 most are cut off soon, and the rest after their time.
	for name, patience := range map[string]func() bool{
		"most of those that hang are cut off": func() bool { return count(t, stuck) >= 40 },
		"all of those that hang are cut off":  func() bool { return count(t, stuck) == 60 },
	} {
		eventually(t, name, func() bool { scrapes("text/plain"); scrapes(protobuf); return patience() })
	}
	if _, _, status := get(t, p.url+"/-/healthy"); status != http.StatusOK {
		t.Errorf("liveness answers %d", status)
	}
	if code := p.stop(); code != 0 {
		t.Errorf("the program ended with %d", code)
	}
}

// count tells how many connections are cut.
func count(t *testing.T, all []net.Conn) int {
	t.Helper()
	n := 0
	for _, conn := range all {
		if cut(t, conn) {
			n++
		}
	}
	return n
}
