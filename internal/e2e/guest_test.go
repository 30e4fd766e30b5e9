package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// enroll runs the enrolment inside a lease and returns what it says and how it ends.
func (s *site) enroll(ticket, folder string, more ...string) (string, int) {
	s.t.Helper()
	file := s.write("ticket", ticket+"\n")
	cmd := exec.Command(filepath.Join(s.bin, "leasewatch-exporter"), append([]string{
		"enroll", "--server=http://" + s.serverAddress, "--token-file=" + file, "--folder=" + filepath.Join(s.dir, folder), "--host.name=" + folder}, more...)...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// cardsFrom lists the cards in a state as Prometheus' own API tells it, by vantage.
func (s *site) cardsFrom(admin, vantage, state string) []string {
	s.t.Helper()
	query := url.QueryEscape(fmt.Sprintf(`gpu_state{vantage=%q,state=%q} == 1`, vantage, state))
	_, body := s.ask(http.MethodGet, "/prometheus/api/v1/query?query="+query, admin, false)
	var answer struct {
		Data struct {
			Result []struct{ Metric map[string]string }
		}
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		s.t.Fatalf("%v: %s", err, body)
	}
	var cards []string
	for _, series := range answer.Data.Result {
		if host := series.Metric["host"]; host != vantage+"-1" {
			s.t.Errorf("a %s's series of host %q", vantage, host)
		}
		cards = append(cards, series.Metric["uuid"])
	}
	slices.Sort(cards)
	return cards
}

// A tenant enrols an exporter inside the lease; nobody watches the host. The machine shows it all
// eight cards, of which three are the lease's.
func TestAGuestTellsOfItsLeaseAloneAndItsSilenceIsNoDowntime(t *testing.T) {
	acme := &tenant{name: "acme", lease: "acme-train", cards: []int{0, 1, 2}}
	globex := &tenant{name: "globex", lease: "globex-infer", cards: []int{4, 5}}
	s := newSite(t, fakenvml.H100x8())
	s.configure("access: {required: true}\n")
	s.offline("lease", "apply", "-f", s.write("world.yaml", rentTo([]*tenant{acme, globex})))
	admin := s.offline("token", "create", "--name=root", "--role=admin")
	for _, o := range []*tenant{acme, globex} {
		o.token = s.offline("token", "create", "--name="+o.name+"-grafana", "--role=tenant", "--tenant="+o.name)
	}
	ticket := s.offline("token", "create", "--name=vm", "--role=enroll", "--lease="+acme.lease)
	s.startServer()
	s.ready()
	s.client = s.client.As(api.NewSecret(admin))

	if said, code := s.enroll(ticket, "gpu-a17"); code != 4 || !strings.Contains(said, "--host.name=NAME") {
		t.Errorf("enrolling under the name of a host of others: %d\n%s", code, said)
	}
	said, code := s.enroll(ticket, "guest-1")
	if code != 0 || !strings.Contains(said, "a guest of lease acme-train") {
		t.Fatalf("enrolling: %d\n%s", code, said)
	}
	if said, code := s.enroll(ticket, "thief-1"); code != 4 || !strings.Contains(said, `by host "guest-1"`) {
		t.Errorf("a second use: %d\n%s", code, said)
	}
	eventually(t, "the second use is told", s.explain, func() bool { return strings.Contains(s.server.out.String(), "a guest was not enrolled") })
	pushToken, err := os.ReadFile(filepath.Join(s.dir, "guest-1", "push-token"))
	if err != nil {
		t.Fatal(err)
	}

	s.exporter = start(t, filepath.Join(s.bin, "leasewatch-exporter"), s.driver.Env(),
		"@"+filepath.Join(s.dir, "guest-1", "exporter.args"), "--push.interval=1s", "--web.listen-address=127.0.0.1:0", "--nvml.library="+s.driver.Library())
	own := []string{cardUUID(0), cardUUID(1), cardUUID(2)}
	eventually(t, "the guest tells of the lease's cards and no others", s.explain, func() bool { return slices.Equal(s.cardsFrom(admin, "guest", "ok"), own) })
	eventually(t, "what it may not tell is counted", s.explain, func() bool {
		_, page := s.ask(http.MethodGet, "/metrics", admin, false)
		return strings.Contains(page, `leasewatch_push_foreign_samples_total{host="guest-1"}`)
	})
	s.fleetShowsTheGuest(acme, globex)

	s.driver.Update(t, func(m *fakenvml.Scenario) { m.GPU(1).Lost() })
	eventually(t, "a loss waits for a person", s.explain, func() bool {
		list, err := s.client.Downtime(t.Context(), acme.lease, api.Period{})
		return err == nil && len(list.Downtimes) == 1 && list.Downtimes[0].Cause == rental.CauseUndetermined && list.Downtimes[0].ApprovedBy == "" &&
			slices.Equal(list.Downtimes[0].UUIDs, []string{cardUUID(1)}) && strings.Contains(list.Downtimes[0].Witnesses[0], `vantage="guest"`)
	})
	s.exporter.stop()
	eventually(t, "the silence of the guest is opaque, and no downtime", s.explain, func() bool {
		history, err := s.client.States(t.Context(), acme.lease, api.Period{})
		if err != nil || len(history.GPUs) != 3 {
			return false
		}
		last := history.GPUs[0].Intervals[len(history.GPUs[0].Intervals)-1]
		return last.Class == rental.NoData && last.Reason == rental.ReasonOpaque
	})
	list, err := s.client.Downtime(t.Context(), acme.lease, api.Period{})
	if err != nil || len(list.Downtimes) != 1 {
		t.Errorf("downtimes %+v, %v: expected the loss alone", list.Downtimes, err)
	}
	s.endsWithItsLease(acme, strings.TrimSpace(string(pushToken)))
	s.nothingHolds(admin, []string{ticket, strings.TrimSpace(string(pushToken)), admin, acme.token, globex.token})
}

// fleetShowsTheGuest waits until both tenants see the fleet as it is: of acme what its guest tells,
// of globex nothing, and the host as nobody's word.
func (s *site) fleetShowsTheGuest(acme, globex *tenant) {
	s.t.Helper()
	wrong := ""
	eventually(s.t, "the fleet shows what the guest tells", func() string { return wrong + s.explain() }, func() bool {
		wrong = ""
		for _, o := range []*tenant{acme, globex} {
			fleet, err := s.client.As(api.NewSecret(o.token)).Fleet(s.t.Context())
			if err != nil {
				s.t.Fatal(err)
			}
			seen := 0
			for _, host := range fleet.Hosts {
				if host.State == "ok" {
					wrong += fmt.Sprintf("%s: host %s is ok, though only a guest speaks\n", o.name, host.Host)
				}
				for _, card := range host.GPUs {
					seen++
					if inside := o == acme; (card.Vantage == rental.VantageGuest) != inside || (card.State == "ok") != inside || card.Lease != o.lease {
						wrong += fmt.Sprintf("%s sees %s as %s from %q, of lease %q\n", o.name, card.UUID, card.State, card.Vantage, card.Lease)
					}
				}
			}
			if seen != len(o.cards) {
				wrong += fmt.Sprintf("%s sees %d cards\n", o.name, seen)
			}
		}
		return wrong == ""
	})
}

// endsWithItsLease ends the lease: the guest's token then reads nothing, as before, and writes nothing.
func (s *site) endsWithItsLease(o *tenant, token string) {
	s.t.Helper()
	if status, _ := s.ask(http.MethodGet, "/api/v1/leases", token, false); status != http.StatusForbidden {
		s.t.Errorf("a guest's token reads leases: %d", status)
	}
	if _, err := s.client.EndLease(s.t.Context(), o.lease, api.EndLease{At: rental.At(time.Now().Add(-time.Second))}); err != nil {
		s.t.Fatal(err)
	}
	s.exporter = start(s.t, filepath.Join(s.bin, "leasewatch-exporter"), s.driver.Env(),
		"@"+filepath.Join(s.dir, "guest-1", "exporter.args"), "--push.interval=1s", "--web.listen-address=127.0.0.1:0", "--nvml.library="+s.driver.Library())
	eventually(s.t, "the exporter is told that the lease ended", s.explain, func() bool {
		return strings.Contains(s.exporter.out.String(), "ended at")
	})
}
