-- One row is one copy of an event that doesn't stand: of all copies of one (organization, day, event_id) one counts, and
-- which one doesn't depend on the order in which they came. Of a model_usage it is the one with the most output_tokens;
-- then, and for every other type, the earliest, then the smallest session_id, user_id, and the other members in the order
-- of the table's columns, where a known value goes before an unknown one.
-- Variables: batch.
WITH
fresh AS (
  SELECT
    org_id,
    day,
    event_id
  FROM events
  WHERE batch = getvariable('batch')
),
-- The keys of this batch that stand more than once, in the batch or with what was there.
crowded AS (
  SELECT
    org_id,
    day,
    event_id
  FROM fresh
  GROUP BY
    org_id,
    day,
    event_id
  HAVING count(*) > 1
  UNION
  SELECT
    org_id,
    day,
    event_id
  FROM events
  WHERE batch < getvariable('batch')
    AND org_id IN (SELECT org_id FROM batch_files)
    AND day IN (SELECT day FROM fresh)
    AND (org_id, day, event_id) IN (SELECT org_id, day, event_id FROM fresh)
)
SELECT
  rowid AS row_id,
  org_id,
  day,
  batch,
  user_id,
  user_email
FROM events
WHERE org_id IN (SELECT org_id FROM crowded)
  AND day IN (SELECT day FROM crowded)
  AND (org_id, day, event_id) IN (SELECT org_id, day, event_id FROM crowded)
QUALIFY row_number() OVER (
  PARTITION BY org_id, day, event_id
  ORDER BY
    CASE WHEN type = 'model_usage' THEN coalesce(output_tokens, 0) END DESC NULLS LAST,
    occurred_at,
    session_id,
    user_id,
    type,
    user_email NULLS LAST,
    client NULLS LAST,
    autonomy_mode NULLS LAST,
    agent NULLS LAST,
    agent_version NULLS LAST,
    repo NULLS LAST,
    git_branch NULLS LAST,
    cwd NULLS LAST,
    reason NULLS LAST,
    model NULLS LAST,
    input_tokens NULLS LAST,
    output_tokens NULLS LAST,
    cache_read_tokens NULLS LAST,
    cache_write_tokens NULLS LAST,
    tool_name NULLS LAST,
    mcp_server NULLS LAST,
    success NULLS LAST,
    duration_ms NULLS LAST,
    path NULLS LAST,
    operation NULLS LAST,
    lines_added NULLS LAST,
    lines_removed NULLS LAST,
    commit_sha NULLS LAST,
    url NULLS LAST,
    skill_name NULLS LAST,
    command_name NULLS LAST,
    hook_event NULLS LAST,
    matcher NULLS LAST,
    command NULLS LAST,
    exit_code NULLS LAST,
    timed_out NULLS LAST,
    batch
) > 1
