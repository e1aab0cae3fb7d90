-- One row is one document in the form of an export: {info, messages: [{info, parts}]}.
-- Reads lines, batch_files and side_files. Older versions wrote a file for each message, with its session and its parts in other files.
-- Kilo has opencode's tables: only the name of its database tells it apart.
SELECT
  lines.source AS source,
  lines.line_no AS line_no,
  CASE WHEN regexp_matches(batch_files.name, '(^|[/\\])kilo(-[^/\\]+)?\.db$') THEN 'kilo' ELSE 'opencode' END AS agent,
  CASE
    WHEN lines.line ->> '$.role' IS NULL
      THEN lines.line
    ELSE json_object(
      'info', coalesce(stored.session, json_object('id', lines.line -> '$.sessionID')),
      'messages', json_array(json_object('info', lines.line, 'parts', coalesce(stored.parts, json_array())))
    )
  END AS line
FROM lines
JOIN batch_files
  ON batch_files.source = lines.source
LEFT JOIN (
  SELECT
    source,
    any_value(document) FILTER (WHERE ending = 'session') AS session,
    to_json(list(document) FILTER (WHERE ending = 'part')) AS parts
  FROM side_files
  GROUP BY source
) AS stored
  ON stored.source = lines.source
