package portal

import (
	"net/url"
	"strings"
	"testing"
)

// FuzzTheWayAfterTheSignInStaysHere holds that no text leads to another server.
func FuzzTheWayAfterTheSignInStaysHere(f *testing.F) {
	for _, seed := range []string{"/leases?month=2026-05", "//evil", `/\evil`, "https://evil", "/%2f/evil", "/\t/evil", "", "/fleet#x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, next string) {
		to := local(next)
		base, _ := url.Parse("http://here.example/login")
		u, err := base.Parse(to)
		if err != nil || u.Host != "here.example" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t") {
			t.Errorf("%q leads to %q", next, to)
		}
	})
}
