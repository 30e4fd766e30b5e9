package monitor

import (
	"context"
	"errors"

	"github.com/prometheus/prometheus/model/exemplar"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
)

// replayable accepts a sample for a moment that already has one, and keeps the first. A sender that
// lost the answer to a batch sends it again; to refuse it would make the sender drop the whole batch.
type replayable struct{ store storage.AppendableV2 }

// AppenderV2 returns an appender that ignores duplicates.
func (r replayable) AppenderV2(ctx context.Context) storage.AppenderV2 {
	return replayAppender{r.store.AppenderV2(ctx), senderOf(ctx)}
}

type replayAppender struct {
	storage.AppenderV2

	sender *sender
}

var _ storage.ExemplarAppenderV2 = replayAppender{}

// Append appends the sample, or nothing where one with the same time is there or the sender may not tell it.
func (a replayAppender) Append(ref storage.SeriesRef, ls labels.Labels, st, t int64, v float64, h *histogram.Histogram, fh *histogram.FloatHistogram, opts storage.AppendV2Options) (storage.SeriesRef, error) {
	if keep, err := a.sender.allows(ls, t); err != nil || !keep {
		return ref, err
	}
	got, err := a.AppenderV2.Append(ref, ls, st, t, v, h, fh, opts)
	if errors.Is(err, storage.ErrDuplicateSampleForTimestamp) {
		return got, nil
	}
	return got, err
}

// AppendExemplars drops exemplars: the store keeps none.
func (replayAppender) AppendExemplars(ref storage.SeriesRef, _ labels.Labels, _ []exemplar.Exemplar) (storage.SeriesRef, error) {
	return ref, nil
}
