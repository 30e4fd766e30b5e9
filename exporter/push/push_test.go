package push

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func numbers(from, to int) []string {
	var out []string
	for n := from; n <= to; n++ {
		out = append(out, fmt.Sprint(n))
	}
	return out
}

func TestBatchesArriveInOrderWithTheirOwnTimes(t *testing.T) {
	r := newReceiver(t)
	p := startPusher(t, t.TempDir(), r, nil)
	for _, n := range numbers(1, 20) {
		p.Push(numbered(t, n, 10))
	}
	eventually(t, "twenty batches arrive", func() bool { return len(r.taken()) == 20 })
	if got := r.taken(); !slices.Equal(got, numbers(1, 20)) {
		t.Errorf("order %v", got)
	}
	if r.times["1"] != noon.UnixMilli() {
		t.Errorf("time %d, want the sample's own %d", r.times["1"], noon.UnixMilli())
	}
	eventually(t, "the instruments show it", func() bool { return p.metric("samples_total") == "20" && p.metric("spool_records") == "0" })
}

func TestARestartGoesOnWhereItStopped(t *testing.T) {
	r, dir := newReceiver(t), t.TempDir()
	p := startPusher(t, dir, r, nil)
	for _, n := range numbers(1, 5) {
		p.Push(numbered(t, n, 10))
	}
	eventually(t, "five are delivered and noted", func() bool { return p.metric("spool_records") == "0" })
	r.set(down(http.StatusServiceUnavailable))
	for _, n := range numbers(6, 9) {
		p.Push(numbered(t, n, 10))
	}
	p.stop()
	for range 3 { // restarts while the receiver is away
		q := startPusher(t, dir, r, nil)
		q.stop()
	}
	r.set(nil)
	q := startPusher(t, dir, r, nil)
	q.Push(numbered(t, "10", 10))
	eventually(t, "the rest arrives", func() bool { return slices.Contains(r.taken(), "10") })
	if got := r.taken(); !slices.Equal(got, numbers(1, 10)) {
		t.Errorf("arrived %v, want 1 to 10, each once", got)
	}
	if lost := q.metric("spool_dropped_records_total"); lost != "0" {
		t.Errorf("%s records count as lost", lost)
	}
}

func TestRestartsAcrossManySegmentsLoseNothing(t *testing.T) {
	r, dir := newReceiver(t), t.TempDir()
	small := func(c *Config) { c.SpoolMaxBytes = 4 << 20 } // segments of 256 KiB
	r.set(down(http.StatusBadGateway))
	p := startPusher(t, dir, r, small)
	for n := range 60 {
		p.Push(numbered(t, fmt.Sprint(n+1), 30_000))
		if n == 30 {
			p.stop()
			p = startPusher(t, dir, r, small)
		}
	}
	if segments, _ := filepath.Glob(filepath.Join(dir, "segments", "*")); len(segments) < 4 {
		t.Fatalf("%d segments, want the spool to have rotated at least three times", len(segments))
	}
	p.stop()
	r.set(nil)
	p = startPusher(t, dir, r, small)
	eventually(t, "all sixty arrive", func() bool { return len(r.taken()) >= 60 })
	if got := r.taken(); !slices.Equal(got, numbers(1, 60)) {
		t.Errorf("arrived %v", got)
	}
	eventually(t, "delivered segments are removed", func() bool {
		segments, _ := filepath.Glob(filepath.Join(dir, "segments", "*"))
		return len(segments) == 1
	})
}

func TestARefusedTokenInTheMiddleLosesNothing(t *testing.T) {
	for _, code := range []int{401, 403, 404, 413, 429, 500, 503, 302} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			r := newReceiver(t)
			p := startPusher(t, t.TempDir(), r, nil)
			p.Push(numbered(t, "1", 10))
			eventually(t, "the first arrives", func() bool { return len(r.taken()) == 1 })
			r.set(down(code))
			before := r.count()
			p.Push(numbered(t, "2", 10))
			p.Push(numbered(t, "3", 10))
			eventually(t, "it is tried again", func() bool { return r.count() >= before+3 })
			r.set(nil)
			eventually(t, "the rest arrives", func() bool { return len(r.taken()) == 3 })
			if got := r.taken(); !slices.Equal(got, numbers(1, 3)) {
				t.Errorf("arrived %v", got)
			}
			if n := strings.Count(p.log.String(), "pushing fails"); n != 1 {
				t.Errorf("the failure was logged %d times, want once:\n%s", n, p.log)
			}
		})
	}
}

func TestOnlyA400DiscardsAndIsCounted(t *testing.T) {
	r := newReceiver(t)
	r.set(func(request int, w http.ResponseWriter) bool {
		if request == 2 {
			http.Error(w, "out of bounds", http.StatusBadRequest)
			return true
		}
		return false
	})
	p := startPusher(t, t.TempDir(), r, nil)
	for _, n := range numbers(1, 3) {
		p.Push(numbered(t, n, 10))
	}
	eventually(t, "the third arrives", func() bool { return slices.Contains(r.taken(), "3") })
	if got := r.taken(); !slices.Equal(got, []string{"1", "3"}) {
		t.Errorf("arrived %v, want 1 and 3", got)
	}
	if n := p.metric("discarded_samples_total"); n != "1" {
		t.Errorf("%s samples counted as discarded, want 1", n)
	}
	if !strings.Contains(p.log.String(), "out of bounds") {
		t.Errorf("the log does not say why:\n%s", p.log)
	}
}

func TestALostResponseIsSentAgainWithTheSameTimes(t *testing.T) {
	r := newReceiver(t)
	cut := true
	r.after = func(w http.ResponseWriter) {
		if cut {
			cut = false
			panic(http.ErrAbortHandler) // taken, but the answer is lost
		}
		w.WriteHeader(http.StatusNoContent)
	}
	p := startPusher(t, t.TempDir(), r, nil)
	p.Push(numbered(t, "1", 10))
	p.Push(numbered(t, "2", 10))
	eventually(t, "both arrive", func() bool { return slices.Contains(r.taken(), "2") })
	if got := r.taken(); !slices.Equal(got, []string{"1", "1", "2"}) {
		t.Errorf("arrived %v, want the first one twice", got)
	}
}

func TestReachingTheCapDropsTheOldestAndCountsIt(t *testing.T) {
	r, dir := newReceiver(t), t.TempDir()
	tiny := func(c *Config) { c.SpoolMaxBytes = 1 << 20 }
	p, err := New(configFor(r, dir, tiny)) // not running: nothing is read meanwhile
	if err != nil {
		t.Fatal(err)
	}
	const total = 120
	for n := range total {
		p.Push(numbered(t, fmt.Sprint(n+1), 20_000))
	}
	if size, dropped := p.spool.bytes.Load(), p.spool.dropped.Load(); size > 1<<20 || dropped == 0 {
		t.Errorf("the spool has %d bytes and dropped %d segments, want at most 1 MiB and some", size, dropped)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	q := startPusher(t, dir, r, tiny)
	q.Push(numbered(t, "last", 10))
	eventually(t, "the last arrives", func() bool { return slices.Contains(r.taken(), "last") })
	got := r.taken()
	first := 0
	fmt.Sscan(got[0], &first)
	if want := append(numbers(first, total), "last"); !slices.Equal(got, want) || first < 2 {
		t.Errorf("arrived %v, want the newest ones without a gap", got)
	}
	// Nothing was ever delivered before the restart, and still the gap is counted.
	eventually(t, "what was dropped counts as lost", func() bool { return q.metric("spool_dropped_records_total") == fmt.Sprint(first-1) })
}

func TestRecordsDroppedBehindTheReaderAreCounted(t *testing.T) {
	r, dir := newReceiver(t), t.TempDir()
	tiny := func(c *Config) { c.SpoolMaxBytes = 1 << 20 }
	p := startPusher(t, dir, r, tiny)
	p.Push(numbered(t, "1", 10))
	eventually(t, "the first arrives", func() bool { return p.metric("spool_records") == "0" })
	r.set(down(http.StatusServiceUnavailable))
	const total = 150
	for n := 2; n <= total; n++ {
		p.Push(numbered(t, fmt.Sprint(n), 20_000))
	}
	r.set(nil)
	eventually(t, "the newest arrives", func() bool { return slices.Contains(r.taken(), fmt.Sprint(total)) })
	lost := 0
	fmt.Sscan(p.metric("spool_dropped_records_total"), &lost)
	distinct := map[string]bool{}
	for _, n := range r.taken() {
		distinct[n] = true
	}
	if lost == 0 || len(distinct)+lost != total {
		t.Errorf("%d of %d arrived and %d count as lost: the two do not sum up", len(distinct), total, lost)
	}
}

func TestTheTokenIsSentAndNeverShown(t *testing.T) {
	r := newReceiver(t)
	r.set(func(_ int, w http.ResponseWriter) bool { // with the receiver's lock held
		if r.token == "Bearer hunter3" {
			return false
		}
		http.Error(w, "not you", http.StatusUnauthorized)
		return true
	})
	path := tokenFile(t, "hunter2\n")
	p := startPusher(t, t.TempDir(), r, func(c *Config) { c.TokenFile = path })
	p.Push(numbered(t, "1", 10))
	eventually(t, "a request fails", func() bool { return strings.Contains(p.log.String(), "pushing fails") })
	if err := os.WriteFile(path, []byte("hunter3"), 0o600); err != nil { // the token is renewed
		t.Fatal(err)
	}
	eventually(t, "the batch arrives with the renewed token", func() bool { return len(r.taken()) == 1 })
	p.stop()
	if strings.Contains(p.log.String(), "hunter") {
		t.Errorf("the log shows the token:\n%s", p.log)
	}
	secret := Secret("hunter2")
	shown, err := json.Marshal(map[string]any{"token": secret})
	if err != nil {
		t.Fatal(err)
	}
	if all := fmt.Sprintf("%s %v %#v %+v %q %s", secret, secret, secret, secret, secret, shown); strings.Contains(all, "hunter2") {
		t.Errorf("a secret prints: %s", all)
	}
}

func TestAMissingTokenFileWaits(t *testing.T) {
	r := newReceiver(t)
	path := filepath.Join(t.TempDir(), "token")
	p := startPusher(t, t.TempDir(), r, func(c *Config) { c.TokenFile = path })
	p.Push(numbered(t, "1", 10))
	eventually(t, "it says what is missing", func() bool { return strings.Contains(p.log.String(), "reading the bearer token") })
	if r.count() != 0 {
		t.Error("a request went out without the token")
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the batch arrives", func() bool { return len(r.taken()) == 1 })
}

func TestAKilledProcessLosesNothingThatWasPushed(t *testing.T) {
	r, dir, after := newReceiver(t), t.TempDir(), t.TempDir()
	p, err := New(configFor(r, dir, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, n := range numbers(1, 5) {
		p.Push(numbered(t, n, 10_000))
	}
	// What lies on disk now is what a kill would leave: nothing was closed or flushed for it.
	if err := os.CopyFS(after, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	// The kill may also cut the last write short.
	segment := filepath.Join(after, "segments", "00000000")
	raw, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(segment, append(raw, 1, 2, 3), 0o600); err != nil {
		t.Fatal(err)
	}
	q := startPusher(t, after, r, nil)
	q.Push(numbered(t, "6", 10))
	eventually(t, "the sixth arrives", func() bool { return slices.Contains(r.taken(), "6") })
	if got := r.taken(); !slices.Equal(got, numbers(1, 6)) {
		t.Errorf("arrived %v, want 1 to 6", got)
	}
}

func TestTwoExportersCannotShareASpool(t *testing.T) {
	r, dir := newReceiver(t), t.TempDir()
	startPusher(t, dir, r, nil)
	if _, err := New(configFor(r, dir, nil)); err == nil || !strings.Contains(err.Error(), "another exporter") {
		t.Errorf("error %v, want one that says who holds the spool", err)
	}
}

func TestADamagedSpoolLosesOnlyWhatIsDamaged(t *testing.T) {
	r, dir := newReceiver(t), t.TempDir()
	p, err := New(configFor(r, dir, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range numbers(1, 3) {
		p.Push(numbered(t, n, 50_000))
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	segment := filepath.Join(dir, "segments", "00000000")
	raw, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 0xff // in the second batch
	if err := os.WriteFile(segment, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	q := startPusher(t, dir, r, nil)
	q.Push(numbered(t, "after", 10))
	eventually(t, "what came after the damage arrives", func() bool { return slices.Contains(r.taken(), "after") })
	if got := r.taken(); got[0] != "1" {
		t.Errorf("arrived %v, want what lay before the damage first", got)
	}
	if !strings.Contains(q.log.String(), "damaged") {
		t.Errorf("the log does not tell of the damage:\n%s", q.log)
	}
}

func TestADamagedCursorStartsAtTheOldest(t *testing.T) {
	for _, content := range []string{"", "segment x", "segment -1 seq 5\n", "\x00\x00"} {
		dir := t.TempDir()
		if err := os.WriteFile(cursorFile(dir), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := readCursor(dir); err != nil || c != (cursor{damaged: true}) {
			t.Errorf("%q: cursor %+v, error %v", content, c, err)
		}
	}
}

func TestTheClockOffsetComesFromTheReceiver(t *testing.T) {
	r := newReceiver(t)
	r.after = func(w http.ResponseWriter) {
		w.Header().Set("Date", noon.Format(http.TimeFormat))
		w.WriteHeader(http.StatusNoContent)
	}
	p := startPusher(t, t.TempDir(), r, func(c *Config) { c.Now = func() time.Time { return noon.Add(90 * time.Second) } })
	p.Push(numbered(t, "1", 10))
	eventually(t, "the offset shows", func() bool { return p.metric("clock_offset_seconds") == "90" })
}

func TestRetryAfter(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-3": 0, "soon": 0, "999999": maxRetryAfter,
		noon.Add(30 * time.Second).Format(http.TimeFormat):  30 * time.Second,
		noon.Add(-30 * time.Second).Format(http.TimeFormat): 0,
	} {
		if got := retryAfter(header, noon); got != want {
			t.Errorf("Retry-After %q: %s, want %s", header, got, want)
		}
	}
}

func TestAnUnusableSpoolFolderIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(configFor(newReceiver(t), file, nil)); err == nil {
		t.Error("a file was taken for the spool folder")
	}
}

func TestTheEndDoesNotWaitForAReceiverThatNeverAnswers(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // accepts and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	r := newReceiver(t)
	p := startPusher(t, t.TempDir(), r, func(c *Config) { c.URL = "http://" + listener.Addr().String() })
	p.Push(numbered(t, "1", 10))
	p.PushNow(numbered(t, "2", 10))
	done := make(chan struct{})
	go func() { p.stop(); close(done) }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("the end waits for the receiver")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(record{seq: 7, Batch: Batch{samples: 3, body: []byte("body")}}.encode())
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := decode(raw)
		if err != nil {
			return
		}
		if !slices.Equal(r.encode(), raw) {
			t.Fatalf("%x becomes %x", raw, r.encode())
		}
	})
}
