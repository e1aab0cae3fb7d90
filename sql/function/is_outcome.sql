-- Whether a tool call ended by succeeding or failing, as its source tells. The outcome of a call that was refused or interrupted
-- (is_stopped) says nothing about the tool.
CREATE OR REPLACE FUNCTION is_outcome(success, is_stopped) AS
  success IS NOT NULL AND NOT coalesce(is_stopped, false);
