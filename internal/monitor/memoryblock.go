package monitor

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/oklog/ulid/v2"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/tsdb/index"
	"github.com/prometheus/prometheus/tsdb/tombstones"
)

// memoryBlock shows series in memory to the store's compactor, which writes them as a block:
// to folder, sync and rename is its business. Series are sorted by their labels.
type memoryBlock struct {
	series []memorySeries
	// first and last are the times of the outermost samples.
	first, last int64
}

type memorySeries struct {
	labels labels.Labels
	chunks []chunks.Meta
}

var (
	_ tsdb.BlockReader = (*memoryBlock)(nil)
	_ tsdb.IndexReader = memoryIndex{}
	_ tsdb.ChunkReader = memoryChunks{}
)

// errOnlyWhole tells that a memory block can only be read as a whole, as the compactor does.
var errOnlyWhole = errors.New("a block in memory can only be read whole")

// Index returns the reader of the series.
func (b *memoryBlock) Index() (tsdb.IndexReader, error) { return memoryIndex{b}, nil }

// Chunks returns the reader of the chunks.
func (b *memoryBlock) Chunks() (tsdb.ChunkReader, error) { return memoryChunks{}, nil }

// Tombstones returns none.
func (b *memoryBlock) Tombstones() (tombstones.Reader, error) {
	return tombstones.NewMemTombstones(), nil
}

// Meta describes the block. It says out of order, because the store takes the end of its newest
// in-order block as the point before which its log holds nothing: without the mark a restart after
// a backfill would drop the live samples of that time. It spans its samples and no more: else the one
// of today would overlap what is still to come, and be compacted with each new block.
func (b *memoryBlock) Meta() tsdb.BlockMeta {
	meta := tsdb.BlockMeta{ULID: ulid.Make(), MinTime: b.first, MaxTime: b.last + 1}
	meta.Compaction.SetOutOfOrder()
	return meta
}

// Size is unknown before the block is written.
func (b *memoryBlock) Size() int64 { return 0 }

// memoryIndex lists the series; a reference is the place of a series in the block plus one.
type memoryIndex struct{ block *memoryBlock }

// Symbols returns all label names and values, sorted.
func (x memoryIndex) Symbols() index.StringIter {
	symbols := map[string]struct{}{"": {}}
	for _, s := range x.block.series {
		s.labels.Range(func(l labels.Label) {
			symbols[l.Name] = struct{}{}
			symbols[l.Value] = struct{}{}
		})
	}
	return index.NewStringListIter(slices.Sorted(maps.Keys(symbols)))
}

// Postings returns every series, for the key that asks for all.
func (x memoryIndex) Postings(_ context.Context, name string, values ...string) (index.Postings, error) {
	allName, allValue := index.AllPostingsKey()
	if name != allName || len(values) != 1 || values[0] != allValue {
		return nil, errOnlyWhole
	}
	refs := make([]storage.SeriesRef, len(x.block.series))
	for i := range refs {
		refs[i] = storage.SeriesRef(i + 1)
	}
	return index.NewListPostings(refs), nil
}

// SortedPostings returns the postings: they are sorted.
func (memoryIndex) SortedPostings(p index.Postings) index.Postings { return p }

// Series returns labels and chunks of one series.
func (x memoryIndex) Series(ref storage.SeriesRef, builder *labels.ScratchBuilder, chks *[]chunks.Meta) error {
	if ref == 0 || int(ref) > len(x.block.series) {
		return storage.ErrNotFound
	}
	s := x.block.series[ref-1]
	builder.Assign(s.labels)
	if chks != nil {
		*chks = append((*chks)[:0], s.chunks...)
	}
	return nil
}

// SortedLabelValues is not needed to write a block.
func (memoryIndex) SortedLabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, error) {
	return nil, errOnlyWhole
}

// LabelValues is not needed to write a block.
func (memoryIndex) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, error) {
	return nil, errOnlyWhole
}

// PostingsForLabelMatching is not needed to write a block.
func (memoryIndex) PostingsForLabelMatching(context.Context, string, func(string) bool) index.Postings {
	return index.ErrPostings(errOnlyWhole)
}

// PostingsForAllLabelValues is not needed to write a block.
func (memoryIndex) PostingsForAllLabelValues(context.Context, string) index.Postings {
	return index.ErrPostings(errOnlyWhole)
}

// ShardedPostings is not needed to write a block.
func (memoryIndex) ShardedPostings(index.Postings, uint64, uint64) index.Postings {
	return index.ErrPostings(errOnlyWhole)
}

// LabelNames is not needed to write a block.
func (memoryIndex) LabelNames(context.Context, ...*labels.Matcher) ([]string, error) {
	return nil, errOnlyWhole
}

// LabelNamesFor is not needed to write a block.
func (memoryIndex) LabelNamesFor(context.Context, index.Postings) ([]string, error) {
	return nil, errOnlyWhole
}

// Close has nothing to release.
func (memoryIndex) Close() error { return nil }

// memoryChunks returns the chunks that the index already carries.
type memoryChunks struct{}

// ChunkOrIterable returns the chunk.
func (memoryChunks) ChunkOrIterable(meta chunks.Meta) (chunkenc.Chunk, chunkenc.Iterable, error) {
	return meta.Chunk, nil, nil
}

// Close has nothing to release.
func (memoryChunks) Close() error { return nil }
