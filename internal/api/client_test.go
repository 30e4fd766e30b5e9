package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

const hidden = "lw_4f1c-do-not-print"

// both runs the test over a socket and in process: the two ways must not differ.
func both(t *testing.T, h http.Handler, test func(t *testing.T, c *api.Client)) {
	t.Helper()
	t.Run("over a socket", func(t *testing.T) {
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		c, err := api.New(server.URL, api.NewSecret(hidden), server.Client())
		if err != nil {
			t.Fatal(err)
		}
		test(t, c)
	})
	t.Run("in process", func(t *testing.T) { test(t, api.NewInProcess(h, api.NewSecret(hidden))) })
}

func TestACallSendsWhatTheServerExpects(t *testing.T) {
	may := rental.At(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC))
	june := rental.At(time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))
	span := api.Period{Span: rental.Span{Start: may, End: june}}
	cases := []struct {
		name string
		call func(ctx context.Context, c *api.Client) error
		want string // method, path and query as they arrive, then the body
	}{
		{"whoami", func(ctx context.Context, c *api.Client) error { _, err := c.Whoami(ctx); return err },
			"GET /api/v1/whoami "},
		{"leases without a filter", func(ctx context.Context, c *api.Client) error {
			_, err := c.Leases(ctx, api.LeaseQuery{})
			return err
		}, "GET /api/v1/leases "},
		{"leases by tenant at a moment", func(ctx context.Context, c *api.Client) error {
			_, err := c.Leases(ctx, api.LeaseQuery{Tenant: "a&b", At: may})
			return err
		}, "GET /api/v1/leases?at=2026-05-01T00%3A00%3A00Z&tenant=a%26b "},
		{"a lease whose name has a slash", func(ctx context.Context, c *api.Client) error {
			_, err := c.Lease(ctx, "a/b c?d")
			return err
		}, "GET /api/v1/leases/a%2Fb%20c%3Fd "},
		{"a bill of a month", func(ctx context.Context, c *api.Client) error {
			_, err := c.Bill(ctx, "L1", api.Period{Month: "2026-05"})
			return err
		}, "GET /api/v1/leases/L1/bill?month=2026-05 "},
		{"usage of a span in days", func(ctx context.Context, c *api.Client) error {
			_, err := c.Usage(ctx, "L1", span, api.StepDay)
			return err
		}, "GET /api/v1/leases/L1/usage?from=2026-05-01T00%3A00%3A00Z&step=day&to=2026-06-01T00%3A00%3A00Z "},
		{"an end of a lease", func(ctx context.Context, c *api.Client) error {
			_, err := c.EndLease(ctx, "L1", api.EndLease{At: june})
			return err
		}, `POST /api/v1/leases/L1/end {"at":"2026-06-01T00:00:00Z"}`},
		{"a dry run of an apply", func(ctx context.Context, c *api.Client) error {
			_, err := c.Apply(ctx, []byte("kind: lease\n"), true)
			return err
		}, "POST /api/v1/apply?dry_run=1 kind: lease\n"},
		{"open incidents", func(ctx context.Context, c *api.Client) error {
			_, err := c.Incidents(ctx, api.IncidentQuery{Status: rental.IncidentOpen, Limit: 5})
			return err
		}, "GET /api/v1/incidents?limit=5&status=open "},
		{"the end of a token", func(ctx context.Context, c *api.Client) error { return c.RevokeToken(ctx, "T1") },
			"DELETE /api/v1/tokens/T1 "},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			var got string
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got = r.Method + " " + r.URL.RequestURI() + " " + string(body)
				if auth := r.Header.Get("Authorization"); auth != "Bearer "+hidden {
					t.Errorf("Authorization: got %q", auth)
				}
				_, _ = io.WriteString(w, "{}")
			})
			both(t, h, func(t *testing.T, c *api.Client) {
				t.Helper()
				if err := tc.call(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				if got != tc.want {
					t.Errorf("\ngot  %s\nwant %s", got, tc.want)
				}
			})
		})
	}
}

func TestAPathPrefixOfTheServerIsKept(t *testing.T) {
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.URL.EscapedPath()
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(server.Close)
	c, err := api.New(server.URL+"/gpu%20rent/", api.Secret{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Lease(t.Context(), "a/b"); err != nil {
		t.Fatal(err)
	}
	if want := "/gpu%20rent/api/v1/leases/a%2Fb"; got != want {
		t.Errorf("path: got %s, want %s", got, want)
	}
}

func TestAnErrorTellsWhatTheServerSaid(t *testing.T) {
	cases := []struct {
		name, media, body string
		status            int
		want              error
		text              string
	}{
		{"a problem with fields", "application/problem+json",
			`{"title":"Unprocessable Entity","status":422,"detail":"the file was refused","errors":[{"location":"a.yaml:3","message":"unknown field \"pric\""}]}`,
			422, api.ErrInvalid, `the file was refused: a.yaml:3: unknown field "pric"`},
		{"a problem of a status that the body contradicts", "application/problem+json; charset=utf-8",
			`{"status":200,"detail":"no such lease"}`, 404, api.ErrNotFound, "no such lease"},
		{"plain text of a proxy", "text/plain", "upstream is gone\n", 503, api.ErrUnavailable, "upstream is gone"},
		{"a page of a proxy", "text/html", "<html><body>Bad Gateway</body></html>", 502, nil, "Bad Gateway"},
		{"nothing at all", "", "", 401, api.ErrUnauthenticated, "Unauthorized"},
		{"JSON that is none", "application/json", "{", 409, api.ErrConflict, "{"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tc.media)
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			})
			both(t, h, func(t *testing.T, c *api.Client) {
				t.Helper()
				_, err := c.Lease(t.Context(), "L1")
				var e *api.Error
				if !errors.As(err, &e) {
					t.Fatalf("got %v, want an *api.Error", err)
				}
				if e.Status != tc.status || e.RetryAfterSeconds != 7 || e.Error() != tc.text {
					t.Errorf("got status %d, retry after %d s, text %q; want %d, 7 s, %q", e.Status, e.RetryAfterSeconds, e, tc.status, tc.text)
				}
				if tc.want != nil && !errors.Is(err, tc.want) {
					t.Errorf("errors.Is(%v, %v) does not hold", err, tc.want)
				}
			})
		})
	}
}

func TestAnAnswerThatIsNotJSONIsSaidToBeNone(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") })
	both(t, h, func(t *testing.T, c *api.Client) {
		t.Helper()
		if _, err := c.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "is this a Leasewatch server?") {
			t.Errorf("got %v", err)
		}
	})
}

func TestANameThatIsNoNameNeverLeavesTheClient(t *testing.T) {
	h := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the server was asked") })
	both(t, h, func(t *testing.T, c *api.Client) {
		t.Helper()
		for _, id := range []string{"", ".", ".."} {
			if _, err := c.Lease(t.Context(), id); !errors.Is(err, api.ErrInvalid) {
				t.Errorf("lease %q: got %v", id, err)
			}
		}
	})
}

func TestAnAddressThatCannotBeIsRefused(t *testing.T) {
	for _, base := range []string{"", "localhost:8080", "ftp://x", "http://", "http://u:pw-9@h", "http://h?x=1", "http://h#f"} {
		_, err := api.New(base, api.Secret{}, nil)
		if err == nil {
			t.Errorf("address %q was taken", base)
		} else if strings.Contains(err.Error(), "pw-9") {
			t.Errorf("address %q: the error prints the password: %v", base, err)
		}
	}
}

func TestACancelledCallEndsInProcessToo(t *testing.T) {
	both(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }),
		func(t *testing.T, c *api.Client) {
			t.Helper()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := c.Status(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want %v", err, context.Canceled)
			}
		})
}

func TestAHandlerThatPanicsInProcessIsAnError(t *testing.T) {
	c := api.NewInProcess(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("broken") }), api.Secret{})
	if _, err := c.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "panicked") {
		t.Errorf("got %v", err)
	}
}

func TestASecretPrintsNowhere(t *testing.T) {
	type holder struct {
		Token api.Secret `json:"token"`
	}
	h := holder{Token: api.NewSecret(hidden)}
	encoded, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	c, err := api.New("http://127.0.0.1:1", api.NewSecret(hidden), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, callErr := c.Status(t.Context())
	for _, text := range []string{
		string(encoded), fmt.Sprint(h), fmt.Sprintf("%v %+v %#v %s %q", h, h, h, h.Token, h.Token),
		fmt.Sprint(&h), fmt.Sprintf("%v %+v %#v", c, c, c), fmt.Sprint(callErr),
	} {
		if strings.Contains(text, hidden) {
			t.Errorf("the secret is printed: %s", text)
		}
	}
}

func FuzzAnErrorAnswerNeverBreaksTheClient(f *testing.F) {
	f.Add(404, "application/problem+json", `{"detail":"no"}`)
	f.Add(500, "application/json", `{"errors":[{"value":{}}]}`)
	f.Add(503, "text/html; x", "<")
	f.Fuzz(func(t *testing.T, status int, media, body string) {
		status = 400 + abs(status)%200
		c := api.NewInProcess(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", media)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}), api.Secret{})
		_, err := c.Status(t.Context())
		var e *api.Error
		if !errors.As(err, &e) || e.Status != status || e.Error() == "" && http.StatusText(status) != "" {
			t.Errorf("got %v", err)
		}
	})
}

func abs(n int) int {
	if n < 0 {
		return -(n + 1)
	}
	return n
}
