-- Whether an agent can have called a tool of this name. Other names are parse artifacts.
CREATE OR REPLACE FUNCTION is_tool_name(name) AS regexp_matches(stripped(name), '^[A-Za-z][A-Za-z0-9_.:/-]{0,127}$');
