package monitor

import (
	"context"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// reader is what other rooms ask of samples; both stores answer alike.
type reader interface {
	Select(ctx context.Context, metric string, matchers map[string]string, span rental.Span) ([]rental.Series, error)
	Query(ctx context.Context, expr string, at time.Time) ([]rental.Series, error)
	QueryRange(ctx context.Context, expr string, span rental.Span, step time.Duration) ([]rental.Series, error)
}

var (
	_ reader = (*Monitor)(nil)
	_ reader = (*Remote)(nil)
)

func TestTheEmbeddedAndTheRemoteStoreAnswerAlike(t *testing.T) {
	m := open(t, Options{})
	now := time.Now().Truncate(time.Second)
	begin := now.Add(-10 * time.Minute).UnixMilli()
	odd := `a"b\c{},` + "\n"
	for _, uuid := range []string{"GPU-2", "GPU-1", odd} {
		put(t, m, map[string]string{"__name__": "gpu_power_watts", "uuid": uuid}, begin, 15_000, 1, 2, 3, 4, 5, 6, 7, 8)
	}
	server := httptest.NewServer(m.Handler())
	t.Cleanup(server.Close)
	r, err := NewRemote(server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	span := rental.Span{Start: rental.Millis(begin), End: rental.Millis(begin + 60_000)}
	at := time.UnixMilli(begin + 60_000)
	for name, ask := range map[string]func(reader) ([]rental.Series, error){
		"raw samples": func(s reader) ([]rental.Series, error) { return s.Select(t.Context(), "gpu_power_watts", nil, span) },
		"raw samples of one": func(s reader) ([]rental.Series, error) {
			return s.Select(t.Context(), "gpu_power_watts", map[string]string{"uuid": odd}, span)
		},
		"a vector": func(s reader) ([]rental.Series, error) { return s.Query(t.Context(), "gpu_power_watts * 2", at) },
		"a scalar": func(s reader) ([]rental.Series, error) { return s.Query(t.Context(), "42", at) },
		"a range": func(s reader) ([]rental.Series, error) {
			return s.QueryRange(t.Context(), "sum(gpu_power_watts)", span, 15*time.Second)
		},
		"a name nobody has used": func(s reader) ([]rental.Series, error) { return s.Select(t.Context(), "nothing", nil, span) },
		"an empty span": func(s reader) ([]rental.Series, error) {
			return s.Select(t.Context(), "gpu_power_watts", nil, rental.Span{})
		},
	} {
		here, err := ask(m)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		there, err := ask(r)
		if err != nil {
			t.Fatalf("%s, remote: %v", name, err)
		}
		if !reflect.DeepEqual(here, there) {
			t.Errorf("%s: %v here, %v there", name, here, there)
		}
	}
	one, err := m.Select(t.Context(), "gpu_power_watts", map[string]string{"uuid": odd}, span)
	if err != nil || len(one) != 1 || len(one[0].Samples) != 4 {
		t.Errorf("%v %v, expected the 4 samples of the half-open minute", one, err)
	}
	steps, err := m.QueryRange(t.Context(), "sum(gpu_power_watts)", span, 15*time.Second)
	if err != nil || len(steps) != 1 || len(steps[0].Samples) != 4 || steps[0].Samples[3].Value != 12 {
		t.Errorf("%v %v, expected 4 steps up to 12", steps, err)
	}
}

func TestBadQueriesAreErrorsThatNameTheExpression(t *testing.T) {
	m := open(t, Options{})
	server := httptest.NewServer(m.Handler())
	t.Cleanup(server.Close)
	r, err := NewRemote(server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	span := rental.Span{Start: 1, End: 2}
	for _, s := range []reader{m, r} {
		if _, err := s.Query(t.Context(), "sum(", time.UnixMilli(1)); err == nil || !strings.Contains(err.Error(), `"sum("`) {
			t.Errorf("%T: %v", s, err)
		}
		if _, err := s.QueryRange(t.Context(), "up[5m]", span, time.Second); err == nil {
			t.Errorf("%T: a range vector: expected an error", s)
		}
		if _, err := s.QueryRange(t.Context(), "up", span, 0); err == nil || !strings.Contains(err.Error(), "step") {
			t.Errorf("%T: no step: %v", s, err)
		}
		if _, err := s.Query(t.Context(), `"text"`, time.UnixMilli(1)); err == nil {
			t.Errorf("%T: a string: expected an error", s)
		}
		if _, err := s.Select(t.Context(), "", nil, span); err == nil {
			t.Errorf("%T: no metric: expected an error", s)
		}
	}
}
