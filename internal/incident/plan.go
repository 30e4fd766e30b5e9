package incident

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// steps is what a look at the outbox comes to.
type steps struct {
	start      []rental.Delivery // at most one a route
	joined     []rental.Delivery // now say what the superseded ones would have said
	superseded []rental.Delivery
	next       rental.Millis // when something else may be sent; 0 where nothing waits for time
}

// plan decides what is sent now. In a lane the post goes first and everything waits for it;
// of several updates only the newest goes, of several replies one that says them all. Of the
// lanes of a route the worst severity goes first, a new message before an edit, the oldest
// first, and details when nothing else waits.
func (o *Outbox) plan(pending []rental.Delivery, now rental.Millis) steps {
	var s steps
	list := slices.Clone(pending)
	slices.SortFunc(list, func(a, b rental.Delivery) int {
		return cmp.Or(cmp.Compare(a.Route, b.Route), cmp.Compare(a.Incident, b.Incident), cmp.Compare(a.ID, b.ID))
	})
	o.forget(list)
	best := map[string]rental.Delivery{}
	for len(list) > 0 {
		key := laneOf(list[0])
		end := slices.IndexFunc(list, func(d rental.Delivery) bool { return laneOf(d) != key })
		if end < 0 {
			end = len(list)
		}
		inLane := list[:end]
		list = list[end:]
		if o.busy[key.route] {
			continue // what is under way must not be superseded from under it
		}
		for _, d := range o.heads(key, inLane, &s) {
			if at := o.limits.allowedAt(d, now); at > now {
				s.look(at)
			} else if first, ok := best[key.route]; !ok || order(d, first) < 0 {
				best[key.route] = d
			}
		}
	}
	s.start = slices.SortedFunc(maps.Values(best), order)
	return o.withinUpdateLimit(s, now)
}

// look asks for another look at the moment.
func (s *steps) look(at rental.Millis) {
	if s.next == 0 || at < s.next {
		s.next = at
	}
}

// order compares what may go now: less goes first.
func order(a, b rental.Delivery) int {
	return cmp.Or(
		cmp.Compare(boolRank(isDetails(a)), boolRank(isDetails(b))),
		cmp.Compare(phrase.SeverityRank(a.Severity), phrase.SeverityRank(b.Severity)),
		cmp.Compare(kindRank(a.Kind), kindRank(b.Kind)),
		cmp.Compare(a.ID, b.ID))
}

func laneOf(d rental.Delivery) lane { return lane{d.Route, d.Incident} }

// withinUpdateLimit holds back edits beyond the limit that all routes share.
func (o *Outbox) withinUpdateLimit(s steps, now rental.Millis) steps {
	free := o.limits.freeUpdates(now)
	s.start = slices.DeleteFunc(s.start, func(d rental.Delivery) bool {
		if d.Kind != kindUpdate {
			return false
		}
		free--
		if free < 0 {
			s.look(now + 100)
		}
		return free < 0
	})
	return s
}

// heads returns what may go next in a lane, and adds to the steps what a newer entry makes needless.
func (o *Outbox) heads(key lane, list []rental.Delivery, s *steps) []rental.Delivery {
	var post *rental.Delivery
	var updates, threads, heads []rental.Delivery
	for i, d := range list {
		switch {
		case d.Kind == kindPost:
			post = &list[i]
		case isDetails(d):
			heads = append(heads, d)
		case post != nil && post.Started == 0, // the post will show all that is known when it goes
			d.Kind == kindUpdate && d.Revision <= o.told[key],
			d.Kind == kindThread && d.Revision <= o.posted[key]:
			s.superseded = append(s.superseded, d)
		case d.Kind == kindUpdate:
			updates = append(updates, d)
		default:
			threads = append(threads, d)
		}
	}
	if post != nil && raise(post, s.superseded) {
		s.joined = append(s.joined, *post)
	}
	if last := len(updates) - 1; last >= 0 {
		s.superseded = append(s.superseded, updates[:last]...)
		heads = append(heads, updates[last])
	}
	if len(threads) > 0 {
		heads = append(heads, join(threads, s))
	}
	if post != nil {
		return []rental.Delivery{*post}
	}
	return heads
}

// raise gives a first message that still waits the worst severity of the news that it will tell, so
// that quiet hours do not hold what became a page, and it overtakes as one.
func raise(post *rental.Delivery, news []rental.Delivery) (raised bool) {
	for _, d := range news {
		if laneOf(d) == laneOf(*post) && phrase.SeverityRank(d.Severity) < phrase.SeverityRank(post.Severity) {
			post.Severity, raised = d.Severity, true
		}
	}
	return raised
}

// join makes one reply of several. One that may have arrived keeps its words until that is known.
func join(threads []rental.Delivery, s *steps) rental.Delivery {
	first, rest := threads[0], threads[1:]
	if len(rest) == 0 || first.Started != 0 {
		return first
	}
	last := rest[len(rest)-1]
	for _, d := range threads[:len(threads)-1] {
		last.Text = union(d.Text, last.Text)
	}
	s.joined = append(s.joined, last)
	s.superseded = append(s.superseded, threads[:len(threads)-1]...)
	return last
}

// forget drops what is known of lanes with nothing pending and an old word, so that memory
// stays bounded. A forgotten lane costs at most one needless update.
func (o *Outbox) forget(pending []rental.Delivery) {
	const most = 10_000
	if len(o.told) <= most {
		return
	}
	needed := make(map[lane]bool, len(pending))
	for _, d := range pending {
		needed[laneOf(d)] = true
	}
	for key := range o.told {
		if !needed[key] {
			delete(o.told, key)
			delete(o.posted, key)
		}
	}
}

// union joins two lists of fingerprints, each once, in order.
func union(a, b string) string {
	var list []string
	for name := range strings.FieldsSeq(a + " " + b) {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return strings.Join(list, " ")
}

// isDetails tells whether the delivery is the reply that gives a new message's details.
func isDetails(d rental.Delivery) bool { return d.Kind == kindThread && d.Text == "" }

func boolRank(last bool) int {
	if last {
		return 1
	}
	return 0
}

func kindRank(kind string) int {
	switch kind {
	case kindPost:
		return 0
	case kindThread:
		return 1
	default:
		return 2
	}
}
