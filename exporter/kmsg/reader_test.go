//go:build linux

package kmsg_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"golang.org/x/sys/unix"

	"github.com/leasewatch/leasewatch/exporter/gpu"
	"github.com/leasewatch/leasewatch/exporter/kmsg"
)

// log is a pipe in the place of the device, with what its reader told.
type log struct {
	path string
	pipe *os.File
	set  *metrics.Set
	*kmsg.Reader
	stop func()

	mu     sync.Mutex
	xids   []gpu.XIDReport
	events []gpu.Event
	lines  bytes.Buffer
}

// Write takes the log lines of the reader.
func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.Write(p)
}

var (
	now = time.Unix(1_800_000_000, 0)
	up  = 1000 * time.Second
)

// open makes a pipe with a first text in it and starts a reader.
func open(t *testing.T, text string, change ...func(*kmsg.Options)) *log {
	t.Helper()
	l := &log{path: filepath.Join(t.TempDir(), "kmsg"), set: metrics.NewSet()}
	if err := unix.Mkfifo(l.path, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(l.path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pipe.Close() })
	l.pipe = pipe
	l.write(t, text)
	l.start(t, change...)
	return l
}

func (l *log) start(t *testing.T, change ...func(*kmsg.Options)) {
	t.Helper()
	options := kmsg.Options{
		Path: l.path, Metrics: l.set, Log: slog.New(slog.NewTextHandler(l, nil)), Retry: time.Millisecond,
		Now: func() time.Time { return now }, Uptime: func() time.Duration { return up },
		XID: func(x gpu.XIDReport) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.xids = append(l.xids, x)
		},
	}
	for _, c := range change {
		c(&options)
	}
	l.Reader = kmsg.New(options)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.Run(ctx, func(e gpu.Event) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.events = append(l.events, e)
		})
	}()
	l.stop = sync.OnceFunc(func() { cancel(); <-ended })
	t.Cleanup(l.stop)
}

func (l *log) write(t *testing.T, text string) {
	t.Helper()
	if _, err := l.pipe.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// told returns what was told so far.
func (l *log) told() (xids []gpu.XIDReport, events []gpu.Event, lines string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append(xids, l.xids...), append(events, l.events...), l.lines.String()
}

func (l *log) counter(name string) uint64 {
	return l.set.GetOrCreateCounter("leasewatch_exporter_kernel_log_" + name + "_total").Get()
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("within a minute this did not come true: %s", what)
}

// read waits until so many records were read.
func (l *log) read(t *testing.T, records uint64) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d records are read", records), func() bool { return l.counter("records") == records })
}

func xid(sequence int, since time.Duration, address string, code int) string {
	return fmt.Sprintf("4,%d,%d,-;NVRM: Xid (PCI:%s): %d, pid=1, name=x, text\n SUBSYSTEM=pci\n DEVICE=+pci:0000:1b:00.0\n", sequence, since.Microseconds(), address, code)
}

func TestXIDsOfTheLogAreToldWithTheirTimes(t *testing.T) {
	l := open(t, "6,1,100,-;Linux version 6.8\n"+xid(2, 400*time.Second, "0000:1b:00", 48))
	l.read(t, 2)
	eventually(t, "the reader waits for more", func() bool { return l.State().Up })
	l.write(t, xid(3, up, "0000:61:00", 79))
	l.read(t, 3)
	eventually(t, "both are told", func() bool { xids, _, _ := l.told(); return len(xids) == 2 })
	xids, events, _ := l.told()
	want := []gpu.XIDReport{
		{Witness: gpu.WitnessKernel, PCIAddress: "PCI:0000:1b:00", Code: 48, At: now.Add(-600 * time.Second), Within: 200 * time.Millisecond},
		{Witness: gpu.WitnessKernel, PCIAddress: "PCI:0000:61:00", Code: 79, At: now},
	}
	for i := range want {
		if got := xids[i]; !got.At.Equal(want[i].At) || got.PCIAddress != want[i].PCIAddress || got.Code != want[i].Code || got.Within != want[i].Within {
			t.Errorf("told %+v, want %+v", got, want[i])
		}
	}
	if len(events) != 0 {
		t.Errorf("XIDs are the source's to emit, not the log's: %+v", events)
	}
}

func TestARecordThatComesInPiecesIsOne(t *testing.T) {
	l := open(t, "")
	text := xid(7, up, "0000:61:00", 79)
	for i := range len(text) {
		l.write(t, text[i:i+1])
	}
	eventually(t, "it is told", func() bool { xids, _, _ := l.told(); return len(xids) == 1 })
	if l.counter("bad_records") != 0 {
		t.Error("a piece was taken for a record")
	}
}

func TestWhatAUserWritesIntoTheLogDoesNotCount(t *testing.T) {
	l := open(t, strings.Replace(xid(1, up, "0000:1b:00", 79), "4,", "12,", 1)+
		"13,2,5,-;nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 30\n12,3,6,-;just a line\n"+xid(4, up, "0000:1b:00", 48))
	l.read(t, 4)
	eventually(t, "the true one is told", func() bool { xids, _, _ := l.told(); return len(xids) == 1 })
	if xids, _, lines := l.told(); xids[0].Code != 48 || strings.Count(lines, "not counted") != 2 {
		t.Errorf("told %+v, log:\n%s", xids, lines)
	}
	if l.counter("foreign_records") != 2 || len(l.State().SXIDs) != 0 {
		t.Errorf("%d foreign records, SXids %v", l.counter("foreign_records"), l.State().SXIDs)
	}
}

func TestSXIDsAreCountedByKindAndNewOnesToldAtOnce(t *testing.T) {
	sxid := func(sequence int, text string) string {
		return fmt.Sprintf("4,%d,%d,-;nvidia-nvswitch0: SXid (PCI:0000:06:00.0): %s\n", sequence, up.Microseconds(), text)
	}
	l := open(t, sxid(1, "20034, Fatal, Link 30 LTSSM Fault Up")+sxid(2, "20034, Severity 1 Engine instance 30 Sub-engine instance 00")+
		sxid(3, "20034, Data {0x00000030, 0x00000030}"))
	l.read(t, 3)
	eventually(t, "the reader waits for more", func() bool { return l.State().Up })
	l.write(t, sxid(4, "12028, Non-fatal, Link 32 egress non-posted PRIV error (First)"))
	l.write(t, sxid(5, "20034, Fatal, Link 31 LTSSM Fault Up"))
	l.read(t, 5)
	fatal := gpu.SXID{Switch: "0000:06:00.0", Code: 20034, Severity: gpu.SXIDFatal}
	mild := gpu.SXID{Switch: "0000:06:00.0", Code: 12028, Severity: gpu.SXIDNonFatal}
	eventually(t, "all are counted", func() bool { seen := l.State().SXIDs; return seen[fatal].Count == 2 && seen[mild].Count == 1 })
	eventually(t, "the new fatal one is told", func() bool { _, events, _ := l.told(); return len(events) > 0 })
	_, events, _ := l.told()
	if len(events) != 1 || *events[0].SXID != fatal || events[0].XIDCount != 2 || !events[0].At.Equal(now) {
		t.Errorf("told %+v, want the new fatal one alone", events)
	}
}

func TestSXIDsCountOnOverARestartAndWhatTheLogStillHoldsIsNotCountedAgain(t *testing.T) {
	sxid := func(sequence int, at time.Duration, code int) string {
		return fmt.Sprintf("4,%d,%d,-;nvidia-nvswitch0: SXid (PCI:0000:06:00.0): %d, Fatal, Link 30 LTSSM Fault Up\n", sequence, at.Microseconds(), code)
	}
	key := func(code uint64) gpu.SXID {
		return gpu.SXID{Switch: "0000:06:00.0", Code: code, Severity: gpu.SXIDFatal}
	}
	// Of 20034 seven were counted, the last a quarter of an hour ago; the log has forgotten all but that one and
	// holds one that came while nobody looked. It holds nothing of 19084 any more.
	known := map[gpu.SXID]gpu.XID{key(20034): {Count: 7, Last: now.Add(-900 * time.Second)}, key(19084): {Count: 3, Last: now.Add(-48 * time.Hour)}}
	l := open(t, sxid(1, up-900*time.Second, 20034)+sxid(2, up-time.Minute, 20034)+sxid(3, up-time.Minute, 22013), func(o *kmsg.Options) { o.Known = known })
	l.read(t, 3)
	eventually(t, "the reader waits for more", func() bool { return l.State().Up })
	l.write(t, sxid(4, up, 19084))
	l.read(t, 4)
	eventually(t, "the new one is counted", func() bool { return l.State().SXIDs[key(19084)].Count == 4 })
	for code, want := range map[uint64]uint64{20034: 8, 22013: 1, 19084: 4} {
		if got := l.State().SXIDs[key(code)]; got.Count != want {
			t.Errorf("SXid %d counts %d, expected %d", code, got.Count, want)
		}
	}
	if known[key(20034)].Count != 7 {
		t.Error("what was known is changed")
	}
}

func TestRecordsThatAreLostAreCounted(t *testing.T) {
	l := open(t, xid(10, up, "0000:1b:00", 13)+xid(14, up, "0000:1b:00", 13))
	l.read(t, 2)
	if got := l.counter("lost_records"); got != 3 {
		t.Errorf("%d are lost, want 3; the first number that is seen tells nothing", got)
	}
}

func TestAnOverrunOfTheLogIsNoEnd(t *testing.T) {
	var once sync.Once
	l := open(t, xid(1, up, "0000:1b:00", 13)+xid(9, up, "0000:1b:00", 14), func(o *kmsg.Options) {
		o.Read = func(fd int, p []byte) (int, error) {
			err := error(nil)
			once.Do(func() { err = unix.EPIPE })
			if err != nil {
				return -1, err
			}
			return unix.Read(fd, p)
		}
	})
	l.read(t, 2)
	if l.counter("lost_records") != 7 {
		t.Errorf("%d records are lost", l.counter("lost_records"))
	}
	eventually(t, "the log is followed", func() bool { return l.State().Up })
}

func TestBadRecordsAreCountedAndHideNoOther(t *testing.T) {
	l := open(t, "no record\n6;x\n"+xid(1, up, "0000:1b:00", 79))
	eventually(t, "the good one is told", func() bool { xids, _, _ := l.told(); return len(xids) == 1 })
	if l.counter("bad_records") != 2 || l.counter("records") != 1 {
		t.Errorf("%d bad ones, %d good ones", l.counter("bad_records"), l.counter("records"))
	}
}

func TestALogThatIsOpenedAgainIsNotCountedAgain(t *testing.T) {
	failing := make(chan struct{}, 1)
	l := open(t, xid(1, up, "0000:1b:00", 79), func(o *kmsg.Options) {
		o.Read = func(fd int, p []byte) (int, error) {
			select {
			case <-failing:
				return -1, unix.EIO
			default:
				return unix.Read(fd, p)
			}
		}
	})
	l.read(t, 1)
	failing <- struct{}{}
	l.write(t, xid(1, up, "0000:1b:00", 79)+xid(2, up, "0000:1b:00", 48)) // as the device begins anew
	eventually(t, "the new one is told", func() bool { xids, _, _ := l.told(); return len(xids) == 2 })
	if xids, _, lines := l.told(); xids[0].Code != 79 || xids[1].Code != 48 || !strings.Contains(lines, "input/output error") {
		t.Errorf("told %+v, log:\n%s", xids, lines)
	}
	eventually(t, "it is read again", func() bool { return l.State().Up })
}

func TestFromTheStartMeansWithoutThePast(t *testing.T) {
	l := &log{path: filepath.Join(t.TempDir(), "kmsg"), set: metrics.NewSet()}
	if err := os.WriteFile(l.path, []byte(xid(1, up, "0000:1b:00", 79)), 0o600); err != nil { // a file, because a pipe has no past
		t.Fatal(err)
	}
	l.start(t, func(o *kmsg.Options) { o.FromNow = true; o.Retry = time.Hour })
	eventually(t, "the end is seen", func() bool { _, _, lines := l.told(); return strings.Contains(lines, "ends") })
	if l.counter("records") != 0 {
		t.Error("the past was read")
	}
}

func TestALogThatCannotBeReadIsToldOnceWithTheRemedy(t *testing.T) {
	for _, test := range []struct {
		name   string
		err    error
		remedy string
	}{
		{"without the right", unix.EPERM, "CAP_SYSLOG"},
		{"without the device", fs.ErrNotExist, "--device=/dev/kmsg"},
		{"for another reason", errors.New("odd"), "--no-collector.kmsg"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tries := make(chan struct{})
			l := open(t, "x", func(o *kmsg.Options) {
				o.Read = func(int, []byte) (int, error) {
					tries <- struct{}{}
					return -1, test.err
				}
			})
			for range 3 {
				<-tries
			}
			go func() { // let go of a reader that is in a try
				for range tries {
				}
			}()
			l.stop()
			close(tries)
			_, _, lines := l.told()
			if strings.Count(lines, "level=WARN") != 1 || !strings.Contains(lines, test.remedy) {
				t.Errorf("want one warning with %q, the log is:\n%s", test.remedy, lines)
			}
			if state := l.State(); state.Up || !state.Tried {
				t.Errorf("state is %+v", state)
			}
		})
	}
}

func TestAReaderEndsWhileItWaits(t *testing.T) {
	l := open(t, xid(1, up, "0000:1b:00", 79))
	l.read(t, 1)
	l.stop() // hangs where it does not
	if _, _, lines := l.told(); strings.Contains(lines, "not read") {
		t.Errorf("an end that was asked for is logged as a failure:\n%s", lines)
	}
}

func TestTheRealLogIsRead(t *testing.T) {
	file, err := os.Open("/dev/kmsg")
	if err != nil {
		t.Skipf("the kernel log cannot be read here: %v", err)
	}
	file.Close()
	l := &log{path: "/dev/kmsg", set: metrics.NewSet()}
	l.start(t)
	eventually(t, "a record is read", func() bool { return l.counter("records") > 0 })
	eventually(t, "the log is followed", func() bool { return l.State().Up })
	if l.counter("bad_records") != 0 {
		t.Errorf("%d records of the real log are not understood", l.counter("bad_records"))
	}
	l.stop()
}
