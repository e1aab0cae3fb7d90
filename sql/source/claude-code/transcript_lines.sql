-- One row is one line of a Claude Code transcript that can become an event.
-- Reads lines (source, line_no and the members that members.json lists).
-- Few and simple columns, on purpose: a reader returns the lines of small files in small portions, on which every column and
-- expression costs as much as on large ones. events.sql does the rest.
SELECT
  type,
  uuid,
  "timestamp",
  {
    'source': source,
    'line_no': line_no,
    'session_id': sessionId,
    'cwd': cwd,
    'git_branch': gitBranch,
    'agent_version': version,
    'entrypoint': entrypoint,
    'agent_id': CASE WHEN isSidechain THEN nullif(left(agentId, 128), '') END
  } AS line,
  nullif(requestId, '') AS request_id,
  nullif(requestedModel, '') AS requested_model,
  -- A fork begins with lines of its parent.
  requestSessionId <> sessionId AS is_of_parent,
  permissionMode AS permission_mode,
  coalesce(isSidechain, false) AS is_sidechain,
  coalesce(isMeta, false) OR coalesce(isCompactSummary, false) OR coalesce(isVisibleInTranscriptOnly, false) AS is_meta,
  coalesce(origin.kind, 'human') = 'human' AND coalesce(promptSource, '') <> 'system' AS is_human,
  nullif(message.id, '') AS message_id,
  nullif(message.model, '') AS model,
  message.usage AS usage,
  from_json(message.content, '[{
    "type": "VARCHAR", "id": "VARCHAR", "name": "VARCHAR", "tool_use_id": "VARCHAR", "is_error": "BOOLEAN",
    "input": {
      "file_path": "VARCHAR", "notebook_path": "VARCHAR", "path": "VARCHAR",
      "command": "VARCHAR", "skill": "VARCHAR", "patch": "VARCHAR", "input": "VARCHAR"
    }
  }]') AS blocks,
  -- The beginning of the text of a line without a tool's result, as JSON: a person's message, or one of the program.
  CASE WHEN type = 'user' AND toolUseResult IS NULL THEN left(message.content, 1000) END AS prompt,
  toolUseResult AS result,
  -- The results of a tool that failed, or of one of an MCP server, if they can tell of a commit or a pull request.
  CASE
    WHEN type = 'user'
      AND toolUseResult.stdout IS NULL
      AND toolUseResult.type IS NULL
      AND toolUseResult.filePath IS NULL
      AND contains(message.content, '"tool_use_id"')
      AND regexp_matches(message.content, '\[[^\]"\\]+ [0-9a-f]{7,40}\]|pull|merge')
      THEN message.content
  END AS told,
  CASE
    WHEN type = 'cost-state'
      THEN {'start_ms': try_cast(startTime AS BIGINT), 'total_ms': try_cast(totalDuration AS BIGINT), 'usage': modelUsage}
  END AS cost_state,
  -- Older versions only say it in the text of the error.
  CASE
    WHEN toolDenialKind IS NOT NULL OR toolUseResult.interrupted THEN true
    WHEN type = 'user' AND contains(message.content, '"is_error":true')
      THEN says_stopped(regexp_replace(substr(message.content, strpos(message.content, '"content":') + 10, 400), '^(\[\{"type":"text","text":)?"', ''))
    ELSE false
  END AS is_stopped,
  toolUseID AS tool_use_id,
  CASE WHEN subtype = 'stop_hook_summary' THEN hookInfos END AS stop_hooks,
  attachment,
  data AS progress
FROM lines
WHERE type IN ('user', 'assistant', 'cost-state')
  OR subtype = 'stop_hook_summary'
  OR regexp_matches(attachment, '"(hook_success|hook_non_blocking_error|queued_command)"')
  OR contains(data, '"hook_progress"')
  OR (contains(data, '"agent_progress"') AND contains(data, '"usage"'))
