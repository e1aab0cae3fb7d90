-- One row is one stored event, also one that doesn't count because shadowed_events has it: counted_events leaves those out. Of all copies of an event that ever came in, one is stored.
-- Grain: (org_id, day, event_id).
CREATE TABLE events (
  org_id              VARCHAR NOT NULL,       -- the organization that the event was sent to
  day                 DATE NOT NULL,          -- UTC day of occurred_at
  event_id            VARCHAR NOT NULL,       -- the sender's idempotency key
  type                VARCHAR NOT NULL,       -- user_message, tool_call, ...
  occurred_at         TIMESTAMP(3) NOT NULL,  -- UTC, in milliseconds
  user_id             VARCHAR NOT NULL,
  user_email          VARCHAR,
  session_id          VARCHAR NOT NULL,       -- unique within a user only
  client              VARCHAR,                -- terminal-ui, web, non-interactive-cli, ...
  autonomy_mode       VARCHAR,                -- the mode in force: auto-high, auto-medium, auto-low, spec, manual
  agent               VARCHAR,                -- the program, as claude-code
  agent_version       VARCHAR,
  repo                VARCHAR,
  git_branch          VARCHAR,
  cwd                 VARCHAR,
  reason              VARCHAR,                -- session_end
  model               VARCHAR,                -- model_usage
  input_tokens        BIGINT,                 -- model_usage: uncached input
  output_tokens       BIGINT,                 -- model_usage
  cache_read_tokens   BIGINT,                 -- model_usage
  cache_write_tokens  BIGINT,                 -- model_usage
  tool_name           VARCHAR,                -- tool_call, as sent
  mcp_server          VARCHAR,                -- tool_call, as sent
  success             BOOLEAN,                -- tool_call
  duration_ms         BIGINT,                 -- tool_call, hook_run
  path                VARCHAR,                -- file_change
  operation           VARCHAR,                -- file_change: create, edit
  lines_added         BIGINT,                 -- file_change
  lines_removed       BIGINT,                 -- file_change
  commit_sha          VARCHAR,                -- git_commit
  url                 VARCHAR,                -- pull_request
  skill_name          VARCHAR,                -- skill_use
  command_name        VARCHAR,                -- slash_command, without the leading slash
  hook_event          VARCHAR,                -- hook_run
  matcher             VARCHAR,                -- hook_run
  command             VARCHAR,                -- hook_run
  exit_code           BIGINT,                 -- hook_run
  timed_out           BOOLEAN,                -- hook_run
  batch               BIGINT NOT NULL,        -- the batch that brought it
  request_id          VARCHAR,                -- model_usage: the call's id, as the model's provider gave it
  channel             VARCHAR NOT NULL,       -- how it was learnt: event, log, hook, otlp_log, otlp_span, otlp_metric, vendor_api
  cache_write_1h_tokens  BIGINT               -- model_usage: the part of cache_write_tokens that lives an hour
)
--clickhouse ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (org_id, day, event_id)
