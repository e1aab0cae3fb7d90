-- One row is one entry of a diary, which is a whole document.
SELECT
  source,
  line_no,
  rfc3339_ms(entry.at) AS occurred_ms,
  'turn:' || entry.id AS event_id,
  'user_message' AS type,
  session_id
FROM (
  SELECT
    source,
    line_no,
    line ->> 'session' AS session_id,
    unnest(from_json(line -> 'entries', '[{"id": "VARCHAR", "at": "VARCHAR"}]')) AS entry
  FROM lines
)
