-- +goose Up

-- One row a revision of one thing (provider, contract, lease, GPU...); the newest is what holds.
CREATE TABLE facts (
  kind     TEXT    NOT NULL,
  name     TEXT    NOT NULL,
  revision INTEGER NOT NULL,
  at_ms    BIGINT  NOT NULL,
  by_who   TEXT    NOT NULL,
  why      TEXT    NOT NULL,
  body     TEXT    NOT NULL,
  PRIMARY KEY (kind, name, revision)
);

-- One row a revision of "this card served this lease for this span".
CREATE TABLE assignments (
  id       BIGINT  NOT NULL,
  revision INTEGER NOT NULL,
  lease    TEXT    NOT NULL,
  uuid     TEXT    NOT NULL,
  start_ms BIGINT  NOT NULL,
  end_ms   BIGINT  NOT NULL,
  reason   TEXT    NOT NULL,
  at_ms    BIGINT  NOT NULL,
  by_who   TEXT    NOT NULL,
  PRIMARY KEY (id, revision)
);
CREATE INDEX assignments_lease ON assignments (lease);
CREATE INDEX assignments_uuid ON assignments (uuid);

-- What a scheduler said, by its own key; a repeated key is the same event.
CREATE TABLE assignment_events (
  event_key TEXT   NOT NULL PRIMARY KEY,
  session   TEXT   NOT NULL,
  lease     TEXT   NOT NULL,
  uuid      TEXT   NOT NULL,
  kind      TEXT   NOT NULL,
  event_ms  BIGINT NOT NULL,
  at_ms     BIGINT NOT NULL,
  by_who    TEXT   NOT NULL
);
CREATE INDEX assignment_events_session ON assignment_events (lease, uuid, session);

CREATE TABLE downtimes (
  id       TEXT    NOT NULL,
  revision INTEGER NOT NULL,
  lease    TEXT    NOT NULL,
  start_ms BIGINT  NOT NULL,
  end_ms   BIGINT  NOT NULL,
  at_ms    BIGINT  NOT NULL,
  body     TEXT    NOT NULL,
  PRIMARY KEY (id, revision)
);
CREATE INDEX downtimes_lease ON downtimes (lease, start_ms);

-- The classes of a card in a lease. The row with the highest seq wins at each instant. A row
-- with the greatest end holds until timeline_marks says how far the card has been derived.
CREATE TABLE timeline (
  seq      INTEGER PRIMARY KEY AUTOINCREMENT,
  lease    TEXT   NOT NULL,
  uuid     TEXT   NOT NULL,
  start_ms BIGINT NOT NULL,
  end_ms   BIGINT NOT NULL,
  class    TEXT   NOT NULL,
  reason   TEXT   NOT NULL,
  at_ms    BIGINT NOT NULL
);
CREATE INDEX timeline_card ON timeline (lease, uuid, seq);

-- One row a revision of a card's use in a span of one UTC hour. The rows of the highest
-- revision of (lease, uuid, hour_ms) hold together.
CREATE TABLE usage_records (
  lease         TEXT    NOT NULL,
  uuid          TEXT    NOT NULL,
  hour_ms       BIGINT  NOT NULL,
  revision      INTEGER NOT NULL,
  start_ms      BIGINT  NOT NULL,
  end_ms        BIGINT  NOT NULL,
  allocated_ms  BIGINT  NOT NULL,
  measured_ms   BIGINT  NOT NULL,
  busy_ms       BIGINT  NOT NULL,
  used_us       BIGINT  NOT NULL,
  held_known_ms BIGINT  NOT NULL,
  held_ms       BIGINT  NOT NULL,
  up_ms         BIGINT  NOT NULL,
  down_ms       BIGINT  NOT NULL,
  excluded_ms   BIGINT  NOT NULL,
  unknown_ms    BIGINT  NOT NULL,
  energy_mj     BIGINT  NOT NULL,
  at_ms         BIGINT  NOT NULL,
  PRIMARY KEY (lease, uuid, hour_ms, revision, start_ms)
);
CREATE INDEX usage_records_hour ON usage_records (hour_ms);

CREATE TABLE sample_intervals (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT,
  start_ms    BIGINT NOT NULL,
  end_ms      BIGINT NOT NULL,
  interval_ms BIGINT NOT NULL,
  at_ms       BIGINT NOT NULL
);

CREATE TABLE tokens (
  hash   TEXT   NOT NULL PRIMARY KEY,
  name   TEXT   NOT NULL,
  role   TEXT   NOT NULL,
  tenant TEXT   NOT NULL,
  at_ms  BIGINT NOT NULL
);
CREATE TABLE token_revocations (
  hash  TEXT   NOT NULL PRIMARY KEY,
  at_ms BIGINT NOT NULL
);

CREATE TABLE incident_events (
  incident BIGINT  NOT NULL,
  n        INTEGER NOT NULL,
  at_ms    BIGINT  NOT NULL,
  kind     TEXT    NOT NULL,
  by_who   TEXT    NOT NULL,
  note     TEXT    NOT NULL,
  PRIMARY KEY (incident, n)
);

CREATE TABLE closed_months (
  lease    TEXT   NOT NULL,
  start_ms BIGINT NOT NULL,
  end_ms   BIGINT NOT NULL,
  at_ms    BIGINT NOT NULL,
  by_who   TEXT   NOT NULL,
  hash     TEXT   NOT NULL,
  body     TEXT   NOT NULL,
  PRIMARY KEY (lease, start_ms)
);

-- From here on: operational state, which moves in place. Each can be derived again from the
-- facts above, or only says who still has to be told.

CREATE TABLE month_totals (
  lease         TEXT    NOT NULL,
  uuid          TEXT    NOT NULL,
  start_ms      BIGINT  NOT NULL,
  end_ms        BIGINT  NOT NULL,
  revision      INTEGER NOT NULL,
  allocated_ms  BIGINT  NOT NULL,
  measured_ms   BIGINT  NOT NULL,
  busy_ms       BIGINT  NOT NULL,
  used_us       BIGINT  NOT NULL,
  held_known_ms BIGINT  NOT NULL,
  held_ms       BIGINT  NOT NULL,
  up_ms         BIGINT  NOT NULL,
  down_ms       BIGINT  NOT NULL,
  excluded_ms   BIGINT  NOT NULL,
  unknown_ms    BIGINT  NOT NULL,
  energy_mj     BIGINT  NOT NULL,
  PRIMARY KEY (lease, start_ms, uuid)
);

CREATE TABLE timeline_marks (
  lease  TEXT   NOT NULL,
  uuid   TEXT   NOT NULL,
  end_ms BIGINT NOT NULL,
  PRIMARY KEY (lease, uuid)
);

CREATE TABLE incidents (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  group_key   TEXT   NOT NULL,
  status      TEXT   NOT NULL,
  opened_ms   BIGINT NOT NULL,
  resolved_ms BIGINT NOT NULL,
  body        TEXT   NOT NULL
);
CREATE INDEX incidents_key ON incidents (group_key, id);
CREATE INDEX incidents_status ON incidents (status);
CREATE INDEX incidents_opened ON incidents (opened_ms);

CREATE TABLE outbox (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  incident TEXT   NOT NULL,
  state   TEXT    NOT NULL,
  urgency INTEGER NOT NULL,
  next_ms BIGINT  NOT NULL,
  body    TEXT    NOT NULL
);
CREATE INDEX outbox_incident ON outbox (incident, id);
CREATE INDEX outbox_due ON outbox (state, urgency, id);

CREATE TABLE paging_entries (
  kind       TEXT   NOT NULL,
  entry_key  TEXT   NOT NULL,
  body       BLOB NOT NULL,
  expires_ms BIGINT NOT NULL,
  PRIMARY KEY (kind, entry_key)
);

CREATE TABLE marks (
  name  TEXT   NOT NULL PRIMARY KEY,
  at_ms BIGINT NOT NULL
);

-- Facts are only ever added.
-- +goose StatementBegin
CREATE TRIGGER facts_no_update BEFORE UPDATE ON facts BEGIN SELECT RAISE(ABORT, 'facts holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER facts_no_delete BEFORE DELETE ON facts BEGIN SELECT RAISE(ABORT, 'facts holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER assignments_no_update BEFORE UPDATE ON assignments BEGIN SELECT RAISE(ABORT, 'assignments holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER assignments_no_delete BEFORE DELETE ON assignments BEGIN SELECT RAISE(ABORT, 'assignments holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER assignment_events_no_update BEFORE UPDATE ON assignment_events BEGIN SELECT RAISE(ABORT, 'assignment_events holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER assignment_events_no_delete BEFORE DELETE ON assignment_events BEGIN SELECT RAISE(ABORT, 'assignment_events holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER downtimes_no_update BEFORE UPDATE ON downtimes BEGIN SELECT RAISE(ABORT, 'downtimes holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER downtimes_no_delete BEFORE DELETE ON downtimes BEGIN SELECT RAISE(ABORT, 'downtimes holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER timeline_no_update BEFORE UPDATE ON timeline BEGIN SELECT RAISE(ABORT, 'timeline holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER timeline_no_delete BEFORE DELETE ON timeline BEGIN SELECT RAISE(ABORT, 'timeline holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER usage_records_no_update BEFORE UPDATE ON usage_records BEGIN SELECT RAISE(ABORT, 'usage_records holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER usage_records_no_delete BEFORE DELETE ON usage_records BEGIN SELECT RAISE(ABORT, 'usage_records holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER sample_intervals_no_update BEFORE UPDATE ON sample_intervals BEGIN SELECT RAISE(ABORT, 'sample_intervals holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER sample_intervals_no_delete BEFORE DELETE ON sample_intervals BEGIN SELECT RAISE(ABORT, 'sample_intervals holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER tokens_no_update BEFORE UPDATE ON tokens BEGIN SELECT RAISE(ABORT, 'tokens holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER tokens_no_delete BEFORE DELETE ON tokens BEGIN SELECT RAISE(ABORT, 'tokens holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER token_revocations_no_update BEFORE UPDATE ON token_revocations BEGIN SELECT RAISE(ABORT, 'token_revocations holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER token_revocations_no_delete BEFORE DELETE ON token_revocations BEGIN SELECT RAISE(ABORT, 'token_revocations holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER incident_events_no_update BEFORE UPDATE ON incident_events BEGIN SELECT RAISE(ABORT, 'incident_events holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER incident_events_no_delete BEFORE DELETE ON incident_events BEGIN SELECT RAISE(ABORT, 'incident_events holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER closed_months_no_update BEFORE UPDATE ON closed_months BEGIN SELECT RAISE(ABORT, 'closed_months holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER closed_months_no_delete BEFORE DELETE ON closed_months BEGIN SELECT RAISE(ABORT, 'closed_months holds facts: they are never changed or deleted'); END;
-- +goose StatementEnd
