package plugin

import (
	"context"

	"github.com/grafana/grafana-plugin-sdk-go/data"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// cardsFrame is one row a GPU or MIG instance of a lease: what it cost against how it was used. A
// part of a card has its own share of the price and its own use; both stand beside its profile.
// With a metric chosen it is a numeric frame of that one metric, as alerting needs it.
func cardsFrame(ctx context.Context, client *api.Client, q Query, span rental.Span) (*data.Frame, error) {
	usage, err := client.Usage(ctx, q.Lease, api.Period{Span: span}, api.StepDay)
	if err != nil {
		return nil, err
	}
	n := len(usage.Cards)
	texts, numbers := cardColumns(n, usage.Currency)
	for i, card := range usage.Cards {
		for f, value := range []string{card.UUID, card.Card, card.Profile} {
			texts[f].Set(i, value)
		}
		values, err := cardValues(card)
		if err != nil {
			return nil, err
		}
		for f := range numbers {
			numbers[f].Set(i, values[f])
		}
	}
	kind := data.FrameTypeTable
	if q.Metric != "" {
		if numbers = chosen(numbers, q.Metric); len(numbers) == 0 {
			return nil, api.Errorf(400, "metric %q: expected cost, idle_cost, utilization, coverage, working or useful_hour_cost", q.Metric)
		}
		kind = data.FrameTypeNumericLong
	}
	frame := data.NewFrame("cards", append(texts, numbers...)...)
	frame.Meta = &data.FrameMeta{Type: kind, TypeVersion: data.FrameTypeVersion{0, 1}}
	notices(frame, usage.Notes, usage.Total.Coverage)
	return frame, nil
}

func cardColumns(n int, currency rental.Currency) (texts, numbers []*data.Field) {
	column := func(name, title, unit string) *data.Field { return number(name, title, unit, make([]*float64, n)) }
	for _, t := range [][2]string{{"uuid", "GPU or MIG instance"}, {"card", "Part of"}, {"profile", "Profile"}} {
		texts = append(texts, text(t[0], t[1], make([]string, n)))
	}
	return texts, []*data.Field{
		money(column("cost", "Cost", ""), currency),
		money(column("idle_cost", "Idle cost", ""), currency),
		column("utilization", "Utilisation", "percentunit"),
		column("coverage", "Coverage", "percentunit"),
		column("working", "Multiprocessors at work", "percentunit"),
		money(column("useful_hour_cost", "Cost per used hour", ""), currency),
	}
}

// cardValues are a card's figures in the order of cardColumns. Money becomes a copy for show.
func cardValues(card api.CardUsage) ([]*float64, error) {
	spent, err := shown(&card.Cost)
	if err != nil {
		return nil, err
	}
	idle, err := shown(card.IdleCost)
	if err != nil {
		return nil, err
	}
	useful, err := shown(card.UsefulHourCost)
	if err != nil {
		return nil, err
	}
	return []*float64{spent, idle, card.Utilisation, card.Coverage, card.Working, useful}, nil
}
