-- +goose Up
-- Heads of the chain of each lease's records: the hash of all that had been recorded by sealed_ms.
CREATE TABLE heads (
  lease     TEXT    NOT NULL,
  number    INTEGER NOT NULL,
  sealed_ms BIGINT  NOT NULL,
  records   INTEGER NOT NULL,
  previous  TEXT    NOT NULL,
  root      TEXT    NOT NULL,
  hash      TEXT    NOT NULL,
  PRIMARY KEY (lease, number)
);
CREATE INDEX usage_records_recorded ON usage_records (lease, at_ms);
-- +goose StatementBegin
CREATE TRIGGER heads_no_update BEFORE UPDATE ON heads BEGIN SELECT RAISE(ABORT, 'heads holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER heads_no_delete BEFORE DELETE ON heads BEGIN SELECT RAISE(ABORT, 'heads holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
