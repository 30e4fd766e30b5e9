package push

import (
	"context"
	"sync"
	"time"
)

// urgentTimeout bounds one request beside the queue: what takes longer is no faster than the queue.
const urgentTimeout = 5 * time.Second

// maxUrgentBytes bounds what waits for its turn beside the queue: the events of every card of a
// host are some 100 KiB.
const maxUrgentBytes = 4 << 20

// urgent sends batches beside the queue, each once. One request is under way at a time; what comes
// meanwhile goes together in the next, so that eight cards that fail at once are two requests.
type urgent struct {
	send func(context.Context, Batch)

	ctx    context.Context
	cancel context.CancelFunc
	under  sync.WaitGroup

	mu      sync.Mutex
	sending bool
	waiting []Batch
	bytes   int // of those that wait
}

func newUrgent(send func(context.Context, Batch)) *urgent {
	u := &urgent{send: send}
	u.ctx, u.cancel = context.WithCancel(context.Background())
	return u
}

// add takes a batch. It never waits. Where too much waits already, the oldest of it goes: the newest
// tells how things are.
func (u *urgent) add(b Batch) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.waiting, u.bytes = append(u.waiting, b), u.bytes+len(b.body)
	for u.bytes > maxUrgentBytes && len(u.waiting) > 1 {
		u.bytes -= len(u.waiting[0].body)
		u.waiting = u.waiting[1:]
	}
	if !u.sending {
		u.sending = true
		u.under.Go(u.work)
	}
}

// work sends until nothing waits.
func (u *urgent) work() {
	for {
		b, ok := u.take()
		if !ok {
			return
		}
		ctx, cancel := context.WithTimeout(u.ctx, urgentTimeout)
		u.send(ctx, b)
		cancel()
	}
}

// take gives all that waits as one batch, or notes that nothing does.
func (u *urgent) take() (Batch, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.waiting) == 0 || u.ctx.Err() != nil {
		u.sending = false
		return Batch{}, false
	}
	b := merge(u.waiting)
	u.waiting, u.bytes = nil, 0
	return b, true
}

// close cuts off the request under way.
func (u *urgent) close() {
	u.cancel()
	u.under.Wait()
}
