package paging

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/testenv"
)

func TestAmtoolWorksOnTheAPI(t *testing.T) {
	amtool := testenv.Binary(t, "amtool")
	var d desk
	p := startPager(t, &d, nil)
	server := httptest.NewServer(http.StripPrefix("/alertmanager", p.Handler()))
	t.Cleanup(server.Close)
	run := func(args ...string) string {
		t.Helper()
		var complaint strings.Builder // amtool says there that its version is another one
		cmd := exec.CommandContext(t.Context(), amtool, append([]string{"--alertmanager.url", server.URL + "/alertmanager"}, args...)...)
		cmd.Stderr = &complaint
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("amtool %v: %v\n%s%s", args, err, out, complaint.String())
		}
		return strings.TrimSpace(string(out))
	}
	id := run("silence", "add", "--author=ann", "--comment=swap", "--duration=1h", "subject=h1")
	if shown := run("silence", "query"); !strings.Contains(shown, id) || !strings.Contains(shown, "subject") {
		t.Errorf("silence query: %s", shown)
	}
	put(t, p, firing("GPULost", "h1", "GPU-1"), firing("GPULost", "h2", "GPU-2"))
	eventually(t, "the other group arrives", func() bool { return len(d.got(keyOf("h2"))) == 1 })
	if shown := run("alert", "query"); !strings.Contains(shown, "h2") || strings.Contains(shown, "h1") {
		t.Errorf("alert query: %s, expected the one that is not silenced", shown)
	}
	if shown := run("alert", "query", "--silenced"); !strings.Contains(shown, "h1") {
		t.Errorf("alert query --silenced: %s", shown)
	}
	run("silence", "expire", id)
	eventually(t, "the unsilenced group arrives", func() bool { return len(d.got(keyOf("h1"))) == 1 })
	if shown := run("config", "show"); !strings.Contains(shown, "group_by") {
		t.Errorf("config show: %s", shown)
	}
	run("alert", "add", "Handmade", "severity=page", "provider=a", "subject=h3")
	eventually(t, "an alert of amtool arrives", func() bool { return len(d.got(keyOf("h3"))) == 1 })
}
