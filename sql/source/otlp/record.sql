-- One row is one record: what every section reads of it, and in `common` what its events have in common.
-- src/otlp/record-lines.ts writes the lines. Attributes are texts.
-- Reads lines.
SELECT
  source,
  request,
  digest,
  agent,
  name,
  "value",
  is_root,
  state,
  attributes,
  trace_id || ':' || span_id AS span,
  (try_cast("time" AS BIGINT) - try_cast("start" AS BIGINT)) // 1000000 AS took_ms,
  {
    -- An agent's own time goes before the exporter's, which is in nanoseconds.
    'occurred_ms': coalesce(rfc3339_ms(attributes['event.timestamp']), try_cast("time" AS BIGINT) // 1000000),
    'user_id': coalesce(person, installation, 'unknown'),
    'is_installation': CASE WHEN person IS NULL AND installation IS NOT NULL THEN true END,
    'user_email': nullif(lower(coalesce(attributes['user.email'], attributes['cursor.user.email'])), ''),
    'session_id': coalesce(
      -- A sub-agent of Gemini CLI has its parent's session.id. Its own session is in the id of its prompts: `<session>#<number>`.
      CASE WHEN agent = 'gemini-cli' THEN nullif(regexp_extract(attributes['prompt_id'], '^([^#]+)#\d+$', 1), '') END,
      nullif(attributes['gen_ai.conversation.id'], ''),
      nullif(attributes['conversation.id'], ''),
      CASE WHEN agent = 'cursor' THEN nullif(attributes['cursor.conversation.id'], '') END,
      -- Calls of Copilot Chat name their chat; session.id is a window of VS Code.
      CASE
        WHEN is_copilot
          THEN coalesce(nullif(attributes['copilot_chat.chat_session_id'], ''), nullif(attributes['copilot_chat.parent_chat_session_id'], ''))
      END,
      -- Some are told not to name it.
      attributes['session.id'],
      ''
    ),
    'repo': coalesce(
      nullif(attributes['vcs.repository.url.full'], ''),
      CASE
        WHEN is_copilot
          THEN coalesce(
            nullif(attributes['github.copilot.git.repository'], ''),
            nullif(attributes['copilot_chat.repo.remote_url'], ''),
            nullif(state['github.copilot.git.repository'], ''),
            nullif(state['copilot_chat.repo.remote_url'], '')
          )
      END
    ),
    'repo_owner': coalesce(
      nullif(attributes['vcs.owner.name'], ''),
      CASE
        WHEN is_copilot
          THEN coalesce(nullif(attributes['github.copilot.github.org'], ''), nullif(state['github.copilot.github.org'], ''))
      END
    ),
    'git_branch': coalesce(
      nullif(attributes['vcs.ref.head.name'], ''),
      CASE
        WHEN is_copilot
          THEN coalesce(
            nullif(attributes['github.copilot.git.branch'], ''),
            nullif(attributes['copilot_chat.repo.head_branch_name'], ''),
            nullif(state['github.copilot.git.branch'], ''),
            nullif(state['copilot_chat.repo.head_branch_name'], '')
          )
      END
    ),
    'head_commit': coalesce(
      nullif(attributes['vcs.ref.head.revision'], ''),
      CASE
        WHEN is_copilot
          THEN coalesce(
            nullif(attributes['github.copilot.git.commit_sha'], ''),
            nullif(attributes['copilot_chat.repo.head_commit_hash'], ''),
            nullif(state['github.copilot.git.commit_sha'], ''),
            nullif(state['copilot_chat.repo.head_commit_hash'], '')
          )
      END
    ),
    'team': coalesce(
      nullif(attributes['team.id'], ''),
      nullif(attributes['team'], ''),
      -- The groups at the identity provider, as the gateway has them. Other senders can write what they like.
      CASE
        WHEN agent = 'claude-code' AND attributes['user.groups'] IS NOT NULL AND attributes['identity.source'] = 'gateway-oidc'
          THEN first_of_list(attributes['user.groups'])
      END
    ),
    'department': nullif(attributes['department'], ''),
    'cost_center': nullif(attributes['cost_center'], ''),
    'agent_id': nullif(attributes['agent_id'], ''),
    'parent_agent_id': nullif(attributes['parent_agent_id'], ''),
    'agent': agent,
    -- Gemini CLI reports the version of Node.js.
    'agent_version': CASE WHEN agent <> 'gemini-cli' THEN coalesce(attributes['app.version'], attributes['service.version']) END,
    'channel': CASE signal WHEN 'logs' THEN 'otlp_log' WHEN 'traces' THEN 'otlp_span' ELSE 'otlp_metric' END,
    'client': CASE
      WHEN agent = 'claude-code' THEN client_of(attributes['app.entrypoint'])
      WHEN agent = 'codex' THEN codex_client_of(attributes['originator'], NULL)
      WHEN agent = 'cursor' AND attributes['cursor.surface'] = 'cli' THEN 'terminal-ui'
      WHEN agent = 'cursor' AND attributes['cursor.surface'] <> 'unspecified' THEN client_named(attributes['cursor.surface'])
      WHEN attributes['interactive'] = 'false' THEN 'non-interactive-cli'
    END,
    -- What the decision on the call says goes before what the session said last.
    'autonomy_mode': CASE
      WHEN state IS NOT NULL
        THEN coalesce(
          autonomy_mode_of(coalesce(state['call_mode'], state['to_mode'], state['approval_mode'])),
          codex_autonomy_mode(NULL, state['approval_policy'], state['sandbox_policy'], NULL)
        )
    END
  } AS common
FROM (
  SELECT
    *,
    coalesce(
      nullif("user", ''),
      nullif(attributes['daybook.user_id'], ''),
      nullif(lower(attributes['user.email']), ''),
      nullif(attributes['enduser.id'], ''),
      nullif(attributes['user.account_uuid'], ''),
      nullif(attributes['user.account_id'], ''),
      nullif(lower(attributes['cursor.user.email']), ''),
      nullif(attributes['cursor.user.account_id'], ''),
      nullif(attributes['cursor.user.id'], ''),
      -- Claude Code calls its installation so, unless a gateway has signed the person in.
      CASE
        WHEN agent IS DISTINCT FROM 'claude-code' OR attributes['identity.source'] = 'gateway-oidc' THEN nullif(attributes['user.id'], '')
      END
    ) AS person,
    coalesce(nullif(attributes['user.id'], ''), nullif(attributes['installation.id'], '')) AS installation,
    agent IN ('copilot-chat', 'copilot-cli') AS is_copilot
  FROM lines
)
