package monitor

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	commonconfig "github.com/prometheus/common/config"
)

// selfAddress is the address of the server's own page. It exists only inside this process:
// .invalid never resolves.
const selfAddress = "self.leasewatch.invalid:80"

// selfTarget serves the server's own metrics to its own scraper through pipes in memory, so that
// they are scraped as any target is (staleness, `up`), with no port and whatever access is configured.
type selfTarget struct {
	server *http.Server
	conns  *pipeListener
}

func newSelfTarget(g prometheus.Gatherer) *selfTarget {
	return &selfTarget{
		server: &http.Server{
			Handler:           promhttp.HandlerFor(g, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}),
			ReadHeaderTimeout: 10 * time.Second,
		},
		conns: &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})},
	}
}

// serve answers scrapes until close; it returns only an unexpected error.
func (s *selfTarget) serve() error {
	if err := s.server.Serve(s.conns); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (s *selfTarget) close() error { return s.server.Close() }

// clientOption makes the scraper reach the own page through a pipe, and everything else through the network.
func (s *selfTarget) clientOption() commonconfig.HTTPClientOption {
	var network net.Dialer
	return commonconfig.WithDialContextFunc(func(ctx context.Context, kind, address string) (net.Conn, error) {
		if address == selfAddress {
			return s.conns.dial(ctx)
		}
		return network.DialContext(ctx, kind, address)
	})
}

// pipeListener is a net.Listener whose connections are pipes.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

var _ net.Listener = (*pipeListener)(nil)

func (l *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for the next dial.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and dial.
func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr names the pipe.
func (l *pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return selfAddress }
