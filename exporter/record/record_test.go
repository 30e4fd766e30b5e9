package record

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fill sets every field below, so that none is forgotten: texts to "secret of" and their
// path, numbers to 7, times to noon, lists and maps to one entry.
func fill(v reflect.Value, path string) {
	if v.CanAddr() {
		if maybe, ok := v.Addr().Interface().(json.Unmarshaler); ok && v.Type() != reflect.TypeFor[time.Time]() {
			for _, value := range []string{"7", "true", `"secret of ` + path + `"`, `"2026-03-01T12:00:00Z"`} {
				if maybe.UnmarshalJSON([]byte(value)) == nil {
					return
				}
			}
			panic("no value for " + path)
		}
	}
	switch v.Kind() {
	case reflect.String:
		if v.SetString("secret of " + path); path == "" {
			v.SetString("key")
		}
	case reflect.Float64:
		v.SetFloat(7)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint64, reflect.Uint32:
		v.SetUint(7)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), path)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), path)
	case reflect.Map:
		key, entry := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		switch key.Kind() { // keys are words of the catalogue
		case reflect.String:
			key.SetString("key")
		case reflect.Struct:
			for i := range key.NumField() {
				fill(key.Field(i), "")
			}
		default:
			fill(key, "key")
		}
		fill(entry, path)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, entry)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(noon))
			return
		}
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			fill(v.Field(i), strings.TrimPrefix(path+"."+name, "."))
		}
	default:
		panic(fmt.Sprintf("%s is a %s: teach fill, and see that JSON holds it", path, v.Kind()))
	}
}

func full() (*gpu.Snapshot, gpu.Event) {
	var s gpu.Snapshot
	var e gpu.Event
	fill(reflect.ValueOf(&s).Elem(), "")
	fill(reflect.ValueOf(&e).Elem(), "")
	return &s, e
}

// recorded writes snapshots and events, and returns the file.
func recorded(t testing.TB, h Header, snapshots []*gpu.Snapshot, events ...gpu.Event) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := NewWriter(&file, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range snapshots {
		if err := w.Snapshot(s); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range events {
		if err := w.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func TestEveryFieldOutlivesARecording(t *testing.T) {
	s, e := full()
	rec, err := Read(bytes.NewReader(recorded(t, Header{Host: "gpu-a1", Vantage: "guest", Program: "1", Began: noon}, []*gpu.Snapshot{s}, e)))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(rec.Snapshots[0], s) {
		t.Errorf("a snapshot becomes\n%+v\nwant\n%+v", rec.Snapshots[0], s)
	}
	if !reflect.DeepEqual(rec.Events[0], e) {
		t.Errorf("an event becomes\n%+v\nwant\n%+v", rec.Events[0], e)
	}
	if want := (Header{Recording: Version, Host: "gpu-a1", Vantage: "guest", Program: "1", Began: noon}); rec.Header != want {
		t.Errorf("header %+v, want %+v", rec.Header, want)
	}
	var empty gpu.Snapshot
	empty.At = noon
	if rec, err = Read(bytes.NewReader(recorded(t, Header{}, []*gpu.Snapshot{&empty}))); err != nil || !reflect.DeepEqual(rec.Snapshots[0], &empty) {
		t.Errorf("a snapshot of nothing becomes %+v: %v", rec, err)
	}
}

// Whatever is added to a snapshot is hidden until someone says that it names nothing.
func TestRedactionHidesEveryTextThatIsNotKnownToBePlain(t *testing.T) {
	s, e := full()
	file := string(recorded(t, Header{Host: "secret of the header", Redacted: true}, []*gpu.Snapshot{s}, e))
	for path := range plain {
		if !strings.Contains(file, `"secret of `+path+`"`) {
			t.Errorf("%s is called plain, and is not in a recording: does the field still exist?", path)
		}
	}
	for _, found := range strings.Split(file, `"secret of `)[1:] {
		path, _, _ := strings.Cut(found, `"`)
		if !plain[path] && !sentences[path] {
			t.Errorf("%s is told in a redacted recording", path)
		}
	}
	original, err := encode(s)
	if err != nil || strings.Contains(string(original), `"x`) {
		t.Errorf("the snapshot itself was changed: %v", err)
	}
}

func TestAPseudonymIsTheSameWhereverTheNameStands(t *testing.T) {
	const uuid, other = "GPU-6f1e2d3c-0000-4a5b-8c9d-000000000003", "GPU-6f1e2d3c-0000-4a5b-8c9d-000000000004"
	card := gpu.GPU{Identity: gpu.Identity{UUID: uuid, Serial: "1651324000003", Name: "NVIDIA H100 80GB HBM3"},
		Status: gpu.Status{State: gpu.Lost, Reason: uuid + " with serial 1651324000003 is lost, unlike " + other}}
	snapshot := &gpu.Snapshot{At: noon, GPUs: []gpu.GPU{card}}
	event := gpu.Event{At: noon, GPU: card.Identity, From: gpu.OK, To: gpu.Lost, Reason: uuid}
	rec, err := Read(bytes.NewReader(recorded(t, Header{Host: "gpu-a1", Redacted: true}, []*gpu.Snapshot{snapshot}, event)))
	if err != nil {
		t.Fatal(err)
	}
	got := rec.Snapshots[0].GPUs[0]
	if got.Identity.UUID == uuid || !uuids.MatchString(got.Identity.UUID) || len(got.Identity.UUID) != len(uuid) {
		t.Errorf("uuid %s, want another that is still one", got.Identity.UUID)
	}
	if rec.Events[0].GPU.UUID != got.Identity.UUID || rec.Events[0].Reason != got.Identity.UUID {
		t.Errorf("the event has %s and says %q, the snapshot %s", rec.Events[0].GPU.UUID, rec.Events[0].Reason, got.Identity.UUID)
	}
	if text := got.Status.Reason; strings.Contains(text, uuid) || strings.Contains(text, other) || strings.Contains(text, "1651324000003") ||
		!strings.Contains(text, got.Identity.UUID) || !strings.Contains(text, got.Identity.Serial) {
		t.Errorf("reason %q", text)
	}
	if got.Identity.Name != card.Identity.Name || got.Status.State != gpu.Lost {
		t.Errorf("what the card is does not show: %+v", got)
	}
	again, err := Read(bytes.NewReader(recorded(t, Header{Redacted: true}, []*gpu.Snapshot{snapshot})))
	if err != nil {
		t.Fatal(err)
	}
	if again.Snapshots[0].GPUs[0].Identity.UUID == got.Identity.UUID {
		t.Error("two recordings have the same pseudonym: they can be laid side by side")
	}
}

func TestASnapshotIsWrittenOnceAndNotBeforeTheFirstRound(t *testing.T) {
	s := &gpu.Snapshot{At: noon}
	file := recorded(t, Header{}, []*gpu.Snapshot{{}, s, s, {At: noon.Add(time.Second)}})
	if lines := bytes.Count(file, []byte("\n")); lines != 3 {
		t.Errorf("%d lines, want the header and two snapshots:\n%s", lines, file)
	}
}

func TestWhatIsNoRecordingIsRefusedWithItsLine(t *testing.T) {
	good := string(recorded(t, Header{}, []*gpu.Snapshot{{At: noon}}))
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write([]byte(good))
	w.Close()
	if _, err := Read(bytes.NewReader(zipped.Bytes())); err != nil {
		t.Errorf("a gzipped recording: %v", err)
	}
	header, rest, _ := strings.Cut(good, "\n")
	for name, test := range map[string]struct{ file, want string }{
		"nothing":            {"", "no snapshot"},
		"another file":       {"events:\n", "line 1: no recording"},
		"another object":     {`{"a":1}` + "\n", "line 1: no recording"},
		"a newer format":     {`{"Recording":2}` + "\n" + rest, "format 2"},
		"no snapshot":        {header + "\n", "no snapshot"},
		"a broken line":      {good + `{"Snapshot":{"At":`, "line 3: "},
		"a wrong value":      {good + `{"Snapshot":{"GPUs":[{"Identity":{"Index":"x"}}]}}`, "line 3: "},
		"times that go back": {good + `{"Snapshot":{"At":"2026-03-01T11:00:00Z"}}`, "line 3: a snapshot of 2026-03-01 11:00:00"},
		"half of a zip":      {zipped.String()[:zipped.Len()-12], "line "},
	} {
		if _, err := Read(strings.NewReader(test.file)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", name, err, test.want)
		}
	}
	if _, err := Read(strings.NewReader(header + "\n" + `{"Snapshot":{"At":"2026-03-01T12:00:00Z","Later":1},"Also":[]}`)); err != nil {
		t.Errorf("fields of a later exporter: %v", err)
	}
}

func TestAPlayerTellsTheRecordingAsIfItWereNow(t *testing.T) {
	seen := noon.Add(-time.Hour)
	snapshots := []*gpu.Snapshot{
		{At: noon, GPUs: []gpu.GPU{{Status: gpu.Status{Since: seen}, Readings: gpu.Readings{At: noon.Add(-time.Second)}}}},
		{At: noon.Add(20 * time.Millisecond), Driver: gpu.Driver{Changes: 1}, GPUs: []gpu.GPU{{Readings: gpu.Readings{
			XIDs: map[uint64]gpu.XID{79: {Count: 1, Last: noon}}}}}, Host: &gpu.Host{BootedAt: gpu.Some(seen)}},
	}
	event := gpu.Event{At: noon.Add(10 * time.Millisecond), XID: gpu.Some(uint64(79)), Since: seen}
	rec, err := Read(bytes.NewReader(recorded(t, Header{}, snapshots, event)))
	if err != nil {
		t.Fatal(err)
	}
	base := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	began := time.Now()
	p := Play(rec, func() time.Time { return base.Add(time.Since(began)) })
	if s := p.Snapshot(); !s.At.IsZero() {
		t.Errorf("before Run there is a snapshot of %s", s.At)
	}
	told := make(chan gpu.Event, 10)
	go p.Run(t.Context(), func(e gpu.Event) { told <- e })
	var s *gpu.Snapshot
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if s = p.Snapshot(); s.Driver.Changes == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the second snapshot is not told")
		}
	}
	moved := s.At.Sub(snapshots[1].At)
	e := <-told
	booted, _ := s.Host.BootedAt.Get()
	for name, got := range map[string]time.Time{
		"the event": e.At.Add(-10 * time.Millisecond), "the event's beginning": e.Since.Add(time.Hour),
		"an XID": s.GPUs[0].Readings.XIDs[79].Last, "the boot": booted.Add(time.Hour),
	} {
		if got.Sub(noon) != moved || got.Before(base) {
			t.Errorf("%s is at %s, want it moved by %s", name, got, moved)
		}
	}
	if s.GPUs[0].Status.Since != (time.Time{}) {
		t.Errorf("a time that was not set became %s", s.GPUs[0].Status.Since)
	}
	if !rec.Snapshots[1].At.Equal(noon.Add(20 * time.Millisecond)) {
		t.Error("playing changed the recording")
	}
}

func TestEventsComeAtTheirPlace(t *testing.T) {
	rec := &Recording{Snapshots: []*gpu.Snapshot{{At: noon}, {At: noon.Add(2 * time.Second)}},
		Events: []gpu.Event{{At: noon.Add(time.Second)}, {At: noon.Add(3 * time.Second)}}}
	var order []string
	for _, s := range Play(rec, time.Now).steps() {
		kind := "snapshot"
		if s.Event != nil {
			kind = "event"
		}
		order = append(order, fmt.Sprint(kind, " ", s.at.Sub(noon)))
	}
	if want := []string{"snapshot 0s", "event 1s", "snapshot 2s", "event 3s"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

// A recording of the first format, as someone may have sent it: every later reader plays it.
func TestARecordingOfTheFirstFormatStillPlays(t *testing.T) {
	p, err := Open("testdata/format1.jsonl", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s := p.recording.Snapshots[0]
	if len(s.GPUs) != 1 || s.GPUs[0].Identity.Name != "NVIDIA GeForce RTX 4090" || s.Driver.Version != "550.54.15" {
		t.Fatalf("%+v", s)
	}
	if watts, ok := s.GPUs[0].Readings.PowerWatts.Get(); !ok || watts != 180.5 {
		t.Errorf("power %v (there: %v), want 180.5", watts, ok)
	}
	if _, ok := s.GPUs[0].Readings.MemoryTemperatureCelsius.Get(); ok {
		t.Error("a reading that the card does not give is there")
	}
}

func FuzzRead(f *testing.F) {
	s, e := full()
	f.Add(recorded(f, Header{}, []*gpu.Snapshot{s}, e))
	f.Add([]byte(`{"Recording":1}` + "\n" + `{"Snapshot":{"At":"2026-03-01T12:00:00Z"}}`))
	f.Add([]byte{0x1f, 0x8b, 8})
	f.Fuzz(func(t *testing.T, raw []byte) {
		rec, err := Read(bytes.NewReader(raw))
		if err != nil {
			return
		}
		timed := slices.DeleteFunc(slices.Clone(rec.Snapshots), func(s *gpu.Snapshot) bool { return s.At.IsZero() }) // the others are not written
		if len(timed) == 0 {
			return
		}
		again, err := Read(bytes.NewReader(recorded(t, rec.Header, timed, rec.Events...)))
		if err != nil {
			t.Fatalf("what was read is not read again: %v", err)
		}
		if len(again.Snapshots) != len(timed) || len(again.Events) != len(rec.Events) {
			t.Fatalf("%d snapshots and %d events become %d and %d", len(timed), len(rec.Events), len(again.Snapshots), len(again.Events))
		}
	})
}
