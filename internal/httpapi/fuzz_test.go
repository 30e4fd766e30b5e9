package httpapi_test

import (
	"net/url"
	"testing"

	"github.com/leasewatch/leasewatch/internal/api"
)

// FuzzAQueryIsUnderstoodOrRefused sends any query to what takes a period: it is answered or
// refused with its place, never a failure of the server.
func FuzzAQueryIsUnderstoodOrRefused(f *testing.F) {
	f.Add("2026-05", "", "", "hour")
	f.Add("", "2026-05-01T00:00:00Z", "2026-06-01T00:00:00+02:00", "day")
	f.Add("", "2026-05-01T00:00:00Z", "open", "day")
	f.Add("2026-13", "now", "", "")
	f.Add("", "9999-12-31T23:59:59Z", "", "hour")
	s := serve(f, nil)
	f.Fuzz(func(t *testing.T, month, from, to, step string) {
		s.backend.asked = nil
		q := url.Values{}
		for name, value := range map[string]string{"month": month, "from": from, "to": to, "step": step} {
			if value != "" {
				q.Set(name, value)
			}
		}
		got := call(s, "GET", api.Root+"/leases/L-acme/usage?"+q.Encode(), "admin", "")
		if got.Code != 200 && got.Code != 422 {
			t.Errorf("status %d: %s", got.Code, got.Body)
		}
		if got.Code == 422 && len(s.backend.asked) > 0 {
			t.Errorf("a refused query reached the rooms behind: %v", s.backend.asked)
		}
	})
}

// FuzzABodyIsUnderstoodOrRefused sends any body to what takes JSON.
func FuzzABodyIsUnderstoodOrRefused(f *testing.F) {
	f.Add(`{"at":"2026-06-01T00:00:00Z"}`)
	f.Add(`{"at":1}`)
	f.Add(`{"at":"open"}`)
	f.Add(`[`)
	f.Add("")
	s := serve(f, nil)
	f.Fuzz(func(t *testing.T, body string) {
		got := call(s, "POST", api.Root+"/leases/L-acme/end", "operator", body)
		switch got.Code {
		case 200, 400, 413, 415, 422:
		default:
			t.Errorf("status %d: %s", got.Code, got.Body)
		}
	})
}
