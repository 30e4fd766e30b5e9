package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/fakenvml"
	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/httpapi"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// tenant is one of two who rent cards of the same host.
type tenant struct {
	name, lease, token string
	cards              []int
}

// foreign are the words of which another tenant must see none: name, lease, cards and serials.
func (o *tenant) foreign() []string {
	words := []string{o.name, o.lease}
	for _, card := range o.cards {
		words = append(words, cardUUID(card), fmt.Sprintf("165132400000%d", card))
	}
	return words
}

// rentTo is the manifest of two tenants, each with a lease of its own.
func rentTo(tenants []*tenant) string {
	var b strings.Builder
	b.WriteString(inventoryManifest())
	start := time.Now().UTC().Add(-time.Minute).Format(time.RFC3339)
	for _, o := range tenants {
		var cards []string
		for _, card := range o.cards {
			cards = append(cards, fmt.Sprintf("{uuid: %s}", cardUUID(card)))
		}
		if o.name != "acme" { // it is in the manifest already
			fmt.Fprintf(&b, "---\napiVersion: leasewatch.dev/v1\nkind: Tenant\nmetadata: {name: %s}\nspec: {display_name: %[1]s}\n", o.name)
		}
		fmt.Fprintf(&b, "---\napiVersion: leasewatch.dev/v1\nkind: Lease\nmetadata: {name: %s}\nspec: {tenant: %s, contract: hourly, start: %q, gpus: [%s]}\n",
			o.lease, o.name, start, strings.Join(cards, ", "))
	}
	return b.String()
}

// offline runs a command on the data directory, where no server runs yet.
func (s *site) offline(args ...string) string {
	s.t.Helper()
	out, err := exec.Command(filepath.Join(s.bin, "leasewatch"), append(args, "--storage.path="+filepath.Join(s.dir, "data"))...).Output()
	if err != nil {
		s.t.Fatalf("leasewatch %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// ask sends one request with a token, or with none, and follows no redirect.
func (s *site) ask(method, path, token string, cookie bool) (int, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.serverAddress+path, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	switch {
	case token != "" && cookie:
		req.AddCookie(&http.Cookie{Name: api.SessionCookie, Value: token})
	case token != "":
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := http.Client{Timeout: 30 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		s.t.Fatalf("%s %s: %v\n%s", method, path, err, s.explain())
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func TestATenantSeesItsOwnLeasesAndNothingElse(t *testing.T) {
	acme := &tenant{name: "acme", lease: "acme-train", cards: []int{0, 1, 2}}
	globex := &tenant{name: "globex", lease: "globex-infer", cards: []int{4, 5}}
	s := newSite(t, fakenvml.H100x8())
	s.configure("access: {required: true}\n")
	s.offline("lease", "apply", "-f", s.write("world.yaml", rentTo([]*tenant{acme, globex})))
	admin := s.offline("token", "create", "--name=root", "--role=admin")
	for _, o := range []*tenant{acme, globex} {
		o.token = s.offline("token", "create", "--name="+o.name+"-grafana", "--role=tenant", "--tenant="+o.name)
	}
	s.startExporter()
	s.startServer()
	s.ready()
	s.client = s.client.As(api.NewSecret(admin))
	s.driver.Update(t, func(m *fakenvml.Scenario) { m.GPU(2).Lost(); m.GPU(5).Lost() })
	eventually(t, "one incident holds cards of both tenants", s.explain, func() bool {
		all := s.incidents()
		return len(all) == 1 && len(all[0].Alerts) == 2
	})
	incident := s.incidents()[0].ID
	for _, o := range []*tenant{acme, globex} {
		eventually(t, "the downtime of tenant "+o.name+" is a fact", s.explain, func() bool { return s.first("/downtimes", o.token) != "" })
	}

	s.apiShows(acme, globex, incident)
	s.apiShows(globex, acme, incident)
	s.portalShows(acme, globex, incident)
	s.portalShows(globex, acme, incident)
	s.commandsShow(acme, globex)
	s.strangersAreRefused(acme)
	s.nothingHolds(admin, []string{"xoxb-fake", "xapp-fake", admin, acme.token, globex.token})
}

// hides checks that a text shows nothing of another tenant.
func (s *site) hides(where, text string, other *tenant) {
	s.t.Helper()
	for _, word := range other.foreign() {
		if strings.Contains(text, word) {
			s.t.Errorf("%s shows %q of tenant %s:\n%s", where, word, other.name, text)
			return
		}
	}
}

// reads are the GET operations of the server's own OpenAPI document: path -> names of parameters.
func (s *site) reads() map[string][]string {
	t := s.t
	t.Helper()
	_, body := s.ask(http.MethodGet, "/api/v1/openapi.json", "", false)
	var document struct {
		Paths map[string]struct {
			Get *struct {
				Parameters []struct{ Name string } `json:"parameters"`
			} `json:"get"`
		} `json:"paths"`
	}
	if err := json.Unmarshal([]byte(body), &document); err != nil {
		t.Fatalf("the OpenAPI document: %v", err)
	}
	reads := map[string][]string{}
	for path, item := range document.Paths {
		if item.Get == nil {
			continue
		}
		var names []string
		for _, p := range item.Get.Parameters {
			names = append(names, p.Name)
		}
		reads["/"+strings.TrimPrefix(strings.TrimPrefix(path, api.Root), "/")] = names
	}
	if len(reads) < 20 {
		t.Fatalf("the OpenAPI document has %d GET operations, expected all of the table of access", len(reads))
	}
	return reads
}

// first returns the id of the first entry of a list that the token's holder sees; "" where there is none.
func (s *site) first(list, token string) string {
	s.t.Helper()
	_, body := s.ask(http.MethodGet, api.Root+list, token, false)
	var entries struct {
		Items []struct {
			ID string `json:"id"`
		} `json:"items"`
	}
	if err := json.Unmarshal([]byte(body), &entries); err != nil {
		s.t.Fatalf("GET %s: %v: %s", list, err, body)
	}
	if len(entries.Items) == 0 {
		return ""
	}
	return entries.Items[0].ID
}

// tellsNothingOf checks that what is another's is answered word for word as what does not exist.
func (s *site) tellsNothingOf(path, query string, own *tenant, theirs string) {
	s.t.Helper()
	if theirs == "" {
		return
	}
	status, answer := s.ask(http.MethodGet, api.Root+strings.ReplaceAll(path, "{id}", theirs)+query, own.token, false)
	_, none := s.ask(http.MethodGet, api.Root+strings.ReplaceAll(path, "{id}", "nowhere")+query, own.token, false)
	if status != http.StatusNotFound || strings.ReplaceAll(answer, theirs, "nowhere") != none {
		s.t.Errorf("GET %s tells another's from none: %d\n%s\n%s", path, status, answer, none)
	}
}

// apiShows walks every GET operation of the API with a tenant's token.
func (s *site) apiShows(own, other *tenant, incident string) {
	t := s.t
	t.Helper()
	for path, parameters := range s.reads() {
		path, query := path, ""
		if slices.Contains(parameters, "from") && !slices.Contains(parameters, "month") {
			query = "?" + url.Values{"from": {time.Now().UTC().Add(-time.Hour).Format(time.RFC3339)}}.Encode()
		}
		row := slices.IndexFunc(httpapi.AccessTable(), func(a httpapi.Access) bool { return a.Method == http.MethodGet && a.Path == path })
		if row < 0 {
			t.Errorf("GET %s is not in the table of access", path)
			continue
		}
		want := http.StatusForbidden
		if slices.Contains(httpapi.AccessTable()[row].Roles, rental.RoleTenant) {
			want = http.StatusOK
		}
		path = strings.ReplaceAll(path, "{name}", "northgpu") // of whom both lease
		id := own.lease
		switch {
		case strings.HasPrefix(path, "/incidents/"):
			id = incident
		case !strings.HasPrefix(path, "/leases/") && strings.Contains(path, "{id}") && want == http.StatusOK:
			list, _, _ := strings.Cut(path, "/{id}")
			if id = s.first(list, own.token); id == "" {
				id, want = "nowhere", http.StatusNotFound // whose an invoice is, internal/httpapi tests
			}
			s.tellsNothingOf(path, query, own, s.first(list, other.token))
		}
		status, body := s.ask(http.MethodGet, api.Root+strings.ReplaceAll(path, "{id}", id)+query, own.token, false)
		if status != want {
			t.Errorf("GET %s by tenant %s: status %d, expected %d: %s", path, own.name, status, want, body)
		}
		s.hides("GET "+path+" of tenant "+own.name, body, other)
		if status, _ := s.ask(http.MethodGet, api.Root+strings.ReplaceAll(path, "{id}", id)+query, "", false); status != http.StatusUnauthorized {
			t.Errorf("GET %s without a token: status %d, expected 401", path, status)
		}
		if !strings.HasPrefix(path, "/leases/") {
			continue
		}
		// Another's lease is answered word for word as one that does not exist.
		_, theirs := s.ask(http.MethodGet, api.Root+strings.ReplaceAll(path, "{id}", other.lease)+query, own.token, false)
		status, none := s.ask(http.MethodGet, api.Root+strings.ReplaceAll(path, "{id}", "nowhere")+query, own.token, false)
		missing := http.StatusNotFound
		if want == http.StatusForbidden {
			missing = want // the whole operation is not for tenants
		}
		if status != missing || strings.ReplaceAll(theirs, other.lease, "nowhere") != none {
			t.Errorf("GET %s tells another's lease from none:\n%s\n%s", path, theirs, none)
		}
	}
	if _, body := s.ask(http.MethodGet, api.Root+"/fleet", own.token, false); !strings.Contains(body, cardUUID(own.cards[0])) {
		t.Errorf("GET /fleet does not show tenant %s its own card: %s", own.name, body)
	}
	list, err := s.client.As(api.NewSecret(own.token)).Leases(t.Context(), api.LeaseQuery{})
	if err != nil || len(list) != 1 || list[0].ID != own.lease {
		t.Errorf("the leases of tenant %s are %+v, %v: expected %s alone", own.name, list, err, own.lease)
	}
	// A filter that names another widens nothing.
	if _, body := s.ask(http.MethodGet, api.Root+"/leases?tenant="+other.name, own.token, false); strings.Contains(body, other.lease) {
		t.Errorf("GET /leases?tenant=%s by tenant %s shows its lease: %s", other.name, own.name, body)
	}
}

// portalShows reads the portal's pages as a signed-in tenant.
func (s *site) portalShows(own, other *tenant, incident string) {
	t := s.t
	t.Helper()
	for _, page := range []string{"/fleet", "/leases", "/leases/" + own.lease, "/incidents", "/incidents/" + incident} {
		status, body := s.ask(http.MethodGet, page, own.token, true)
		if status != http.StatusOK {
			t.Errorf("page %s of tenant %s: status %d, expected 200", page, own.name, status)
		}
		s.hides("page "+page+" of tenant "+own.name, body, other)
		if status, _ := s.ask(http.MethodGet, page, "", false); status != http.StatusSeeOther {
			t.Errorf("page %s without a token: status %d, expected the way to /login", page, status)
		}
	}
	if _, body := s.ask(http.MethodGet, "/leases", own.token, true); !strings.Contains(body, own.lease) {
		t.Errorf("the portal does not show tenant %s its lease:\n%s", own.name, body)
	}
	if status, _ := s.ask(http.MethodGet, "/leases/"+other.lease, own.token, true); status != http.StatusNotFound {
		t.Errorf("page of another's lease: status %d, expected 404", status)
	}
}

// commandsShow uses the command line with a tenant's token.
func (s *site) commandsShow(own, other *tenant) {
	t := s.t
	t.Helper()
	file := s.write("tenant-token", own.token+"\n")
	command := func(args ...string) (string, int) {
		cmd := exec.Command(filepath.Join(s.bin, "leasewatch"), append(args, "--server.url=http://"+s.serverAddress, "--server.token-file="+file)...)
		out, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	month := time.Now().UTC().Format("2006-01")
	for want, commands := range map[int][][]string{
		0: {{"lease", "list"}, {"lease", "show", own.lease}, {"bill", "--lease=" + own.lease, "--month=" + month}, {"sla", "--lease=" + own.lease}, {"incident", "list"}},
		4: {{"token", "list"}, {"inventory", "adopt"}, {"lease", "end", own.lease}, {"token", "create", "--name=mine", "--role=admin"}},
		5: {{"lease", "show", "nowhere"}},
	} {
		for _, args := range commands {
			out, code := command(args...)
			if code != want {
				t.Errorf("leasewatch %s by a tenant: exit code %d, expected %d: %s", strings.Join(args, " "), code, want, out)
			}
			s.hides("leasewatch "+strings.Join(args, " "), out, other)
		}
	}
	if out, code := command("bill", "--lease="+other.lease, "--month="+month); code != 5 {
		t.Errorf("the bill of another's lease: exit code %d, expected 5: %s", code, out)
	}
}

// strangersAreRefused tries what no tenant and nobody without a token may use.
func (s *site) strangersAreRefused(own *tenant) {
	t := s.t
	t.Helper()
	for _, one := range []struct{ method, path string }{
		{http.MethodGet, "/prometheus/api/v1/query?query=up"},
		{http.MethodGet, "/prometheus/api/v1/targets"},
		{http.MethodPost, "/prometheus/api/v1/write"},
		{http.MethodGet, "/alertmanager/api/v2/alerts"},
		{http.MethodPost, "/alertmanager/api/v2/silences"},
		{http.MethodPost, "/api/v1/webhook/alertmanager"},
		{http.MethodGet, "/metrics"},
		{http.MethodPost, "/-/reload"},
		{http.MethodPost, "/api/v1/leases/" + own.lease + "/end"},
		{http.MethodPost, "/api/v1/apply"},
		{http.MethodPost, "/api/v1/tokens"},
	} {
		if status, body := s.ask(one.method, one.path, own.token, false); status != http.StatusForbidden {
			t.Errorf("%s %s by a tenant: status %d, expected 403: %s", one.method, one.path, status, body)
		}
		if status, body := s.ask(one.method, one.path, "", false); status != http.StatusUnauthorized {
			t.Errorf("%s %s without a token: status %d, expected 401: %s", one.method, one.path, status, body)
		}
		if status, _ := s.ask(one.method, one.path, "lwt_wrong", false); status != http.StatusUnauthorized {
			t.Errorf("%s %s with a wrong token: status %d, expected 401", one.method, one.path, status)
		}
	}
}

// nothingHolds looks for secrets in everything that the server says, also to an admin and
// after Slack has refused the token.
func (s *site) nothingHolds(admin string, secrets []string) {
	t := s.t
	t.Helper()
	said := map[string]string{}
	for _, path := range []string{
		"/metrics", "/api/v1/status", "/api/v1/tokens", "/api/v1/incidents", "/fleet", "/incidents", "/api/v1/nowhere",
		"/prometheus/api/v1/targets", "/prometheus/api/v1/status/config", "/prometheus/api/v1/status/flags", "/alertmanager/api/v2/status",
	} {
		_, said[path] = s.ask(http.MethodGet, path, admin, false)
	}
	if !strings.Contains(said["/metrics"], "leasewatch_") || !strings.Contains(said["/api/v1/tokens"], "acme-grafana") {
		t.Error("an admin sees neither the metrics nor the tokens: nothing was looked through")
	}
	for _, m := range s.slack.Messages() {
		said["Slack"] += m.Rendered()
	}
	said["the server's log"] = s.server.out.String()
	s.write("slack-bot", "xoxb-fake-revoked") // a second life, whose token Slack refuses
	s.server.stop()
	s.startServer()
	eventually(t, "Slack refuses the token", s.explain, func() bool { return strings.Contains(s.server.out.String(), "invalid_auth") })
	said["the log of a server with a refused token"] = s.server.out.String()
	for where, text := range said {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds the secret %s...", where, secret[:5])
			}
		}
	}
}
