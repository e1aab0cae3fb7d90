-- One row is one day of one organization.
-- Grain: (org_id, day).
CREATE TABLE activity (
  org_id                VARCHAR NOT NULL,
  day                   DATE NOT NULL,
  daily_active_users    BIGINT NOT NULL,
  weekly_active_users   BIGINT NOT NULL,  -- active on any of the trailing 7 days
  monthly_active_users  BIGINT NOT NULL,  -- active on any of the trailing 30 days
  sessions              BIGINT NOT NULL,  -- sessions that started on this day
  messages              BIGINT NOT NULL,  -- user turns and assistant messages
  user_messages         BIGINT NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day)
