-- +goose Up
-- Copies of leases' work: revisions of what was told of each, under its natural key.
CREATE TABLE backups (
  id          TEXT   NOT NULL,
  revision    BIGINT NOT NULL,
  lease       TEXT   NOT NULL,
  data_ms     BIGINT NOT NULL,
  verified_ms BIGINT NOT NULL,
  at_ms       BIGINT NOT NULL,
  body        TEXT   NOT NULL,
  PRIMARY KEY (id, revision)
);
CREATE INDEX backups_lease ON backups (lease, data_ms);
-- +goose StatementBegin
CREATE TRIGGER backups_no_update BEFORE UPDATE ON backups BEGIN SELECT RAISE(ABORT, 'backups holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER backups_no_delete BEFORE DELETE ON backups BEGIN SELECT RAISE(ABORT, 'backups holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
