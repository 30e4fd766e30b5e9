package monitor

import (
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"pgregory.net/rapid"
)

func TestEverySampleOfAHistoryIsInTheBlockOfItsTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory()
		written := map[string]map[int64]float64{}
		for _, uuid := range []string{"1", "2"} {
			id, err := h.Series(map[string]string{"__name__": "g", "uuid": uuid})
			if err != nil {
				t.Fatal(err)
			}
			written[uuid] = map[int64]float64{}
			at := rapid.Int64Range(-1e12, 2e12).Draw(t, "start")
			for range rapid.IntRange(0, 400).Draw(t, "samples") {
				at += rapid.OneOf(rapid.Int64Range(1, 60_000), rapid.Int64Range(1, 3*blockLength.Milliseconds())).Draw(t, "gap")
				v := rapid.Float64().Draw(t, "value")
				if err := h.Append(id, rental.Millis(at), v); err != nil {
					t.Fatal(err)
				}
				written[uuid][at] = v
			}
		}
		read := map[string]map[int64]float64{"1": {}, "2": {}}
		for start, block := range h.blocks() {
			for _, s := range block.series {
				for _, meta := range s.chunks {
					it := meta.Chunk.Iterator(nil)
					for it.Next() == chunkenc.ValFloat {
						at, v := it.At()
						if blockStart(at) != start || at < meta.MinTime || at > meta.MaxTime {
							t.Fatalf("sample at %d in the block of %d, chunk %d to %d", at, start, meta.MinTime, meta.MaxTime)
						}
						read[s.labels.Get("uuid")][at] = v
					}
				}
			}
		}
		for uuid := range written {
			if !maps.EqualFunc(written[uuid], read[uuid], sameBits) {
				t.Fatalf("series %s: wrote %v, read %v", uuid, written[uuid], read[uuid])
			}
		}
	})
}

// sameBits compares NaN too.
func sameBits(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

func TestAHistoryRefusesSeriesWithoutANameAndTimeThatGoesBack(t *testing.T) {
	h := newHistory()
	if _, err := h.Series(map[string]string{"uuid": "1"}); err == nil || !strings.Contains(err.Error(), "__name__") {
		t.Errorf("no name: %v", err)
	}
	id, err := h.Series(map[string]string{"__name__": "g"})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := h.Series(map[string]string{"__name__": "g"}); err != nil || again != id {
		t.Errorf("the same series again: %v %v, expected %v", again, err, id)
	}
	if err := h.Append(id, 1000, 1); err != nil {
		t.Fatal(err)
	}
	for _, at := range []rental.Millis{1000, 999} {
		if err := h.Append(id, at, 1); err == nil || !strings.Contains(err.Error(), "does not come after") {
			t.Errorf("at %d: %v", at, err)
		}
	}
	if h.samples != 1 {
		t.Errorf("%d samples, expected the refused ones left out", h.samples)
	}
}

func FuzzOpenMetrics(f *testing.F) {
	f.Add("# TYPE g gauge\ng{uuid=\"1\"} 1 1777000000.5\n# EOF\n")
	f.Add("g 1\n# EOF\n")
	f.Add("g{a=\"\\\"\"} NaN 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		h := newHistory()
		err := readOpenMetrics(t.Context(), strings.NewReader(text), h)
		if err != nil && !strings.Contains(err.Error(), "line ") {
			t.Errorf("%v does not name a line", err)
		}
	})
}
