package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// OnCallQuery chooses a moment and how far to look ahead; its zero value is now, with the turn
// after the present one.
type OnCallQuery struct {
	At rental.Millis
	// Turns is how many turns of each rotation are told, that of the moment included; 0 is 2.
	Turns int
}

// OnCall is who is on call at a moment.
type OnCall struct {
	At        rental.Millis    `json:"at"`
	Rotations []OnCallRotation `json:"rotations"`
	// Ladder is whom a page that opens at the moment calls, the first call first.
	Ladder []OnCallStep `json:"ladder"`
	// RepeatSeconds is how long after the last call a page is told again that nobody has it.
	RepeatSeconds int64 `json:"repeat_seconds"`
}

// OnCallRotation is one rotation with its turns, that of the moment first.
type OnCallRotation struct {
	Name  string       `json:"name"`
	Zone  string       `json:"zone"`
	Turns []OnCallTurn `json:"turns"`
}

// OnCallTurn is the half-open span in which one person is on call.
type OnCallTurn struct {
	Person string        `json:"person"`
	Shown  string        `json:"shown" doc:"How people read the person's name."`
	Start  rental.Millis `json:"start"`
	End    rental.Millis `json:"end"`
	// Override tells that the person stands in for whoever has the turn.
	Override bool `json:"override,omitempty"`
}

// OnCallStep is one call of the ladder.
type OnCallStep struct {
	AfterSeconds int64 `json:"after_seconds" doc:"How long a page may be open, with nobody having it, before this call."`
	// Person is empty where the way is a receiver for all.
	Person string `json:"person,omitempty"`
	Shown  string `json:"shown"`
	Way    string `json:"way" doc:"slack, or a receiver of the routing file."`
}

// SilenceIncident mutes an incident for a time, or until it is fixed.
type SilenceIncident struct {
	Minutes    int  `json:"minutes,omitempty" maximum:"10080" minimum:"0" doc:"For how long; at most a week."`
	UntilFixed bool `json:"until_fixed,omitempty" doc:"Until its alerts end, in place of minutes."`
}

// NoteIncident adds a person's words to the timeline of an incident.
type NoteIncident struct {
	Note string `json:"note" minLength:"1" maxLength:"2000"`
}

// OnCall returns who is on call; ErrNotFound where no schedule is configured.
func (c *Client) OnCall(ctx context.Context, q OnCallQuery) (OnCall, error) {
	v := url.Values{}
	setTime(v, "at", q.At)
	if q.Turns > 0 {
		v.Set("turns", strconv.Itoa(q.Turns))
	}
	var out OnCall
	return out, c.get(ctx, v, &out, "oncall")
}

// SilenceIncident mutes an incident in the caller's name, who then has it in hand.
func (c *Client) SilenceIncident(ctx context.Context, id string, in SilenceIncident) (rental.Incident, error) {
	var out rental.Incident
	return out, c.post(ctx, in, &out, "incidents", id, "silence")
}

// EscalateIncident calls the next step of the ladder at once.
func (c *Client) EscalateIncident(ctx context.Context, id string) (rental.Incident, error) {
	var out rental.Incident
	return out, c.post(ctx, struct{}{}, &out, "incidents", id, "escalate")
}

// NoteIncident adds to an incident's timeline; it tells nobody.
func (c *Client) NoteIncident(ctx context.Context, id string, in NoteIncident) (rental.Incident, error) {
	var out rental.Incident
	return out, c.post(ctx, in, &out, "incidents", id, "note")
}

// ExportIncident returns an incident as Markdown in lang, en or zh; en where it is empty.
func (c *Client) ExportIncident(ctx context.Context, id, lang string) ([]byte, error) {
	v := url.Values{}
	set(v, "lang", lang)
	return c.do(ctx, request{method: http.MethodGet, path: []string{"incidents", id, "export"}, query: v})
}
