package api

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// NewInProcess returns a client that calls the handler directly, without a network: for the
// command line that opens the ledger itself, and for the portal.
func NewInProcess(h http.Handler, token Secret) *Client {
	return &Client{
		base:  &url.URL{Scheme: "http", Host: "localhost"},
		token: token,
		http:  &http.Client{Transport: inProcess{handler: h}},
	}
}

// inProcess is a RoundTripper over a handler. The answer is complete when RoundTrip returns.
type inProcess struct{ handler http.Handler }

// RoundTrip serves the request; a handler that panics becomes an error, as a broken
// connection would be.
func (t inProcess) RoundTrip(req *http.Request) (res *http.Response, err error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	served := req.Clone(req.Context())
	served.RequestURI = req.URL.RequestURI()
	served.RemoteAddr = "127.0.0.1:0"
	if served.Host == "" {
		served.Host = req.URL.Host
	}
	if served.Body == nil {
		served.Body = http.NoBody
	}
	answer := &recorder{header: http.Header{}}
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, fmt.Errorf("handler of %s panicked: %v", req.URL.Path, p)
		}
	}()
	t.handler.ServeHTTP(answer, served)
	return answer.response(req), nil
}

// recorder collects an answer in memory.
type recorder struct {
	header http.Header
	status int
	sent   http.Header // header as it was when the status was written
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= 200 {
		r.status, r.sent = status, r.header.Clone()
	}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}

func (r *recorder) response(req *http.Request) *http.Response {
	r.WriteHeader(http.StatusOK)
	return &http.Response{
		Status:        strconv.Itoa(r.status) + " " + http.StatusText(r.status),
		StatusCode:    r.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        r.sent,
		Body:          io.NopCloser(bytes.NewReader(r.body.Bytes())),
		ContentLength: int64(r.body.Len()),
		Request:       req,
	}
}
