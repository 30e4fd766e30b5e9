-- +goose Up
-- Over what time energy was counted, how much of the card worked, and what of the use was at night.
-- Of older records none of it is known: 0 of all that was allocated.
ALTER TABLE usage_records ADD COLUMN energy_known_ms BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_records ADD COLUMN working_known_ms BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_records ADD COLUMN working_us BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_records ADD COLUMN split_ms BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_records ADD COLUMN night_ms BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_records ADD COLUMN night_measured_ms BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_records ADD COLUMN night_used_us BIGINT NOT NULL DEFAULT 0;
ALTER TABLE month_totals ADD COLUMN energy_known_ms BIGINT NOT NULL DEFAULT 0;
ALTER TABLE month_totals ADD COLUMN working_known_ms BIGINT NOT NULL DEFAULT 0;
ALTER TABLE month_totals ADD COLUMN working_us BIGINT NOT NULL DEFAULT 0;
ALTER TABLE month_totals ADD COLUMN split_ms BIGINT NOT NULL DEFAULT 0;
ALTER TABLE month_totals ADD COLUMN night_ms BIGINT NOT NULL DEFAULT 0;
ALTER TABLE month_totals ADD COLUMN night_measured_ms BIGINT NOT NULL DEFAULT 0;
ALTER TABLE month_totals ADD COLUMN night_used_us BIGINT NOT NULL DEFAULT 0;
