package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// statusOf maps the kinds of the domain's errors. Conflict and refused are both "not as
// things stand": the text tells them apart.
var statusOf = map[rental.Code]int{
	rental.CodeNotFound:    http.StatusNotFound,
	rental.CodeInvalid:     http.StatusUnprocessableEntity,
	rental.CodeConflict:    http.StatusConflict,
	rental.CodeRefused:     http.StatusConflict,
	rental.CodeUnavailable: http.StatusServiceUnavailable,
}

// apiError returns what the caller is told of err. What lies beneath a failure of the
// server's own is logged here, once, and not told.
func apiError(ctx context.Context, log *slog.Logger, err error) *api.Error {
	if told, ok := errors.AsType[*api.Error](err); ok {
		return told
	}
	if domain, ok := errors.AsType[*rental.Error](err); ok {
		if status, ok := statusOf[domain.Code]; ok {
			if status == http.StatusServiceUnavailable {
				log.ErrorContext(ctx, "request failed", "error", err)
				return api.Errorf(status, "%s", domain.Message)
			}
			return api.Errorf(status, "%s", domain.Error())
		}
	}
	switch {
	case errors.Is(err, rental.ErrNotFound):
		return api.Errorf(http.StatusNotFound, "%s", err)
	case errors.Is(err, context.Canceled):
		return api.Errorf(http.StatusServiceUnavailable, "the request was given up before it was answered")
	case errors.Is(err, context.DeadlineExceeded):
		log.WarnContext(ctx, "request took too long", "error", err)
		return api.Errorf(http.StatusServiceUnavailable, "the answer took longer than %s: ask for a shorter span", answerWithin)
	}
	log.ErrorContext(ctx, "request failed", "error", err)
	return api.Errorf(http.StatusInternalServerError, "the server failed to answer; its log says why")
}

// problem makes an API error of huma's, which writes it as problem+json.
func problem(e *api.Error) error {
	model := &huma.ErrorModel{Status: e.Status, Title: e.Title, Detail: e.Detail}
	if model.Title == "" {
		model.Title = http.StatusText(e.Status)
	}
	for _, f := range e.Fields {
		model.Errors = append(model.Errors, &huma.ErrorDetail{Message: f.Message, Location: f.Location, Value: f.Value})
	}
	return model
}

// writeProblem writes an API error outside huma.
func writeProblem(w http.ResponseWriter, e *api.Error) {
	secure(w.Header())
	w.Header().Set("Content-Type", "application/problem+json")
	if e.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="leasewatch"`)
	}
	text, err := json.Marshal(e)
	if err != nil { // a value that cannot be written; the words can
		text = fmt.Appendf(nil, `{"status":%d,"title":%q}`, e.Status, e.Title)
	}
	w.WriteHeader(e.Status)
	//nolint:gosec // JSON under its own media type, with nosniff: no browser takes it for a page
	_, _ = w.Write(text) // the caller is gone: nobody is left to tell
}
