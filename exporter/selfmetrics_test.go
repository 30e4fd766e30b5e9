package exporter

import (
	"bytes"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/metrics"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/proto"
)

func TestInstrumentsStandOnThePageWithTypeHelpAndLabels(t *testing.T) {
	set := metrics.NewSet()
	set.NewCounter("leasewatch_exporter_scrapes_total").Set(3)
	set.NewGauge(`odd_value{path="a\"b},c=d\\",z="x y"}`, func() float64 { return 1.5 })
	for _, call := range []string{"nvmlB", "nvmlA"} {
		h := set.NewPrometheusHistogramExt(`leasewatch_exporter_driver_call_duration_seconds{call="`+call+`"}`, []float64{0.001, 1})
		h.Update(0.0005)
		h.Update(0.5)
		h.Update(7)
	}
	families, err := newBridge(set, []*dto.LabelPair{{Name: proto.String("host"), Value: proto.String("a")}}).Gather()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(&text, family); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		"# TYPE leasewatch_exporter_driver_call_duration_seconds histogram",
		`leasewatch_exporter_driver_call_duration_seconds_bucket{call="nvmlA",host="a",le="0.001"} 1`,
		`leasewatch_exporter_driver_call_duration_seconds_bucket{call="nvmlB",host="a",le="1"} 2`,
		`leasewatch_exporter_driver_call_duration_seconds_bucket{call="nvmlB",host="a",le="+Inf"} 3`,
		`leasewatch_exporter_driver_call_duration_seconds_sum{call="nvmlA",host="a"} 7.5005`,
		`leasewatch_exporter_driver_call_duration_seconds_count{call="nvmlA",host="a"} 3`,
		"# HELP leasewatch_exporter_scrapes_total Requests for the page.",
		"# TYPE leasewatch_exporter_scrapes_total counter",
		`leasewatch_exporter_scrapes_total{host="a"} 3`,
		`odd_value{host="a",path="a\"b},c=d\\",z="x y"} 1.5`,
	} {
		if !strings.Contains(text.String(), want+"\n") {
			t.Errorf("the page lacks %s:\n%s", want, text.String())
		}
	}
}

func FuzzPairs(f *testing.F) {
	f.Add(`a="b",c="d\"e"`)
	f.Add(`call="nvmlX(1,\n2)"`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := pairs(text)
		if err == nil && text != "" && len(got) == 0 {
			t.Fatalf("%q gives no label and no error", text)
		}
	})
}
