-- One row is one line of a Claude Code transcript that can become an event, with what the events are made of.
-- Reads lines (source, line_no and the members that claude-code.json lists).
SELECT
  type,
  uuid,
  rfc3339_ms("timestamp") AS occurred_ms,
  -- What every event of the line says alike.
  {
    'session_id': sessionId,
    'cwd': cwd,
    'git_branch': nullif(gitBranch, ''),
    'agent_version': version,
    'entrypoint': lower(entrypoint),
    'source': source,
    'line_no': line_no,
    'form_fault': CASE
      WHEN sessionId IS NULL THEN 'missing_member session_id'
      WHEN "timestamp" IS NULL THEN 'missing_member timestamp'
    END
  } AS context,
  requestId AS request_id,
  coalesce(isSidechain, false) AS is_sidechain,
  CASE WHEN type = 'user' THEN permissionMode END AS permission_mode,
  message.id AS message_id,
  message.model AS model,
  message.usage AS usage,
  CASE
    WHEN type IN ('user', 'assistant') AND prefix(message.content, '[')
      THEN from_json(message.content, '[{
        "type": "VARCHAR", "id": "VARCHAR", "name": "VARCHAR", "tool_use_id": "VARCHAR", "is_error": "BOOLEAN", "text": "VARCHAR",
        "input": {
          "file_path": "VARCHAR", "notebook_path": "VARCHAR", "path": "VARCHAR",
          "command": "VARCHAR", "skill": "VARCHAR", "patch": "VARCHAR", "input": "VARCHAR"
        }
      }]')
  END AS blocks,
  -- What a person may have written: the message as JSON text.
  CASE
    WHEN type = 'user'
      AND NOT coalesce(isSidechain, false)
      AND NOT coalesce(isMeta, false)
      AND NOT coalesce(isCompactSummary, false)
      AND NOT coalesce(isVisibleInTranscriptOnly, false)
      AND coalesce(origin.kind, 'human') = 'human'
      AND coalesce(promptSource, '') <> 'system'
      THEN left(message.content, 1000)
    WHEN attachment.type = 'queued_command' AND attachment.commandMode = 'prompt' AND coalesce(attachment.origin.kind, 'human') = 'human'
      THEN '"queued"'
  END AS prompt,
  CASE
    WHEN type = 'user' AND toolUseResult IS NOT NULL
      THEN {
        'kind': toolUseResult.type,
        'path': toolUseResult.filePath,
        'commit_sha': toolUseResult.gitOperation.commit.sha,
        'pull_request_url': CASE WHEN toolUseResult.gitOperation.pr.action = 'created' THEN toolUseResult.gitOperation.pr.url END,
        'duration_ms': coalesce(toolUseResult.durationMs, toolUseResult.totalDurationMs),
        -- Output is looked at for a commit's or pull request's own name, and dropped with this table.
        'output': CASE WHEN regexp_matches(toolUseResult.stdout, ' changed|nothing to commit|no changes added|/pull/|/merge_requests/') THEN left(toolUseResult.stdout, 20000) END,
        'lines_added': CASE
          WHEN toolUseResult.type = 'create' THEN length(toolUseResult.content) - length(replace(rtrim(toolUseResult.content, chr(10)), chr(10), '')) + CASE WHEN suffix(toolUseResult.content, chr(10)) OR toolUseResult.content = '' THEN 0 ELSE 1 END
          ELSE len(list_filter(flatten(list_transform(toolUseResult.structuredPatch, lambda hunk: hunk.lines)), lambda text: prefix(text, '+')))
        END,
        'lines_removed': CASE
          WHEN toolUseResult.type = 'create' THEN 0
          ELSE len(list_filter(flatten(list_transform(toolUseResult.structuredPatch, lambda hunk: hunk.lines)), lambda text: prefix(text, '-')))
        END
      }
  END AS result,
  -- One hook run can stand in all three places. Its id is the same in each, and it counts once.
  CASE
    WHEN subtype = 'stop_hook_summary'
      THEN list_transform(hookInfos, lambda info: {
        'hook_event': 'Stop', 'hook_name': 'Stop', 'tool_use_id': toolUseID, 'command': info.command,
        'exit_code': CAST(NULL AS BIGINT), 'duration_ms': info.durationMs
      })
    WHEN attachment.type IN ('hook_success', 'hook_non_blocking_error')
      THEN [{
        'hook_event': attachment.hookEvent, 'hook_name': attachment.hookName, 'tool_use_id': attachment.toolUseID, 'command': attachment.command,
        'exit_code': attachment.exitCode, 'duration_ms': attachment.durationMs
      }]
    WHEN data.type = 'hook_progress'
      THEN [{
        'hook_event': data.hookEvent, 'hook_name': data.hookName, 'tool_use_id': toolUseID, 'command': data.command,
        'exit_code': CAST(NULL AS BIGINT), 'duration_ms': CAST(NULL AS BIGINT)
      }]
  END AS hooks
FROM lines
WHERE type IN ('user', 'assistant')
  OR subtype = 'stop_hook_summary'
  OR attachment.type IN ('hook_success', 'hook_non_blocking_error', 'queued_command')
  OR data.type = 'hook_progress'
  -- A line that is no JSON object, most likely.
  OR type IS NULL
