-- One row is one collector of a person, or one agent of a person that went silent (silent_agents), of the organizations $org_ids, up to $last, the
-- last closed day. `state` is
--   live: the collector reported on one of the last three days from Monday to Friday, or since;
--   away: it didn't, but its person wasn't active in the 14 days up to its last report;
--   idle: the agent stopped while a collector of its person reports that its files haven't changed: there is nothing to send;
--   silent: neither of these; acknowledged: the same, and somebody knows why.
-- A silent collector speaks for the agents of its person: they have rows only if the person has no collector, or a live one.
-- Grain: (org_id, user_id, kind, name).
WITH heartbeat AS (
  SELECT
    heartbeats.org_id AS org_id,
    coalesce(aliases.user_id, heartbeats.user_id) AS user_id,
    heartbeats.collector_id AS collector_id,
    heartbeats.agent AS agent,
    heartbeats.seen_at AS seen_at,
    heartbeats.changed_at AS changed_at,
    heartbeats.host AS host,
    heartbeats.version AS version,
    heartbeats.fingerprint AS fingerprint
  FROM heartbeats
  LEFT JOIN aliases
    ON aliases.org_id = heartbeats.org_id
    AND aliases.alias = heartbeats.user_id
  WHERE heartbeats.org_id IN $org_ids
),
collector AS (
  SELECT
    org_id,
    user_id,
    collector_id,
    max(seen_at) AS last_seen_at,
    argMax(coalesce(host, ''), seen_at) AS host,
    argMax(version, seen_at) AS version,
    argMax(fingerprint, seen_at) AS fingerprint,
    CASE WHEN CAST(max(seen_at) AS DATE) >= quiet_from(CAST($last AS DATE)) THEN 1 ELSE 0 END AS is_live
  FROM heartbeat
  WHERE agent = ''
  GROUP BY
    org_id,
    user_id,
    collector_id
),
person AS (
  SELECT
    org_id,
    user_id,
    max(is_live) AS is_live
  FROM collector
  GROUP BY
    org_id,
    user_id
),
-- Collectors whose person was active before they stopped.
missed AS (
  SELECT
    collector.org_id AS org_id,
    collector.user_id AS user_id,
    collector.collector_id AS collector_id
  FROM collector
  JOIN coverage
    ON coverage.org_id = collector.org_id
    AND coverage.user_id = collector.user_id
  WHERE collector.is_live = 0
    AND coverage.day > CAST(collector.last_seen_at AS DATE) - 14
    AND coverage.day <= CAST(collector.last_seen_at AS DATE)
  GROUP BY
    collector.org_id,
    collector.user_id,
    collector.collector_id
),
-- Agents of which a live collector has files.
filed AS (
  SELECT
    heartbeat.org_id AS org_id,
    heartbeat.user_id AS user_id,
    heartbeat.agent AS agent,
    max(heartbeat.changed_at) AS changed_at
  FROM heartbeat
  JOIN collector
    ON collector.org_id = heartbeat.org_id
    AND collector.user_id = heartbeat.user_id
    AND collector.collector_id = heartbeat.collector_id
    AND collector.last_seen_at = heartbeat.seen_at
  WHERE heartbeat.agent <> ''
    AND collector.is_live = 1
  GROUP BY
    heartbeat.org_id,
    heartbeat.user_id,
    heartbeat.agent
),
mark AS (
  SELECT
    collector.org_id AS org_id,
    collector.user_id AS user_id,
    'collector' AS kind,
    collector.collector_id AS name,
    CASE
      WHEN collector.is_live = 1 THEN 'live'
      WHEN missed.collector_id IS NULL THEN 'away'
      ELSE 'silent'
    END AS found_state,
    CAST(collector.last_seen_at AS DATE) AS last_day,
    collector.last_seen_at AS last_seen_at,
    nullif(collector.host, '') AS host,
    collector.version AS version,
    collector.fingerprint AS fingerprint
  FROM collector
  LEFT JOIN missed
    ON missed.org_id = collector.org_id
    AND missed.user_id = collector.user_id
    AND missed.collector_id = collector.collector_id
  UNION ALL
  SELECT
    silent_agents.org_id AS org_id,
    silent_agents.user_id AS user_id,
    'agent' AS kind,
    silent_agents.agent AS name,
    -- A file can change after midnight for the last time.
    CASE WHEN CAST(filed.changed_at AS DATE) <= silent_agents.last_day + 1 THEN 'idle' ELSE 'silent' END AS found_state,
    silent_agents.last_day AS last_day,
    NULL AS last_seen_at,
    NULL AS host,
    NULL AS version,
    NULL AS fingerprint
  FROM silent_agents
  LEFT JOIN person
    ON person.org_id = silent_agents.org_id
    AND person.user_id = silent_agents.user_id
  LEFT JOIN filed
    ON filed.org_id = silent_agents.org_id
    AND filed.user_id = silent_agents.user_id
    AND filed.agent = silent_agents.agent
  WHERE silent_agents.org_id IN $org_ids
    AND coalesce(person.is_live, 1) = 1
),
acknowledged AS (
  SELECT
    silence_acknowledgements.org_id AS org_id,
    coalesce(aliases.user_id, silence_acknowledgements.user_id) AS user_id,
    silence_acknowledgements.kind AS kind,
    silence_acknowledgements.name AS name,
    silence_acknowledgements.last_day AS last_day,
    max(silence_acknowledgements.acknowledged_at) AS acknowledged_at,
    argMax(silence_acknowledgements.author, silence_acknowledgements.acknowledged_at) AS author,
    argMax(coalesce(silence_acknowledgements.reason, ''), silence_acknowledgements.acknowledged_at) AS reason
  FROM silence_acknowledgements
  LEFT JOIN aliases
    ON aliases.org_id = silence_acknowledgements.org_id
    AND aliases.alias = silence_acknowledgements.user_id
  WHERE silence_acknowledgements.org_id IN $org_ids
  GROUP BY
    silence_acknowledgements.org_id,
    coalesce(aliases.user_id, silence_acknowledgements.user_id),
    silence_acknowledgements.kind,
    silence_acknowledgements.name,
    silence_acknowledgements.last_day
)
SELECT
  CAST(mark.org_id AS VARCHAR) AS org_id,
  CAST(mark.user_id AS VARCHAR) AS user_id,
  CAST(mark.kind AS VARCHAR) AS kind,
  CAST(mark.name AS VARCHAR) AS name,
  CAST(
    CASE WHEN mark.found_state = 'silent' AND acknowledged.author IS NOT NULL THEN 'acknowledged' ELSE mark.found_state END AS VARCHAR
  ) AS state,
  CAST(mark.last_day AS DATE) AS last_day,
  CAST(mark.last_seen_at AS TIMESTAMP(3)) AS last_seen_at,
  CAST(mark.host AS VARCHAR) AS host,
  CAST(mark.version AS VARCHAR) AS version,
  CAST(mark.fingerprint AS VARCHAR) AS fingerprint,
  CAST(CASE WHEN mark.found_state = 'silent' THEN acknowledged.author END AS VARCHAR) AS acknowledged_by,
  CAST(CASE WHEN mark.found_state = 'silent' THEN acknowledged.acknowledged_at END AS TIMESTAMP(3)) AS acknowledged_at,
  CAST(CASE WHEN mark.found_state = 'silent' THEN nullif(acknowledged.reason, '') END AS VARCHAR) AS reason
FROM mark
LEFT JOIN acknowledged
  ON acknowledged.org_id = mark.org_id
  AND acknowledged.user_id = mark.user_id
  AND acknowledged.kind = mark.kind
  AND acknowledged.name = mark.name
  AND acknowledged.last_day = mark.last_day
