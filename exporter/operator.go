package exporter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// operatorWaits bounds an operator's wait: longer than the exporter takes in the worst case.
const operatorWaits = actFor + answersFor + 5*time.Second

// operate is the side of the operator: it asks the exporter of this host to act on a GPU,
// prints what came of it, and returns the exit code.
func operate(ctx context.Context, o operatorFlags, act string, stdout, stderr io.Writer) int {
	fail := func(code int, format string, args ...any) int {
		fmt.Fprintf(stderr, "leasewatch-exporter %s: %s\n", act, fmt.Sprintf(format, args...))
		return code
	}
	ctx, cancel := context.WithTimeout(ctx, operatorWaits)
	defer cancel()
	status, out, err := ask(ctx, o.socket, act, o.gpu)
	if err != nil {
		return fail(exitFailure, "%v", err)
	}
	switch status {
	case http.StatusOK:
		fmt.Fprintln(stdout, out.said(act))
		return exitOK
	case http.StatusNotFound:
		return fail(exitNotFound, "%s", out.Error)
	case http.StatusConflict:
		return fail(exitRefused, "%s", out.Error)
	}
	return fail(exitFailure, "the exporter answered %d: %s", status, out.Error)
}

// ask sends one act through the socket.
func ask(ctx context.Context, socket, act, gpu string) (status int, out outcome, err error) {
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	form := url.Values{"gpu": {gpu}}.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://exporter/v1/"+act, strings.NewReader(form))
	if err != nil {
		return 0, outcome{}, fmt.Errorf("asking the exporter: %w", err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := client.Do(request)
	if err != nil {
		var dial *net.OpError
		if errors.As(err, &dial) && dial.Op == "dial" {
			return 0, outcome{}, fmt.Errorf("no exporter answers at %s (%w): is it running, with this --control.socket, and may this user open it?", socket, dial.Err)
		}
		return 0, outcome{}, fmt.Errorf("asking the exporter: %w", err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(&out); err != nil {
		return 0, outcome{}, fmt.Errorf("at %s answers no exporter: %w", socket, err)
	}
	return response.StatusCode, out, nil
}

// said is what came of an act, in words.
func (o outcome) said(act string) string {
	who := fmt.Sprintf("GPU %d (%s", o.Index, o.UUID)
	for _, more := range []string{o.Serial, o.PCIAddress} {
		if more != "" {
			who += ", " + more
		}
	}
	who += ")"
	until := ""
	if !o.Kept {
		until = "\nThe exporter has no state file that it can write: after its restart this is forgotten."
	}
	switch act {
	case "release":
		return who + " is released: the exporter asks it nothing more and the driver holds it for no one here." +
			"\nTo take it back: leasewatch-exporter resume " + o.UUID + until
	case "retire":
		return who + " is forgotten." + until
	}
	return who + " is asked again: " + string(o.State) + until
}
