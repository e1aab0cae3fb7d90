-- One row is one tool that one agent of one user called on one day.
-- Grain: (org_id, day, user_id, tool_key, server_key, agent).
CREATE TABLE user_tools (
  org_id              VARCHAR NOT NULL,
  day                 DATE NOT NULL,
  user_id             VARCHAR NOT NULL,
  tool_key            VARCHAR NOT NULL,
  server_key          VARCHAR NOT NULL,  -- the MCP server; '' if it is not an MCP tool
  agent               VARCHAR NOT NULL,  -- '' if the events name none
  tool_calls          BIGINT NOT NULL,
  failed_calls        BIGINT NOT NULL,  -- those that failed; refused and interrupted ones haven't
  calls_with_outcome  BIGINT NOT NULL  -- those that are known to have succeeded or failed
--clickhouse , build BIGINT NOT NULL
)
--clickhouse ENGINE = MergeTree PARTITION BY build ORDER BY (org_id, day, user_id, tool_key, server_key, agent)
