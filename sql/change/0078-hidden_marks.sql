-- One row says that somebody looked at a person who is marked as stuck, and that it needs no look. It holds for this run of days: a run that
-- begins after the day is another one. Of several the newest one counts.
-- Grain: (org_id, user_id, hidden_at).
CREATE TABLE hidden_marks (
  org_id     VARCHAR NOT NULL,
  user_id    VARCHAR NOT NULL,
  since      DATE NOT NULL,          -- on which the run began
  day        DATE NOT NULL,          -- as of which it was seen
  hidden_at  TIMESTAMP(3) NOT NULL,
  author     VARCHAR NOT NULL        -- the user, or the credential if it has none
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, user_id, hidden_at)
