package portal

import (
	"net/http"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/phrase"
)

// scorecardBody is what a provider's scorecard shows.
type scorecardBody struct {
	Provider string
	Months   months
	Heads    scoreRow // the heads of the columns; Name is the first's
	Rows     []scoreRow
	Note     string
}

type scoreRow struct {
	Name, Value, Coverage, Source, At string
	Measured, Stale                   bool
}

func (p *portal) scorecard(r *http.Request, pg *page) error {
	provider, present := r.PathValue("name"), p.opts.Now().UTC().Format("2006-01")
	month, err := chosenMonth(r, present)
	if err != nil {
		return err
	}
	card, err := p.opts.API.Scorecard(r.Context(), api.SLAQuery{Provider: provider, Period: api.Period{Month: month}})
	if err != nil {
		return err
	}
	say := pg.Say
	pg.Template, pg.Section = "scorecard", "leases"
	pg.Title = say.Say(phrase.ScoreTitle, card.Provider)
	pg.Heading = say.Say(phrase.ScoreHeading, card.Provider, month)
	measured := 0
	body := scorecardBody{Note: say.Say(phrase.ScoreNote), Provider: card.Provider, Months: monthsBefore(month, present)}
	body.Heads = scoreRow{Name: say.Say(phrase.ScoreHeadName), Value: say.Say(phrase.ScoreHeadValue), Coverage: say.Say(phrase.ScoreHeadCover),
		Source: say.Say(phrase.ScoreHeadFrom), At: say.Say(phrase.ScoreHeadAt)}
	for _, f := range card.Figures {
		row := scoreRow{Name: say.ScoreName(f), Value: say.ScoreValue(f), Coverage: say.ScoreCoverage(f), Source: say.ScoreSource(f), Measured: f.Measured, Stale: f.Stale}
		if f.Measured {
			measured++
			row.At = say.Time(f.At, time.UTC)
		}
		if f.Stale {
			row.At = say.Say(phrase.ScoreStale, row.At)
		}
		body.Rows = append(body.Rows, row)
	}
	pg.Answer = say.Say(phrase.ScoreAnswer, card.Provider, say.Time(card.Period.Start, time.UTC), say.Time(card.Period.End, time.UTC), len(card.Leases), measured, len(card.Figures))
	if card.Tenant != "" {
		pg.Lead = say.Say(phrase.ScoreTenant, card.Tenant)
	}
	pg.Body = body
	return nil
}
