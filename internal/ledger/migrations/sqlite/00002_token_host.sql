-- +goose Up
-- The one host that a push token may write for; empty for any.
ALTER TABLE tokens ADD COLUMN host TEXT NOT NULL DEFAULT '';
