-- +goose Up
-- The second person of a fact; empty where none was needed.
ALTER TABLE facts ADD COLUMN approved_by TEXT NOT NULL DEFAULT '';
-- Whether a program holds the token: it decides on nothing.
ALTER TABLE tokens ADD COLUMN service BOOLEAN NOT NULL DEFAULT FALSE;
-- A change that waits for a second person, and what was decided of it.
CREATE TABLE pending (
  id         BIGINT NOT NULL PRIMARY KEY,
  at_ms      BIGINT NOT NULL,
  by_who     TEXT   NOT NULL,
  why        TEXT   NOT NULL,
  action     TEXT   NOT NULL,
  expires_ms BIGINT NOT NULL,
  body       TEXT   NOT NULL
);
CREATE TABLE pending_decisions (
  id       BIGINT NOT NULL PRIMARY KEY,
  at_ms    BIGINT NOT NULL,
  by_who   TEXT   NOT NULL,
  decision TEXT   NOT NULL,
  note     TEXT   NOT NULL
);
CREATE TRIGGER pending_final BEFORE UPDATE OR DELETE OR TRUNCATE ON pending FOR EACH STATEMENT EXECUTE FUNCTION leasewatch_final();
CREATE TRIGGER pending_decisions_final BEFORE UPDATE OR DELETE OR TRUNCATE ON pending_decisions FOR EACH STATEMENT EXECUTE FUNCTION leasewatch_final();
