package portal

import (
	"context"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// whoIsOnCall names who is on call and until when; empty where no schedule is configured or the
// reader may not know. A schedule that cannot be read does not cost the page.
func (p *portal) whoIsOnCall(ctx context.Context, pg *page) string {
	if !mayAck(pg.Who.Role) {
		return ""
	}
	found, err := p.opts.API.OnCall(ctx, api.OnCallQuery{Turns: 1})
	if err != nil {
		return ""
	}
	var turns []string
	for _, r := range found.Rotations {
		zone, err := rental.LoadZone(r.Zone)
		if err != nil || len(r.Turns) == 0 {
			continue
		}
		turns = append(turns, pg.Say.Say(phrase.PortalOnCallTurn, r.Name, r.Turns[0].Shown, pg.Say.Time(r.Turns[0].End, zone)))
	}
	if len(turns) == 0 {
		return ""
	}
	return pg.Say.Say(phrase.PortalOnCall, strings.Join(turns, " · "))
}

// silence mutes an incident for the minutes that the form names, or until it is fixed.
func (p *portal) silence(r *http.Request, _ *page) error {
	in := api.SilenceIncident{UntilFixed: true}
	if long := r.PostFormValue("for"); long != "fixed" {
		minutes, err := strconv.Atoi(long)
		if err != nil {
			return api.Errorf(http.StatusUnprocessableEntity, "for how long: found %q, expected minutes or fixed", long)
		}
		in = api.SilenceIncident{Minutes: minutes}
	}
	_, err := p.opts.API.SilenceIncident(r.Context(), r.PathValue("id"), in)
	return toIncident(r, err)
}

// escalate calls the next step of the ladder.
func (p *portal) escalate(r *http.Request, _ *page) error {
	_, err := p.opts.API.EscalateIncident(r.Context(), r.PathValue("id"))
	return toIncident(r, err)
}

// note adds to the timeline.
func (p *portal) note(r *http.Request, _ *page) error {
	_, err := p.opts.API.NoteIncident(r.Context(), r.PathValue("id"), api.NoteIncident{Note: strings.TrimSpace(r.PostFormValue("note"))})
	return toIncident(r, err)
}

func toIncident(r *http.Request, err error) error {
	if err != nil {
		return err
	}
	return redirect{to: "/incidents/" + template.URLQueryEscaper(r.PathValue("id"))}
}
