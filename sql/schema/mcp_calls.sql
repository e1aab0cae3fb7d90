-- One row is one MCP call: a tool call to a server of the Model Context Protocol.
-- Grain: (org_id, day, event_id).
CREATE OR REPLACE VIEW mcp_calls AS
SELECT *
FROM tool_calls
WHERE server_key IS NOT NULL
