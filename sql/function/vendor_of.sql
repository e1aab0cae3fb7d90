-- Whose API or plan an agent is used with, if it is its vendor's own: the vendor as in vendor_bills; '' for an agent that takes any.
CREATE OR REPLACE FUNCTION vendor_of(agent) AS
  CASE
    WHEN agent IN ('claude-code', 'cowork') THEN 'anthropic'
    WHEN agent = 'codex' THEN 'openai'
    WHEN agent IN ('copilot-chat', 'copilot-cli', 'copilot-cloud-agent', 'vs-copilot') THEN 'github'
    WHEN agent = 'cursor' THEN 'cursor'
    ELSE ''
  END;
