-- One row is one agent of one team or cost centre on one day: how many of its people reported, and of how many the channels disagree.
-- Grain: (group_key, date, agent).
-- Shown first: group_key, date, agent, users, events, users_disagreeing, shadowed.
SELECT
  CAST(group_key AS VARCHAR) AS group_key,  -- the team or cost centre on that day, empty for people without one, e.g. Compilers
  CAST(day AS DATE) AS date,  -- a day in UTC, e.g. 2026-06-01
  CAST(agent AS VARCHAR) AS agent,  -- the agent, empty if events name none, e.g. codex
  CAST(users AS BIGINT) AS users,  -- users with events of the agent, e.g. 12
  CAST(events AS BIGINT) AS events,  -- events that are stored, e.g. 1430
  CAST(shadowed AS BIGINT) AS shadowed,  -- of them, those that don't count because a better channel reports the same, e.g. 0
  CAST(users_disagreeing AS BIGINT) AS users_disagreeing  -- users of whom two channels differ by more than 1 % in tokens or turns, e.g. 0
FROM report_coverage_by_group
ORDER BY
  group_key,
  date,
  agent
