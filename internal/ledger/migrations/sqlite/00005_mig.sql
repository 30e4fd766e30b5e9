-- +goose Up
-- The card of which an assigned uuid is a MIG instance; empty where the uuid is a card's own.
ALTER TABLE assignments ADD COLUMN card TEXT NOT NULL DEFAULT '';
-- Claims of a card and of its parts are looked up together.
CREATE INDEX assignments_card ON assignments (coalesce(nullif(card, ''), uuid));
