-- One row is one agent with which one user was active on one day.
-- Grain: (org_id, day, user_id, agent).
CREATE TABLE user_agents (
  org_id              VARCHAR NOT NULL,
  day                 DATE NOT NULL,
  user_id             VARCHAR NOT NULL,
  agent               VARCHAR NOT NULL,  -- '' if the events name none
  tool_calls          BIGINT NOT NULL,
  failed_calls        BIGINT NOT NULL,  -- tool calls that failed; refused and interrupted ones haven't
  calls_with_outcome  BIGINT NOT NULL,  -- tool calls that are known to have succeeded or failed
  billable_tokens     BIGINT NOT NULL,  -- standard credits
  files_created       BIGINT NOT NULL,
  files_edited        BIGINT NOT NULL,
  git_commits         BIGINT NOT NULL,
  git_prs_created     BIGINT NOT NULL,
  mcp_calls           BIGINT NOT NULL,
  skill_calls         BIGINT NOT NULL,
  slash_commands      BIGINT NOT NULL,
  hooks               BIGINT NOT NULL,
  sessions            BIGINT NOT NULL,  -- sessions that started on this day
  messages            BIGINT NOT NULL,  -- user turns and assistant messages
  user_messages       BIGINT NOT NULL,
  assistant_messages  BIGINT NOT NULL
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, user_id, agent)
