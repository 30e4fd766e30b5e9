package push

import (
	"context"
	"time"
)

// deliver sends one record until the receiver takes it or refuses it for good. It returns
// false when ctx ends first.
func (p *Pusher) deliver(ctx context.Context, r record) bool {
	for parts := p.cut(r.Batch); len(parts) > 0; parts = parts[1:] {
		if !p.deliverPart(ctx, parts[0]) {
			return false
		}
	}
	// Only now: a loss that is counted while nobody hears of it would be old news when somebody does,
	// and be counted again after a restart.
	p.lost.Store(p.reader.lost)
	p.deliveredSeq.Store(r.seq)
	if err := p.reader.at.write(p.config.SpoolDir); err != nil {
		p.spoolErrors.Inc() // a restart sends this record again, nothing is lost
	}
	return true
}

// deliverPart sends a batch, in halves where the receiver finds it too big. A single series that is
// too big waits like any other refusal: the receiver takes nothing then, and its limit is the
// mistake.
func (p *Pusher) deliverPart(ctx context.Context, b Batch) bool {
	backoff := p.config.MinBackoff
	for {
		result := p.sender.send(ctx, b)
		if ctx.Err() != nil && result.outcome != delivered && result.outcome != refused {
			return false
		}
		p.note(result, b)
		if result.outcome == tooBig {
			if cut, ok := b.halves(); ok {
				p.learn(cut[0].samples)
				return p.deliverPart(ctx, cut[0]) && p.deliverPart(ctx, cut[1])
			}
		}
		p.tell(result)
		if result.outcome == delivered || result.outcome == refused {
			return true
		}
		wait := max(result.retryAfter, jitter(backoff))
		backoff = min(2*backoff, p.config.MaxBackoff)
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wait):
		}
	}
}

// learn notes how much the receiver may take at once, so that the next batch is not sent whole first.
func (p *Pusher) learn(samples int) {
	if p.fits == 0 {
		p.config.Log.Warn("the receiver finds a request too big (413): samples go to it in smaller ones")
	}
	p.fits = max(samples, 1)
}

// cut gives a batch in parts that the receiver is known to take.
func (p *Pusher) cut(b Batch) []Batch {
	if p.fits == 0 || b.samples <= p.fits {
		return []Batch{b}
	}
	halves, ok := b.halves()
	if !ok {
		return []Batch{b}
	}
	return append(p.cut(halves[0]), p.cut(halves[1])...)
}
