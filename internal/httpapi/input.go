package httpapi

import (
	"net/http"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// Limits of what one request may ask for.
const (
	// answerWithin bounds how long an answer may be reckoned.
	answerWithin = 60 * time.Second
	// maxSpan bounds a series: 400 days of hours is what a year's report needs and some.
	maxSpan = 400 * 24 * time.Hour
	// maxBody bounds a JSON body, maxYAML a file of resources: 10,000 GPUs take 3 MB.
	maxBody = 64 << 10
	maxYAML = 16 << 20
	// maxSessions bounds what a scheduler says at once: 1,000 sessions of half a kilobyte.
	maxSessions = 1 << 20
)

// SpanQuery is the query of a span of time. It is exported, as those below are, because
// huma reads embedded structs only where their names are.
type SpanQuery struct {
	From string `doc:"Start of the span, RFC 3339."                                                         format:"date-time" query:"from"`
	To   string `doc:"End of the span, RFC 3339; the span does not hold it. Now, where only from is given." format:"date-time" query:"to"`
}

// PeriodQuery is the query of a contract's month or a span of time.
type PeriodQuery struct {
	SpanQuery

	Month string `doc:"Month of the contract's time zone. Without month and span: the present one, so far." pattern:"^[0-9]{4}-(0[1-9]|1[0-2])$" patternDescription:"a month such as 2026-05" query:"month"`
}

// AsOfQuery is the query of the moment whose knowledge an answer rests on. An operation whose
// input embeds it answers from what had been recorded by then.
type AsOfQuery struct {
	AsOf string `doc:"Answer by what was recorded up to this moment, RFC 3339, as it would have been answered then." format:"date-time" query:"as_of"`
}

// known returns the moment; 0 where none is asked for.
func (q AsOfQuery) known(now rental.Millis) (at rental.Millis, err error) {
	if q.AsOf == "" {
		return 0, nil
	}
	if err := at.UnmarshalText([]byte(q.AsOf)); err != nil {
		return 0, invalid("query.as_of", err.Error(), q.AsOf)
	}
	if at <= 0 || at > now {
		return 0, invalid("query.as_of", "a moment that has passed is expected: what will be known later is not known yet", q.AsOf)
	}
	return at, nil
}

// FormatQuery is the query of how bills are written.
type FormatQuery struct {
	Format string `default:"json" enum:"json,csv,table,html,focus,focus-1.0" query:"format"`
	Lang   string `doc:"Language of a table or a page; the contract's where it is not given." enum:"en,zh" query:"lang"`
}

// sentences is the language of what is read by people; empty, the contract's, for data.
func (q FormatQuery) sentences() string {
	if q.Format == "table" || q.Format == "html" {
		return q.Lang
	}
	return ""
}

func (q SpanQuery) span(now rental.Millis) (rental.Span, error) {
	if q.From == "" {
		if q.To != "" {
			return rental.Span{}, invalid("query.from", "an end without a start: give from too", q.To)
		}
		return rental.Span{}, nil
	}
	span := rental.Span{End: now}
	if err := span.Start.UnmarshalText([]byte(q.From)); err != nil {
		return rental.Span{}, invalid("query.from", err.Error(), q.From)
	}
	if q.To != "" {
		if err := span.End.UnmarshalText([]byte(q.To)); err != nil {
			return rental.Span{}, invalid("query.to", err.Error(), q.To)
		}
	}
	if span.Empty() {
		return rental.Span{}, invalid("query.to", "the span holds no time: its end must be after its start, "+span.Start.String(), span.End.String())
	}
	if span.Duration() > maxSpan.Milliseconds() {
		return rental.Span{}, invalid("query.to", "the span is longer than 400 days: ask for it in parts", span.End.String())
	}
	return span, nil
}

func (q PeriodQuery) period(now rental.Millis) (api.Period, error) {
	if q.Month != "" {
		if q.From != "" || q.To != "" {
			return api.Period{}, invalid("query.month", "a month and a span: give one of them", q.Month)
		}
		return api.Period{Month: q.Month}, nil
	}
	span, err := q.span(now)
	return api.Period{Span: span}, err
}

// invalid says that one place of the request is wrong.
func invalid(location, message string, value any) *api.Error {
	e := api.Errorf(http.StatusUnprocessableEntity, "the request was not understood")
	e.Fields = []api.FieldError{{Location: location, Message: message, Value: value}}
	return e
}
