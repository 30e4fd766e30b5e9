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
-- +goose StatementBegin
CREATE TRIGGER pending_no_update BEFORE UPDATE ON pending BEGIN SELECT RAISE(ABORT, 'pending holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER pending_no_delete BEFORE DELETE ON pending BEGIN SELECT RAISE(ABORT, 'pending holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER pending_decisions_no_update BEFORE UPDATE ON pending_decisions BEGIN SELECT RAISE(ABORT, 'pending_decisions holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER pending_decisions_no_delete BEFORE DELETE ON pending_decisions BEGIN SELECT RAISE(ABORT, 'pending_decisions holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
