package paging

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/alertmanager/silence"
	"github.com/prometheus/alertmanager/silence/silencepb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// ErrNoSilence tells that a silence does not exist or has ended.
var ErrNoSilence = errors.New("no such silence")

// Silence mutes the alerts whose labels equal all the matchers from now until the given time, and
// returns its id. It is stored before this returns. An alert that is silenced stays in its group.
func (p *Pager) Silence(ctx context.Context, matchers map[string]string, until time.Time, by, comment string) (id string, err error) {
	if len(matchers) == 0 {
		return "", errors.New("silence: no matchers: expected at least one label, such as subject")
	}
	var all []*silencepb.Matcher
	for _, name := range sortedNames(matchers) {
		all = append(all, &silencepb.Matcher{Type: silencepb.Matcher_EQUAL, Name: name, Pattern: matchers[name]})
	}
	s := &silencepb.Silence{
		MatcherSets: []*silencepb.MatcherSet{{Matchers: all}},
		EndsAt:      timestamppb.New(until), CreatedBy: by, Comment: comment,
	}
	if err := p.silences.Set(ctx, s); err != nil {
		return "", fmt.Errorf("silence: %w", err)
	}
	return s.Id, nil
}

// ProlongSilence moves the end of a silence that still mutes. Errors: ErrNoSilence.
func (p *Pager) ProlongSilence(ctx context.Context, id string, until time.Time) error {
	found, _, err := p.silences.Query(ctx, silence.QIDs(id), silence.QState(silence.SilenceStateActive))
	if err != nil {
		return fmt.Errorf("silence %q: %w", id, err)
	}
	if len(found) == 0 {
		return fmt.Errorf("%w: %q", ErrNoSilence, id)
	}
	longer := proto.CloneOf(found[0])
	longer.EndsAt = timestamppb.New(until)
	if err := p.silences.Set(ctx, longer); err != nil {
		return fmt.Errorf("silence %q: %w", id, err)
	}
	return nil
}

// ExpireSilence ends a silence now. Errors: ErrNoSilence.
func (p *Pager) ExpireSilence(ctx context.Context, id string) error {
	err := p.silences.Expire(ctx, id)
	if errors.Is(err, silence.ErrNotFound) {
		return fmt.Errorf("%w: %q", ErrNoSilence, id)
	}
	return err
}

// ActiveSilences returns when each silence that mutes now will end, by its id.
func (p *Pager) ActiveSilences(ctx context.Context) (map[string]time.Time, error) {
	found, _, err := p.silences.Query(ctx, silence.QState(silence.SilenceStateActive))
	if err != nil {
		return nil, fmt.Errorf("silences: %w", err)
	}
	ends := make(map[string]time.Time, len(found))
	for _, s := range found {
		ends[s.GetId()] = s.GetEndsAt().AsTime()
	}
	return ends, nil
}
