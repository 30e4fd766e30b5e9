package harness_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/genproto/pluginv2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/leasewatch/leasewatch/internal/testenv"
)

// process is the plugin's real executable, started as Grafana starts it.
type process struct {
	data        pluginv2.DataClient
	diagnostics pluginv2.DiagnosticsClient
	resources   pluginv2.ResourceClient
	context     backend.PluginContext
}

// log collects what the executable writes, so that a failing test can show it.
type log struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.String()
}

// startPlugin runs dist/datasource/gpx_leasewatch_* by the go-plugin handshake. The SDK's
// -standalone mode is not used: it kills every process whose command line holds its path.
func startPlugin(t *testing.T, pctx backend.PluginContext) *process {
	t.Helper()
	path := filepath.Join(testenv.Root(t), "plugin", "dist", "datasource", "gpx_leasewatch_linux_"+runtime.GOARCH)
	if _, err := os.Stat(path); err != nil {
		testenv.Skip(t, "the plugin is not built (tools/plugin.sh builds it): "+err.Error())
	}
	cmd := exec.Command(path)
	cmd.Env = []string{"grafana_plugin_type=datasource", "PLUGIN_PROTOCOL_VERSIONS=2", "TMPDIR=" + t.TempDir()}
	said := &log{}
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the executable wrote:\n%.4000s", said)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("no handshake: %v\n%s", err, said)
	}
	// core version | protocol version | network | address | protocol | certificate
	parts := strings.Split(strings.TrimSpace(line), "|")
	if len(parts) < 5 || parts[1] != "2" || parts[2] != "unix" || parts[4] != "grpc" {
		t.Fatalf("handshake %q: expected protocol 2 on a unix socket by grpc", line)
	}
	conn, err := grpc.NewClient("unix:"+parts[3], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &process{
		data: pluginv2.NewDataClient(conn), diagnostics: pluginv2.NewDiagnosticsClient(conn),
		resources: pluginv2.NewResourceClient(conn), context: pctx,
	}
}

// routes are the addresses of Grafana's API that lead to the plugin.
func (p *process) routes(mux *http.ServeMux) {
	mux.HandleFunc("POST /api/ds/query", func(w http.ResponseWriter, r *http.Request) {
		raw, err := p.query(r)
		respond(w, raw, err)
	})
	mux.HandleFunc("GET /api/datasources/uid/{uid}/health", func(w http.ResponseWriter, r *http.Request) {
		res, err := p.diagnostics.CheckHealth(r.Context(), &pluginv2.CheckHealthRequest{PluginContext: backend.ToProto().PluginContext(p.context)})
		var raw []byte
		if err == nil {
			raw, err = json.Marshal(map[string]string{"status": res.GetStatus().String(), "message": res.GetMessage()})
		}
		respond(w, raw, err)
	})
	mux.HandleFunc("GET /api/datasources/uid/{uid}/resources/{path...}", func(w http.ResponseWriter, r *http.Request) {
		stream, err := p.resources.CallResource(r.Context(), &pluginv2.CallResourceRequest{
			PluginContext: backend.ToProto().PluginContext(p.context), Path: r.PathValue("path"), Url: r.PathValue("path"), Method: http.MethodGet,
		})
		if err != nil {
			respond(w, nil, err)
			return
		}
		res, err := stream.Recv()
		if err == nil && res.GetCode() != http.StatusOK {
			w.WriteHeader(int(res.GetCode()))
		}
		respond(w, res.GetBody(), err)
	})
}

// query turns the body of /api/ds/query into QueryData, as Grafana does.
func (p *process) query(r *http.Request) ([]byte, error) {
	var body struct {
		From    string            `json:"from"`
		To      string            `json:"to"`
		Queries []json.RawMessage `json:"queries"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, fmt.Errorf("body: %w", err)
	}
	from, err := strconv.ParseInt(body.From, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("from: %w", err)
	}
	to, err := strconv.ParseInt(body.To, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("to: %w", err)
	}
	req := &backend.QueryDataRequest{PluginContext: p.context}
	for _, raw := range body.Queries {
		var q struct {
			RefID string `json:"refId"`
		}
		if err := json.Unmarshal(raw, &q); err != nil {
			return nil, fmt.Errorf("query: %w", err)
		}
		req.Queries = append(req.Queries, backend.DataQuery{
			RefID: q.RefID, JSON: raw, MaxDataPoints: 500, TimeRange: backend.TimeRange{From: time.UnixMilli(from), To: time.UnixMilli(to)},
		})
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	res, err := p.data.QueryData(ctx, backend.ToProto().QueryDataRequest(req))
	if err != nil {
		return nil, fmt.Errorf("QueryData: %w", err)
	}
	answer, err := backend.FromProto().QueryDataResponse(res)
	if err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	return json.Marshal(answer)
}

func respond(w http.ResponseWriter, raw []byte, err error) {
	if err != nil {
		http.Error(w, fmt.Sprintf(`{"message":%q}`, err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw)
}
