package monitor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
)

// stagePrefix begins the name of a folder with blocks that are not yet part of the store.
const stagePrefix = "backfill."

// stage is a folder beside the store's blocks where history is written, completed with what the
// rules record of it, and from which it is published at once: a failed backfill leaves nothing.
type stage struct {
	dir       string
	logger    *slog.Logger
	compactor *tsdb.LeveledCompactor
	blocks    []*tsdb.Block
}

func newStage(ctx context.Context, dataDir string, logger *slog.Logger) (*stage, error) {
	dir, err := os.MkdirTemp(dataDir, stagePrefix)
	if err != nil {
		return nil, storeError(dataDir, err)
	}
	ranges := tsdb.ExponentialBlockRanges((2 * time.Hour).Milliseconds(), 10, 3)
	compactor, err := tsdb.NewLeveledCompactor(ctx, nil, logger, ranges, nil, nil)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &stage{dir: dir, logger: logger, compactor: compactor}, nil
}

// removeStages removes what a backfill that was killed has left.
func removeStages(dataDir string) error {
	left, err := filepath.Glob(filepath.Join(dataDir, stagePrefix+"*"))
	if err != nil {
		return err
	}
	for _, dir := range left {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

// add writes a history as blocks of the stage.
func (s *stage) add(h *History) error {
	blocks := h.blocks()
	for _, start := range starts(blocks) {
		meta := blocks[start].Meta()
		ids, err := s.compactor.Write(s.dir, blocks[start], meta.MinTime, meta.MaxTime, &meta)
		if err != nil {
			return storeError(s.dir, err)
		}
		for _, id := range ids {
			block, err := tsdb.OpenBlock(s.logger, filepath.Join(s.dir, id.String()), nil, nil)
			if err != nil {
				return fmt.Errorf("reading back a written block: %w", err)
			}
			s.blocks = append(s.blocks, block)
		}
	}
	return nil
}

// publish moves the blocks into the store's folder, those of the same time merged, and returns their names.
func (s *stage) publish(dataDir string) ([]ulid.ULID, error) {
	byStart := map[int64][]string{}
	for _, b := range s.blocks {
		start := blockStart(b.Meta().MinTime)
		byStart[start] = append(byStart[start], b.Dir())
	}
	var moved []ulid.ULID
	for _, dirs := range byStart {
		if len(dirs) > 1 {
			ids, err := s.compactor.Compact(s.dir, dirs, s.blocks)
			if err != nil {
				return nil, storeError(s.dir, err)
			}
			dirs = dirs[:0]
			for _, id := range ids {
				dirs = append(dirs, filepath.Join(s.dir, id.String()))
			}
		}
		for _, dir := range dirs {
			id, err := ulid.Parse(filepath.Base(dir))
			if err != nil {
				return nil, fmt.Errorf("block %s: %w", dir, err)
			}
			moved = append(moved, id)
		}
	}
	if err := s.closeBlocks(); err != nil {
		return nil, err
	}
	for _, id := range moved {
		if err := os.Rename(filepath.Join(s.dir, id.String()), filepath.Join(dataDir, id.String())); err != nil {
			return nil, storeError(dataDir, err)
		}
	}
	return moved, syncDir(dataDir)
}

// close removes the stage with whatever was not published.
func (s *stage) close() error { return errors.Join(s.closeBlocks(), os.RemoveAll(s.dir)) }

func (s *stage) closeBlocks() error {
	var err error
	for _, b := range s.blocks {
		err = errors.Join(err, b.Close())
	}
	s.blocks = nil
	return err
}

// syncDir makes renames in a folder survive a power cut.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// with returns the store's samples together with those of the stage.
func (s *stage) with(db storage.Queryable) storage.Queryable {
	return storage.QueryableFunc(func(mint, maxt int64) (storage.Querier, error) {
		live, err := db.Querier(mint, maxt)
		if err != nil {
			return nil, err
		}
		all := []storage.Querier{live}
		for _, b := range s.blocks {
			if meta := b.Meta(); meta.MinTime > maxt || mint >= meta.MaxTime {
				continue
			}
			querier, err := tsdb.NewBlockQuerier(b, mint, maxt)
			if err != nil {
				return nil, errors.Join(err, closeAll(all))
			}
			all = append(all, querier)
		}
		return storage.NewMergeQuerier(all, nil, storage.ChainedSeriesMerge), nil
	})
}

func closeAll(all []storage.Querier) error {
	var err error
	for _, q := range slices.Backward(all) {
		err = errors.Join(err, q.Close())
	}
	return err
}
