-- One row is one line with a fault: its place, its reason, and a sentence that says what would be accepted.
-- Reads numbered (every line of the files with faults), faults (their events with a fault) and batch_files.
-- Variables: batch, keeps_text, unit, limit_mb.
-- Grain: (source, line_no).
WITH
event_fault AS (
  SELECT
    source,
    line_no,
    min(fault) AS fault,
    min(day) AS day
  FROM faults
  GROUP BY
    source,
    line_no
),
faulty AS (
  SELECT
    numbered.source AS source,
    numbered.line_no AS line_no,
    numbered.text AS text,
    event_fault.day AS day,
    coalesce(
      numbered.read_fault,
      CASE
        WHEN numbered.line IS NULL THEN 'not_json'
        WHEN json_type(numbered.line) <> 'OBJECT' THEN 'not_an_object'
      END,
      event_fault.fault
    ) AS fault
  FROM numbered
  LEFT JOIN event_fault USING (source, line_no)
),
named AS (
  SELECT
    *,
    split_part(fault, ' ', 1) AS reason,
    split_part(fault, ' ', 2) AS member
  FROM faulty
  WHERE fault IS NOT NULL
)
SELECT
  CAST(getvariable('batch') AS BIGINT) AS batch,
  org_id,
  coalesce(day, CAST(received_at AS DATE)) AS day,
  name AS source,
  line_no,
  reason,
  CASE reason
    WHEN 'not_json' THEN CASE member
      WHEN 'compressed' THEN 'The compressed file is damaged, or ends in the middle: send it again whole.'
      ELSE CASE getvariable('unit') WHEN 'document' THEN 'The document must be JSON in UTF-8.' ELSE 'The line must be one JSON document in UTF-8.' END
    END
    WHEN 'not_an_object' THEN 'The line must be a JSON object.'
    WHEN 'line_too_long' THEN 'The ' || getvariable('unit') || ' must be at most ' || getvariable('limit_mb') || ' MiB long.'
    WHEN 'missing_member' THEN member || ' is required.'
    WHEN 'wrong_type' THEN member || ' must be ' || CASE
      WHEN member = 'timestamp' THEN 'a string or an integer'
      WHEN member IN ('success', 'timed_out') THEN 'true or false'
      WHEN member IN (
        'input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens', 'cache_write_1h_tokens',
        'duration_ms', 'lines_added', 'lines_removed', 'exit_code'
      ) THEN 'an integer'
      ELSE 'a string'
    END || '.'
    WHEN 'bad_timestamp' THEN 'timestamp must be RFC 3339 with Z or an offset, or Unix milliseconds.'
    WHEN 'timestamp_in_future' THEN 'timestamp must be at most 24 hours in the future.'
    WHEN 'unknown_type' THEN 'type must be one of session_start, session_end, user_message, assistant_message, model_usage, tool_call, '
      || 'file_change, git_commit, pull_request, skill_use, slash_command, hook_run.'
    WHEN 'org_mismatch' THEN 'org_id must be ' || org_id || ' or absent.'
    WHEN 'value_out_of_range' THEN member || ' must be ' || CASE
      WHEN member = 'timestamp' THEN 'in 2020 or later'
      WHEN member = 'event_id' THEN '1 to 200 characters long'
      WHEN member IN ('user_id', 'session_id') THEN '1 to 128 characters long'
      WHEN member = 'user_email' THEN '1 to 320 characters long'
      WHEN member = 'client' THEN 'a lower-case name of at most 32 letters, digits and hyphens that begins with a letter'
      WHEN member = 'autonomy_mode' THEN 'auto-high, auto-medium, auto-low, spec or manual'
      WHEN member = 'channel' THEN 'event, log, hook, otlp_log, otlp_span, otlp_metric or vendor_api'
      WHEN member = 'request_id' THEN 'at most 200 characters long'
      WHEN member = 'operation' THEN 'create or edit'
      WHEN member IN ('agent', 'agent_version') THEN 'at most 128 characters long'
      WHEN member IN ('model', 'path', 'skill_name', 'command_name', 'hook_event', 'command') THEN '1 to 2048 characters long'
      WHEN member = 'exit_code' THEN 'from -100000000000 to 100000000000'
      WHEN member IN (
        'input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens', 'cache_write_1h_tokens',
        'duration_ms', 'lines_added', 'lines_removed'
      ) THEN 'from 0 to 100000000000'
      ELSE 'at most 2048 characters long'
    END || '.'
  END AS detail,
  -- Removes credentials before cutting to the kept length: half a password could not be recognized.
  CASE WHEN getvariable('keeps_text') THEN left(without_credentials(left(text, 4096)), 2000) END AS line
FROM named
JOIN batch_files USING (source)
