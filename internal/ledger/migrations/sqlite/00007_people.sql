-- +goose Up
-- People: the only table that holds their names. Facts hold ids; a row is never deleted, so that no
-- id is given twice, and all but its id can be erased.
CREATE TABLE people (
  id        BIGINT NOT NULL PRIMARY KEY,
  at_ms     BIGINT NOT NULL,
  name      TEXT   NOT NULL,
  mail      TEXT   NOT NULL,
  erased_ms BIGINT NOT NULL DEFAULT 0
);
-- The person who holds a token; empty for a program, and for tokens of older versions.
ALTER TABLE tokens ADD COLUMN person TEXT NOT NULL DEFAULT '';
