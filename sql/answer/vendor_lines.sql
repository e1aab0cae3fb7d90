-- One row is one agent of whose lines vendors report something on one built day. These lines are in no other answer.
-- Grain: (date, agent).
-- Shown first: date, agent, users, lines_suggested, lines_accepted, lines_deleted.
SELECT
  CAST(day AS DATE) AS date,  -- a day in UTC, e.g. 2026-06-01
  CAST(agent AS VARCHAR) AS agent,  -- the agent, e.g. copilot-chat
  CAST(users AS BIGINT) AS users,  -- people of whom vendors report lines, e.g. 12
  CAST(suggested AS BIGINT) AS lines_suggested,  -- lines that the agent suggested, or null if no vendor tells, e.g. 5120
  CAST(accepted AS BIGINT) AS lines_accepted,  -- lines of the agent that were added, or null if no vendor tells, e.g. 1840
  CAST(deleted AS BIGINT) AS lines_deleted  -- lines that the agent removed, or null if no vendor tells, e.g. 320
FROM report_vendor_lines
ORDER BY
  date,
  agent
