package monitor

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/snappy"
	"github.com/prometheus/prometheus/prompb"
	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"
)

func TestALimitedSenderWritesWhatItMayAndAForeignMessageIsRefusedWhole(t *testing.T) {
	m := open(t, Options{})
	now := time.Now().UnixMilli()
	limit := func(r *http.Request) Limit {
		if r.Header.Get("X-Any") != "" {
			return nil
		}
		return func(label func(string) string, _ int64) (bool, error) {
			if label("host") == "other" {
				return false, errors.New("host other is not yours")
			}
			return label("card") != "foreign", nil
		}
	}
	v1 := func(name string, labels ...string) []byte {
		var message prompb.WriteRequest
		for _, metric := range []string{name, name + "_own"} {
			series := prompb.TimeSeries{Labels: []prompb.Label{{Name: "__name__", Value: metric}}, Samples: []prompb.Sample{{Timestamp: now, Value: 1}}}
			for i := 0; i < len(labels) && metric == name; i += 2 {
				series.Labels = append(series.Labels, prompb.Label{Name: labels[i], Value: labels[i+1]})
			}
			message.Timeseries = append([]prompb.TimeSeries{series}, message.Timeseries...) // the own one goes first
		}
		body, err := message.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	v2 := func(name string, labels ...string) []byte {
		symbols := append([]string{"", "__name__", name, name + "_own"}, labels...)
		refs := []uint32{1, 2}
		for i := range labels {
			refs = append(refs, uint32(4+i))
		}
		sample := []writev2.Sample{{Timestamp: now, Value: 1}}
		body, err := (&writev2.Request{Symbols: symbols, Timeseries: []writev2.TimeSeries{
			{LabelsRefs: []uint32{1, 3}, Samples: sample}, {LabelsRefs: refs, Samples: sample},
		}}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	for version, message := range map[string]struct {
		media string
		of    func(string, ...string) []byte
	}{"v1": {typeV1, v1}, "v2": {typeV2, v2}} {
		for name, c := range map[string]struct {
			metric      string
			labels      []string
			any         bool
			status      int
			stored, own bool
		}{
			"its own":                         {"fine", []string{"host", "mine"}, false, http.StatusNoContent, true, true},
			"a card of another":               {"card", []string{"card", "foreign"}, false, http.StatusNoContent, false, true},
			"another host":                    {"host", []string{"host", "other"}, false, http.StatusForbidden, false, false},
			"another host, by one without it": {"free", []string{"host", "other"}, true, http.StatusNoContent, true, true},
		} {
			t.Run(version+" "+name, func(t *testing.T) {
				metric := version + c.metric
				r := httptest.NewRequest(http.MethodPost, "/api/v1/write", bytes.NewReader(snappy.Encode(nil, message.of(metric, c.labels...))))
				r.Header.Set("Content-Encoding", "snappy")
				r.Header.Set("Content-Type", message.media)
				if c.any {
					r.Header.Set("X-Any", "yes")
				}
				w := httptest.NewRecorder()
				m.LimitedWriteHandler(limit).ServeHTTP(w, r)
				if w.Code != c.status || (c.status == http.StatusForbidden && !strings.Contains(w.Body.String(), "host other is not yours")) {
					t.Errorf("status %d %q, expected %d", w.Code, w.Body, c.status)
				}
				if _, stored := value1(t, m, metric); stored != c.stored {
					t.Errorf("stored: %v, expected %v", stored, c.stored)
				}
				if _, stored := value1(t, m, metric+"_own"); stored != c.own {
					t.Errorf("the series beside it is stored: %v, expected %v", stored, c.own)
				}
			})
		}
	}
}
