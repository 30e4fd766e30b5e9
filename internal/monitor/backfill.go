package monitor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/oklog/ulid/v2"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
)

// ErrBeyondRetention tells that retention would delete what a backfill wants to write.
var ErrBeyondRetention = errors.New("samples are older than the retention")

// ErrBadHistory tells that the history itself is wrong: text that does not parse, or times that cannot be.
var ErrBadHistory = errors.New("history cannot be read")

// clockSkew is how far ahead of our clock a sample of the past may lie.
const clockSkew = 10 * time.Minute

// BackfillOptions says what WriteHistory and Backfill do beside writing the samples.
type BackfillOptions struct {
	// DryRun checks everything and writes nothing.
	DryRun bool
	// SkipRules leaves the recording rules out.
	SkipRules bool
	// Step is the distance of the recording rules' evaluations; 0 takes the shortest interval of the input.
	Step time.Duration
	// RetentionFlag is how a person sets the retention, for the error that asks for more of it.
	RetentionFlag string
}

// BackfillResult says what was written, or would be in a dry run.
type BackfillResult struct {
	// Span reaches from the first sample to just after the last.
	Span    rental.Span
	Series  int
	Samples int
	// Recorded is how many samples the recording rules added.
	Recorded int
	// Intervals is the shortest distance of two samples of one series, by metric.
	Intervals map[string]time.Duration
}

// Backfill reads OpenMetrics text in which every sample has a timestamp, in order of time within each
// series, and writes it as blocks of the store, together with what the recording rules make of it.
// It works before Start as well as beside the running monitor, and writes all of it or nothing.
// Errors: ErrBadHistory with the line and what was found there, ErrBeyondRetention, ErrNotWritable.
func (m *Monitor) Backfill(ctx context.Context, r io.Reader, o BackfillOptions) (BackfillResult, error) {
	return m.WriteHistory(ctx, o, func(h *History) error { return readOpenMetrics(ctx, r, h) })
}

// WriteHistory writes the samples that fill appends, as Backfill does.
func (m *Monitor) WriteHistory(ctx context.Context, o BackfillOptions, fill func(*History) error) (BackfillResult, error) {
	h := newHistory()
	if err := fill(h); err != nil {
		return BackfillResult{}, err
	}
	result := BackfillResult{Series: len(h.series), Samples: h.samples, Intervals: h.intervals()}
	if h.samples == 0 {
		return result, nil
	}
	result.Span = h.span
	if err := m.checkSpan(h.span, o); err != nil {
		return result, err
	}
	if o.DryRun {
		return result, nil
	}
	m.backfilling.Lock()
	defer m.backfilling.Unlock()
	recorded, err := m.writeStaged(ctx, h, o)
	result.Recorded = recorded
	return result, err
}

// checkSpan refuses times that retention would delete, and times that have not come yet.
func (m *Monitor) checkSpan(span rental.Span, o BackfillOptions) error {
	now := m.opts.Now()
	oldest := now.Add(-m.opts.Retention)
	if first := span.Start.Time(); first.Before(oldest) {
		flag := o.RetentionFlag
		if flag == "" {
			flag = "the retention"
		}
		days := int(now.Sub(first).Hours()/24) + 1
		return fmt.Errorf("%w: the first sample is of %s, and samples before %s are deleted: set %s to at least %dd",
			ErrBeyondRetention, span.Start, rental.At(oldest), flag, days)
	}
	if last := (span.End - 1).Time(); last.After(now.Add(clockSkew)) {
		return fmt.Errorf("%w: the last sample is of %s, which has not come yet: expected seconds since 1970 in UTC", ErrBadHistory, rental.At(last))
	}
	return nil
}

// writeStaged writes, evaluates and publishes; it returns how many samples were recorded.
func (m *Monitor) writeStaged(ctx context.Context, h *History, o BackfillOptions) (recorded int, err error) {
	quiet := slog.New(engineHandler{m.logger.Handler()})
	s, err := newStage(ctx, m.opts.DataDir, quiet)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.add(h); err != nil {
		return 0, err
	}
	if !o.SkipRules {
		if recorded, err = m.recordHistory(ctx, s, h, o.Step); err != nil {
			return 0, err
		}
	}
	ids, err := s.publish(m.opts.DataDir)
	if err != nil {
		return 0, err
	}
	return recorded, m.awaitBlocks(ctx, ids)
}

// awaitBlocks waits until the store has found the blocks, which it looks for each blockReload.
func (m *Monitor) awaitBlocks(ctx context.Context, ids []ulid.ULID) error {
	tick := time.NewTicker(blockReload / 10)
	defer tick.Stop()
	for !m.knowsBlocks(ids) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the history is written, but not yet visible: %w", ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}

// knowsBlocks tells whether the store shows each block, itself or compacted into a larger one.
func (m *Monitor) knowsBlocks(ids []ulid.ULID) bool {
	known := map[ulid.ULID]bool{}
	for _, meta := range m.db.BlockMetas() {
		known[meta.ULID] = true
		for _, parent := range meta.Compaction.Parents {
			known[parent.ULID] = true
		}
	}
	return !slices.ContainsFunc(ids, func(id ulid.ULID) bool { return !known[id] })
}

// readOpenMetrics fills the history from OpenMetrics text.
func readOpenMetrics(ctx context.Context, r io.Reader, h *History) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("reading the history: %w", err)
	}
	parser := textparse.NewOpenMetricsParser(text, labels.NewSymbolTable())
	known := map[string]SeriesID{}
	for line := 1; ; line++ {
		if line%100_000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		entry, err := parser.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && entry == textparse.EntrySeries {
			err = readSample(parser, h, known)
		}
		if err != nil {
			return fmt.Errorf("%w: line %d: %w: found %q", ErrBadHistory, line, err, lineOf(text, line))
		}
	}
}

// readSample appends the sample the parser stands at.
func readSample(parser textparse.Parser, h *History, known map[string]SeriesID) error {
	name, at, v := parser.Series()
	if at == nil {
		return errors.New("the sample has no timestamp: expected NAME{LABELS} VALUE SECONDS")
	}
	id, ok := known[string(name)]
	if !ok {
		var set labels.Labels
		parser.Labels(&set)
		id = h.seriesOf(set)
		known[string(name)] = id
	}
	return h.Append(id, rental.Millis(*at), v)
}

// lineOf returns the line with that number, cut to what a person can read.
func lineOf(text []byte, number int) string {
	const longest = 200
	for range number - 1 {
		_, after, found := bytes.Cut(text, []byte("\n"))
		if !found {
			return "end of file"
		}
		text = after
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	if len(line) == 0 && len(text) == 0 {
		return "end of file"
	}
	return string(line[:min(len(line), longest)])
}
