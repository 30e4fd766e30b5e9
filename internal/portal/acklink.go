package portal

import (
	"errors"
	"net/http"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// AckPath begins the address of a link to acknowledge.
const AckPath = "/ack/"

// Why a link is no link.
var (
	ErrLinkForged  = errors.New("no link of this server")
	ErrLinkExpired = errors.New("the link has expired")
)

// ackLinkBody is what the page of a link shows: a form where there is something to do.
type ackLinkBody struct {
	Ask         bool
	Why, Button string
}

// ackLink shows what a link would do. It changes nothing: programs that look at mail open links.
func (p *portal) ackLink(w http.ResponseWriter, r *http.Request) {
	inc, by, err := p.opts.Links.Look(r.Context(), r.PathValue("link"))
	p.showAckLink(w, r, inc, by, err, false)
}

// useAckLink acknowledges by the link, once.
func (p *portal) useAckLink(w http.ResponseWriter, r *http.Request) {
	inc, by, err := p.opts.Links.Use(r.Context(), r.PathValue("link"))
	p.showAckLink(w, r, inc, by, err, true)
}

func (p *portal) showAckLink(w http.ResponseWriter, r *http.Request, inc rental.Incident, by string, err error, used bool) {
	pg := p.blank(w, r)
	say, body := pg.Say, ackLinkBody{}
	w.Header().Set("Referrer-Policy", "no-referrer") // the address is a secret
	w.Header().Set("X-Robots-Tag", "noindex")
	switch {
	case errors.Is(err, ErrLinkForged):
		pg.Code, pg.Heading = http.StatusNotFound, say.Say(phrase.AckForged)
	case errors.Is(err, ErrLinkExpired):
		pg.Code, pg.Heading = http.StatusGone, say.Say(phrase.AckExpired)
	case errors.Is(err, rental.ErrUsed):
		pg.Code, pg.Heading = http.StatusGone, say.Say(phrase.AckUsed)
	case errors.Is(err, rental.ErrOver):
		pg.Code, pg.Heading = http.StatusGone, say.Say(phrase.AckOver, inc.ID)
	case err != nil:
		p.opts.Log.Error("a link to acknowledge could not be followed", "incident", inc.ID, "err", err)
		pg.Code, pg.Heading = http.StatusServiceUnavailable, say.Say(phrase.AckUnavailable)
	case inc.Status == rental.IncidentAcked && used && inc.AckedBy == by:
		pg.Heading = say.Say(phrase.AckDone, inc.ID, by)
	case inc.Status == rental.IncidentAcked:
		pg.Heading = say.Say(phrase.AckTaken, inc.ID, inc.AckedBy)
	default:
		pg.Heading, pg.Answer = say.Say(phrase.AckAsk, inc.ID), headline(say, inc, rental.At(p.opts.Now()))
		body = ackLinkBody{Ask: true, Why: say.Say(phrase.AckWhy, by), Button: say.Say(phrase.AckButton, by)}
	}
	pg.Template, pg.Title, pg.Body = "acklink", pg.Heading, body
	p.write(w, r, pg)
}
