package portal_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// TestPictures writes pictures of the pages into the folder LEASEWATCH_PICTURES, for a
// person to look at; without it there is nothing to do.
func TestPictures(t *testing.T) {
	dir := os.Getenv("LEASEWATCH_PICTURES")
	if dir == "" {
		return
	}
	d := newDemo()
	d.who = rental.Principal{Name: "ann", Role: rental.RoleOperator}
	server := httptest.NewServer(measured(handler(t, d)))
	t.Cleanup(server.Close)
	for _, target := range []string{"/fleet", "/leases", "/leases/acme-train", "/incidents", "/incidents/INC-42", "/runbooks/gpu-lost", "/login"} {
		for _, shot := range []struct {
			name, lang    string
			width, height int
			flags         []string
		}{
			{"light", "en", 1280, 2800, nil},
			{"dark", "zh", 1280, 1700, []string{"--blink-settings=preferredColorScheme=0"}},
			{"narrow", "en", 500, 1700, nil},
		} {
			name := strings.ReplaceAll(strings.Trim(target, "/"), "/", "-") + "-" + shot.name + ".png"
			t.Run(name, func(t *testing.T) {
				look(t, server.URL+target+"?lang="+shot.lang, shot.width, shot.height, append(shot.flags, "--screenshot="+filepath.Join(dir, name))...)
			})
		}
	}
}
