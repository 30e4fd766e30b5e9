package push

import (
	"fmt"

	"github.com/prometheus/prometheus/prompb"
)

// merge makes one batch of several: a message after another is one message that has the fields of
// both, and a request is nothing but a repeated field.
func merge(batches []Batch) Batch {
	var all Batch
	for _, b := range batches {
		all.body = append(all.body, b.body...)
		all.samples += b.samples
	}
	return all
}

// halves cuts a batch in two, for a receiver to which the whole is too much. The second is false
// where a batch is a single series, or cannot be read.
func (b Batch) halves() ([2]Batch, bool) {
	var whole prompb.WriteRequest
	if err := whole.Unmarshal(b.body); err != nil || len(whole.Timeseries) < 2 {
		return [2]Batch{}, false
	}
	middle := len(whole.Timeseries) / 2
	var cut [2]Batch
	for i, part := range [][]prompb.TimeSeries{whole.Timeseries[:middle], whole.Timeseries[middle:]} {
		half, err := encodeSeries(part)
		if err != nil {
			return [2]Batch{}, false
		}
		cut[i] = half
	}
	return cut, true
}

// encodeSeries makes a batch of series.
func encodeSeries(series []prompb.TimeSeries) (Batch, error) {
	request := prompb.WriteRequest{Timeseries: series}
	body, err := request.Marshal()
	if err != nil {
		return Batch{}, fmt.Errorf("encoding a batch: %w", err)
	}
	b := Batch{body: body}
	for _, s := range series {
		b.samples += len(s.Samples)
	}
	return b, nil
}
