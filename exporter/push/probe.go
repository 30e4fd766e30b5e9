package push

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Probe is what came of asking a receiver to take a request without samples.
type Probe struct {
	// Offset is this host's clock minus the receiver's Date header, exact to about a second;
	// Dated says whether the receiver told its time.
	Offset time.Duration
	Dated  bool
	// Err is why the receiver does not take requests, nil where it does.
	Err error
}

// Ask sends one request without samples, with the headers, and the token where there is a file of it. The
// receiver stores nothing. It gives up after timeout.
func Ask(ctx context.Context, url, tokenFile string, headers map[string]string, timeout time.Duration, now func() time.Time) Probe {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	s, err := newSender(url, tokenFile, headers, transport, timeout, now)
	if err != nil {
		return Probe{Err: err}
	}
	r := s.send(ctx, Batch{})
	p := Probe{Dated: !r.date.IsZero()}
	if p.Dated {
		p.Offset = now().Sub(r.date)
	}
	if r.outcome != delivered {
		p.Err = fmt.Errorf("asking the receiver: %w", r.err)
	}
	return p
}
