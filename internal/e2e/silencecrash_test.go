package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
)

// TestAServerThatDiesAroundASilenceKeepsWhatItAccepted ends the server just before and just
// after a silence is written: before, it was never accepted and is not there; after, it is.
func TestAServerThatDiesAroundASilenceKeepsWhatItAccepted(t *testing.T) {
	for point, kept := range map[string]bool{"paging-entry-before": false, "paging-entry-after": true} {
		t.Run(point, func(t *testing.T) {
			s := newSite(t, fakenvml.H100x8())
			s.startExporter()
			s.startServer("LEASEWATCH_TEST_CRASH_AT=" + point)
			s.ready()
			now := time.Now().UTC()
			body := `{"matchers":[{"name":"uuid","value":"GPU-x","isRegex":false,"isEqual":true}],"startsAt":"` +
				now.Format(time.RFC3339) + `","endsAt":"` + now.Add(time.Hour).Format(time.RFC3339) + `","createdBy":"ada","comment":"crash"}`
			res, err := http.Post("http://"+s.serverAddress+"/alertmanager/api/v2/silences", "application/json", strings.NewReader(body))
			if err == nil {
				_ = res.Body.Close() // whatever it said, the process must end
			}
			eventually(t, "the server dies at "+point, s.explain, s.server.ended)

			s.startServer()
			s.ready()
			if got := strings.Contains(s.get("/alertmanager/api/v2/silences"), `"ada"`); got != kept {
				t.Errorf("the silence is there: %v, expected %v", got, kept)
			}
		})
	}
}
