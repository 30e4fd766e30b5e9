package monitor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/prometheus/client_golang/api"
	promapi "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

// Remote reads samples from a Prometheus-compatible store (Prometheus, VictoriaMetrics, Mimir, Thanos)
// through its HTTP API, with the same three methods as Monitor.
type Remote struct{ api promapi.API }

// NewRemote returns a reader of the store at the URL, without the /api/v1 of its paths. The client
// carries credentials, limits and TLS; nil takes http.DefaultClient.
func NewRemote(address string, client *http.Client) (*Remote, error) {
	if client == nil {
		client = http.DefaultClient
	}
	c, err := api.NewClient(api.Config{Address: address, Client: client})
	if err != nil {
		return nil, fmt.Errorf("store %q: %w", address, err)
	}
	return &Remote{promapi.NewAPI(c)}, nil
}

// Select returns raw samples as Monitor.Select does.
func (r *Remote) Select(ctx context.Context, metric string, matchers map[string]string, span rental.Span) ([]rental.Series, error) {
	if metric == "" {
		return nil, errors.New("select: no metric named")
	}
	if span.Empty() {
		return nil, nil
	}
	// A range selector leaves its start out and takes its end in: one millisecond earlier, both are as in the span.
	expr := fmt.Sprintf("%s[%dms]", selector(metric, matchers), span.Duration())
	return r.Query(ctx, expr, (span.End - 1).Time())
}

// selector writes a vector selector; names and values are quoted, whatever they hold.
func selector(metric string, matchers map[string]string) string {
	all := equalMatchers(metric, matchers)
	words := make([]string, 0, len(all))
	for _, m := range all {
		words = append(words, m.String())
	}
	return "{" + strings.Join(words, ",") + "}"
}

// Query evaluates an expression as Monitor.Query does.
func (r *Remote) Query(ctx context.Context, expr string, at time.Time) ([]rental.Series, error) {
	got, _, _, err := r.api.Query(ctx, expr, at)
	return fromModel(expr, got, err)
}

// QueryRange evaluates an expression as Monitor.QueryRange does.
func (r *Remote) QueryRange(ctx context.Context, expr string, span rental.Span, step time.Duration) ([]rental.Series, error) {
	if step < time.Millisecond {
		return nil, fmt.Errorf("query %q: step is %s: expected at least 1ms", expr, step)
	}
	if span.Empty() {
		return nil, nil
	}
	window := promapi.Range{Start: span.Start.Time(), End: (span.End - 1).Time(), Step: step}
	got, _, _, err := r.api.QueryRange(ctx, expr, window)
	return fromModel(expr, got, err)
}

func fromModel(expr string, got model.Value, err error) ([]rental.Series, error) {
	if err != nil {
		return nil, fmt.Errorf("query %q: %w", expr, err)
	}
	var all []rental.Series
	switch value := got.(type) {
	case *model.Scalar:
		all = append(all, rental.Series{Labels: map[string]string{}, Samples: []rental.Sample{{At: rental.Millis(value.Timestamp), Value: float64(value.Value)}}})
	case model.Vector:
		for _, s := range value {
			if s.Histogram == nil {
				all = append(all, rental.Series{Labels: metricLabels(s.Metric), Samples: []rental.Sample{{At: rental.Millis(s.Timestamp), Value: float64(s.Value)}}})
			}
		}
	case model.Matrix:
		for _, s := range value {
			one := rental.Series{Labels: metricLabels(s.Metric)}
			for _, p := range s.Values {
				one.Samples = append(one.Samples, rental.Sample{At: rental.Millis(p.Timestamp), Value: float64(p.Value)})
			}
			if len(one.Samples) > 0 {
				all = append(all, one)
			}
		}
	default:
		return nil, fmt.Errorf("query %q gives a %s: expected numbers", expr, got.Type())
	}
	sortSeries(all)
	return all, nil
}

func metricLabels(metric model.Metric) map[string]string {
	m := make(map[string]string, len(metric))
	for name, value := range metric {
		if name != labels.MetricName {
			m[string(name)] = string(value)
		}
	}
	return m
}
