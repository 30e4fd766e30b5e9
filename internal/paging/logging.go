package paging

import (
	"context"
	"log/slog"
)

// quietHandler tells what Alertmanager's packages call information as debug: the server has its own lines.
type quietHandler struct{ next slog.Handler }

var _ slog.Handler = quietHandler{}

// Enabled tells whether a record of the level would be shown.
func (h quietHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, quieter(level))
}

// Handle passes the record on, information as debug.
func (h quietHandler) Handle(ctx context.Context, record slog.Record) error {
	record.Level = quieter(record.Level)
	return h.next.Handle(ctx, record)
}

// WithAttrs returns a handler that adds the attributes.
func (h quietHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quietHandler{h.next.WithAttrs(attrs)}
}

// WithGroup returns a handler that opens the group.
func (h quietHandler) WithGroup(name string) slog.Handler {
	return quietHandler{h.next.WithGroup(name)}
}

func quieter(level slog.Level) slog.Level {
	if level == slog.LevelInfo {
		return slog.LevelDebug
	}
	return level
}
