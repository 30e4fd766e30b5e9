package exporter_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
)

// readingOf returns when a GPU was read, as its page spells it; "" where it was not.
func readingOf(page, gpu string) string {
	found := regexp.MustCompile(`(?m)^gpu_reading_timestamp_seconds\{gpu="` + gpu + `",[^}]*\} (\S+)$`).FindStringSubmatch(page)
	if found == nil {
		return ""
	}
	return found[1]
}

func TestOneHangingGPUCostsOnlyItself(t *testing.T) {
	t.Parallel()
	host := fakenvml.Install(t, fakenvml.H100x8())
	p := startProgram(t, host.Env())
	eventually(t, "all GPUs were read", func() bool { return readingOf(p.page(t), "2") != "" && readingOf(p.page(t), "7") != "" })
	host.Update(t, func(s *fakenvml.Scenario) { s.GPU(2).Delay("", fakenvml.Forever) })
	last, rounds := readingOf(p.page(t), "7"), 0
	var hanging []string
	eventually(t, "another GPU is read twice more", func() bool {
		page := p.page(t)
		if now := readingOf(page, "7"); now != last {
			last, rounds = now, rounds+1
			hanging = append(hanging, readingOf(page, "2"))
		}
		return rounds == 3
	})
	if hanging[1] != hanging[2] {
		t.Errorf("GPU 2 was read at %v although its calls hang", hanging)
	}
	p.stop(t) // and the program ends all the same, with exit code 0
}

func TestADriverThatComesLaterIsFound(t *testing.T) {
	t.Parallel()
	host := fakenvml.Install(t, fakenvml.ConsumerCard())
	library := filepath.Join(t.TempDir(), "libnvidia-ml.so.1")
	p := startProgram(t, host.Env(), "--nvml.library="+library)
	eventually(t, "the page says that there is no library", func() bool {
		return strings.Contains(p.page(t), `gpu_driver_state{host="gpu-a1",state="no_library",vantage="host"} 1`)
	})
	if _, _, status := get(t, p.url+"/-/ready"); status != http.StatusOK {
		t.Errorf("readiness without a driver is %d, want 200", status)
	}
	if err := os.Symlink(host.Library(), library); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the GPU appears", func() bool {
		page := p.page(t)
		return strings.Contains(page, `state="ok",vantage="host"} 1`) && strings.Contains(page, "NVIDIA GeForce RTX 4090")
	})
}

func TestBasicAuthenticationGuardsThePage(t *testing.T) {
	hash, err := bcrypt.GenerateFromPassword([]byte("hunter2"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "web.yml")
	if err := os.WriteFile(config, []byte("basic_auth_users:\n  prometheus: "+string(hash)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, newMachine(simulated(t)), "--web.config.file="+config)
	eventually(t, "a stranger is refused", func() bool {
		_, _, status := get(t, p.url+"/metrics")
		return status == http.StatusUnauthorized
	})
	request, err := http.NewRequest(http.MethodGet, p.url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth("prometheus", "hunter2")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("the right password gets %d", response.StatusCode)
	}
}

func TestAFaultInTheDriverReachesTheReceiverAtOnce(t *testing.T) {
	t.Parallel()
	receiver := newTaker(t)
	host := fakenvml.Install(t, fakenvml.H100x8())
	p := startProgram(t, host.Env(), "--push.url="+receiver.URL, "--push.spool-dir="+t.TempDir(), "--push.interval=1h")
	eventually(t, "the GPUs answer", func() bool { return readingOf(p.page(t), "3") != "" })
	host.Update(t, func(s *fakenvml.Scenario) { s.Event(3, 79); s.GPU(3).Lost() })
	const uuid = "uuid=GPU-6f1e2d3c-0000-4a5b-8c9d-000000000003"
	eventually(t, "XID and loss arrive, long before the next push of the page", func() bool {
		xid, told := receiver.find("__name__=gpu_xid_last_timestamp_seconds", "xid=79", uuid)
		state, changed := receiver.find("__name__=gpu_state", "state=lost", uuid)
		since, known := receiver.find("__name__=gpu_state_since_timestamp_seconds", uuid)
		return told && changed && known && xid.Value > 0 && state.Value == 1 && since.Value > 0
	})
}
