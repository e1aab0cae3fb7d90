-- A tool call that somebody refused or interrupted hasn't failed.

-- tool_call: refused by a person, a rule or a hook, or interrupted by a person
ALTER TABLE events ADD COLUMN is_stopped BOOLEAN
