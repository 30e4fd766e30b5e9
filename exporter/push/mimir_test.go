package push

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/snappy"
	"github.com/prometheus/prometheus/prompb"
)

// mimir answers as Mimir's documentation says that Mimir does: a request names its tenant, or is
// refused with 401; over the tenant's rate it is 429 with Retry-After; of a request with samples
// that cannot be taken the others are taken, and the answer is 400 with the first one's error; one
// sample told twice is no error, two values of one moment are.
type mimir struct {
	*httptest.Server
	window time.Duration // how late a sample may come
	ahead  time.Duration // how early
	now    time.Time

	mu     sync.Mutex
	series map[string]map[int64]float64 // by label n
	newest map[string]int64
	limit  int // requests that are over the rate from now on
	drop   int // answers that are lost from now on
	asked  map[int]int
}

func newMimir(t *testing.T) *mimir {
	m := &mimir{window: 26 * time.Hour, ahead: 10 * time.Minute, now: noon, series: map[string]map[int64]float64{}, newest: map[string]int64{}, asked: map[int]int{}}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(m.Close)
	return m
}

func (m *mimir) serve(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	status, says := m.push(w, r)
	m.asked[status]++
	if m.drop > 0 && status == http.StatusOK {
		m.drop--
		panic(http.ErrAbortHandler)
	}
	if says != "" {
		http.Error(w, says, status)
		return
	}
	w.WriteHeader(status)
}

func (m *mimir) push(w http.ResponseWriter, r *http.Request) (int, string) {
	if r.URL.Path != "/api/v1/push" || r.Method != http.MethodPost {
		return http.StatusNotFound, "404 page not found"
	}
	if r.Header.Get("X-Scope-OrgID") != "acme" {
		return http.StatusUnauthorized, "no org id"
	}
	if m.limit > 0 {
		m.limit--
		w.Header().Set("Retry-After", "0")
		return http.StatusTooManyRequests, "the request has been rejected because the tenant exceeded the ingestion rate limit (err-mimir-tenant-max-ingestion-rate)"
	}
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		raw, err = snappy.Decode(nil, raw)
	}
	var message prompb.WriteRequest
	if err == nil {
		err = message.Unmarshal(raw)
	}
	if err != nil {
		return http.StatusBadRequest, err.Error()
	}
	first := ""
	for _, series := range message.Timeseries {
		for _, label := range series.Labels {
			if label.Name != "n" {
				continue
			}
			for _, sample := range series.Samples {
				if refused := m.take(label.Value, sample); refused != "" && first == "" {
					first = "the sample has been rejected (" + refused + ")"
				}
			}
		}
	}
	if first != "" {
		return http.StatusBadRequest, first
	}
	return http.StatusOK, ""
}

// take keeps a sample, or names the error for which it is refused.
func (m *mimir) take(series string, s prompb.Sample) string {
	had, twice := m.series[series][s.Timestamp]
	switch {
	case s.Timestamp > m.now.Add(m.ahead).UnixMilli():
		return "err-mimir-too-far-in-future"
	case twice && had != s.Value:
		return "err-mimir-sample-duplicate-timestamp"
	case s.Timestamp < m.newest[series] && m.window == 0:
		return "err-mimir-sample-out-of-order"
	case s.Timestamp < m.newest[series]-m.window.Milliseconds():
		return "err-mimir-sample-timestamp-too-old"
	}
	if m.series[series] == nil {
		m.series[series] = map[int64]float64{}
	}
	m.series[series][s.Timestamp] = s.Value
	m.newest[series] = max(m.newest[series], s.Timestamp)
	return ""
}

func (m *mimir) set(change func(*mimir)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m)
}

// holds counts the samples that are kept, and how often it answered with a status.
func (m *mimir) holds(status int) (samples, answers int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, series := range m.series {
		samples += len(series)
	}
	return samples, m.asked[status]
}

// minute is a batch of two series at noon and some minutes.
func minute(t *testing.T, n int, value float64) Batch {
	t.Helper()
	at := noon.Add(time.Duration(n) * time.Minute)
	b, err := NewBatch([]Sample{
		{Name: "gpu_state", At: at, Value: value, Labels: []Label{{"n", "a"}}},
		{Name: "gpu_state", At: at, Value: 1, Labels: []Label{{"n", "b"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// pushTo starts a pusher whose receiver is a Mimir, as one tenant.
func (m *mimir) pushTo(t *testing.T, dir, tenant string) *pusher {
	t.Helper()
	config := configFor(&receiver{Server: m.Server}, dir, func(c *Config) {
		c.URL = m.URL + "/api/v1/push"
		if tenant != "" {
			c.Headers = map[string]string{"X-Scope-OrgID": tenant}
		}
	})
	return runPusher(t, config)
}

func emptied(p *pusher) func() bool {
	return func() bool { return p.metric("spool_records") == "0" }
}

func TestMimirIsToldWhoseSamplesTheyAreAndLosesNoneWhileItIsNot(t *testing.T) {
	m, dir := newMimir(t), t.TempDir()
	p := m.pushTo(t, dir, "")
	for n := range 3 {
		p.Push(minute(t, n, 1))
	}
	eventually(t, "it refuses for want of a tenant", func() bool { return strings.Contains(p.log.String(), "no org id") })
	p.stop()
	p = m.pushTo(t, dir, "acme")
	eventually(t, "all arrives", emptied(p))
	if samples, _ := m.holds(0); samples != 6 || p.metric("discarded_samples_total") != "0" {
		t.Errorf("%d samples kept, %s discarded; expected 6 and none", samples, p.metric("discarded_samples_total"))
	}
}

func TestMimirsLimitAndItsLostAnswersLoseNothingAndTellNothingTwice(t *testing.T) {
	m := newMimir(t)
	m.set(func(m *mimir) { m.limit, m.drop = 3, 2 })
	p := m.pushTo(t, t.TempDir(), "acme")
	for n := range 5 {
		p.Push(minute(t, n, float64(n)))
	}
	eventually(t, "all arrives", emptied(p))
	samples, limited := m.holds(http.StatusTooManyRequests)
	_, refused := m.holds(http.StatusBadRequest)
	if samples != 10 || limited != 3 || refused != 0 || p.metric("discarded_samples_total") != "0" {
		t.Errorf("%d samples, %d times over the limit, %d refused, %s discarded; expected 10, 3, 0 and none", samples, limited, refused, p.metric("discarded_samples_total"))
	}
}

func TestAnEventPastTheQueueIsTakenByMimirWithItsWindowAndOneWithoutIsCounted(t *testing.T) {
	for window, want := range map[time.Duration]string{26 * time.Hour: "0", 0: "2"} {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			m := newMimir(t)
			m.set(func(m *mimir) { m.window = window; m.limit = 1 << 30 })
			p := m.pushTo(t, t.TempDir(), "acme")
			p.Push(minute(t, 0, 1))
			eventually(t, "the first waits", func() bool { _, limited := m.holds(http.StatusTooManyRequests); return limited > 0 })
			// What an event past the queue does, whoever of the two comes first.
			m.set(func(m *mimir) {
				at := noon.Add(5 * time.Minute).UnixMilli()
				for _, n := range []string{"a", "b"} {
					if refused := m.take(n, prompb.Sample{Timestamp: at, Value: 1}); refused != "" {
						t.Error(refused)
					}
				}
				m.limit = 0
			})
			eventually(t, "it is delivered or refused", emptied(p))
			if got := p.metric("discarded_samples_total"); got != want {
				t.Errorf("%s samples discarded, expected %s", got, want)
			}
		})
	}
}

func TestWhatMimirCannotTakeIsCountedAndHoldsNothingUp(t *testing.T) {
	m := newMimir(t)
	p := m.pushTo(t, t.TempDir(), "acme")
	p.Push(minute(t, 0, 1))
	p.Push(minute(t, 0, 0))  // another value for the same moment
	p.Push(minute(t, 60, 1)) // of a clock that is an hour ahead
	p.Push(minute(t, 1, 1))
	eventually(t, "all is delivered or refused", emptied(p))
	samples, refused := m.holds(http.StatusBadRequest)
	if samples != 4 || refused != 2 || p.metric("discarded_samples_total") != "4" {
		t.Errorf("%d samples kept, %d requests refused, %s samples discarded; expected 4, 2 and 4", samples, refused, p.metric("discarded_samples_total"))
	}
	for _, code := range []string{"err-mimir-sample-duplicate-timestamp", "err-mimir-too-far-in-future"} {
		if !strings.Contains(p.log.String(), code) {
			t.Errorf("the log does not say %s:\n%s", code, p.log)
		}
	}
}
