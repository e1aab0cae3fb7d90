-- One row is one copy of an event that doesn't count. Of all copies with the same (organization, day, event_id) one counts,
-- whatever order they arrive in. For a model_usage it is the copy with the most output_tokens, then with the most
-- other tokens, then one whose model isn't `unknown`. Then, and for every other type, it is the copy of the best channel, then one that
-- is more than the announcement of a tool call, then the earliest, then the one with the smallest session_id, user_id and other members in the order of the table's columns. A known value
-- comes before an unknown one.
-- Reads crowded_keys.
SELECT
  row_id,
  org_id,
  day,
  batch,
  user_id,
  user_email
FROM (
  -- Rows compare column by column, so new columns are included. The batch comes last, because it is arbitrary.
  SELECT
    *,
    rowid AS row_id,
    row(*COLUMNS(* EXCLUDE (batch))) AS members
  FROM events
  WHERE org_id IN (SELECT org_id FROM crowded_keys)
    AND is_batch_day(day)
    AND (org_id, day, event_id) IN (SELECT org_id, day, event_id FROM crowded_keys)
) AS copy
QUALIFY row_number() OVER (
  PARTITION BY org_id, day, event_id
  ORDER BY
    CASE WHEN type = 'model_usage' THEN coalesce(output_tokens, 0) END DESC NULLS LAST,
    CASE WHEN type = 'model_usage' THEN coalesce(input_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0) END DESC NULLS LAST,
    CASE WHEN type = 'model_usage' THEN model = 'unknown' END,
    channel_rank(channel),
    is_announced_call(type, channel, success),
    occurred_at,
    session_id,
    user_id,
    type,
    members,
    batch
) > 1
