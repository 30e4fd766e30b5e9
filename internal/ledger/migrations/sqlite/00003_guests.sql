-- +goose Up
-- Guests: the lease that an enrolment token, or the push token that it became, is bound to; until
-- when an enrolment can be used, 0 for ever; and what each became.
ALTER TABLE tokens ADD COLUMN lease TEXT NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN expires_ms BIGINT NOT NULL DEFAULT 0;
CREATE TABLE token_enrolments (
  hash  TEXT   NOT NULL PRIMARY KEY,
  made  TEXT   NOT NULL,
  at_ms BIGINT NOT NULL
);
-- Where the samples behind a class were taken: empty for the host, guest for inside the lease.
ALTER TABLE timeline ADD COLUMN vantage TEXT NOT NULL DEFAULT '';
-- +goose StatementBegin
CREATE TRIGGER token_enrolments_no_update BEFORE UPDATE ON token_enrolments BEGIN SELECT RAISE(ABORT, 'token_enrolments holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER token_enrolments_no_delete BEFORE DELETE ON token_enrolments BEGIN SELECT RAISE(ABORT, 'token_enrolments holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
