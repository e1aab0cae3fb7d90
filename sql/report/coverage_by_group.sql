-- One row is one agent of one team or cost centre on one day, with how many of its people disagree between channels.
-- agent_day and belongs_to are the files of these names.
-- Grain: (group_key, day, agent).
WITH
compared AS (
  SELECT
    coalesce(belongs_to.name, '') AS group_key,
    agent_day.user_id AS user_id,
    agent_day.day AS day,
    agent_day.agent AS agent,
    agent_day.events AS events,
    agent_day.shadowed AS shadowed,
    CASE WHEN difference_ratio(agent_day.log_tokens, agent_day.otlp_tokens) > 0.01 THEN 1 ELSE 0 END
      + CASE WHEN difference_ratio(agent_day.log_turns, agent_day.hook_turns) > 0.01 THEN 1 ELSE 0 END AS disagreements
  FROM agent_day
  LEFT JOIN belongs_to
    ON belongs_to.kind = $group_by
    AND belongs_to.user_id = agent_day.user_id
    AND belongs_to.first_day <= agent_day.day
    AND belongs_to.last_day >= agent_day.day
  WHERE ($user_id IS NULL OR agent_day.user_id IN $user_id)
    AND ($team IS NULL AND $cost_center IS NULL OR (agent_day.user_id, agent_day.day) IN (SELECT user_id, day FROM placed_user))
)
SELECT
  CAST(group_key AS VARCHAR) AS group_key,
  CAST(day AS DATE) AS day,
  CAST(agent AS VARCHAR) AS agent,
  CAST(count(*) AS BIGINT) AS users,
  CAST(sum(events) AS BIGINT) AS events,
  CAST(sum(shadowed) AS BIGINT) AS shadowed,
  CAST(count(*) FILTER (WHERE disagreements > 0) AS BIGINT) AS users_disagreeing
FROM compared
GROUP BY
  group_key,
  day,
  agent
