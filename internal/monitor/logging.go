package monitor

import (
	"context"
	"log/slog"
)

// engineHandler tells what the engine calls information as debug: it reports each compaction and
// each start of a manager, which would bury the server's own lines.
type engineHandler struct{ next slog.Handler }

var _ slog.Handler = engineHandler{}

// Enabled tells whether a record of the level would be shown.
func (h engineHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, demote(level))
}

// Handle passes the record on, information as debug.
func (h engineHandler) Handle(ctx context.Context, record slog.Record) error {
	record.Level = demote(record.Level)
	return h.next.Handle(ctx, record)
}

// WithAttrs returns a handler that adds the attributes.
func (h engineHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return engineHandler{h.next.WithAttrs(attrs)}
}

// WithGroup returns a handler that opens the group.
func (h engineHandler) WithGroup(name string) slog.Handler {
	return engineHandler{h.next.WithGroup(name)}
}

func demote(level slog.Level) slog.Level {
	if level == slog.LevelInfo {
		return slog.LevelDebug
	}
	return level
}
