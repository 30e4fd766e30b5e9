package slack

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// eventType names our metadata on a message.
const eventType = "leasewatch_incident"

// The kinds of a delivery.
const (
	kindPost   = "post"
	kindUpdate = "update"
)

// Send posts an incident, edits its message in place, or answers below it. Where Slack finds
// the blocks unfit, the text alone is sent: a page without layout is better than none. Its
// errors are *Failure.
func (s *Slack) Send(ctx context.Context, d rental.Delivery, inc rental.Incident) (rental.MessageRef, error) {
	channel := strings.TrimPrefix(d.Route, routePrefix)
	known := inc.Messages[d.Route]
	if known.Channel != "" {
		channel = known.Channel
	}
	m := s.render(ctx, channel, d, inc)
	ref, err := s.call(ctx, channel, known.ID, d, inc, m)
	var f *Failure
	if errors.As(err, &f) && f.unfit() {
		s.o.Logger.Error("slack finds a message unfit; its text is sent alone", "incident", inc.ID, "err", err)
		m.blocks = nil
		return s.call(ctx, channel, known.ID, d, inc, m)
	}
	return ref, err
}

// call makes the one request.
func (s *Slack) call(ctx context.Context, channel, ts string, d rental.Delivery, inc rental.Incident, m message) (rental.MessageRef, error) {
	options := []slackgo.MsgOption{
		slackgo.MsgOptionText(m.fallback, false),
		slackgo.MsgOptionBlocks(m.blocks...),
		slackgo.MsgOptionParse(false),
		slackgo.MsgOptionLinkNames(false),
		slackgo.MsgOptionDisableMarkdown(),
		slackgo.MsgOptionDisableLinkUnfurl(),
		slackgo.MsgOptionDisableMediaUnfurl(),
		slackgo.MsgOptionMetadata(slackgo.SlackMetadata{EventType: eventType, EventPayload: map[string]any{
			"incident": inc.ID, "revision": inc.Revision, "delivery": strconv.FormatInt(d.ID, 10), "kind": d.Kind,
		}}),
	}
	method := "chat.postMessage"
	var channelOut, tsOut string
	var err error
	switch d.Kind {
	case kindUpdate:
		method = "chat.update"
		options = append(options, slackgo.MsgOptionAttachments([]slackgo.Attachment{}...))
		channelOut, tsOut, _, err = s.client.UpdateMessageContext(ctx, channel, ts, options...)
	case kindPost:
		channelOut, tsOut, err = s.client.PostMessageContext(ctx, channel, options...)
	default:
		channelOut, tsOut, err = s.client.PostMessageContext(ctx, channel, append(options, slackgo.MsgOptionTS(ts))...)
	}
	if err != nil {
		return rental.MessageRef{}, s.failure(method, err)
	}
	if tsOut == "" {
		return rental.MessageRef{}, s.failure(method, errors.New("the answer has no ts: expected the message's place"))
	}
	return rental.MessageRef{Channel: channelOut, ID: tsOut}, nil
}

// findPages bounds how far back Find reads; at 100 messages a page.
const findPages = 10

// Find looks for the message of an earlier try by its metadata, from shortly before the try
// began: a post in the channel, a reply in the incident's thread. An update is never looked
// for: it can be made again. Its errors are *Failure.
func (s *Slack) Find(ctx context.Context, d rental.Delivery, inc rental.Incident) (rental.MessageRef, bool, error) {
	const skew = 2 * time.Minute // between Slack's clock and ours
	oldest := d.Started.Time().Add(-skew)
	from := fmt.Sprintf("%d.%06d", oldest.Unix(), oldest.Nanosecond()/1000)
	channel, thread := strings.TrimPrefix(d.Route, routePrefix), ""
	if known := inc.Messages[d.Route]; d.Kind != kindPost {
		channel, thread = known.Channel, known.ID
	}
	cursor := ""
	for range findPages {
		messages, next, err := s.page(ctx, channel, thread, from, cursor)
		if err != nil {
			return rental.MessageRef{}, false, err
		}
		for _, m := range messages {
			if isDelivery(m.Metadata, d, inc) {
				return rental.MessageRef{Channel: channel, ID: m.Timestamp}, true, nil
			}
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	return rental.MessageRef{}, false, nil
}

func (s *Slack) page(ctx context.Context, channel, thread, from, cursor string) ([]slackgo.Message, string, error) {
	const limit = 100
	if thread != "" {
		messages, _, next, err := s.client.GetConversationRepliesContext(ctx, &slackgo.GetConversationRepliesParameters{
			ChannelID: channel, Timestamp: thread, Oldest: from, Cursor: cursor, Limit: limit, IncludeAllMetadata: true,
		})
		if err != nil {
			return nil, "", s.failure("conversations.replies", err)
		}
		return messages, next, nil
	}
	answer, err := s.client.GetConversationHistoryContext(ctx, &slackgo.GetConversationHistoryParameters{
		ChannelID: channel, Oldest: from, Cursor: cursor, Limit: limit, IncludeAllMetadata: true,
	})
	if err != nil {
		return nil, "", s.failure("conversations.history", err)
	}
	return answer.Messages, answer.ResponseMetaData.NextCursor, nil
}

// isDelivery tells whether the metadata is of this delivery's message. A post that has been
// edited since carries the edit's delivery, but still its incident.
func isDelivery(m slackgo.SlackMetadata, d rental.Delivery, inc rental.Incident) bool {
	if m.EventType != eventType || m.EventPayload["incident"] != inc.ID {
		return false
	}
	if d.Kind == kindPost {
		return m.EventPayload["kind"] == kindPost || m.EventPayload["kind"] == kindUpdate
	}
	return m.EventPayload["delivery"] == strconv.FormatInt(d.ID, 10)
}
