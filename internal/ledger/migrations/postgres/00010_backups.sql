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
CREATE TRIGGER backups_final BEFORE UPDATE OR DELETE OR TRUNCATE ON backups FOR EACH STATEMENT EXECUTE FUNCTION leasewatch_final();
