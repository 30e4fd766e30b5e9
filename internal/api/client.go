package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Root is the path under which the API lives.
const Root = "/api/v1"

// maxAnswer bounds what one answer may hold: a year of hours of one lease is 3 MiB.
const maxAnswer = 64 << 20

// Client speaks the API. It is safe for concurrent use. Every method's error is an *Error
// where the server answered, and says what was asked where no answer came.
type Client struct {
	base  *url.URL
	token Secret
	http  *http.Client
	asOf  rental.Millis // 0 is now
}

// New returns a client of the server at base ("http://127.0.0.1:8080"), which may hold a
// path prefix. The token may be unset: the server then decides what a stranger may see.
// A nil hc is http.DefaultClient; timeouts are the caller's, by hc or by context.
func New(base string, token Secret, hc *http.Client) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("server address %q: expected http://host:port or https://host:port", base)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("server address %q: expected neither user, query nor fragment; give the token by itself", u.Redacted())
	}
	u.Path = strings.TrimRight(u.Path, "/")
	if hc == nil {
		hc = http.DefaultClient
	}
	return &Client{base: u, token: token, http: hc}, nil
}

// As returns a client of the same server that speaks with another token.
func (c *Client) As(token Secret) *Client {
	other := *c
	other.token = token
	return &other
}

// AsOf returns a client of the same server that is answered by what had been recorded up to the
// moment, as it would have been then. What cannot be answered so is refused.
func (c *Client) AsOf(at rental.Millis) *Client {
	other := *c
	other.asOf = at
	return &other
}

// request is one call.
type request struct {
	method string
	path   []string // segments below Root, not yet escaped
	query  url.Values
	body   []byte
	media  string // content type of the body
}

// do sends a call and returns the body of a successful answer.
func (c *Client) do(ctx context.Context, r request) ([]byte, error) {
	target := *c.base
	var raw strings.Builder
	for _, segment := range r.path {
		if segment == "" || segment == "." || segment == ".." {
			return nil, Errorf(http.StatusUnprocessableEntity, "name %q: expected the name of a lease, an incident or a token", segment)
		}
		raw.WriteString("/" + url.PathEscape(segment))
	}
	plain, err := url.PathUnescape(raw.String())
	if err != nil {
		return nil, fmt.Errorf("path %q: %w", raw.String(), err)
	}
	target.RawPath = target.EscapedPath() + Root + raw.String()
	target.Path += Root + plain
	if c.asOf != 0 {
		query := url.Values{}
		maps.Copy(query, r.query)
		setTime(query, "as_of", c.asOf)
		r.query = query
	}
	target.RawQuery = r.query.Encode()

	req, err := http.NewRequestWithContext(ctx, r.method, target.String(), bytes.NewReader(r.body))
	if err != nil {
		return nil, fmt.Errorf("request to %s: %w", target.Redacted(), err)
	}
	req.Header.Set("Accept", "application/json, application/problem+json;q=0.9, */*;q=0.1")
	if r.media != "" {
		req.Header.Set("Content-Type", r.media)
	}
	if c.token.IsSet() {
		req.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no answer from the server: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("answer of %s broke off: %w", target.Path, err)
	}
	if len(body) > maxAnswer {
		return nil, fmt.Errorf("answer of %s is longer than %d bytes: ask for a shorter span", target.Path, maxAnswer)
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return nil, readError(res, body)
	}
	return body, nil
}

// readError makes an Error of an answer, whoever gave it: a proxy in between answers HTML.
func readError(res *http.Response, body []byte) *Error {
	e := &Error{}
	media, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	isJSON := err == nil && (media == "application/problem+json" || media == "application/json")
	if !isJSON || json.Unmarshal(body, e) != nil {
		text := strings.TrimSpace(strings.ToValidUTF8(string(body), ""))
		if len(text) > 300 || strings.HasPrefix(text, "<") {
			text = ""
		}
		e = &Error{Detail: text}
	}
	e.Status = res.StatusCode
	if e.Title == "" {
		e.Title = http.StatusText(res.StatusCode)
	}
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.RetryAfterSeconds = seconds
	}
	return e
}

// get reads a JSON answer into out.
func (c *Client) get(ctx context.Context, query url.Values, out any, path ...string) error {
	return c.call(ctx, request{method: http.MethodGet, path: path, query: query}, out)
}

// post sends in as JSON and reads a JSON answer into out.
func (c *Client) post(ctx context.Context, in, out any, path ...string) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("request body: %w", err)
	}
	return c.call(ctx, request{method: http.MethodPost, path: path, body: body, media: "application/json"}, out)
}

func (c *Client) call(ctx context.Context, r request, out any) error {
	body, err := c.do(ctx, r)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(body, out); err != nil {
		if _, ok := errors.AsType[*json.SyntaxError](err); ok {
			return fmt.Errorf("answer of %s/%s is not JSON: is this a Leasewatch server? %w", Root, strings.Join(r.path, "/"), err)
		}
		return fmt.Errorf("answer of %s/%s: %w", Root, strings.Join(r.path, "/"), err)
	}
	return nil
}
