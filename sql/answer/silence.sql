-- One row is one collector of a person, or one agent of a person that stopped reporting: silent ones first, the newest of them first.
-- Grain: (user_id, kind, name).
-- Shown first: user_id, kind, name, host, state, last_day, acknowledged_by, reason.
SELECT
  CAST(user_id AS VARCHAR) AS user_id,  -- id of the user, e.g. ada
  CAST(kind AS VARCHAR) AS kind,  -- a collector is one machine on which daybook collect runs: collector | agent
  CAST(name AS VARCHAR) AS name,  -- id of the collector, or the agent, empty if events name none, e.g. 7f3a1c5d9b2e4f60
  CAST(state AS VARCHAR) AS state,  -- idle: its files haven't changed, so there is nothing to send; away: a collector that stopped when its person wasn't active: silent | acknowledged | idle | away | live
  CAST(last_day AS DATE) AS last_day,  -- day in UTC on which it last reported, e.g. 2026-06-01
  CAST(last_seen_at AS TIMESTAMP_MS) AS last_seen_at,  -- when the collector last reported, or null, e.g. 2026-06-01T09:30:00.250Z
  CAST(host AS VARCHAR) AS host,  -- name of the collector's machine, or null, e.g. ada-laptop
  CAST(version AS VARCHAR) AS version,  -- version of the collector, or null, e.g. 0.2.0
  CAST(fingerprint AS VARCHAR) AS fingerprint,  -- fingerprint of the collector's key, or null, e.g. 3f1c9a527d0e
  CAST(acknowledged_by AS VARCHAR) AS acknowledged_by,  -- who knows why it is silent, or null, e.g. grace
  CAST(acknowledged_at AS TIMESTAMP_MS) AS acknowledged_at,  -- when they said so, or null, e.g. 2026-06-04T10:00:00.000Z
  CAST(reason AS VARCHAR) AS reason  -- why it is silent, or null, e.g. on leave until July
FROM report_silence
ORDER BY
  CASE state WHEN 'silent' THEN 0 WHEN 'acknowledged' THEN 1 WHEN 'idle' THEN 2 WHEN 'away' THEN 3 ELSE 4 END,
  last_day DESC,
  user_id,
  kind DESC,
  name
