-- +goose Up
-- Retention is the one way in which what a trigger guards may end: it has a row here within its own
-- transaction, and nobody else ever sees one.
CREATE TABLE retention_pass (kind TEXT NOT NULL);
DROP TRIGGER incident_events_no_update;
DROP TRIGGER assignment_events_no_delete;
DROP TRIGGER usage_records_no_delete;
DROP TRIGGER tokens_no_delete;
DROP TRIGGER token_revocations_no_delete;
DROP TRIGGER token_enrolments_no_delete;
-- Of an entry of an incident's timeline only the note ends.
-- +goose StatementBegin
CREATE TRIGGER incident_events_no_update BEFORE UPDATE ON incident_events
WHEN NOT EXISTS (SELECT 1 FROM retention_pass WHERE kind = 'incident_texts')
  OR NEW.note <> '' OR NEW.incident <> OLD.incident OR NEW.n <> OLD.n OR NEW.at_ms <> OLD.at_ms OR NEW.kind <> OLD.kind OR NEW.by_who <> OLD.by_who
BEGIN SELECT RAISE(ABORT, 'incident_events holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER assignment_events_no_delete BEFORE DELETE ON assignment_events WHEN NOT EXISTS (SELECT 1 FROM retention_pass WHERE kind = 'scheduler_events')
BEGIN SELECT RAISE(ABORT, 'assignment_events holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER usage_records_no_delete BEFORE DELETE ON usage_records WHEN NOT EXISTS (SELECT 1 FROM retention_pass WHERE kind = 'usage_hours')
BEGIN SELECT RAISE(ABORT, 'usage_records holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER tokens_no_delete BEFORE DELETE ON tokens WHEN NOT EXISTS (SELECT 1 FROM retention_pass WHERE kind = 'tokens')
BEGIN SELECT RAISE(ABORT, 'tokens holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER token_revocations_no_delete BEFORE DELETE ON token_revocations WHEN NOT EXISTS (SELECT 1 FROM retention_pass WHERE kind = 'tokens')
BEGIN SELECT RAISE(ABORT, 'token_revocations holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER token_enrolments_no_delete BEFORE DELETE ON token_enrolments WHEN NOT EXISTS (SELECT 1 FROM retention_pass WHERE kind = 'tokens')
BEGIN SELECT RAISE(ABORT, 'token_enrolments holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
