-- One row is one line with a fault: its place, its reason, and a sentence that says what would be accepted.
-- Reads numbered (every line of the files with faults), faults (their events with a fault), sentences and batch_files.
-- Variables: batch, keeps_text, limit_mb, places (how many numbers each line has, of which a mended one uses several).
-- Grain: (source, line_no).
-- TRICKY: every file is in batch_files, and the joins are LEFT all the same. Lines are read without the optimizer that makes a join of
-- an inner one: it would pair every line with every file.
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
-- The fault of each line, without its text: all lines together can be larger than memory.
line AS MATERIALIZED (
  SELECT
    source,
    line_no,
    coalesce(read_fault, CASE WHEN line IS NULL THEN 'not_json' END) AS fault,
    json_type(line) <> 'OBJECT' AS is_no_object,
    CASE WHEN getvariable('keeps_text') THEN left(text, 4096) END AS text
  FROM numbered
),
faulty AS (
  SELECT
    line.source AS source,
    line.line_no AS line_no,
    line.text AS text,
    event_fault.day AS day,
    coalesce(
      line.fault,
      CASE WHEN line.is_no_object AND unit <> 'document' THEN 'not_an_object' END,
      event_fault.fault
    ) AS fault
  FROM line
  LEFT JOIN batch_files USING (source)
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
  line_no // CAST(getvariable('places') AS BIGINT) AS line_no,
  reason,
  CASE
    WHEN fault = 'not_json compressed' THEN 'The compressed file is damaged, or ends in the middle: send it again whole.'
    WHEN fault = 'not_json' AND unit = 'document' THEN 'The document must be JSON in UTF-8.'
    WHEN fault = 'not_json' AND unit = 'database' THEN 'The database must be one that SQLite can read, with the tables of its agent.'
    WHEN fault = 'line_too_long' THEN 'The ' || unit || ' must be at most ' || getvariable('limit_mb') || ' MiB long.'
    WHEN sentence.detail IS NOT NULL THEN replace(sentence.detail, '{org_id}', org_id)
    -- The source's SQL has named a member of its own lines.
    WHEN reason = 'missing_member' THEN member || ' is required.'
    ELSE member || ' has a value that is not accepted.'
  END AS detail,
  -- Removes credentials before cutting to the kept length: half a password could not be recognized.
  left(without_credentials(text), 2000) AS line
FROM named
LEFT JOIN batch_files USING (source)
LEFT JOIN sentences AS sentence USING (fault)
