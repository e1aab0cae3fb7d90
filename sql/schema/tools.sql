-- One row is one day of one organization.
-- Grain: (org_id, day).
CREATE TABLE tools (
  org_id                      VARCHAR NOT NULL,
  day                         DATE NOT NULL,
  tool_calls                  BIGINT NOT NULL,
  failed_calls                BIGINT NOT NULL,  -- tool calls that failed; refused and interrupted ones haven't
  calls_with_outcome          BIGINT NOT NULL,  -- tool calls that are known to have succeeded or failed
  mcp_users_with_mcp          BIGINT NOT NULL,
  skills_invocations          BIGINT NOT NULL,
  slash_commands_invocations  BIGINT NOT NULL,
  hooks_invocations           BIGINT NOT NULL,
  web_users                   BIGINT NOT NULL,
  autonomy_ratio_avg          DOUBLE NOT NULL,  -- tool calls per user turn
  autonomy_ratio_p50          DOUBLE NOT NULL,  -- median over active sessions with a user turn
  autonomy_ratio_p90          DOUBLE NOT NULL,
  tool_calls_per_session_avg  DOUBLE NOT NULL,
  user_turns_per_session_avg  DOUBLE NOT NULL,
  auto_high_ratio             DOUBLE NOT NULL,  -- share of the tool calls with a known autonomy level
  auto_medium_ratio           DOUBLE NOT NULL,
  auto_low_ratio              DOUBLE NOT NULL,
  manual_ratio                DOUBLE NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day)
