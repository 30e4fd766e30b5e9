package slack

import (
	"slices"
	"strings"

	slackgo "github.com/slack-go/slack"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// words are what the text of a thread delivery asks for.
type words struct {
	alerts      []string // fingerprints
	users       []string // to call
	last, again bool
}

func readWords(text string) words {
	var w words
	for word := range strings.FieldsSeq(text) {
		switch user, call := strings.CutPrefix(word, rental.CallPrefix); {
		case call && Mention(user):
			w.users = append(w.users, user)
		case call:
		case word == rental.CallLast:
			w.last = true
		case word == rental.CallAgain:
			w.again = true
		default:
			w.alerts = append(w.alerts, word)
		}
	}
	return w
}

// reply says below the message what got worse or that nobody has it, and calls whoever should.
func (w writer) reply() message {
	asked := readWords(w.d.Text)
	calling := asked.last || asked.again || len(asked.users) > 0
	var sections []slackgo.RichTextElement
	var texts []string
	if len(asked.alerts) > 0 || !calling {
		text, list := w.worse(asked.alerts)
		texts, sections = append(texts, text), append(sections, section(bold(text)))
		if list != nil {
			sections = append(sections, list)
		}
	}
	if calling {
		text := w.calling(asked)
		texts, sections = append(texts, text), append(sections, section(bold(text)))
	}
	blocks := []slackgo.Block{slackgo.NewRichTextBlock(w.blockID("reply"), sections...)}
	calls := w.mentions()
	if calling {
		calls = w.called(asked)
	}
	if len(calls) > 0 {
		blocks = append(blocks, slackgo.NewRichTextBlock(w.blockID("call"), section(calls...)))
	}
	if w.d.Repeat {
		blocks = append(blocks, slackgo.NewContextBlock(w.blockID("context"), plainObject(w.p.Say(phrase.SlackRepeat))))
	}
	return message{blocks: blocks, fallback: w.fallback(texts)}
}

// worse says which alerts made the incident worse, and lists them where there are several.
func (w writer) worse(wanted []string) (text string, list slackgo.RichTextElement) {
	about := slices.DeleteFunc(slices.Clone(w.inc.Alerts), func(a rental.Alert) bool {
		return !slices.Contains(wanted, a.Fingerprint)
	})
	if len(about) == 0 {
		about = w.inc.Alerts
	}
	key := phrase.SlackWorsened
	for _, event := range w.inc.Events {
		switch event.Kind {
		case "reopened":
			key = phrase.SlackReopened
		case "worsened":
			key = phrase.SlackWorsened
		case "heard":
			key = phrase.SlackHeard
		}
	}
	if len(about) > 1 {
		list = w.list(phrase.Lead(about, w.now))
	}
	return w.p.Say(key, cut(clean(w.p.Headline(about, w.now)), maxHeadline)), list
}

// calling says why people are called.
func (w writer) calling(asked words) string {
	open := w.p.Duration(int64(w.now - max(w.inc.OpenedAt, w.inc.PagedAt)))
	switch {
	case w.inc.Status != rental.IncidentOpen:
		return w.p.Say(phrase.SlackCallBeside, cut(w.shown(w.inc.AckedBy), maxLine))
	case asked.last:
		return w.p.Say(phrase.SlackCallLast, open)
	case asked.again:
		return w.p.Say(phrase.SlackCallAgain, open)
	}
	return w.p.Say(phrase.SlackCall, open)
}

// called mentions whom a call is meant for; the last one calls the whole channel, and one that
// names nobody whoever a page calls. What is over calls nobody.
func (w writer) called(asked words) []slackgo.RichTextSectionElement {
	if !w.open() || w.quiet() {
		return nil
	}
	var calls []slackgo.RichTextSectionElement
	if asked.last && w.s.o.Mention != "none" {
		calls = append(calls, slackgo.NewRichTextSectionBroadcastElement("channel"))
	}
	calls = append(calls, callUsers(asked.users)...)
	if len(calls) == 0 {
		return w.mentions()
	}
	return calls
}

// mentions calls the person who has the incident, else whoever is on call, else whoever the options
// name; none where nobody is to be called.
func (w writer) mentions() []slackgo.RichTextSectionElement {
	if w.quiet() {
		return nil
	}
	for id, person := range w.s.o.People {
		if w.inc.AckedBy != "" && (person.Name == w.inc.AckedBy || person.Name == w.s.o.Shown(w.inc.AckedBy)) {
			return callUsers([]string{id})
		}
	}
	if w.s.o.OnCall != nil {
		if users := w.s.o.OnCall(); len(users) > 0 {
			return callUsers(users)
		}
	}
	switch whom := w.s.o.Mention; {
	case whom == "none":
		return nil
	case whom == "here" || whom == "channel":
		return []slackgo.RichTextSectionElement{slackgo.NewRichTextSectionBroadcastElement(whom)}
	case strings.HasPrefix(whom, "S"):
		return []slackgo.RichTextSectionElement{slackgo.NewRichTextSectionUserGroupElement(whom)}
	default:
		return callUsers([]string{whom})
	}
}

// quiet tells whether the incident calls nobody: it is no page, or a drill.
func (w writer) quiet() bool { return w.inc.Severity != rental.Page || w.inc.Drill }

func callUsers(ids []string) []slackgo.RichTextSectionElement {
	var calls []slackgo.RichTextSectionElement
	for i, id := range ids {
		if i > 0 {
			calls = append(calls, plain(" "))
		}
		calls = append(calls, slackgo.NewRichTextSectionUserElement(id, nil))
	}
	return calls
}
