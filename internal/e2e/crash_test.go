package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/incident"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/slack/slackfake"
)

// inventory is the host of the fake driver, known before the first scrape.
func inventoryManifest() string {
	var b strings.Builder
	b.WriteString(oneHour)
	b.WriteString(`---
apiVersion: leasewatch.dev/v1
kind: SKU
metadata: {name: h100-sxm}
spec: {model: H100 80GB HBM3, form_factor: SXM5, memory_mib: 81559, data_center: true}
---
apiVersion: leasewatch.dev/v1
kind: Host
metadata: {name: gpu-a17}
spec: {site: osl1, slots: 8}
`)
	for i := range 8 {
		fmt.Fprintf(&b, "---\napiVersion: leasewatch.dev/v1\nkind: GPU\nmetadata: {name: %s}\nspec: {serial: \"165132400000%d\", sku: h100-sxm, host: gpu-a17, slot: %[2]d, life: service}\n", cardUUID(i), i)
	}
	return b.String()
}

// cardUUID is the uuid that the fake driver gives a card.
func cardUUID(i int) string { return fmt.Sprintf("GPU-6f1e2d3c-0000-4a5b-8c9d-%012d", i) }

// stock records the host, and a lease of one hour from now on, before a server runs.
func (s *site) stock() {
	s.t.Helper()
	start := time.Now().UTC().Truncate(time.Second)
	lease := fmt.Sprintf(oneLease, start.Format(time.RFC3339), start.Add(time.Hour).Format(time.RFC3339))
	cmd := exec.Command(filepath.Join(s.bin, "leasewatch"), "lease", "apply",
		"-f", s.write("inventory.yaml", inventoryManifest()), "-f", s.write("lease.yaml", lease), "--storage.path="+filepath.Join(s.dir, "data"))
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("recording the inventory: %v\n%s", err, out)
	}
}

// incidents are those of the host.
func (s *site) incidents() []rental.Incident {
	s.t.Helper()
	list, err := s.client.Incidents(s.t.Context(), api.IncidentQuery{})
	if err != nil {
		s.t.Fatalf("incidents: %v\n%s", err, s.explain())
	}
	return list.Incidents
}

const repeatMark = "May have been sent before"

// toldOnce checks that there is one incident and one message of it in the channel. As many
// repeats as are allowed may stand beside it, each marked as such.
func (s *site) toldOnce(what string, repeats int) {
	t := s.t
	t.Helper()
	if all := s.incidents(); len(all) != 1 {
		t.Errorf("%s: %d incidents for one lost GPU, expected 1: %+v", what, len(all), all)
	}
	plain, marked := 0, 0
	for _, m := range s.posts("GPU lost: gpu-a17") {
		if strings.Contains(m.Rendered(), repeatMark) {
			marked++
		} else {
			plain++
		}
	}
	if plain+marked == 0 || plain > 1 || plain+marked > 1+repeats {
		t.Errorf("%s: %d pages and %d marked repeats in Slack, expected one page and at most %d repeats\n%s",
			what, plain, marked, repeats, s.explain())
	}
}

// healed waits until one of the channel's pages says in place that it is over, and the
// incident is resolved.
func (s *site) healed(what string) {
	s.t.Helper()
	eventually(s.t, what+": the message says in place that the GPU is back", s.explain, func() bool {
		for _, m := range s.posts("gpu-a17") {
			if strings.Contains(m.Rendered(), "Resolved") && !m.HasButton("leasewatch_ack") {
				return true
			}
		}
		return false
	})
	for _, i := range s.incidents() {
		if i.Status != rental.IncidentResolved {
			s.t.Errorf("%s: incident %s is %s, expected resolved", what, i.ID, i.Status)
		}
	}
}

// downOnce checks that the lost GPU's downtime is on the lease, no moment of it twice, each
// with its end. While the server was dead it saw nothing: that time is unknown, and may part
// the downtime in two.
func (s *site) downOnce(what string) {
	s.t.Helper()
	var downs []rental.Downtime
	eventually(s.t, what+": the downtime has its end", s.explain, func() bool {
		sla, err := s.client.SLA(s.t.Context(), "acme-train", "")
		downs = sla.Downtimes
		return err == nil && len(downs) > 0 && !slices.ContainsFunc(downs, func(d rental.Downtime) bool { return d.Span.End == rental.Forever })
	})
	slices.SortFunc(downs, func(a, b rental.Downtime) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	for i, d := range downs {
		if d.ApprovedBy != rental.ApprovalAutomatic || i > 0 && downs[i-1].Span.End > d.Span.Start {
			s.t.Errorf("%s: downtimes %+v, expected spans apart from each other, approved automatically", what, downs)
			return
		}
	}
}

// TestAServerThatDiesAtACrashPointTellsTheIncidentOnce lets one server die at each named
// point, all on the same lost GPU.
func TestAServerThatDiesAtACrashPointTellsTheIncidentOnce(t *testing.T) {
	first := newSite(t, fakenvml.H100x8())
	first.startExporter()
	servers := map[string]*site{}
	// Around the downtime's own commit too: the lease's money hangs on it.
	for _, point := range append(incident.CrashPoints(), "ledger-downtime-before", "ledger-downtime-after") {
		s := first.beside()
		s.stock()
		s.startServer("LEASEWATCH_TEST_CRASH_AT=" + point)
		servers[point] = s
	}
	for _, s := range servers {
		s.ready()
	}
	first.driver.Update(t, func(m *fakenvml.Scenario) { m.GPU(3).Lost() })
	for point, s := range servers {
		eventually(t, "the server dies at "+point, s.explain, s.server.ended)
		if status, ok := s.server.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
			t.Fatalf("%s: the server ended by %s, expected SIGKILL\n%s", point, s.server.cmd.ProcessState, s.explain())
		}
	}
	for _, s := range servers {
		s.startServer()
	}
	for point, s := range servers {
		s.ready()
		eventually(t, point+": the page is in Slack", s.explain, func() bool { return len(s.posts("GPU lost: gpu-a17")) > 0 })
	}
	first.driver.Update(t, func(m *fakenvml.Scenario) { m.GPU(3).Heal(1) })
	for point, s := range servers {
		s.healed(point)
		s.downOnce(point)
		repeats := 0
		if strings.HasPrefix(point, "ledger-") || // it may have been sending at that moment
			strings.HasPrefix(point, "delivery-send-") || point == "delivery-start-after" || point == "delivery-ref-after" {
			repeats = 1 // the crash fell between the word to Slack and its record
		}
		s.toldOnce(point, repeats)
	}
}

// TestASilenceOutlivesAKillAndWhatHealedMeanwhileIsClosed makes a silence, kills the server
// at once, and later kills it again in the middle of a fault that heals while it is down.
func TestASilenceOutlivesAKillAndWhatHealedMeanwhileIsClosed(t *testing.T) {
	s := newSite(t, fakenvml.H100x8())
	s.stock()
	s.startExporter()
	s.startServer()
	s.ready()
	id := s.silence(cardUUID(3))
	s.server.kill()

	s.startServer()
	s.ready()
	s.driver.Update(t, func(m *fakenvml.Scenario) { m.GPU(3).Lost() })
	eventually(t, "the lost GPU is silenced by "+id, s.explain, func() bool {
		return strings.Contains(s.get("/alertmanager/api/v2/alerts?silenced=true&active=false"), id)
	})
	s.driver.Update(t, func(m *fakenvml.Scenario) { m.GPU(5).Lost() })
	eventually(t, "the other lost GPU is in Slack", s.explain, func() bool { return len(s.posts("gpu-a17 slot 5")) == 1 })
	for _, m := range s.slack.Messages() {
		if strings.Contains(m.Rendered(), "slot 3") {
			t.Errorf("a silenced GPU was told:\n%s", m.Rendered())
		}
	}

	s.server.kill()
	s.driver.Update(t, func(m *fakenvml.Scenario) { m.GPU(3).Heal(1); m.GPU(5).Heal(1) })
	eventually(t, "the exporter sees both GPUs back", s.explain, func() bool {
		text := fetch(t, "http://"+s.exporterAddress+"/metrics")
		return strings.Contains(text, `state="ok"`) && !lostCard(text)
	})
	s.startServer()
	s.ready()
	s.healed("after the restart")
	s.toldOnce("after the restart", 0)
}

// TestKillsAtRandomMomentsLoseAndRepeatNothing kills the server over and over in the middle
// of a fault, while Slack fails now and then.
func TestKillsAtRandomMomentsLoseAndRepeatNothing(t *testing.T) {
	const kills = 5
	s := newSite(t, fakenvml.H100x8())
	s.stock()
	s.startExporter()
	s.startServer()
	s.ready()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	failures := []slackfake.Failure{
		{}, {AfterDelivery: true}, {Status: http.StatusInternalServerError},
		{Status: http.StatusTooManyRequests, RetryAfter: time.Second}, {Status: http.StatusServiceUnavailable, AfterDelivery: true},
	}
	id := s.silence(cardUUID(5))
	s.driver.Update(t, func(m *fakenvml.Scenario) { m.GPU(3).Lost(); m.GPU(5).Lost() })
	for range kills {
		s.slack.FailNext("chat.postMessage", failures[random.IntN(len(failures))])
		s.slack.FailNext("chat.update", failures[random.IntN(len(failures))])
		time.Sleep(time.Duration(random.IntN(4000)) * time.Millisecond) // the moment is what is random here
		s.server.kill()
		s.startServer()
	}
	s.ready()
	eventually(t, "the page is in Slack", s.explain, func() bool { return len(s.posts("GPU lost: gpu-a17")) > 0 })
	eventually(t, "the other lost GPU is still silenced by "+id, s.explain, func() bool {
		return strings.Contains(s.get("/alertmanager/api/v2/alerts?silenced=true&active=false"), id)
	})
	for _, m := range s.slack.Messages() {
		if strings.Contains(m.Rendered(), "slot 5") {
			t.Errorf("a silenced GPU was told:\n%s", m.Rendered())
		}
	}
	s.driver.Update(t, func(m *fakenvml.Scenario) { m.GPU(3).Heal(1); m.GPU(5).Heal(1) })
	s.healed("after five kills")
	s.toldOnce("after five kills", kills)
}

// silence mutes a card's alerts over the Alertmanager API.
func (s *site) silence(uuid string) string {
	t := s.t
	t.Helper()
	now := time.Now().UTC()
	body, err := json.Marshal(map[string]any{
		"matchers": []map[string]any{{"name": "uuid", "value": uuid, "isRegex": false, "isEqual": true}},
		"startsAt": now, "endsAt": now.Add(time.Hour), "createdBy": "ada", "comment": "swap ordered",
	})
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post("http://"+s.serverAddress+"/alertmanager/api/v2/silences", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var made struct {
		SilenceID string `json:"silenceID"`
	}
	if err := json.NewDecoder(res.Body).Decode(&made); err != nil || made.SilenceID == "" {
		t.Fatalf("the silence was not made: status %s, %v", res.Status, err)
	}
	return made.SilenceID
}

// get reads a path of the server as text.
func (s *site) get(path string) string {
	s.t.Helper()
	return fetch(s.t, "http://"+s.serverAddress+path)
}

func fetch(t testing.TB, url string) string {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// lostCard tells whether an exporter's page has a card in the state lost.
func lostCard(page string) bool {
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "gpu_state{") && strings.Contains(line, `state="lost"`) && strings.HasSuffix(line, " 1\n") {
			return true
		}
	}
	return false
}
