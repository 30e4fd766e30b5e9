package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// OnCallReader tells who is on call.
type OnCallReader interface {
	// OnCall returns an error of rental.CodeNotFound where no schedule is configured.
	OnCall(ctx context.Context, q api.OnCallQuery) (api.OnCall, error)
}

// IncidentActs is what people do with an incident beside acknowledging it. What cannot be done any
// more is an error of rental.CodeRefused.
type IncidentActs interface {
	// SilenceIncident mutes for the length, or until fixed where it is 0.
	SilenceIncident(ctx context.Context, by rental.Principal, id string, length time.Duration) (rental.Incident, error)
	EscalateIncident(ctx context.Context, by rental.Principal, id string) (rental.Incident, error)
	NoteIncident(ctx context.Context, by rental.Principal, id, note string) (rental.Incident, error)
	// ExportIncident returns Markdown in the language, en or zh.
	ExportIncident(ctx context.Context, id, lang string) ([]byte, error)
}

func (r *routes) addOnCall() error {
	type query struct {
		At    string `doc:"The moment, RFC 3339; now where it is not given." format:"date-time" query:"at"`
		Turns int    `default:"2" doc:"How many turns of each rotation, that of the moment included." maximum:"100" minimum:"1" query:"turns"`
	}
	return operation(r, "get-oncall", "Tell who is on call, and whom a page calls",
		func(ctx context.Context, v view, in *query) (*body[api.OnCall], error) {
			q := api.OnCallQuery{At: rental.At(v.deps.Now()), Turns: in.Turns}
			if in.At != "" {
				if err := q.At.UnmarshalText([]byte(in.At)); err != nil {
					return nil, invalid("query.at", err.Error(), in.At)
				}
			}
			out, err := v.deps.OnCall.OnCall(ctx, q)
			if rental.CodeOf(err) == rental.CodeNotFound {
				return nil, api.Errorf(http.StatusNotFound, "%s", err.Error())
			}
			out.Rotations, out.Ladder = orEmpty(out.Rotations), orEmpty(out.Ladder)
			return answer(out, err)
		})
}

func (r *routes) addIncidentActs() error {
	type silence struct {
		IncidentPath

		Body api.SilenceIncident
	}
	if err := operation(r, "silence-incident", "Silence an incident: whoever does has it in hand",
		func(ctx context.Context, v view, in *silence) (*body[rental.Incident], error) {
			if (in.Body.Minutes > 0) == in.Body.UntilFixed {
				return nil, invalid("body", "either minutes or until_fixed is expected", "")
			}
			if _, err := v.incident(ctx, in.ID); err != nil {
				return nil, err
			}
			return answer(v.deps.IncidentActs.SilenceIncident(ctx, v.who, in.ID, time.Duration(in.Body.Minutes)*time.Minute))
		}); err != nil {
		return err
	}
	type escalate struct {
		IncidentPath

		Body struct{}
	}
	if err := operation(r, "escalate-incident", "Call the next step of the ladder at once",
		func(ctx context.Context, v view, in *escalate) (*body[rental.Incident], error) {
			if _, err := v.incident(ctx, in.ID); err != nil {
				return nil, err
			}
			return answer(v.deps.IncidentActs.EscalateIncident(ctx, v.who, in.ID))
		}); err != nil {
		return err
	}
	type note struct {
		IncidentPath

		Body api.NoteIncident
	}
	if err := operation(r, "note-incident", "Add to the timeline of an incident",
		func(ctx context.Context, v view, in *note) (*body[rental.Incident], error) {
			if _, err := v.incident(ctx, in.ID); err != nil {
				return nil, err
			}
			return answer(v.deps.IncidentActs.NoteIncident(ctx, v.who, in.ID, in.Body.Note))
		}); err != nil {
		return err
	}
	type export struct {
		IncidentPath

		Lang string `default:"en" enum:"en,zh" query:"lang"`
	}
	const markdown = "text/markdown; charset=utf-8"
	return operation(r, "export-incident", "Return an incident as Markdown, with its timeline",
		func(ctx context.Context, v view, in *export) (*huma.StreamResponse, error) {
			if _, err := v.incident(ctx, in.ID); err != nil {
				return nil, err
			}
			text, err := v.deps.IncidentActs.ExportIncident(ctx, in.ID, in.Lang)
			return stream(markdown, text), err
		},
		func(op *huma.Operation) {
			op.Responses = map[string]*huma.Response{"200": {
				Description: "The incident.", Content: map[string]*huma.MediaType{"text/markdown": {Schema: &huma.Schema{Type: huma.TypeString}}},
			}}
		})
}
