-- One row is one tool that was called in one part of a session on one day.
-- Grain: (org_id, day, user_id, session_id, agent, client, repo, tool_key, server_key).
CREATE TABLE session_tools (
  org_id              VARCHAR NOT NULL,
  day                 DATE NOT NULL,
  user_id             VARCHAR NOT NULL,
  session_id          VARCHAR NOT NULL,
  agent               VARCHAR NOT NULL,  -- '' if the events name none
  client              VARCHAR NOT NULL,  -- '' if the events name none
  repo                VARCHAR NOT NULL,  -- its key, as github.com/acme/api; '' if the events name none
  tool_key            VARCHAR NOT NULL,
  server_key          VARCHAR NOT NULL,  -- the MCP server; '' if it is not an MCP tool
  tool_calls          BIGINT NOT NULL,
  failed_calls        BIGINT NOT NULL,  -- those that failed; refused and interrupted ones haven't
  calls_with_outcome  BIGINT NOT NULL  -- those that are known to have succeeded or failed
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, user_id, session_id, agent, client, repo, tool_key, server_key)
