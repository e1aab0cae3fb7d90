-- One row is one line of a session in OpenClaw's SQLite database, in the form of Pi's lines; or a call within a call (`nestedCalls`); or the
-- sum of a run (`run`). A session that has changed is read as a whole: the result of a call can come long after it.
-- SQLite runs this. It takes out only what events.sql reads, so that what people wrote stays in the database. Of a diff it keeps how many
-- lines begin with + and -, and of what commands printed the text, in which commits and addresses are searched for.
-- Parameter: since, Unix milliseconds. `unzstd` unpacks a text.
WITH
changed AS MATERIALIZED (
  SELECT
    session_id,
    max(updated_at, coalesce(last_line_at, 0), coalesce(last_run_at, 0)) AS updated_at
  FROM (
    SELECT
      session_id,
      updated_at,
      (
        SELECT transcript_events.created_at
        FROM transcript_events
        WHERE transcript_events.session_id = session_windows.session_id
        ORDER BY transcript_events.seq DESC
        LIMIT 1
      ) AS last_line_at,
      (
        SELECT trajectory_runtime_events.created_at
        FROM trajectory_runtime_events
        WHERE trajectory_runtime_events.session_id = session_windows.session_id
        ORDER BY trajectory_runtime_events.seq DESC
        LIMIT 1
      ) AS last_run_at
    FROM session_windows
  )
  WHERE max(updated_at, coalesce(last_line_at, 0), coalesce(last_run_at, 0)) >= :since
),
-- Where the lines of these sessions are, in their order.
place AS MATERIALIZED (
  SELECT
    changed.session_id AS session_id,
    changed.updated_at AS updated_at,
    transcript_events.rowid AS line_place,
    NULL AS run_place,
    0 AS is_run,
    transcript_events.seq AS seq
  FROM changed
  JOIN transcript_events
    ON transcript_events.session_id = changed.session_id
  UNION ALL
  SELECT
    changed.session_id,
    changed.updated_at,
    NULL,
    trajectory_runtime_events.rowid,
    1,
    trajectory_runtime_events.seq
  FROM changed
  JOIN trajectory_runtime_events
    ON trajectory_runtime_events.session_id = changed.session_id
  ORDER BY session_id, is_run, seq
),
-- TRICKY: the LIMIT keeps SQLite from unpacking a text again for each of its uses.
stored AS (
  SELECT
    place.session_id AS session_id,
    place.updated_at AS updated_at,
    coalesce(transcript_events.event_json, unzstd(transcript_events.event_zstd)) AS data,
    trajectory_runtime_events.event_json AS run
  FROM place
  LEFT JOIN transcript_events
    ON transcript_events.rowid = place.line_place
  LEFT JOIN trajectory_runtime_events
    ON trajectory_runtime_events.rowid = place.run_place
  LIMIT -1
),
told AS (
  SELECT
    session_id,
    updated_at,
    run IS NULL AND NOT coalesce(json_valid(data), 0) AS is_damaged,
    CASE WHEN json_valid(data) THEN data -> '$' END AS line,
    CASE WHEN instr(run, '"model.completed"') > 0 AND json_valid(run) AND run ->> '$.type' = 'model.completed' THEN run END AS run
  FROM stored
  LIMIT -1
),
read_line AS (
  SELECT
    session_id,
    updated_at,
    is_damaged,
    line,
    run,
    line -> '$.message' AS message,
    line ->> '$.message.customType' IS 'openclaw.nested-tool.v1' AS is_nested,
    coalesce(line ->> '$.message.toolName', line ->> '$.message.details.toolName') AS tool_name,
    coalesce(line -> '$.message.details.result.details', line -> '$.message.details') AS details
  FROM told
  WHERE is_damaged
    OR run IS NOT NULL
    OR line ->> '$.type' IN ('session', 'message', 'model_change', 'compaction', 'branch_summary', 'usage')
),
outcome AS (
  SELECT
    *,
    tool_name IN ('exec', 'bash') OR tool_name LIKE '%create%request' AS is_searched,
    json_object(
      'created', details -> '$.created',
      'exitCode', details -> '$.exitCode',
      'diff', replace(hex(zeroblob(length(diff) - length(replace(diff, char(10) || '+', char(10))))), '00', '+' || char(10))
        || replace(hex(zeroblob(length(diff) - length(replace(diff, char(10) || '-', char(10))))), '00', '-' || char(10))
    ) AS result
  FROM (
    SELECT
      *,
      char(10) || (details ->> '$.diff') AS diff
    FROM read_line
  )
)
SELECT
  CASE
    WHEN is_damaged
      THEN 'damaged'
    WHEN run IS NOT NULL
      THEN json_object(
        'sessionId', session_id,
        'runId', run -> '$.runId',
        'type', 'run',
        'timestamp', run -> '$.ts',
        'modelId', run -> '$.modelId',
        'usage', run -> '$.data.usage'
      )
    ELSE json_object(
      'sessionId', session_id,
      'runId', message -> '$.__openclaw.runId',
      'parentToolCallId', message -> '$.details.parentToolCallId',
      'type', line -> '$.type',
      'id', line -> '$.id',
      'timestamp', line -> '$.timestamp',
      'cwd', line -> '$.cwd',
      'parentSession', line -> '$.parentSession',
      'modelId', line -> '$.modelId',
      'usage', line -> '$.usage',
      'message', CASE
        WHEN is_nested
          THEN json_object('role', 'toolResult', 'nestedCalls', json_object('calls', json_array(json_object(
            'id', message -> '$.details.toolCallId',
            'name', message -> '$.details.toolName',
            'status', CASE WHEN message ->> '$.details.isError' THEN 'error' ELSE 'ok' END,
            'durationMs', details -> '$.durationMs',
            'arguments', json_object(
              'path', message -> '$.details.input.path',
              'command', message -> '$.details.input.command'
            ),
            'output', CASE
              WHEN is_searched
                THEN (
                  SELECT group_concat(part.value ->> '$.text', '')
                  FROM json_each(message, '$.details.result.content') AS part
                  WHERE part.type = 'object'
                )
            END,
            'details', json(result)
          ))))
        WHEN line ->> '$.type' = 'message'
          THEN json_object(
            'role', message -> '$.role',
            'attribution', CASE WHEN message ->> '$.__openclaw.senderIsOwner' THEN 'user' ELSE 'agent' END,
            'content', CASE message ->> '$.role'
              WHEN 'toolResult' THEN CASE WHEN is_searched THEN message -> '$.content' END
              WHEN 'assistant'
                THEN (
                  SELECT json_group_array(json_object(
                    'type', part.value -> '$.type',
                    'id', part.value -> '$.id',
                    'name', part.value -> '$.name',
                    'arguments', json_object(
                      'path', part.value -> '$.arguments.path',
                      'command', part.value -> '$.arguments.command'
                    )
                  ))
                  FROM json_each(message, '$.content') AS part
                  WHERE part.type = 'object'
                    AND part.value ->> '$.type' = 'toolCall'
                )
            END,
            'model', message -> '$.model',
            'responseId', message -> '$.responseId',
            'usage', message -> '$.usage',
            'toolCallId', message -> '$.toolCallId',
            'toolName', message -> '$.toolName',
            'isError', message -> '$.isError',
            'durationMs', details -> '$.durationMs',
            'details', json(result)
          )
      END
    )
  END AS line,
  updated_at
FROM outcome
