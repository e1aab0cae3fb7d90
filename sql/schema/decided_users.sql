-- One row is one user of one session's telemetry on one day who is no person, with the user for whom it counts: that of the session's
-- transcript, if there is one.
-- Grain: (org_id, day, session_id, agent, channel, named_user_id).
CREATE TABLE decided_users (
  org_id         VARCHAR NOT NULL,
  day            DATE NOT NULL,
  session_id     VARCHAR NOT NULL,
  agent          VARCHAR NOT NULL,  -- '' if the events name none
  channel        VARCHAR NOT NULL,
  named_user_id  VARCHAR NOT NULL,  -- whom the events name: an installation, or unknown
  user_id        VARCHAR NOT NULL   -- for whom they count; the same if there is no transcript, or it isn't clear whose
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, session_id, agent, channel, named_user_id)
