-- +goose Up
-- Retention is the one way in which what a trigger guards may end: it has a row here within its own
-- transaction, and nobody else ever sees one.
CREATE TABLE retention_pass (kind TEXT NOT NULL);
-- The argument is the kind that may end rows of the table.
-- +goose StatementBegin
CREATE FUNCTION leasewatch_retained() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND EXISTS (SELECT 1 FROM retention_pass WHERE kind = TG_ARGV[0]) THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION '% holds facts: they are never changed or deleted', TG_TABLE_NAME;
END
$$;
-- +goose StatementEnd
-- Of an entry of an incident's timeline only the note ends.
-- +goose StatementBegin
CREATE FUNCTION leasewatch_note_ends() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.note = '' AND NEW.incident = OLD.incident AND NEW.n = OLD.n AND NEW.at_ms = OLD.at_ms AND NEW.kind = OLD.kind AND NEW.by_who = OLD.by_who
    AND EXISTS (SELECT 1 FROM retention_pass WHERE kind = 'incident_texts') THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION '% holds facts: they are never changed or deleted', TG_TABLE_NAME;
END
$$;
-- +goose StatementEnd
DROP TRIGGER incident_events_final ON incident_events;
CREATE TRIGGER incident_events_note BEFORE UPDATE ON incident_events FOR EACH ROW EXECUTE FUNCTION leasewatch_note_ends();
CREATE TRIGGER incident_events_final BEFORE DELETE OR TRUNCATE ON incident_events FOR EACH STATEMENT EXECUTE FUNCTION leasewatch_final();
DROP TRIGGER assignment_events_final ON assignment_events;
CREATE TRIGGER assignment_events_final BEFORE UPDATE OR DELETE OR TRUNCATE ON assignment_events FOR EACH STATEMENT EXECUTE FUNCTION leasewatch_retained('scheduler_events');
DROP TRIGGER usage_records_final ON usage_records;
CREATE TRIGGER usage_records_final BEFORE UPDATE OR DELETE OR TRUNCATE ON usage_records FOR EACH STATEMENT EXECUTE FUNCTION leasewatch_retained('usage_hours');
DROP TRIGGER tokens_final ON tokens;
CREATE TRIGGER tokens_final BEFORE UPDATE OR DELETE OR TRUNCATE ON tokens FOR EACH STATEMENT EXECUTE FUNCTION leasewatch_retained('tokens');
DROP TRIGGER token_revocations_final ON token_revocations;
CREATE TRIGGER token_revocations_final BEFORE UPDATE OR DELETE OR TRUNCATE ON token_revocations FOR EACH STATEMENT EXECUTE FUNCTION leasewatch_retained('tokens');
DROP TRIGGER token_enrolments_final ON token_enrolments;
CREATE TRIGGER token_enrolments_final BEFORE UPDATE OR DELETE OR TRUNCATE ON token_enrolments FOR EACH STATEMENT EXECUTE FUNCTION leasewatch_retained('tokens');
