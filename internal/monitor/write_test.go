package monitor

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/klauspost/compress/snappy"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/prometheus/client_golang/api"
	promapi "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/prompb"
	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"
)

// push sends a body to the receiver and returns the status.
func push(t *testing.T, m *Monitor, contentType string, body []byte) int {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/api/v1/write", bytes.NewReader(snappy.Encode(nil, body)))
	r.Header.Set("Content-Encoding", "snappy")
	r.Header.Set("Content-Type", contentType)
	w := httptest.NewRecorder()
	m.WriteHandler().ServeHTTP(w, r)
	return w.Code
}

func messageV1(t *testing.T, name string, samples ...prompb.Sample) []byte {
	t.Helper()
	body, err := (&prompb.WriteRequest{Timeseries: []prompb.TimeSeries{{Labels: []prompb.Label{{Name: "__name__", Value: name}}, Samples: samples}}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func messageV2(t *testing.T, name string, at int64, v float64) []byte {
	t.Helper()
	body, err := (&writev2.Request{
		Symbols:    []string{"", "__name__", name},
		Timeseries: []writev2.TimeSeries{{LabelsRefs: []uint32{1, 2}, Samples: []writev2.Sample{{Timestamp: at, Value: v}}}},
	}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return body
}

const (
	typeV1 = "application/x-protobuf"
	typeV2 = "application/x-protobuf;proto=io.prometheus.write.v2.Request"
)

func TestRemoteWriteTakesLateAndRepeatedSamples(t *testing.T) {
	m := open(t, Options{})
	now := time.Now().UnixMilli()
	hour := time.Hour.Milliseconds()
	late := messageV1(t, "late", prompb.Sample{Timestamp: now - 25*hour, Value: 1})
	for _, c := range []struct {
		what, contentType string
		body              []byte
		status            int
	}{
		{"a first sample", typeV1, messageV1(t, "late", prompb.Sample{Timestamp: now, Value: 9}), http.StatusNoContent},
		{"the same once more", typeV1, messageV1(t, "late", prompb.Sample{Timestamp: now, Value: 9}), http.StatusNoContent},
		{"another value for the same moment", typeV1, messageV1(t, "late", prompb.Sample{Timestamp: now, Value: 8}), http.StatusNoContent},
		{"a sample 25 hours late", typeV1, late, http.StatusNoContent},
		{"the late sample once more", typeV1, late, http.StatusNoContent},
		{"a sample 27 hours late", typeV1, messageV1(t, "late", prompb.Sample{Timestamp: now - 27*hour, Value: 1}), http.StatusBadRequest},
		{"version 2", typeV2, messageV2(t, "two", now, 5), http.StatusNoContent},
		{"version 2 late", typeV2, messageV2(t, "two", now-2*hour, 4), http.StatusNoContent},
		{"version 2 once more", typeV2, messageV2(t, "two", now-2*hour, 4), http.StatusNoContent},
		{"rubbish", typeV1, []byte("not protobuf"), http.StatusBadRequest},
		{"an unknown version", "application/x-protobuf;proto=io.prometheus.write.v9.Request", late, http.StatusUnsupportedMediaType},
	} {
		if got := push(t, m, c.contentType, c.body); got != c.status {
			t.Errorf("%s: %d, expected %d", c.what, got, c.status)
		}
	}
	for name, expected := range map[string][]float64{"late": {1, 9}, "two": {4, 5}} {
		got, err := m.Select(t.Context(), name, nil, rental.Span{Start: rental.Millis(now - 30*hour), End: rental.Millis(now + 1)})
		if err != nil || len(got) != 1 || len(got[0].Samples) != len(expected) {
			t.Fatalf("%s: %v %v, expected %v", name, got, err, expected)
		}
		for i, v := range expected {
			if got[0].Samples[i].Value != v {
				t.Errorf("%s: sample %d is %v, expected %v", name, i, got[0].Samples[i].Value, v)
			}
		}
	}
}

func TestThePrometheusAPIAnswersPrometheussOwnClient(t *testing.T) {
	_, address := target(t, `gpu_state{uuid="GPU-1",host="a",state="lost"} 1`+"\n")
	m := start(t, Options{Config: Config{ScrapeConfigs: []byte(job("gpus", address)), RuleFiles: map[string][]byte{"lost.yaml": []byte(lostRule)}}})
	server := httptest.NewServer(http.StripPrefix("/prometheus", m.Handler()))
	t.Cleanup(server.Close)
	client, err := api.NewClient(api.Config{Address: server.URL + "/prometheus"})
	if err != nil {
		t.Fatal(err)
	}
	prom, ctx, now := promapi.NewAPI(client), t.Context(), time.Now()

	got, _, _, err := prom.Query(ctx, "sum(gpu_state)", now)
	if vector, ok := got.(model.Vector); err != nil || !ok || len(vector) != 1 || vector[0].Value != 1 {
		t.Errorf("query: %v %v", got, err)
	}
	ranged, _, _, err := prom.QueryRange(ctx, "gpu_state", promapi.Range{Start: now.Add(-time.Minute), End: now, Step: time.Second})
	if matrix, ok := ranged.(model.Matrix); err != nil || !ok || len(matrix) != 1 {
		t.Errorf("query_range: %v %v", ranged, err)
	}
	if names, _, _, err := prom.LabelNames(ctx, nil, now.Add(-time.Minute), now); err != nil || len(names) < 5 {
		t.Errorf("labels: %v %v", names, err)
	}
	if values, _, _, err := prom.LabelValues(ctx, "uuid", nil, now.Add(-time.Minute), now); err != nil || len(values) != 1 || values[0] != "GPU-1" {
		t.Errorf("label values: %v %v", values, err)
	}
	if series, _, _, err := prom.Series(ctx, []string{"gpu_state"}, now.Add(-time.Minute), now); err != nil || len(series) != 1 {
		t.Errorf("series: %v %v", series, err)
	}
	if groups, err := prom.Rules(ctx, nil); err != nil || len(groups.Groups) != 2 {
		t.Errorf("rules: %v %v", groups, err)
	}
	if alerts, err := prom.Alerts(ctx); err != nil || len(alerts.Alerts) != 1 || alerts.Alerts[0].State != promapi.AlertStateFiring {
		t.Errorf("alerts: %v %v", alerts, err)
	}
	if targets, err := prom.Targets(ctx); err != nil || len(targets.Active) != 1 || targets.Active[0].Health != promapi.HealthGood {
		t.Errorf("targets: %v %v", targets, err)
	}
	if info, err := prom.Buildinfo(ctx); err != nil || info.Version != apiVersion {
		t.Errorf("buildinfo: %v %v", info, err)
	}
	if _, err := prom.Runtimeinfo(ctx); err != nil {
		t.Errorf("runtimeinfo: %v", err)
	}
	if _, err := prom.Config(ctx); err != nil {
		t.Errorf("config: %v", err)
	}
	if _, err := prom.TSDB(ctx); err != nil {
		t.Errorf("tsdb status: %v", err)
	}
	if _, err := prom.Metadata(ctx, "", ""); err != nil {
		t.Errorf("metadata: %v", err)
	}
	if err := prom.DeleteSeries(ctx, []string{"gpu_state"}, now.Add(-time.Hour), now); err == nil {
		t.Error("delete series: expected a refusal")
	}
	if _, _, _, err := prom.Query(ctx, "sum(", now); err == nil {
		t.Error("a broken expression: expected an error")
	}
}
