-- One row is one answer. The session stands in the file beside.
SELECT
  source,
  line_no,
  CASE WHEN name IS NULL THEN 'missing_member name' END AS form_fault,
  rfc3339_ms("at") AS occurred_ms,
  'usage:' || name AS event_id,
  'model_usage' AS type,
  side_files.document ->> 'session' AS session_id,
  model,
  tokens AS input_tokens,
  0 AS output_tokens
FROM counted_lines
LEFT JOIN side_files USING (source)
WHERE kind = 'answer'
